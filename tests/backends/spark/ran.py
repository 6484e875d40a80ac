"""The jobs and the tasks of stages that Spark ran, from its status store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

WAIT_MILLISECONDS = 10_000


@dataclass
class Ran:
    """The number of jobs that ran within a context, and the tasks of their stages."""

    jobs: int = 0
    tasks: list[int] = field(default_factory=list)
    """The number of tasks of each stage, in the order of the stages; stages that were skipped are left out."""


@contextmanager
def ran(spark: Any) -> Iterator[Ran]:
    """Count the jobs and tasks that run within the context; the counts are set at its end."""
    found, (jobs, stages) = Ran(), _known(spark)
    yield found
    later = _known(spark)
    found.jobs = len(later[0].keys() - jobs.keys())
    found.tasks = [later[1][number] for number in sorted(later[1].keys() - stages.keys()) if later[1][number]]


def _known(spark: Any) -> tuple[dict[int, Any], dict[int, int]]:
    """The latest thousand jobs, which Spark keeps, and the numbers of completed tasks of their stages."""
    gateway, scala = spark.sparkContext._gateway, spark.sparkContext._jsc.sc()
    scala.listenerBus().waitUntilEmpty(WAIT_MILLISECONDS)
    store, empty = scala.statusStore(), gateway.jvm.java.util.ArrayList()
    jobs = store.jobsList(None)
    stages = store.stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), empty)
    listed = ([each.apply(number) for number in range(each.size())] for each in (jobs, stages))
    return ({job.jobId(): job for job in next(listed)}, {s.stageId(): s.numCompleteTasks() for s in next(listed)})
