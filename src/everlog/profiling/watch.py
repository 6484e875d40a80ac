"""Watches: objects that make the engines of reasoning and may record their events."""

from __future__ import annotations

from typing import Any

from everlog.engine.match import Engine
from everlog.engine.passes import PassObserver
from everlog.reasoning.statistics import Listener


class Watch(PassObserver):
    """Makes engines and records nothing; :class:`everlog.profiling.recorder.Recorder` records."""

    def engine(self, *arguments: Any, **options: Any) -> Engine:
        """A local engine, which reports its passes over rules to this watch."""
        return Engine(*arguments, **options, passes=self)

    def listener(self, other: Listener | None = None) -> Listener | None:
        """The listener for rounds, which passes them on to another one if given."""
        return other

    def close(self) -> None:
        """End recording; called when reasoning is over."""


UNWATCHED = Watch()
