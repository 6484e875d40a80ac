"""The local engine over relations that are looked up in a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from everlog.analysis.stratify import Stratum
from everlog.backends.lookup.facts import UNIVERSE, LookedUpFacts
from everlog.backends.too_much import TooMuchError
from everlog.engine.algebra import AnyFactSet, Observer, Repairing
from everlog.engine.collect import Collector
from everlog.engine.factset import as_local
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.reasoning.modules.kinds import implementation


class LookUpEngine(Engine):
    """Begins with what changed, or is to be proved, so that the rest can be looked up; gives up if that is too much.

    ``known`` is how many facts the store has.
    """

    def __init__(self, excerpt: LookedUpFacts, constants: Mapping[str, int], known: int, limits: Limits) -> None:
        super().__init__(UNIVERSE, constants, limits=limits, threads=1)
        self.heads_first = self.changed_first = True
        self._excerpt = excerpt
        self._known = known

    def check(self, collected: int, instances: int = 0) -> None:
        super().check(collected, instances)
        self._require(collected)

    def hold(self, collector: Collector, more: int = 0) -> None:
        self._require(collector.held + more)

    def _require(self, more: int) -> None:
        self._excerpt.require(more + max(0, self.held - self._known))

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> LookedUpStratum:
        return LookedUpStratum(self, stratum)


@dataclass(frozen=True)
class LookedUpStratum:
    """A stratum over facts that are looked up: it is repaired where it changed, and never closed from nothing."""

    engine: LookUpEngine
    stratum: Stratum

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        raise TooMuchError("everything would be derived again")

    def repair(self, update: Repairing) -> None:
        """By what the module says, which looks up no more than it needs."""
        if self.stratum.alone is None:
            update.by_algorithm()
            return
        before, after, gone, fresh = map(as_local, (update.before, update.after, update.gone, update.fresh))
        module = implementation(self.stratum.alone)
        lost, won = module.changed(before, after, gone, fresh, lambda: self.engine.check(0))
        self.engine.check(lost.count + won.count)
        update.replace(lost, won)
