"""A new kind of modules is one file and one line of registration: everything else follows by default."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog.analysis.check import check
from everlog.analysis.modules.printing import print_module
from everlog.analysis.stratify import stratify
from everlog.backends.written import WrittenChange
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.modules import kinds
from everlog.reasoning.modules.kinds import with_modules
from tests.backends.lookup import changing
from tests.backends.lookup.changing import looked_up
from tests.reasoning.modules.symmetry import SYMMETRY, Symmetric
from tests.reasoning.modules.test_updates import BINARY, DOMAIN, OTHERS, run
from tests.reasoning.test_maintenance import ALGORITHMS
from tests.strategies import Case

SYMMETRIC = (
    "p(?x, ?y) :- p(?y, ?x) .",
    "p(?x, ?y) :- p(?y, ?x) . q(?x, ?z) :- q(?x, ?y), p(?y, ?z) .",
    "p(?x, ?y) :- p(?y, ?x) . p(?x, ?z) :- e(?x, ?z), p(?z, ?z) .",
    "p(?x, ?y) :- p(?y, ?x) . q(?x, ?y) :- q(?y, ?x) . p(?x, ?y) :- q(?x, ?y), e(?x, ?y) . q(?x, ?x) :- p(?x, ?y) .",
)
KNOWS = "knows(?x, ?y) :- knows(?y, ?x) . meets(?x, ?z) :- knows(?x, ?y), knows(?y, ?z) ."


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "MODULE_KINDS", (*kinds.MODULE_KINDS, SYMMETRY))
        yield


def test_rules_are_taken_and_shown() -> None:
    (module,) = with_modules(stratify(check(parse_program(KNOWS)))).special
    assert isinstance(module, Symmetric)
    assert print_module(module) == "symmetric: knows external | ^knows external"


@given(st.data())
def test_it_derives_what_its_rules_do(data: st.DataObject) -> None:
    """Alone and in fixpoints, from nothing and by every algorithm."""
    texts = [
        data.draw(st.sampled_from(SYMMETRIC)),
        *data.draw(st.lists(st.sampled_from(OTHERS), unique=True, max_size=4)),
    ]
    rows = st.tuples(st.sampled_from(DOMAIN), st.sampled_from(DOMAIN))
    facts = data.draw(st.sets(st.tuples(st.sampled_from(BINARY), rows), max_size=12))
    rules = parse_program("\n".join(texts)).rules
    run(Case(Program(rules), frozenset(facts), (*BINARY, Predicate("s", 1)), DOMAIN), "levels", data, ALGORITHMS)


def test_stores_explanations_and_changes_of_rules(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(KNOWS)
    kb.insert("knows", [("a", "b"), ("c", "b")])
    assert len(kb["meets"]) == 5
    assert "knows(?x, ?y) :- knows(?y, ?x)" in str(kb.explain("knows(b, c)"))
    kb.save(tmp_path / "kb")
    again = everlog.open(tmp_path / "kb")
    change = again.update(delete={"knows": [("a", "b")]}, insert={"knows": [("b", "c")]})
    assert sorted(change.deleted["knows"].rows()) == [("a", "b"), ("b", "a")]
    assert "knows" not in change.inserted
    again.save()
    assert sorted(everlog.open(tmp_path / "kb")["meets"].rows()) == [("b", "b"), ("c", "c")]


def test_updates_by_looking_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counters of the version are those of the module, so the program that is updated has it, too."""
    monkeypatch.setattr(changing, "program_in", lambda info: with_modules(stratify(check(parse_program(info.rules)))))
    kb = everlog.KnowledgeBase(KNOWS)
    kb.insert("knows", [("a", "b"), ("c", "b"), *((f"x{i}", f"y{i}") for i in range(20))])
    kb.save(tmp_path / "kb")
    knows = Predicate("knows", 2)
    done = looked_up(tmp_path / "kb", {(knows, ('"a"', '"b"'))}, {(knows, ('"c"', '"d"'))})
    assert isinstance(done, WrittenChange)
    found = everlog.open(tmp_path / "kb")
    here = [row for row in found["knows"].rows() if str(row[0]) in "abcd"]
    assert sorted(here) == [("b", "c"), ("c", "b"), ("c", "d"), ("d", "c")]
    assert ("b", "d") in found["meets"]
    assert ("a", "c") not in found["meets"]
