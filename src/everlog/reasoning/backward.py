"""Backward chaining: which facts still have a proof (journal paper, Algorithm 5; thesis, Algorithm 5).

The papers check a fact by recursion, depth first: CHECK looks for the instances of recursive rules that derive it,
one after the other, checks their body atoms, and stops once one of the instances proves the fact. Here all facts in
question are checked at once. Each has a cursor over its instances (:class:`everlog.engine.algebra.AnyProofs`). A
*chain* goes from the facts in question to body atoms of their first instances, from these to body atoms of theirs, and
so on, until no body atom is left that was not checked. Then the facts in question that are not proved go on with the
next instances of the facts that they still need, which begins further chains. A fact is disproved once it needs none
that has instances left.

To stay exact, a fact enters C (checked) when its chain reaches it, not when it is first seen, so that saturation proves
exactly the facts that it proves in the papers. A search that ends early, because all facts in question are proved,
leaves checked facts whose instances were not looked for. They wait until a later fact in question needs them.

Each recursive instance of the old materialisation is considered at most once (Theorem 25 d). Instances of one fact are
taken in turn: one, and then as many as were taken before.
"""

from __future__ import annotations

from functools import partial

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyEngine, AnyFactSet, AnyProofs
from everlog.engine.factset import NONE
from everlog.reasoning.change import AnyExplicitChange
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import AnyMaterialisation
from everlog.reasoning.rule_sets import Rules


class BackwardChaining(Maintenance):
    """Deletion that searches for another proof before it deletes; subclasses define what is proved without recursion.

    ``depth`` is the maximum length of a chain; the body atoms after its last fact are blocked. None is no limit.
    """

    keeps_counters = True

    def __init__(
        self,
        engine: AnyEngine,
        program: StratifiedProgram,
        old: AnyMaterialisation,
        explicit: AnyExplicitChange,
        depth: int | None = None,
    ) -> None:
        super().__init__(engine, program, old, explicit, depth)
        if not self.keeps_counters:
            self.C_nr = self.C_r = None

    def maintain(self, rules: Rules) -> None:
        self.C: AnyFactSet = NONE
        self.P: AnyFactSet = NONE
        self.Y: AnyFactSet = NONE
        self.B: AnyFactSet = NONE
        self.waiting: AnyFactSet = NONE
        """Checked facts whose instances were not looked for, since the search ended."""
        self.levels: list[AnyFactSet] = []
        """The checked facts by their distance from a fact in question, if chains have a maximum length."""
        self.lower: AnyFactSet = self.alive.restricted(p for p in self.alive if p not in rules.predicates)
        """The facts of the strata below."""
        self.proofs: AnyProofs = self.engine.prove(rules.recursive, self.alive, self.either, rules.predicates)
        deleted = self.overdelete(rules, partial(self.unproved, rules))  # l. 62; thesis l. 100
        self.statistics.overdeleted += deleted.count
        self.statistics.checked += self.C.count
        self.statistics.proved += self.P.count
        self.statistics.blocked += self.B.count
        rederived = self.rederive(rules, deleted) if self.B else NONE  # l. 63 and 64
        self.statistics.rederived += rederived.count
        self.insert(rules, rederived)  # l. 65; thesis l. 101

    def rederive(self, rules: Rules, deleted: AnyFactSet) -> AnyFactSet:
        """The deleted facts to insert again, if a search was given up."""
        raise NotImplementedError

    def unproved(self, rules: Rules, asked: AnyFactSet) -> AnyFactSet:
        """The facts of ``asked`` that cannot be proved, or that are blocked (CHECK)."""
        self.chain(rules, asked, asked - self.C, 0)
        while (left := asked - self.P) and (unfinished := self.proofs.unfinished(left, self.P, self.waiting)):
            depth, facts = self.resumed(unfinished)
            self.waiting = self.waiting - facts
            self.chain(rules, asked, self.next_bodies(facts), depth + 1)
        return left

    def chain(self, rules: Rules, asked: AnyFactSet, facts: AnyFactSet, depth: int) -> None:
        """Check facts, then the body atoms of their next instances, and so on, until all facts of ``asked`` are proved.

        ``depth`` is the distance of the first facts from ``asked``.
        """

        def step(level: AnyFactSet) -> AnyFactSet:
            nonlocal depth
            if self.max_depth is not None and depth >= self.max_depth:  # l. 79
                self.B = self.B | level
                return NONE
            self.C = self.C.extended(level)  # l. 87
            self.note_depth(level, depth)
            self.saturate(rules, self.proved_at_once(rules, level))  # l. 88
            left = level - self.P
            if not asked - self.P:
                self.waiting = self.waiting | left
                return NONE
            depth += 1
            return self.next_bodies(self.with_instances(left))

        fixpoint(facts, step)

    def next_bodies(self, facts: AnyFactSet) -> AnyFactSet:
        """The body atoms of the next instances of the facts that were not checked yet."""
        gone = self.D - self.B if self.B else self.D
        return self.proofs.bodies(facts, gone) - self.C  # l. 81 and 82

    def note_depth(self, facts: AnyFactSet, depth: int) -> None:
        """Store the distance of facts from the facts in question, if chains have a maximum length."""
        if self.max_depth is not None:
            self.levels += [NONE] * (depth + 1 - len(self.levels))
            self.levels[depth] = self.levels[depth] | facts

    def resumed(self, unfinished: AnyFactSet) -> tuple[int, AnyFactSet]:
        """The facts to go on with, all at one distance from the facts in question, and that distance."""
        for depth, level in enumerate(self.levels):
            if facts := unfinished & level:
                return depth, facts
        return 0, unfinished

    def saturate(self, rules: Rules, proved: AnyFactSet) -> None:
        """Add to P the checked facts that follow from it; facts that follow and are not checked are delayed
        (SATURATE).
        """

        def checked(found: AnyFactSet) -> AnyFactSet:
            known = found & self.C
            self.Y = self.Y | (found - known)  # l. 91
            return known - self.P

        def step(delta: AnyFactSet) -> AnyFactSet:
            self.P = self.P.extended(delta)  # l. 93
            known = self.lower.extended(self.P)
            return checked(self.engine.match(rules.recursive, known, self.either, [(delta, NONE)]).facts())  # l. 94

        fixpoint(checked(proved), step)

    def proved_at_once(self, rules: Rules, facts: AnyFactSet) -> AnyFactSet:
        """The facts that are delayed, explicit, or derived by a nonrecursive rule."""
        raise NotImplementedError

    def with_instances(self, facts: AnyFactSet) -> AnyFactSet:
        """The facts that may still have an instance of a recursive rule."""
        return facts
