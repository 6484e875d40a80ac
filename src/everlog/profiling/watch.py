"""Who makes the engines of a piece of reasoning, and may look at what they do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from everlog.engine.match import Engine
from everlog.reasoning.statistics import Listener

if TYPE_CHECKING:
    from everlog.analysis.stratify import StratifiedProgram
    from everlog.profiling.profile import Profile


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


@contextmanager
def watching(profile: Profile | bool | None, program: StratifiedProgram) -> Iterator[Watch]:
    """Who records into a profile, if there is one to record into."""
    if profile is None or isinstance(profile, bool):
        yield UNWATCHED
        return
    from everlog.profiling.recorder import Recorder

    recorder = Recorder(profile, program)
    try:
        yield recorder
    finally:
        recorder.close()
