"""The number of rows and bytes that the tasks of a Spark session read from files, as Spark reports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WAIT_MILLISECONDS = 10_000


@contextmanager
def reading(session: Any) -> Iterator[dict[str, int]]:
    """Count the rows and bytes that all stages read until the block ends; rows of skipped row groups do not count.

    A row that several stages read counts several times. Files that stages write for later stages count as well.
    """
    totals: dict[str, int] = {}
    last = max((stage.stageId() for stage in _stages(session.sparkContext)), default=-1)
    yield totals
    mine = [stage for stage in _stages(session.sparkContext) if stage.stageId() > last]
    totals["stages"] = sum(stage.numTasks() > 0 and stage.numCompleteTasks() > 0 for stage in mine)
    totals["rows"] = sum(stage.inputRecords() for stage in mine)
    totals["bytes"] = sum(stage.inputBytes() for stage in mine)


def _stages(context: Any) -> list[Any]:
    """The stages in Spark's status store: the latest thousand."""
    gateway, scala = context._gateway, context._jsc.sc()
    scala.listenerBus().waitUntilEmpty(WAIT_MILLISECONDS)
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    results = scala.statusStore().stageList(None, False, False, quantiles, gateway.jvm.java.util.ArrayList())
    return [results.apply(number) for number in range(results.size())]
