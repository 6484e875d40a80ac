"""The number of rows and bytes that the tasks of a Spark session read from files, as Spark reports it."""

from __future__ import annotations

from types import TracebackType
from typing import Any

WAIT_MILLISECONDS = 10_000


class Reading:
    """Context manager that counts the rows and bytes read by all stages; rows of skipped row groups do not count.

    A row that several stages read counts several times. Files that stages write for later stages count as well.
    """

    def __init__(self, session: Any) -> None:
        self.totals: dict[str, int] = {}
        self._context = session.sparkContext
        self._last = -1

    def __enter__(self) -> Reading:
        self._last = max((stage.stageId() for stage in self._stages()), default=-1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        mine = [stage for stage in self._stages() if stage.stageId() > self._last]
        self.totals = {
            "stages": sum(stage.numTasks() > 0 and stage.numCompleteTasks() > 0 for stage in mine),
            "rows": sum(stage.inputRecords() for stage in mine),
            "bytes": sum(stage.inputBytes() for stage in mine),
        }

    def _stages(self) -> list[Any]:
        """The stages in Spark's status store: the latest thousand."""
        gateway, scala = self._context._gateway, self._context._jsc.sc()
        scala.listenerBus().waitUntilEmpty(WAIT_MILLISECONDS)
        quantiles = gateway.new_array(gateway.jvm.double, 0)
        results = scala.statusStore().stageList(None, False, False, quantiles, gateway.jvm.java.util.ArrayList())
        return [results.apply(number) for number in range(results.size())]
