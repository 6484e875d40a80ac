"""The local engine over relations that are looked up in a store."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.analysis.stratify import Stratum
from everlog.backends.lookup.facts import UNIVERSE, LookedUpFacts
from everlog.backends.too_much import TooMuchError
from everlog.engine.algebra import AnyFactSet
from everlog.engine.collect import Collector
from everlog.engine.factset import FactSet, as_local
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

    def renew(self) -> None:
        raise TooMuchError("everything would be derived again")

    def _require(self, more: int) -> None:
        self._excerpt.require(more + max(0, self.held - self._known))

    def repaired(
        self, stratum: Stratum, old: AnyFactSet, new: AnyFactSet, gone: AnyFactSet, fresh: AnyFactSet
    ) -> tuple[FactSet, FactSet] | None:
        """What the module says, which looks up no more than it needs."""
        assert stratum.alone is not None
        before, after, less, more = map(as_local, (old, new, gone, fresh))
        lost, won = implementation(stratum.alone).changed(before, after, less, more, lambda: self.check(0))
        self.check(lost.count + won.count)
        return lost, won
