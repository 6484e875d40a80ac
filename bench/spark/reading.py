"""How many rows and bytes the tasks of a session read from files, by Spark's own account."""

from __future__ import annotations

from types import TracebackType
from typing import Any

WAIT_MILLISECONDS = 10_000


class Reading:
    """What is read while the context lasts, all stages together: rows of row groups that were not skipped.

    A row that several stages read counts as often. Files that stages wrote for each other are in it, too.
    """

    def __init__(self, session: Any) -> None:
        self.found: dict[str, int] = {}
        self._context = session.sparkContext
        self._last = -1

    def __enter__(self) -> Reading:
        self._last = max((stage.stageId() for stage in self._stages()), default=-1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        mine = [stage for stage in self._stages() if stage.stageId() > self._last]
        self.found = {
            "stages": sum(stage.numTasks() > 0 and stage.numCompleteTasks() > 0 for stage in mine),
            "rows": sum(stage.inputRecords() for stage in mine),
            "bytes": sum(stage.inputBytes() for stage in mine),
        }

    def _stages(self) -> list[Any]:
        """The stages that Spark remembers, the latest thousand."""
        gateway, scala = self._context._gateway, self._context._jsc.sc()
        scala.listenerBus().waitUntilEmpty(WAIT_MILLISECONDS)
        quantiles = gateway.new_array(gateway.jvm.double, 0)
        found = scala.statusStore().stageList(None, False, False, quantiles, gateway.jvm.java.util.ArrayList())
        return [found.apply(number) for number in range(found.size())]
