"""Limits act between blocks and leave the state unchanged."""

from __future__ import annotations

import time

import numpy as np
import pytest

import everlog
from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.engine.factset import FactSet
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.errors import LimitError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.strata import close_strata

CLOSURE = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
PAIRS = "pair(?x, ?y, ?z) :- edge(?x, _), edge(_, ?y), edge(?z, ?z) ."
EDGE = Predicate("edge", 2)


def program(text: str) -> StratifiedProgram:
    return stratify(check(parse_program(text)))


def chain(size: int) -> FactSet:
    """A chain with a loop at every node."""
    nodes = np.arange(size)
    columns = [np.concatenate([nodes[:-1], nodes]), np.concatenate([nodes[1:], nodes])]
    return FactSet({EDGE: Relation.from_columns(columns, size)})


class FullError(Exception):
    """There is no room any more."""


class FewChecks(Engine):
    """Raises an error once the limits were checked a number of times."""

    def __init__(self, calls: int) -> None:
        super().__init__(60, {}, block=16, threads=1)
        self._calls = calls

    def check(self, collected: int, instances: int = 0, rows: int = 0) -> None:
        if not self._calls:
            raise FullError
        self._calls -= 1
        super().check(collected, instances, rows)


class CountedChecks(Engine):
    """Counts how often the limits are checked."""

    checks = 0

    def check(self, collected: int, instances: int = 0, rows: int = 0) -> None:
        self.checks += 1
        super().check(collected, instances, rows)


@pytest.mark.parametrize("text", [CLOSURE, PAIRS])
def test_limits_are_checked_between_blocks(text: str) -> None:
    """With small blocks the limits are checked many times, and an error at any of these checks ends the work."""
    for calls in (1, 5, 20):
        with pytest.raises(FullError):
            close_strata(FewChecks(calls), program(text), chain(60))


def test_a_deadline_in_the_past() -> None:
    engine = Engine(60, {}, limits=Limits(deadline=time.monotonic() - 1))
    with pytest.raises(LimitError, match="time allowed"):
        close_strata(engine, program(CLOSURE), chain(60))


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_max_facts_is_exact_at_the_end(block: int) -> None:
    """A materialisation with exactly the maximum number of facts passes; with a maximum of one fewer it fails."""
    facts, statistics = close_strata(Engine(20, {}, block=block), program(CLOSURE), chain(20))
    assert facts.count == statistics.facts
    limits = Limits(max_facts=statistics.facts)
    assert close_strata(Engine(20, {}, limits=limits, block=block), program(CLOSURE), chain(20))[1].facts == facts.count
    limits = Limits(max_facts=statistics.facts - 1)
    with pytest.raises(LimitError, match=f"more than {facts.count - 1}"):
        close_strata(Engine(20, {}, limits=limits, block=block), program(CLOSURE), chain(20))


def test_max_facts_stops_long_before_the_end() -> None:
    """27 million triples would follow; a few blocks are enough to see that it is too many."""
    engine = Engine(300, {}, limits=Limits(max_facts=10_000), block=1024)
    with pytest.raises(LimitError):
        close_strata(engine, program(PAIRS), chain(300))
    assert engine.work.instances["forward"] < 1_000_000


def test_max_facts_of_a_rule_without_recursion() -> None:
    kb = everlog.KnowledgeBase("q(?x) :- p(?x) .", max_facts=15)
    kb.insert("p", [(i,) for i in range(10)])
    with pytest.raises(LimitError):
        kb.materialise()
    kb.max_facts = 20
    assert kb.materialise().facts == 20


def test_a_limited_query_holds_no_more_than_allowed() -> None:
    facts = chain(50)
    rules = RuleSet(program("a(?x, ?y, ?z) :- edge(?x, ?x), edge(?y, ?y), edge(?z, ?z) .").strata[0].rules)
    engine = Engine(50, {}, limits=Limits(max_facts=1000), block=128)
    with pytest.raises(LimitError):
        engine.match(rules, facts, facts).facts()


def knowledge_base(**options: float) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(CLOSURE, **options)  # type: ignore[arg-type]
    kb.insert("edge", [(0, 1), (1, 2)])
    kb.materialise()
    return kb


LONG = [(i, i + 1) for i in range(2, 40)]


@pytest.mark.parametrize("option", ["max_facts", "timeout"])
def test_an_update_over_a_limit_changes_nothing(option: str) -> None:
    kb = knowledge_base()
    setattr(kb, option, 10 if option == "max_facts" else -1)
    with pytest.raises(LimitError):
        kb.update(insert={"edge": LONG, "fresh": [(1,)]}, delete={"edge": [(0, 1)]})
    assert kb["edge"].rows() == [(0, 1), (1, 2)]
    assert kb["path"].rows() == [(0, 1), (0, 2), (1, 2)]
    assert len(kb["edge"].explicit) == 2
    assert "fresh" not in kb
    setattr(kb, option, None)
    assert kb.materialise().facts == 5
    assert len(kb.update(insert={"edge": LONG}).inserted["path"]) == 41 * 40 // 2 - 3


def test_a_materialisation_over_a_limit_can_be_tried_again() -> None:
    kb = knowledge_base(max_facts=10)
    kb.insert("edge", LONG)
    with pytest.raises(LimitError):
        kb.materialise()
    with pytest.raises(LimitError):
        kb.query("path(0, ?x)")
    kb.max_facts = None
    assert len(kb.query("path(0, ?x)")) == 40


def test_max_facts_counts_groups_as_they_come() -> None:
    """A million pairs through one hub, from one scan: the limit is seen after the first thousands."""
    size = 1000
    columns = [np.append(np.arange(1, size), np.zeros(size - 1)), np.append(np.zeros(size - 1), np.arange(1, size))]
    star = FactSet({EDGE: Relation.from_columns([column.astype(np.int64) for column in columns], size)})
    engine = CountedChecks(size, {}, limits=Limits(max_facts=5_000), block=256, threads=1)
    matches = engine.match(RuleSet(program("two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .").strata[0].rules), star, star)
    with pytest.raises(LimitError, match="more than 5,000"):
        matches.facts()
    assert engine.checks < 20
