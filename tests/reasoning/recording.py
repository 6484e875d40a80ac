"""An engine that records each rule instance that it considers, with the phase."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyFactSet
from everlog.engine.backward_plans import BackwardRules
from everlog.engine.collect import Collector, FactCollector
from everlog.engine.cursors import Cursors, ProofSearch
from everlog.engine.factset import FactSet, as_local
from everlog.engine.keys import Column, Keys
from everlog.engine.match import Change, Engine, Matches, Proofs
from everlog.engine.plan import PlannedRule
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Atom, Predicate, Rule
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.update import update
from tests.engine.test_match import spelled
from tests.reasoning.test_maintenance import UNIVERSE, Ids

Instance = tuple[Rule, tuple[int, ...]]
"""A rule, and the ids of its variables, in the order in which the variables appear in the body."""


def instances(
    engine: Engine, rules: Sequence[Rule], pos: FactSet, neg: FactSet, changed: Sequence[Change] = ()
) -> set[Instance]:
    """The instances that ``match`` finds, computed with rules whose heads have all variables of the body."""
    heads = [spelled(index, rule) for index, rule in enumerate(rules)]
    found = Engine(UNIVERSE, engine.constants).match(RuleSet(heads), pos, neg, changed).facts()
    of = {head.head.predicate: rule for head, rule in zip(heads, rules, strict=True)}
    return {(of[p], row) for p, relation in found.items() for row in rows(relation.columns(), len(relation))}


def rows(columns: Sequence[Iterable[int]], size: int) -> list[tuple[int, ...]]:
    return list(zip(*(map(int, column) for column in columns), strict=True)) if columns else [()] * size


def proving(engine: Engine, rule: Rule, wanted: FactSet, pos: FactSet, neg: FactSet) -> set[Instance]:
    """The instances of a rule that derive wanted facts."""
    asked = Predicate(f"wanted {rule.head.predicate.name}", rule.head.predicate.arity)
    guarded = replace(rule, positive=(*rule.positive, replace(rule.head, predicate=asked)))
    facts = FactSet({**pos, asked: wanted[rule.head.predicate]})
    return {(rule, row) for _, row in instances(engine, [guarded], facts, neg)}


def bindings(rules: BackwardRules, number: int, values: Iterable[int]) -> Instance:
    """An instance of one of the rules, given the values of its variables."""
    rule = rules.rules[number]
    named = dict(zip(rules.variables[number], map(int, values), strict=False))
    return rule.rule, tuple(named[v] for v in dict.fromkeys(v for atom in rule.positive for v in atom.variables()))


class Recorder(Engine):
    """``seen`` has the instances by phase of ``match``, and by two kinds of proof: ``one step``
    (journal paper, lines 42, 64 and 88) and ``backward`` chaining (line 81).
    """

    def __init__(self, ids: Ids) -> None:
        super().__init__(UNIVERSE, ids.ids)
        self.seen: dict[str, Counter[Instance]] = defaultdict(Counter)

    def match(self, *arguments: Any, **options: Any) -> Matches:
        return RecordedMatches(**vars(super().match(*arguments, **options)))

    def prove(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        chained: Collection[Predicate] = (),
        phase: str = "backward",
    ) -> Proofs:
        return RecordedProofs(self, rules, as_local(pos), as_local(neg), chained, phase)

    def seen_in(self, *phases: str) -> Counter[Instance]:
        """The instances of some phases, counted as often as they were considered."""
        return sum((self.seen[phase] for phase in phases), Counter())

    def check_totals(self) -> None:
        """Check for each rule that the number of recorded instances is the number that the engine counts."""
        recorded = Counter(rule for seen in self.seen.values() for rule, _ in seen.elements())
        assert recorded == Counter({rule: n for rule, n in self.work.by_rule.items() if n})


@dataclass(frozen=True)
class RecordedMatches(Matches):
    def _run(self, collector: Collector) -> None:
        assert isinstance(self.engine, Recorder)
        rules = [rule.rule for rule in self.rules.rules]
        self.engine.seen[self.phase].update(instances(self.engine, rules, self.pos, self.neg, self.changed))
        super()._run(collector)


class RecordedProofs(Proofs):
    """Records each instance: kernels search one fact at a time, and one instance of a fact at a time."""

    def _first_instances(self, rules: BackwardRules, keys: Keys) -> Keys:
        assert isinstance(self.engine, Recorder)
        found = [keys[:0]]
        for i in range(len(keys)):
            before = self.engine.work.by_rule.copy()
            found.append(super()._first_instances(rules, keys[i : i + 1]))
            for number, rule in enumerate(rules.rules):
                if self.engine.work.by_rule[rule.rule] > before[rule.rule]:
                    self.engine.seen["one step"][bindings(rules, number, rules.values)] += 1
        return np.concatenate(found)

    @cached_property
    def _search(self) -> ProofSearch | None:
        assert isinstance(self.engine, Recorder)
        if super()._search is None:
            return None
        return RecordedSearch(self.engine, self.chained, self._backward_rules, self._note)

    def _run(
        self, rule: PlannedRule, wanted: FactSet, pos: FactSet, heads: tuple[Atom, ...], collector: FactCollector
    ) -> None:
        assert isinstance(self.engine, Recorder)
        found = proving(self.engine, rule.rule, wanted, pos, self.neg)
        self.engine.seen["backward" if heads else "one step"].update(found)
        super()._run(rule, wanted, pos, heads, collector)


class RecordedSearch(ProofSearch):
    def __init__(
        self,
        recorder: Recorder,
        chained: Mapping[Predicate, int],
        compiled: Callable[[Predicate], BackwardRules],
        note: Callable[[PlannedRule, int], None],
    ) -> None:
        super().__init__(chained, compiled, UNIVERSE, note)
        self.recorder = recorder

    def quotas(self, cursors: Cursors, rows: Column) -> Column:
        return np.minimum(1, super().quotas(cursors, rows))

    def _advance(self, predicate: Predicate, relation: Relation) -> None:
        owner, keys = self._owner[predicate], relation.keys()
        numbers = self._numbers(owner, keys)
        cursors = self._cursors.get(owner)
        rows = self._rows[numbers]
        begun = rows >= 0
        wanted = np.ones(len(keys), np.int64)
        if cursors is not None and begun.any():
            wanted[begun] = super().quotas(cursors, rows[begun])
        for n in range(wanted.max(initial=0)):
            mine = wanted > n
            super()._advance(predicate, Relation.from_keys(relation.layout, keys[mine]))
            cursors = self._cursors[owner]
            for row in self._rows[numbers[mine]].tolist():
                if cursors.plan_at[row] >= 0 and cursors.rule_at[row] < len(cursors.rules):
                    instance = bindings(cursors.rules, int(cursors.rule_at[row]), cursors.values[row])
                    self.recorder.seen["backward"][instance] += 1


@dataclass(frozen=True)
class Recorded:
    """An update with all the instances that it considered, and the instances over the facts before and after."""

    done: SignedChange
    engine: Recorder
    old: set[Instance]
    new: set[Instance]


def recorded(
    program: StratifiedProgram,
    ids: Ids,
    old: Materialisation,
    delete: FactSet,
    insert: FactSet,
    algorithm: Algorithm,
    strategy: Strategy = "never",
) -> Recorded:
    """Run an update; ``old`` must have the bookkeeping that the algorithm needs."""
    engine = Recorder(ids)
    done = update(engine, program, old, delete, insert, algorithm, strategy)
    engine.check_totals()
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    before, after = old.facts, done.materialisation.facts
    return Recorded(done, engine, instances(engine, rules, before, before), instances(engine, rules, after, after))
