"""Repairing a materialisation stratum by stratum."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import Stratum
from everlog.engine.algebra import AnyFactSet, Way
from everlog.engine.factset import NONE, as_local
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import AnySignedChange, SignedChange
from everlog.reasoning.materialisation import (
    AnyMaterialisation,
    AnyTrace,
    Materialisation,
    counted_anew,
)
from everlog.reasoning.modular import maintain_with_modules
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.observers import ignore_rounds
from everlog.reasoning.rule_sets import Rules
from everlog.reasoning.update_sets import UpdateSets
from everlog.reasoning.ways import close, plain_way


class Maintenance(UpdateSets, ABC):
    """One update. Subclasses are the algorithms, and implement :meth:`maintain`."""

    rules: Rules
    """The rules of the stratum that is repaired."""

    def run(self) -> AnySignedChange:
        """Repair the materialisation stratum by stratum; returns the change. The old materialisation is not
        modified.
        """
        begin, before = time.perf_counter(), dict(self.engine.work.instances)
        self.engine.held = self.I.count
        self.change_unruled()
        for number, stratum in enumerate(self.program.strata):
            self.rules = Rules.of(number, stratum)
            if self.old.is_afresh(stratum):
                self.close_again()
            elif self.is_affected(stratum):
                self.way_to_repair(stratum).repair(self)
        materialisation = Materialisation(
            self.explicit, self.new, self.C_nr, self.C_r, self.new_trace(), self.old.instances
        )
        work = self.engine.work.instances
        self.statistics.instances = {phase: n - before.get(phase, 0) for phase, n in work.items()}
        self.statistics.seconds = time.perf_counter() - begin
        return SignedChange(
            materialisation,
            self.fresh,
            self.gone,
            self.E_plus,
            self.E_minus,
            self.statistics,
            None if self.C_nr is None else self.nr_changed.summands,
            None if self.C_r is None else self.rec_changed.summands,
        )

    @abstractmethod
    def maintain(self, rules: Rules) -> None:
        """Bring D and A up to date for one stratum."""

    @property
    def before(self) -> AnyFactSet:
        """All facts before the update."""
        return self.I

    @property
    def after(self) -> AnyFactSet:
        """All facts so far."""
        return self.new

    def way_to_repair(self, stratum: Stratum) -> Way:
        """The way to repair a stratum. With every engine, ordinary rules are repaired by the algorithm."""
        if not stratum.special:
            return plain_way(self.engine, stratum)
        return self.engine.way(stratum, self.new, self.explicit) or plain_way(self.engine, stratum)

    def by_algorithm(self) -> None:
        """Repair the stratum: ordinary rules by the algorithm, a module by its own functions, both by DRed^c-MOD."""
        stratum = self.rules.stratum
        if stratum.alone is not None:
            self.maintain_module(stratum.alone)
        elif stratum.special:
            maintain_with_modules(self, self.rules, stratum.special)
        else:
            self.maintain(self.rules)

    def maintain_module(self, module: SpecialModule) -> None:
        """Bring the relations of a module up to date. Its facts are never overdeleted, so D and A do not
        contain them.
        """
        engine = self.engine
        old, new, gone, fresh = map(as_local, (self.I, self.new, self.gone, self.fresh))
        found = implementation(module).repaired(old, new, gone, fresh, lambda: engine.limits.check(engine.held))
        self.new = new.replaced({p: change.relation for p, change in found.items()})
        self.observer(self.new.count - new.count)
        self.gone = gone.replaced({p: change.lost for p, change in found.items()})
        self.fresh = fresh.replaced({p: change.won for p, change in found.items()})
        matched = [p for p in found if p in self.in_bodies]
        self.alive = as_local(self.alive).replaced({p: old.relation(p) - found[p].lost for p in matched})
        self.either = as_local(self.either).replaced({p: old.relation(p) | found[p].won for p in matched})

    def replace(self, deleted: AnyFactSet, inserted: AnyFactSet, new: AnyFactSet | None = None) -> None:
        """Record that the stratum, no fact of which was changed so far, lost some facts and gained others.

        ``new`` are all facts after that, if they are known as a whole.
        """
        self.observer(inserted.count - deleted.count)
        self.new = (self.new - deleted).extended(inserted) if new is None else new
        self.alive = self.alive - deleted
        self.either = self.either.extended(inserted)
        self.gone, self.fresh = self.gone.extended(deleted), self.fresh.extended(inserted)

    def close_again(self, predicates: Collection[Predicate] | None = None) -> None:
        """Close the stratum from the facts below it, compare with the old facts, and compute counters and trace anew.

        Only facts of the given predicates are compared, by default of all that the stratum derives.
        """
        stratum, own = self.rules.stratum, self.rules.predicates
        below = self.new.restricted(predicate for predicate in self.new if predicate not in own)
        closed = close(self.engine, stratum, below, self.explicit, ignore_rounds)
        compared = own if predicates is None else predicates
        before, after = self.I.restricted(compared), closed.restricted(compared)
        self.replace(before - after, after - before, closed if predicates is None else None)
        whole = Materialisation(self.explicit, self.new, self.C_nr, self.C_r)
        counted = counted_anew(self.engine, [stratum], whole, own)
        self.recount(counted.nr, counted.rec, own)
        self.trace_again(self.rules.number, stratum, whole)

    def trace_again(self, number: int, stratum: Stratum, new: AnyMaterialisation) -> None:
        """Compute the trace of a stratum anew; only Counting keeps it."""

    @cached_property
    def in_bodies(self) -> frozenset[Predicate]:
        """The predicates in bodies of rules."""
        rules = (rule for stratum in self.program.strata for rule in stratum.rules)
        return frozenset(atom.predicate for rule in rules for atom in rule.body)

    def new_trace(self) -> AnyTrace | None:
        """The trace after the update; only Counting keeps it."""
        return None

    def is_affected(self, stratum: Stratum) -> bool:
        """Whether facts that the stratum depends on have changed."""
        changed = {*self.gone, *self.fresh}
        if stratum.alone is not None:
            return not changed.isdisjoint(stratum.inputs)
        changed.update(self.E_minus, self.E_plus)
        return not changed.isdisjoint(stratum.inputs) or not changed.isdisjoint(stratum.predicates)

    def change_unruled(self) -> None:
        """Delete and insert facts of predicates without rules, which hold exactly if they are explicit."""
        unruled = [p for p in {*self.E_minus, *self.E_plus} if not self.program.stratum_of.get(p)]
        deleted, inserted = self.E_minus.restricted(unruled), self.E_plus.restricted(unruled)
        self.observer(inserted.count - deleted.count)
        self.delete(deleted)
        self.add(inserted, back=NONE)
