"""An engine that records each rule instance that it considers, with the phase."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.collect import Collector
from everlog.engine.factset import FactSet
from everlog.engine.match import Change, Engine, Matches, Proofs
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate, Rule
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


def proving(engine: Engine, rules: Sequence[Rule], wanted: FactSet, pos: FactSet, neg: FactSet) -> set[Instance]:
    """The instances that ``prove`` finds: those of :func:`instances` whose head is in ``wanted``."""
    asked = {p: Predicate(f"wanted {p.name}", p.arity) for p in wanted}
    mine = [rule for rule in rules if rule.head.predicate in asked]
    guarded = [
        replace(rule, positive=(*rule.positive, replace(rule.head, predicate=asked[rule.head.predicate])))
        for rule in mine
    ]
    facts = FactSet({**pos, **{asked[p]: relation for p, relation in wanted.items()}})
    of = dict(zip(guarded, mine, strict=True))
    return {(of[rule], row) for rule, row in instances(engine, guarded, facts, neg)}


class Recorder(Engine):
    """``seen`` has the instances by phase of ``match``, and by two kinds of proof: ``one step``
    (journal paper, lines 42, 64 and 88) and ``backward`` chaining (line 81).
    """

    def __init__(self, ids: Ids) -> None:
        super().__init__(UNIVERSE, ids.ids)
        self.seen: dict[str, Counter[Instance]] = defaultdict(Counter)

    def match(self, *arguments: Any, **options: Any) -> Matches:
        return RecordedMatches(**vars(super().match(*arguments, **options)))

    def prove(self, *arguments: Any, **options: Any) -> Proofs:
        return RecordedProofs(**vars(super().prove(*arguments, **options)))

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


@dataclass(frozen=True)
class RecordedProofs(Proofs):
    def facts(self) -> FactSet:
        self._note("one step")
        return super().facts()

    def bodies(self, predicates: Collection[Predicate]) -> FactSet:
        self._note("backward")
        return super().bodies(predicates)

    def _note(self, kind: str) -> None:
        assert isinstance(self.engine, Recorder)
        rules = [rule.rule for rule in self.rules.rules]
        self.engine.seen[kind].update(proving(self.engine, rules, self.wanted, self.pos, self.neg))


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
