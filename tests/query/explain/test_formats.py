"""Explanations as text, JSON, DOT and HTML, in memory and from stores."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.lang.errors import DataError, EverlogError, LimitError, RuleError, UnknownPredicateError
from everlog.lang.parser import parse_program
from everlog.query.explain import alternatives, instances, paths
from tests.cli.running import CommandLine
from tests.oracle import naive
from tests.query.explain.checker import check_explanation

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
far(?x, ?y) :- path(?x, ?y), ~edge(?x, ?y) .
edge(a, b) . edge(b, c) . edge("<&>", "say \\"x\\"\\n") .
"""

TREE = """\
far(a, c)             rule 3: ?x = a, ?y = c
├─ path(a, c)         path of 2 steps, rule 2
│  ├─ path(a, b)      rule 1: ?x = a, ?y = b
│  │  └─ edge(a, b)   given
│  └─ path(b, c)      rule 1: ?x = b, ?y = c
│     └─ edge(b, c)   given
└─ ~edge(a, c)        does not hold

rule 1   path(?x, ?y) :- edge(?x, ?y) .{}
rule 2   path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .{}
rule 3   far(?x, ?y) :- path(?x, ?y), ~edge(?x, ?y) .{}"""


@pytest.fixture
def command_line(capfdbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capfdbinary)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    everlog.KnowledgeBase(RULES).save(tmp_path / "kb")
    return tmp_path / "kb"


class Tags(HTMLParser):
    """Checks that elements close in the order in which they opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        assert not any(name in ("src", "href") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_tree() -> None:
    assert str(everlog.KnowledgeBase(RULES).explain("far(a, c)")) == TREE.format(*(f"   line {n}" for n in (2, 3, 4)))


def test_html_is_one_page_that_folds() -> None:
    explanation = everlog.KnowledgeBase(RULES).explain("path(?x, ?y)")
    for text in (explanation.to_html(), explanation._repr_html_()):
        tags = Tags()
        tags.feed(text)
        assert not tags.open
        assert tags.seen.count("details") == 6
        assert "script" not in tags.seen
        assert "&lt;&amp;&gt;" in text


def test_dot_has_every_step() -> None:
    text = everlog.KnowledgeBase(RULES).explain("path(?x, ?y)").to_dot()
    assert text.startswith("digraph")
    assert text.endswith("}\n")
    assert text.count("{") == text.count("}") == 1
    assert '\\"say \\\\\\"x\\\\\\"\\\\n\\"' in text
    assert text.count(" -> ") == 7


def test_json_is_checked(store: Path) -> None:
    program = parse_program(RULES)
    holds = naive.materialise(program)
    for query in ("far(?x, ?y)", "path(?x, ?y)", "path(?x, _)", "path(a, ?x), ~edge(?x, _)", "edge(?x, ?y)"):
        data = json.loads(everlog.open(store).explain(query).to_json())
        assert check_explanation(data, program, naive.explicit(program), holds) == len(data["answers"])


def test_the_checker_finds_mistakes() -> None:
    program = parse_program(RULES)
    holds, given = naive.materialise(program), naive.explicit(program)
    right = everlog.KnowledgeBase(RULES).explain("far(a, c)").to_dict()

    def refused(change: Any) -> None:
        data = json.loads(json.dumps(right))
        change(data["answers"][0]["proofs"][0]["steps"])
        with pytest.raises((AssertionError, KeyError, IndexError)):
            check_explanation(data, program, given, holds)

    assert check_explanation(right, program, given, holds) == 1
    refused(lambda steps: steps[-1].update(rules=[2]))
    refused(lambda steps: steps[-1].update({"from": []}))
    refused(lambda steps: steps[-1]["bindings"].update(x="b"))
    refused(lambda steps: steps[-2].update({"from": [1]}))
    refused(lambda steps: steps[-2].update(rules=[1]))
    refused(lambda steps: steps[0].update(fact="edge(a, c)"))
    refused(lambda steps: steps[1].update({"by": "given"}))
    refused(lambda steps: steps[1].update({"from": [1]}))
    refused(lambda steps: steps.insert(0, {"fact": "edge(b, c)", "by": "given"}))


def test_the_command(command_line: CommandLine, store: Path, tmp_path: Path) -> None:
    done = command_line("explain", store, "far(a, c)")
    assert done.status == 0
    assert done.out == TREE.format("", "", "") + "\n"
    assert "1 fact explained" in done.err
    for form, start in (("json", "{"), ("dot", "digraph"), ("html", "<!doctype html>")):
        target = tmp_path / f"out.{form}"
        assert command_line("explain", store, "path(a, ?x)", "--format", form, "--output", target).status == 0
        assert target.read_text().startswith(start)
    assert "does not hold" in command_line("explain", store, "far(a, b)").out
    assert command_line("explain", store, "path(a, c)", "--all").out.startswith("path(a, c)")


def test_earlier_versions(command_line: CommandLine, store: Path) -> None:
    kb = everlog.open(store)
    kb.update(delete={"edge": [("b", "c")]})
    kb.save()
    assert "does not hold" in command_line("explain", store, "path(a, c)").out
    assert "path of 2 steps" in command_line("explain", store, "path(a, c)", "--at", "0").out


def test_mistakes_are_those_of_queries(command_line: CommandLine, store: Path) -> None:
    kb = everlog.KnowledgeBase(RULES)
    for text, error in (("pth(a, c)", UnknownPredicateError), ("path(a)", RuleError), ("path(a", RuleError)):
        with pytest.raises(error) as explained:
            kb.explain(text)
        with pytest.raises(error) as queried:
            kb.query(text)
        assert str(explained.value) == str(queried.value)
    assert command_line("explain", store, "pth(a, c)").status == 1
    assert command_line("explain", store, "path(a, c)", "--format", "csv").status == 2
    with pytest.raises(ValueError, match="limit"):
        kb.explain("path(a, c)", limit=0)
    with pytest.raises(EverlogError):
        kb.explain({"pth": [("a", "c")]})
    with pytest.raises(DataError):
        kb.explain({"path": [("a", "c", "d")]})


def test_facts_as_rows_in_one_pass() -> None:
    kb = everlog.KnowledgeBase(RULES)
    explained = kb.explain({"far": [("a", "c"), ("a", "b")], "path": [("zoe", "c"), ("a", "c")]})
    assert [answer.holds for answer in explained] == [True, False, False, True]
    assert explained[3].proof is not None
    assert explained[3].proof.rules == (0, 1)


def test_answers_and_limits() -> None:
    kb = everlog.KnowledgeBase("p(?x) :- q(?x, ?y) . " + " ".join(f"q(a, {i}) ." for i in range(30)))
    assert len(kb.explain("q(?x, ?y)", answers=4)) == 4
    assert len(kb.explain("p(a)").proofs) == 1
    assert len(kb.explain("p(a)", all=True).proofs) == 10
    every = kb.explain("p(a)", all=True, limit=100)[0]
    assert (len(every.proofs), every.complete) == (30, True)


def test_explanations_follow_updates() -> None:
    kb = everlog.KnowledgeBase(RULES)
    assert kb.explain("path(a, c)").holds
    kb.update(delete={"edge": [("b", "c")]}, insert={"edge": [("b", "d"), ("d", "c")]})
    proof = kb.explain("path(a, c)")[0].proof
    assert proof is not None
    assert len(proof.goal.premises) == 3


def test_other_proofs_of_closures_are_other_paths() -> None:
    kb = everlog.KnowledgeBase(RULES + "edge(a, x) . edge(x, c) . edge(a, c) . edge(c, a) .")
    explained = kb.explain("path(a, c)", all=True)
    program = parse_program(RULES + "edge(a, x) . edge(x, c) . edge(a, c) . edge(c, a) .")
    check_explanation(explained.to_dict(), program, naive.explicit(program), naive.materialise(program))
    assert [len(proof.goal.premises) for proof in explained.proofs] == [1, 2, 2]
    assert explained[0].complete


def test_what_is_left_out_of_other_proofs_is_said(tmp_path: Path, command_line: CommandLine) -> None:
    """All instances of p(a, ?y) are found, but the instances for each q(?y) exceed the limit of the search."""
    kb = everlog.KnowledgeBase("good(?x) :- p(?x, ?y), q(?y) . q(?y) :- r(?y) .")
    kb.insert("p", [("a", i) for i in range(20_001)])
    kb.insert("r", [(i,) for i in range(20_001)])
    kb.save(tmp_path / "kb")
    lines = command_line("explain", tmp_path / "kb", "good(a)", "--all", "--quiet").out.splitlines()
    cut = "the search for other proofs was ended after 20,000 steps, so there may be more"
    assert lines[0].startswith("good(a)")
    assert lines[-4:] == [
        f"1 proof of good(a): {cut}",
        "",
        "rule 1   good(?x) :- p(?x, ?y), q(?y) .",
        "rule 2   q(?y) :- r(?y) .",
    ]
    data = json.loads(command_line("explain", tmp_path / "kb", "good(a)", "--all", "--format", "json").out)
    assert (data["answers"][0]["complete"], data["answers"][0]["notes"]) == (False, [cut])
    explained = kb.explain("good(a)", all=True)
    assert cut in explained.to_html()
    assert cut in explained.to_dot()


def test_limits_combinations_and_paths_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = everlog.KnowledgeBase("p(?x) :- q(?x, ?y), q(?x, ?z) . " + " ".join(f"q(a, {i}) ." for i in range(4)))
    more = kb.explain("p(a)", all=True, limit=3)[0]
    assert (more.complete, more.notes) == (False, ("there are more; a higher limit shows them",))
    assert "3 proofs of p(a): there are more; a higher limit shows them" in str(kb.explain("p(a)", all=True, limit=3))
    every = kb.explain("p(a)", all=True, limit=16)[0]
    assert (every.complete, every.notes) == (True, ())
    assert kb.explain("p(a)")[0].complete is None
    assert "complete" not in kb.explain("p(a)").to_dict()["answers"][0]
    rules = "s(?x) :- t(?x), t(?x) . t(?x) :- q(?x, ?y) . " + " ".join(f"q(a, {i}) ." for i in range(4))
    monkeypatch.setattr(alternatives, "MOST_COMBINED", 3)
    assert "not all were put together" in str(everlog.KnowledgeBase(rules).explain("s(a)", all=True))
    monkeypatch.setattr(paths, "MOST_PATHS", 2)
    closure = everlog.KnowledgeBase(RULES + " ".join(f"edge(a, m{i}) . edge(m{i}, z) ." for i in range(3)))
    assert closure.explain("path(a, z)", all=True)[0].notes == (
        "not all paths of closures were followed, so there may be more",
    )


def test_a_search_that_is_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = everlog.KnowledgeBase(RULES, modules=False)
    kb.insert("edge", [(i, i + 1) for i in range(40)])
    monkeypatch.setattr(instances, "MOST_INSTANCES", 100)
    with pytest.raises(LimitError, match="more than 100 ways"):
        kb.explain("path(0, 40)")
    for _ in range(60):  # the limit holds for each call
        assert kb.explain("path(0, 2)").holds
