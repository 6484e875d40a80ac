"""Runs one measured task in this process: ``python -m bench.run_task JOB``. The result is printed as a JSON object.

With a process for each task, peak memory is that of the task alone, and a task can be stopped after its time limit.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

TASKS = {
    "run": "bench.peers.measure_system",
    "memory": "bench.extras.bytes_per_fact",
    "ten_facts": "bench.startup.answer_ten_facts",
    "updates": "bench.extras.small_updates",
    "dictionary": "bench.extras.terms_per_second",
    "robustness": "bench.maintenance.robustness.robustness",
    "break_even": "bench.maintenance.break_even.break_even",
    "example": "bench.maintenance.example.example",
    "command_update": "bench.maintenance.command.command_update",
    "module_form": "bench.modules.forms.measure_form",
    "component": "bench.modules.extras.component",
    "closure_sizes": "bench.modules.closure_sizes.closure_sizes",
    "columns": "bench.modules.extras.columns",
    "held": "bench.modules.extras.held_memory",
    "ingest": "bench.ingest.ingest",
    "iterate": "bench.ingest.iterate",
    "rdf_reasoner": "bench.rdf.reasoners.measure_reasoner",
    "rdf_queries": "bench.rdf.query_times.measure_queries",
    "spark_compared": "bench.spark.tasks.compared",
    "spark_joins": "bench.spark.tasks.joins",
    "spark_limited": "bench.spark.tasks.limited",
    "spark_updates": "bench.spark.tasks.updates",
}
"""Maps each task to its function."""


def main() -> None:
    """Run the job given as JSON: ``task``, ``one_core`` to pin the process to one core, and the task's arguments."""
    job = json.loads(sys.argv[1])
    if job.pop("one_core", False) and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    module, _, function = TASKS[job.pop("task")].rpartition(".")
    print(json.dumps(getattr(import_module(module), function)(**job)))


if __name__ == "__main__":
    main()
