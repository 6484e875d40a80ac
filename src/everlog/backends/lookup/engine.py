"""The local engine over relations that are looked up in a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from everlog.analysis.stratify import Stratum
from everlog.backends.lookup.facts import UNIVERSE, LookedUpFacts
from everlog.backends.too_much import TooMuchError
from everlog.engine.algebra import AnyFactSet, Observer, Repairing
from everlog.engine.factset import as_local
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.plan import GIVEN_FIRST
from everlog.reasoning.modules.kinds import implementation


class LookUpEngine(Engine):
    """Matches the changed atom, or the head to prove, first, and looks other atoms up by the terms bound then.

    All instances of a fact to prove are found at once, since each look-up costs more than many instances.

    The engine gives up if more facts would be held than the look-ups allow. ``known`` is the number of facts of the
    store.
    """

    def __init__(self, looked_up: LookedUpFacts, constants: Mapping[str, int], known: int, limits: Limits) -> None:
        super().__init__(UNIVERSE, constants, limits=limits, threads=1, leads=GIVEN_FIRST)
        self._looked_up = looked_up
        self._known = known

    def check(self, collected: int, instances: int = 0, rows: int = 0) -> None:
        super().check(collected, instances, rows)
        self._looked_up.require(max(rows, self.held + collected - self._known))

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> LookedUpStratum:
        return LookedUpStratum(self, stratum)


@dataclass(frozen=True)
class LookedUpStratum:
    """A stratum over facts that are looked up. To close it would read all facts, which exceeds the limits."""

    engine: LookUpEngine
    stratum: Stratum

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        raise TooMuchError("everything would be derived again")

    def repair(self, update: Repairing) -> None:
        """Repair rules by the algorithm of the update, and a module by its own implementation of changes."""
        if self.stratum.alone is None:
            update.by_algorithm()
            return
        before, after, deleted, inserted = map(as_local, (update.before, update.after, update.gone, update.fresh))
        module = implementation(self.stratum.alone)
        underived, derived = module.changed(before, after, deleted, inserted, lambda: self.engine.check(0))
        self.engine.check(underived.count + derived.count)
        update.replace(underived, derived)
