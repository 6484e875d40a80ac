"""Plans belong to the rules of a stratum: an update does not plan rules again."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import everlog
from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.engine.plan import PlannedRule
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Rule
from everlog.reasoning.names import Algorithm
from everlog.reasoning.rule_sets import rule_sets

RULES = """
    two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), ~closed(?z) .
    reached(?y) :- start(?x), edge(?x, ?y) .
    reached(?z) :- reached(?y), edge(?y, ?z), open(?z) .
    pair(?x, ?y) :- reached(?x), two(?x, ?y), reached(?y) .
"""


@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "dred", "fbf", "counting"])
def test_an_update_plans_nothing_again(algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = everlog.KnowledgeBase(RULES, maintain="counting" if algorithm == "counting" else "dredc")
    kb.insert("edge", [(i, j % 50) for i in range(50) for j in (i + 1, 3 * i)])
    kb.insert("start", [(0,)])
    kb.insert("open", [(i,) for i in range(0, 50, 2)])
    kb.insert("closed", [(7,)])
    kb.materialise()
    made: list[Any] = []
    make, prepare = PlannedRule._make, RuleSet.__init__

    def noted(self: PlannedRule, *arguments: Any) -> Any:
        made.append((self.rule, arguments))
        return make(self, *arguments)

    def prepared(self: RuleSet, rules: Any) -> None:
        made.append(rules)
        prepare(self, rules)

    monkeypatch.setattr(PlannedRule, "_make", noted)
    monkeypatch.setattr(RuleSet, "__init__", prepared)

    def changed() -> int:
        made.clear()
        for _ in range(2):
            kb.update(insert={"edge": [(1, 40)]}, algorithm=algorithm)
            kb.update(delete={"edge": [(1, 40)]}, algorithm=algorithm)
        return len(made)

    assert changed() > 0
    assert changed() == 0


def test_a_change_of_rules_forgets_the_plans_of_changed_strata_only(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = everlog.KnowledgeBase(" ".join(f"p{i + 1}(?x) :- p{i}(?x), q{i}(?x) ." for i in range(9)))
    for name in ("p0", *(f"q{i}" for i in range(9))):
        kb.insert(name, [(i,) for i in range(9)])
    kb.materialise()
    made: list[str] = []
    prepare = PlannedRule.__init__

    def noted(self: PlannedRule, rule: Rule, *arguments: Any) -> None:
        made.append(str(rule.head.predicate))
        prepare(self, rule, *arguments)

    monkeypatch.setattr(PlannedRule, "__init__", noted)
    kb.change_rules("p5(?x) :- more(?x) .")
    kb.update(insert={"more": [(20,)]}, delete={"p0": [(3,)]})
    assert set(made) == {"p5/1"}
    kb.change_rules(remove="p5(?x) :- more(?x) .")
    kb.update(insert={"p0": [(3,)]})
    assert set(made) == {"p5/1"}


def test_what_is_made_of_rules_stays_in_the_process() -> None:
    (stratum, *_) = stratify(check(parse_program(RULES))).strata
    assert rule_sets(stratum) is rule_sets(stratum)
    copied = pickle.loads(pickle.dumps(stratum))
    assert copied == stratum
    assert copied.ordinary._made == {}
    assert rule_sets(copied) is not rule_sets(stratum)
