"""Matching: the only place where rules meet facts.

``match(rules, pos, neg, changed)`` stands for the papers' rule application with conditions,
Π⟦I⁺, I⁻ : P₁, N₁ : P₂, N₂⟧: every instance whose positive body atoms are in ``pos``, whose
negated ones are outside ``neg``, and which for each (P, N) in ``changed`` has a positive atom in
P or a negated atom in N. As in the papers P lies within ``pos`` and N outside ``neg``. Each
instance is found exactly once: the changed atom is tried at every position of the body, and
atoms before it are matched outside P (negated ones outside N too), as in section 9.2 of the
journal paper. With several conditions the one with the fewest facts drives, and the others are
tested on each whole instance before its head is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from everlog.engine.algebra import AnyChange, AnyFactSet, Way
from everlog.engine.backward_plans import BackwardRules, BodyFacts, excluded, is_listed, is_packed
from everlog.engine.collect import Collector, CountCollector, EnoughError, FactCollector, ListCollector
from everlog.engine.cursors import FACTS_AT_ONCE, ProofSearch
from everlog.engine.execute import Execution
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.kernels import witnesses
from everlog.engine.keys import BLOCK_ROWS, Column, Keys
from everlog.engine.limits import Limits
from everlog.engine.measure import measured_fanout
from everlog.engine.multiset import Counts
from everlog.engine.passes import IGNORE_PASSES, PassObserver
from everlog.engine.plan import BY_COST, Leads, Measure, Plan, PlannedRule
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.engine.runs import Run
from everlog.engine.workbench import Workbench
from everlog.lang.syntax import Atom, Predicate, Wildcard

if TYPE_CHECKING:
    from everlog.analysis.stratify import Stratum

Change = tuple[FactSet, FactSet]


def local_changes(changed: Sequence[AnyChange]) -> tuple[Change, ...]:
    """Changes as local sets; sets of another implementation are an error."""
    return tuple((as_local(inside), as_local(outside)) for inside, outside in changed)


class Engine(Workbench):
    """The local engine: matches rules in sets of facts whose ids are below ``universe``."""

    def __init__(
        self,
        universe: int,
        constants: Mapping[str, int],
        *,
        limits: Limits | None = None,
        block: int = BLOCK_ROWS,
        threads: int | None = None,
        leads: Leads = BY_COST,
        passes: PassObserver = IGNORE_PASSES,
    ) -> None:
        super().__init__(universe, constants, limits, block, threads, passes)
        self.leads = leads

    def once(self, facts: AnyFactSet) -> Counts:
        """Counts in which each of the facts has the number one."""
        return Counts.once(as_local(facts))

    def match(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        changed: Sequence[AnyChange] = (),
        phase: str = "forward",
    ) -> Matches:
        """The instances of the rules (see the module); nothing is computed before they are read."""
        self.passes.began(self, rules, phase)
        return Matches(self, rules, as_local(pos), as_local(neg), local_changes(changed), phase)

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        """None, the plain way, which is this engine's only one."""
        if stratum.alone is not None:
            self.passes.began_module(self, stratum, stratum.alone)
        return None

    def prove(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        chained: Collection[Predicate] = (),
        phase: str = "backward",
    ) -> Proofs:
        """Rules backwards: the instances that derive facts that will be given."""
        return Proofs(self, rules, as_local(pos), as_local(neg), chained, phase)


@dataclass(frozen=True)
class Matches:
    """Instances still to be found, as the multiset of their heads."""

    engine: Engine
    rules: RuleSet
    pos: FactSet
    neg: FactSet
    changed: tuple[Change, ...]
    phase: str

    def facts(self, without: AnyFactSet = NONE) -> FactSet:
        """The different heads that are not in ``without``."""
        collector = FactCollector(as_local(without))
        self._run(collector)
        return collector.facts()

    def counts(self) -> Counts:
        """The heads, each with the number of its instances."""
        collector = CountCollector()
        self._run(collector)
        return collector.counts()

    def listed(self, head: Predicate, enough: int | None = None, *, repeated: bool = True) -> tuple[list[Column], int]:
        """The columns of the heads of a predicate in the order in which they are found, and how many there are.

        The search ends with the block in which there are ``enough``. With ``repeated`` several instances may
        have the same head; otherwise nothing is sorted.
        """
        collector = ListCollector(enough, repeated)
        with suppress(EnoughError):
            self._run(collector)
        return collector.columns(head)

    def any(self) -> bool:
        """Whether there is an instance; the search ends with the first block that has one."""
        try:
            self._run(ListCollector(1, repeated=False))
        except EnoughError:
            return True
        return False

    def _run(self, collector: Collector) -> None:
        if not self.changed:
            for rule in self.rules.rules:
                self._variant(rule, None, NONE, NONE, (), collector)
            return
        driving = min(range(len(self.changed)), key=lambda i: self.changed[i][0].count + self.changed[i][1].count)
        inside, outside = self.changed[driving]
        others = self.changed[:driving] + self.changed[driving + 1 :]
        for number, body in sorted({o for p in (*inside, *outside) for o in self.rules.occurrences.get(p, ())}):
            rule = self.rules.rules[number]
            part = inside if body < len(rule.positive) else outside
            if rule.atom(body).predicate in part:
                self._variant(rule, body, inside, outside, others, collector)

    def _variant(
        self,
        rule: PlannedRule,
        pivot: int | None,
        inside: FactSet,
        outside: FactSet,
        others: tuple[Change, ...],
        collector: Collector,
    ) -> None:
        """The instances whose first changed body atom is the pivot."""
        sources = self._sources(rule, pivot, inside, outside)
        if sources is None:
            return
        plan = rule.plan(pivot, _sizes(sources), bool(others), self.engine.leads.match, self._measure(sources))
        filters = [self._condition(rule, change) for change in others]
        execution = Execution(self.engine, plan, self._by_step(rule, plan, sources), filters, collector)
        self.engine.note(rule.rule, self.phase, execution.run())

    def _by_step(
        self, rule: PlannedRule, plan: Plan, sources: Sequence[tuple[Relation, ...]]
    ) -> list[tuple[Relation, ...]]:
        """The relations of each step; a negated pivot stays outside ``neg`` itself, by another step."""
        return [
            (self.neg.relation(rule.atom(step.body).predicate),)
            if step.kind == "absent" and step.body == plan.pivot
            else sources[step.body]
            for step in plan.steps
        ]

    def _sources(
        self, rule: PlannedRule, pivot: int | None, inside: FactSet, outside: FactSet
    ) -> list[tuple[Relation, ...]] | None:
        """The relations in which each body atom is matched; None if the relations of some positive atom are empty."""
        sources: list[tuple[Relation, ...]] = []
        for body, atom in enumerate(rule.positive):
            relation = self.pos.relation(atom.predicate)
            if pivot is not None and body == pivot:
                relation = inside.relation(atom.predicate)
            elif pivot is not None and body < pivot:
                relation = relation - inside.relation(atom.predicate)
            if not relation:
                return None
            sources.append((relation,))
        for body, atom in enumerate(rule.negative, len(rule.positive)):
            relations: tuple[Relation, ...] = (self.neg.relation(atom.predicate),)
            if pivot == body:
                relations = (self._shadow(atom, outside.relation(atom.predicate)),)
            elif pivot is not None and body < pivot:
                relations += (outside.relation(atom.predicate),)
            sources.append(relations)
        return sources

    def _measure(self, sources: Sequence[tuple[Relation, ...]]) -> Measure:
        return lambda scan, join: measured_fanout(self.engine, scan, sources[scan.body][0], join, sources[join.body][0])

    def _shadow(self, atom: Atom, relation: Relation) -> Relation:
        """The changed facts of a negated atom without the columns of its wildcards."""
        positions = [c for c, term in enumerate(atom.terms) if not isinstance(term, Wildcard)]
        if len(positions) == len(atom.terms):
            return relation
        return relation.projected(positions, self.engine.universe)

    def _condition(self, rule: PlannedRule, change: Change) -> list[tuple[Atom, Relation]]:
        """The atoms of a rule with their changed facts; an instance must have one of these."""
        inside, outside = change
        tests = [(atom, inside.relation(atom.predicate)) for atom in rule.positive]
        shadows = zip(rule.negative, rule.shadows, strict=True)
        tests += [(shadow, self._shadow(atom, outside.relation(atom.predicate))) for atom, shadow in shadows]
        return [(atom, relation) for atom, relation in tests if relation]


class Proofs:
    """Instances that derive given facts, found one at a time by kernels (:mod:`everlog.engine.kernels.witnesses`).

    Kernels read plain relations of packed keys. For rules that read others, such as closures, relations whose facts are
    fetched, and wide facts, :meth:`facts` finds all instances of the facts that no other rule derives. If such rules
    derive chained facts, :meth:`bodies` finds all instances of a fact at once.
    """

    def __init__(
        self,
        engine: Engine,
        rules: RuleSet,
        pos: FactSet,
        neg: FactSet,
        chained: Collection[Predicate],
        phase: str,
    ) -> None:
        self.engine = engine
        self.rules = rules
        self.pos = pos
        self.neg = neg
        self.phase = phase
        self.chained = {predicate: number for number, predicate in enumerate(sorted(chained))}
        self._compiled: dict[Predicate, BackwardRules] = {}

    def facts(self, facts: AnyFactSet) -> FactSet:
        """The given facts that have an instance; each is searched until its first one."""
        self.engine.passes.began(self.engine, self.rules, self.phase)
        return FactSet({p: self._witnessed(p, relation) for p, relation in as_local(facts).items()})

    def bodies(self, facts: AnyFactSet, without: AnyFactSet) -> FactSet:
        """The chained body atoms of the next few instances of each of the facts, except instances with a body atom in
        ``without``.
        """
        self.engine.passes.began(self.engine, self.rules, self.phase)
        if self._search is not None:
            return self._search.bodies(as_local(facts), as_local(without))
        collector = FactCollector()
        support = self.pos - as_local(without).restricted(self.chained)
        for predicate, relation in as_local(facts).items():
            for rule in self.rules.by_head.get(predicate, ()):
                if atoms := tuple(atom for atom in rule.positive if atom.predicate in self.chained):
                    self._run(rule, FactSet({predicate: relation}), support, atoms, collector)
        return collector.facts()

    def unfinished(self, facts: AnyFactSet, proved: AnyFactSet, waiting: AnyFactSet) -> FactSet:
        """The newer half of the facts that the given ones need, and that are ``waiting`` or have instances left."""
        if self._search is not None:
            return self._search.unfinished(as_local(facts), as_local(proved), as_local(waiting))
        return as_local(waiting) - as_local(proved)

    @cached_property
    def _search(self) -> ProofSearch | None:
        """The search with a cursor for each fact; None if kernels cannot read some relation of a chained rule."""
        heads = {p: rules for p, rules in self.rules.by_head.items() if p in self.chained}
        if not all(is_packed(p, self.engine.universe) for p in self.chained):
            return None
        if not all(self._is_listed(rule) for rules in heads.values() for rule in rules):
            return None
        return ProofSearch(self.chained, self._backward_rules, self.engine.universe, self._note)

    def _is_listed(self, rule: PlannedRule) -> bool:
        """Whether kernels can read all relations of a rule."""
        return all(is_listed(self.pos.relation(atom.predicate)) for atom in rule.positive) and all(
            is_listed(self.neg.relation(atom.predicate)) for atom in rule.negative
        )

    def _backward_rules(self, predicate: Predicate) -> BackwardRules:
        """The rules of a predicate for kernels, without those that read relations which kernels cannot read."""
        if predicate not in self._compiled:
            rules = [rule for rule in self.rules.by_head.get(predicate, ()) if self._is_listed(rule)]
            body_facts = BodyFacts(self.pos.relation, self.neg.relation, self.chained)
            self._compiled[predicate] = BackwardRules(predicate, rules, body_facts, self.engine)
        return self._compiled[predicate]

    def _note(self, rule: PlannedRule, instances: int) -> None:
        self.engine.note(rule.rule, self.phase, instances)

    def _witnessed(self, predicate: Predicate, wanted: Relation) -> Relation:
        """The facts of a relation that have an instance."""
        proved = [Relation(wanted.layout)]
        if wanted.layout.is_packed and (rules := self._backward_rules(predicate)):
            proved.append(Relation.from_run(Run.of(wanted.layout, self._first_instances(rules, wanted.keys()))))
        left = wanted - proved[-1]
        for rule in self.rules.by_head.get(predicate, ()):
            if left and not (wanted.layout.is_packed and self._is_listed(rule)):
                collector = FactCollector()
                self._run(rule, FactSet({predicate: left}), self.pos, (), collector)
                proved.append(collector.facts().relation(predicate))
                left = left - proved[-1]
        return reduce(or_, proved)

    def _first_instances(self, rules: BackwardRules, keys: Keys) -> Keys:
        """The keys of the facts that have an instance."""
        found = []
        nothing = excluded([None] * len(self.chained))[:2]
        for first in range(0, len(keys), FACTS_AT_ONCE):
            part = keys[first : first + FACTS_AT_ONCE]
            considered = np.zeros(len(rules), np.int64)
            mask = witnesses.first_instances(
                part,
                rules.heads,
                rules.spans,
                rules.plans,
                rules.steps,
                rules.cells,
                rules.table,
                *nothing,
                rules.values,
                rules.places,
                considered,
            )
            found.append(part[mask])
            for rule, number in zip(rules.rules, considered.tolist(), strict=True):
                self._note(rule, number)
        return np.concatenate(found)

    def _run(
        self, rule: PlannedRule, wanted: FactSet, pos: FactSet, heads: tuple[Atom, ...], collector: FactCollector
    ) -> None:
        """Collect the head, or other atoms, of all instances of a rule that derive the wanted facts."""
        matches = Matches(self.engine, self.rules, pos, self.neg, (), self.phase)
        backwards = rule.backwards
        sources = matches._sources(backwards, 0, wanted, NONE)
        if sources is not None:
            lead, measure = self.engine.leads.prove, matches._measure(sources)
            plan = backwards.plan(0, _sizes(sources), bool(heads), lead, measure)
            execution = Execution(self.engine, plan, matches._by_step(backwards, plan, sources), (), collector, heads)
            self._note(rule, execution.run())


def _sizes(sources: Sequence[tuple[Relation, ...]]) -> list[int]:
    return [len(relations[0]) if relations else 0 for relations in sources]
