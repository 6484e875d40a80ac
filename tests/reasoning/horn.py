"""Random propositional programs as data, with many cycles, and updates that delete most of their facts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import FactSet
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.materialisation import Materialisation, with_counters
from tests.reasoning.test_maintenance import Ids, start
from tests.strategies import Case, rule_from

RULES = tuple(map(rule_from, ("m y <- one x y, m x", "m z <- two x y z, m x, m y", "m z <- two x y z, m x, ~off y")))
ONE, TWO, M, OFF = Predicate("one", 2), Predicate("two", 3), Predicate("m", 1), Predicate("off", 1)


@dataclass(frozen=True)
class Horn:
    """A propositional program as data: m(x) means that x holds; one(x, y) and two(x, y, z) are its rules."""

    program: StratifiedProgram
    ids: Ids
    old: Materialisation
    delete: FactSet
    insert: FactSet


def horn(seed: int) -> Horn:
    random = Random(seed)
    nodes = [str(i) for i in range(random.randint(3, 10))]

    def some(arity: int, most: int) -> set[tuple[str, ...]]:
        return {tuple(random.choices(nodes, k=arity)) for _ in range(random.randint(0, most))}

    explicit = {(ONE, row) for row in some(2, 14)} | {(TWO, row) for row in some(3, 6)}
    explicit |= {(M, row) for row in some(1, 6)} | {(OFF, row) for row in some(1, 3)}
    rules = Program(RULES if random.random() < 0.3 else RULES[:2])
    program, ids, old = start(Case(rules, frozenset(explicit), (ONE, TWO, M, OFF), tuple(nodes)), "levels")
    delete = {fact for fact in sorted(explicit) if random.random() < (0.6 if fact[0] == M else 0.1)}
    insert = {(M, row) for row in some(1, 1)} | {(OFF, row) for row in some(1, 1)} if random.random() < 0.3 else set()
    counted = with_counters(ids.engine(), program, old)
    return Horn(program, ids, counted, ids.facts(delete), ids.facts(insert))
