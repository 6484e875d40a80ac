"""Who makes the engines of a piece of reasoning, and may look at what they do."""

from __future__ import annotations

from typing import Any

from everlog.engine.match import Engine
from everlog.reasoning.statistics import Listener


class Watch:
    """Makes engines and does not look at them; :class:`everlog.profiling.recorder.Recorder` does."""

    def engine(self, *arguments: Any, **options: Any) -> Engine:
        """A local engine."""
        return Engine(*arguments, **options)

    def listener(self, other: Listener | None = None) -> Listener | None:
        """Whom to tell about rounds, if the other wants to hear of them."""
        return other

    def close(self) -> None:
        """Reasoning is over."""


UNWATCHED = Watch()
