"""One measured task in a process of its own: ``python -m bench.child JOB``, a JSON object on stdout.

A process of its own keeps the peak memory honest and lets a task be stopped when its time is up.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

TASKS = {
    "run": "bench.peers.measured",
    "memory": "bench.memory.held_in_two_orders",
    "ten_facts": "bench.startup.answer_ten_facts",
    "updates": "bench.updates.small_updates",
    "dictionary": "bench.dictionary.terms_a_second",
    "robustness": "bench.maintenance.robustness.robustness",
    "break_even": "bench.maintenance.break_even.break_even",
    "example": "bench.maintenance.example.example",
    "command_update": "bench.maintenance.command.command_update",
    "module_form": "bench.modules.forms.measured",
    "component": "bench.modules.components.component",
    "closure_sizes": "bench.modules.sizes.sizes",
    "columns": "bench.modules.columns.columns",
    "held": "bench.modules.held.held",
    "ingest": "bench.ingest.ingest",
    "iterate": "bench.ingest.iterate",
    "rdf_reasoner": "bench.rdf.reasoners.measured",
    "rdf_asking": "bench.rdf.asking.measured",
}
"""The function that does each task."""


def main() -> None:
    """Run the job given as JSON: ``task``, ``one_core`` to pin the process, and the arguments of the task."""
    job = json.loads(sys.argv[1])
    if job.pop("one_core", False) and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    module, _, function = TASKS[job.pop("task")].rpartition(".")
    print(json.dumps(getattr(import_module(module), function)(**job)))


if __name__ == "__main__":
    main()
