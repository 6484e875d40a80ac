"""Runs one measured task in this process: ``python -m bench.run_task JOB``. The result is printed as a JSON object.

With a process for each task, peak memory is that of the task alone, and a task can be stopped after its time limit.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module


def main() -> None:
    """Run the job given as JSON: ``task``, the name of a function below ``bench``, ``one_core`` to pin the process to
    one core, and the arguments of the function."""
    job = json.loads(sys.argv[1])
    if job.pop("one_core", False) and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    module, _, function = job.pop("task").rpartition(".")
    print(json.dumps(getattr(import_module(f"bench.{module}"), function)(**job)))


if __name__ == "__main__":
    main()
