"""Heads that come grouped: known ones are taken out, for heads of any arity."""

from __future__ import annotations

import numpy as np
import pytest

from everlog.engine.factset import FactSet
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.engine.runs import INDEXED_FROM
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate

SIZE = 4 * INDEXED_FROM


@pytest.mark.parametrize(
    ("rule", "head"), [("a(?x) :- r(?x, ?y), b(?y) .", ("a", 1)), ("p(?y, ?x) :- b(?y), r(?x, ?y) .", ("p", 2))]
)
def test_known_heads_are_left_out_if_their_relation_is_indexed(rule: str, head: tuple[str, int]) -> None:
    ids = np.arange(SIZE)
    half = ids[::2]
    known = {1: [half], 2: [half, half]}[head[1]]
    facts = FactSet(
        {
            Predicate("b", 1): Relation.from_columns([ids], SIZE),
            Predicate("r", 2): Relation.from_columns([ids, ids], SIZE),
            Predicate(*head): Relation.from_columns(known, SIZE),
        }
    )
    found = Engine(SIZE, {}).match(RuleSet(parse_program(rule).rules), facts, facts).facts(without=facts)
    assert len(known[0]) >= INDEXED_FROM
    assert found[Predicate(*head)].columns()[-1].tolist() == ids[1::2].tolist()
