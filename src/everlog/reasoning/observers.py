"""Observers of fixpoints (:class:`everlog.engine.algebra.Observer`): they enforce limits and report progress."""

from __future__ import annotations

from everlog.engine.algebra import AnyEngine, AnyFactSet
from everlog.reasoning.statistics import Listener, RoundEvent


class WithinLimits:
    """Keeps an engine's number of held facts up to date, and a fixpoint within the engine's limits.

    ``facts`` are known before the first round.
    """

    def __init__(self, engine: AnyEngine, facts: AnyFactSet) -> None:
        self.engine = engine
        self.rounds = 0
        self.known = 0
        """The number of known facts after the last round; 0 before the first."""
        self._before = facts

    def __call__(self, new: int, rounds: int = 1) -> None:
        if not self.rounds:
            self.known = self._before.count
        self.rounds += rounds
        self.known += new
        self.engine.held = self.known
        self.engine.limits.check(self.known)


class HeldFacts:
    """Keeps an engine's number of held facts up to date during an update, which stays within the engine's limits."""

    def __init__(self, engine: AnyEngine) -> None:
        self._engine = engine

    def __call__(self, new: int, rounds: int = 1) -> None:
        """Observe that facts are inserted; ``new`` is their number less that of facts deleted with them."""
        self._engine.held += new
        self._engine.check(0)

    def fewer(self, new: int, rounds: int = 1) -> None:
        """Observe that ``new`` facts are deleted."""
        self._engine.held -= new
        self._engine.check(0)


def ignore_rounds(new: int, rounds: int = 1) -> None:
    """Observer that ignores all rounds."""


class StratumProgress(WithinLimits):
    """Counts the rounds of a stratum, one of ``strata``, and reports them to a listener."""

    def __init__(self, engine: AnyEngine, facts: AnyFactSet, index: int, strata: int, listener: Listener) -> None:
        super().__init__(engine, facts)
        self._index = index
        self._strata = strata
        self._listener = listener
        self._instances = engine.work.instances["forward"]

    @property
    def instances(self) -> int:
        """The number of instances considered since the stratum began."""
        return self.engine.work.instances["forward"] - self._instances

    def __call__(self, new: int, rounds: int = 1) -> None:
        super().__call__(new, rounds)
        event = RoundEvent(self._index, self._strata, self.rounds, new, self.known, self.instances)
        self._listener.round_done(event)
