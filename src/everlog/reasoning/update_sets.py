"""The sets of an update, and the steps that algorithms have in common: overdeletion and insertion.

I is the old materialisation, D the facts deleted from it so far and A the facts added, rederived
ones among them. At each point D is within I, and what is in A and in I is in D. From these come
the sets in which rules are matched, each kept up to date as D and A grow, at the cost of the growth:

- ``alive``: I \\ (D \\ A), the facts that survive the deletions;
- ``new``: (I \\ D) u A, the result so far;
- ``either``: I u A;
- ``gone``: D \\ A, and ``fresh``: A \\ D, what has changed so far in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyCounts, AnyEngine, AnyFactSet, AnyMatches
from everlog.engine.factset import NONE
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import AnyExplicitChange, Summands
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.materialisation import AnyMaterialisation
from everlog.reasoning.modules.loops import NO_MODULES, Loops, Oracle
from everlog.reasoning.observers import HeldFacts
from everlog.reasoning.rule_sets import Rules
from everlog.reasoning.statistics import UpdateStatistics


@dataclass
class CounterLog:
    """The numbers that an update has added to a counter and subtracted from it so far."""

    plus: list[AnyCounts] = field(default_factory=list)
    minus: list[AnyCounts] = field(default_factory=list)

    @property
    def summands(self) -> Summands[AnyCounts]:
        return Summands(tuple(self.plus), tuple(self.minus))


class UpdateSets:
    """The sets of one update, and steps that change them; see the module.

    ``depth`` is for algorithms that search for proofs: the maximum number of levels of a search; None is no maximum.
    """

    name = ""
    needs: Literal["nothing", "counters", "trace"] = "nothing"
    """The bookkeeping that the old materialisation must have."""

    def __init__(
        self,
        engine: AnyEngine,
        program: StratifiedProgram,
        old: AnyMaterialisation,
        explicit: AnyExplicitChange,
        depth: int | None = None,
    ) -> None:
        self.engine = engine
        self.program = program
        self.old = old
        self.E_minus, self.E_plus = explicit.deleted, explicit.inserted
        self.explicit_left, self.explicit = explicit.left, explicit.explicit
        self.I = old.facts
        self.D: AnyFactSet = NONE
        self.A: AnyFactSet = NONE
        self.alive = self.new = self.either = self.I
        self.gone: AnyFactSet = NONE
        self.fresh: AnyFactSet = NONE
        self.C_nr = old.nr
        self.C_r = old.rec
        self.max_depth = depth
        self.nr_changed = CounterLog()
        self.rec_changed = CounterLog()
        self.statistics = UpdateStatistics(self.name)
        self.observer = HeldFacts(engine)

    def delete(self, facts: AnyFactSet) -> None:
        """D := D u facts; they are in I, and not in A."""
        self.D = self.D.extended(facts)
        self.gone = self.gone.extended(facts)
        same = self.alive is self.new
        self.alive = self.alive - facts
        self.new = self.alive if same else self.new - facts

    def add(self, facts: AnyFactSet, back: AnyFactSet | None = None) -> None:
        """A := A u facts; they are not in (I \\ D) u A. ``back`` are those that are in D, None if not known."""
        back = facts & self.D if back is None else back
        self.A = self.A.extended(facts)
        self.gone = self.gone - back
        self.alive = self.alive.extended(back)
        brand_new = facts - back
        self.fresh = self.fresh.extended(brand_new)
        same = self.either is self.new and not back
        self.new = self.new.extended(facts)
        self.either = self.new if same else self.either.extended(brand_new)

    def overdelete(self, rules: Rules, unsupported: Oracle, modules: Loops = NO_MODULES) -> AnyFactSet:
        """Remove the facts of a stratum that may have lost their support, and return them.

        These are the facts that an instance with a changed body derives, and from there on those that an instance with
        a deleted fact in its body derives, except facts that the oracle knows to hold: ``unsupported`` returns the
        others. That is OVERDELETE of DRed (journal paper, Algorithm 4) and of DRed^c (thesis, Algorithm 4),
        DELETEUNPROVED of FBF and B/F^c (Algorithm 5), where the oracle looks for proofs, and lines 162 to 173 of
        DRed^c-MOD (thesis, Algorithm 7), where the modules of the stratum return the facts that they may have lost. The
        line numbers are those of the thesis's Algorithm 4.

        Each instance of the old materialisation is considered at most once. The counters that are kept are decremented
        on the way, and those of nonrecursive rules are right before the oracle is called.
        """
        engine, changed = self.engine, [(self.gone, self.fresh)]
        explicit = self.E_minus.restricted(rules.predicates)
        lost = self.lose_nr(engine.match(rules.nonrecursive, self.I, self.I, changed, "delete"), explicit)  # l. 75
        lost |= self.lose_rec(engine.match(rules.recursive, self.I, self.I, changed, "delete"))  # l. 77
        lost |= modules.deleted(self.gone, unsupported)
        overdeleted: AnyFactSet = NONE

        def step(delta: AnyFactSet) -> AnyFactSet:
            nonlocal overdeleted
            matched = engine.match(rules.recursive, self.alive, self.either, [(delta, NONE)], "delete")
            lost = self.lose_rec(matched) | modules.deleted(delta, unsupported)  # l. 82
            self.delete(delta)  # l. 84
            overdeleted = overdeleted.extended(delta)
            return unsupported(lost - self.D)  # l. 80

        fixpoint(unsupported(lost - self.D), step, self.observer.fewer)
        return overdeleted

    def insert(self, rules: Rules, rederived: AnyFactSet, modules: Loops = NO_MODULES) -> None:
        """Derive what follows from new facts, and from rederived ones (journal paper, Algorithm 4, INSERT).

        The counters that are kept are incremented on the way (thesis, Algorithm 4). Modules of the stratum derive their
        part in each round (thesis, Algorithm 7, lines 177 to 190).
        """
        engine, changed = self.engine, [(self.fresh, self.gone)]
        explicit = self.E_plus.restricted(rules.predicates)
        found = rederived | explicit  # l. 53
        found |= self.gain_nr(engine.match(rules.nonrecursive, self.new, self.new, changed), explicit)
        found |= self.gain_rec(engine.match(rules.recursive, self.new, self.new, changed))
        found |= modules.added(self.fresh)

        def step(delta: AnyFactSet) -> AnyFactSet:
            self.add(delta)  # l. 57
            matched = engine.match(rules.recursive, self.new, self.new, [(delta, NONE)])
            return (self.gain_rec(matched) | modules.added(delta)) - self.new  # l. 58 and 55

        fixpoint(found - self.new, step, self.observer)

    def provable(self, rules: RuleSet, facts: AnyFactSet) -> AnyFactSet:
        """The deleted facts of ``facts`` that are explicit or follow in one step from facts that survived."""
        explicit = facts & self.explicit_left
        return explicit.extended(self.engine.prove(rules, self.alive, self.either).facts(facts - explicit))

    def unsupported(self, facts: AnyFactSet) -> AnyFactSet:
        """The facts that are not explicit and have no instance of a nonrecursive rule; without counters all facts.

        A fact whose nonrecursive counter is above zero holds, since the counter is right when this is called.
        """
        return facts if self.C_nr is None else facts - self.C_nr.counted(facts)

    # Counters. If they are not kept, only the facts of the instances are collected. -------------

    def recount(self, nr: AnyCounts | None, rec: AnyCounts | None, predicates: frozenset[Predicate]) -> None:
        """Replace the counters by others, which differ for some predicates only."""
        if self.C_nr is None or self.C_r is None or nr is None or rec is None:
            return
        for log, old, new in ((self.nr_changed, self.C_nr, nr), (self.rec_changed, self.C_r, rec)):
            log.minus.append(old.restricted(predicates))
            log.plus.append(new.restricted(predicates))
        self.C_nr, self.C_r = nr, rec

    def lose_nr(self, matches: AnyMatches, explicit: AnyFactSet) -> AnyFactSet:
        """Subtract lost nonrecursive instances and explicit facts from C_nr; returns their facts."""
        if self.C_nr is None:
            return matches.facts() | explicit
        lost = matches.counts() + self.engine.once(explicit)
        self.C_nr = self.C_nr - lost
        self.nr_changed.minus.append(lost)
        return lost.facts()

    def lose_rec(self, matches: AnyMatches) -> AnyFactSet:
        """Subtract recursive instances that are lost, or whose body is no longer certain, from C_r; returns their
        facts.
        """
        if self.C_r is None:
            return matches.facts()
        lost = matches.counts()
        self.C_r = self.C_r - lost
        self.rec_changed.minus.append(lost)
        return lost.facts()

    def gain_nr(self, matches: AnyMatches, explicit: AnyFactSet) -> AnyFactSet:
        """Add new nonrecursive instances and explicit facts to C_nr; returns their facts."""
        if self.C_nr is None:
            return matches.facts(without=self.new) | explicit
        won = matches.counts() + self.engine.once(explicit)
        self.C_nr = self.C_nr + won
        self.nr_changed.plus.append(won)
        return won.facts()

    def gain_rec(self, matches: AnyMatches) -> AnyFactSet:
        """Add new recursive instances to C_r; returns their facts."""
        if self.C_r is None:
            return matches.facts(without=self.new)
        won = matches.counts()
        self.C_r = self.C_r + won
        self.rec_changed.plus.append(won)
        return won.facts()
