"""Splitting the last join over threads changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from everlog.engine import execute
from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate

RULES = parse_program("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").rules
EDGE, PATH = Predicate("edge", 2), Predicate("path", 2)


def closure(edges: Relation, nodes: int, threads: int) -> tuple[Relation, int]:
    engine = Engine(nodes, {}, threads=threads)
    facts, delta = FactSet({EDGE: edges}), FactSet({PATH: edges})
    while delta:
        facts = facts.extended(delta)
        delta = engine.match(RuleSet(RULES), facts, facts, changed=[(delta, NONE)]).facts(without=facts)
    return facts[PATH], engine.work.instances.total()


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 3, 16])
@pytest.mark.parametrize("nodes", [3, 40, 3000])
def test_threads_agree_with_one(monkeypatch: pytest.MonkeyPatch, nodes: int, threads: int) -> None:
    random = np.random.default_rng(nodes)
    edges = Relation.from_columns(list(random.integers(0, nodes, (2, nodes * 2))), nodes)
    expected = closure(edges, nodes, threads=1)
    monkeypatch.setattr(execute, "THREAD_MATCHES", 1)
    assert closure(edges, nodes, threads) == expected
