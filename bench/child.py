"""One measured task in a process of its own: ``python -m bench.child JOB``, a JSON object on stdout.

A process of its own keeps the peak memory honest and lets a task be stopped when its time is up.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the job given as JSON: ``task``, ``one_core`` to pin the process, and
    what the task needs."""
    job = json.loads(sys.argv[1])
    if job.pop("one_core", False) and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(TASKS[job.pop("task")](**job)))


def run(system: str, program: str, directory: str) -> dict[str, Any]:
    """Run a program on prepared inputs by one system."""
    from dataclasses import asdict
    from time import process_time

    from bench.inputs import read
    from bench.peers import SYSTEMS, peak_mb
    from bench.programs import PROGRAMS

    chosen, inputs = SYSTEMS[system], read(Path(directory))
    if chosen.warmed:
        chosen.run(PROGRAMS[program], inputs.head(10))
    began = process_time()
    outcome = asdict(chosen.run(PROGRAMS[program], inputs))
    if outcome["peak_mb"] is None:
        outcome.update(peak_mb=peak_mb(), cpu=process_time() - began)
    return outcome


def memory(directory: str, maintain: str) -> dict[str, Any]:
    """What a closure takes while held, in both orders of its pairs."""
    from bench.memory import held_in_two_orders

    return held_in_two_orders(Path(directory), maintain)


def ten_facts() -> dict[str, Any]:
    """Answer a query over a program with ten facts."""
    from bench.startup import answer_ten_facts

    return answer_ten_facts()


def updates(trees: int, size: int) -> dict[str, Any]:
    """Small updates of a large forest's closure."""
    from bench.updates import small_updates

    return small_updates(trees, size)


def dictionary(terms: int) -> dict[str, Any]:
    """Terms a second that are encoded and decoded."""
    from bench.dictionary import terms_a_second

    return terms_a_second(terms)


def robustness(**experiment: Any) -> dict[str, Any]:
    """Samples deleted and added again by every maintenance algorithm."""
    from bench.maintenance.robustness import robustness as measured

    return measured(**experiment)


def break_even(**experiment: Any) -> dict[str, Any]:
    """How large a deletion pays."""
    from bench.maintenance.break_even import break_even as searched

    return searched(**experiment)


def example(**experiment: Any) -> dict[str, Any]:
    """The join that is quadratic backwards."""
    from bench.maintenance.example import example as measured

    return measured(**experiment)


def command_update(trees: int, size: int) -> dict[str, Any]:
    """A small update of a large store by the command line."""
    from bench.maintenance.command import command_update as measured

    return measured(trees, size)


def module_form(**experiment: Any) -> dict[str, Any]:
    """A workload of closures and unions in one form."""
    from bench.modules.forms import measured

    return measured(**experiment)


def component(**experiment: Any) -> dict[str, Any]:
    """A component that loses single edges."""
    from bench.modules.components import component as measured

    return measured(**experiment)


def closure_sizes() -> dict[str, Any]:
    """The closures whose sizes are known from elsewhere."""
    from bench.modules.sizes import sizes

    return sizes()


def columns(workload: str, size: int) -> dict[str, Any]:
    """The pairs of a closure as Arrow columns."""
    from bench.modules.columns import columns as listed

    return listed(workload, size)


def held(size: int) -> dict[str, Any]:
    """What a knowledge base holds with and without modules."""
    from bench.modules.held import held as measured

    return measured(size)


def ingest(path: str, directory: str) -> dict[str, Any]:
    """A file of N-Triples into a store."""
    from bench.ingest import ingest as measured

    return measured(path, directory)


def iterate(path: str) -> dict[str, Any]:
    """A file of N-Triples read by pyoxigraph."""
    from bench.ingest import iterate as measured

    return measured(path)


def rdf_reasoner(system: str, directory: str) -> dict[str, Any]:
    """Triples and an ontology read and materialised by one system."""
    from bench.rdf.reasoners import measured

    return measured(system, directory)


def rdf_asking(system: str, directory: str) -> dict[str, Any]:
    """The queries of LUBM answered by one system."""
    from bench.rdf.asking import measured

    return measured(system, directory)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "run": run,
    "memory": memory,
    "ten_facts": ten_facts,
    "updates": updates,
    "dictionary": dictionary,
    "robustness": robustness,
    "break_even": break_even,
    "example": example,
    "command_update": command_update,
    "module_form": module_form,
    "component": component,
    "closure_sizes": closure_sizes,
    "columns": columns,
    "held": held,
    "ingest": ingest,
    "iterate": iterate,
    "rdf_reasoner": rdf_reasoner,
    "rdf_asking": rdf_asking,
}


if __name__ == "__main__":
    main()
