"""Deep proofs: found in time linear in their size, and shown down to a limited depth by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.engine.kernels import paths
from everlog.lang.parser import parse_program
from everlog.query.explain.explanation import Explanation
from tests.cli.running import CommandLine
from tests.oracle import naive
from tests.query.explain.checker import check_explanation

RULES = "r(?x) :- s(?x) . r(?y) :- r(?x), e(?x, ?y) . s(0) ."


@pytest.fixture
def command_line(capfdbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capfdbinary)


def edges(length: int) -> str:
    return RULES + " ".join(f"e({i}, {i + 1}) ." for i in range(length))


def chain(length: int) -> everlog.KnowledgeBase:
    return everlog.KnowledgeBase(edges(length))


def assert_right(text: str, explanation: Explanation) -> None:
    program = parse_program(text)
    holds = naive.materialise(program)
    data = json.loads(explanation.to_json())
    assert check_explanation(data, program, naive.explicit(program), holds) == 1


def test_a_deep_proof_is_surveyed_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at(length: int) -> int:
        kb, sizes = chain(length), []
        real = paths.survey

        def survey(head: Any, *rest: Any) -> Any:
            sizes.append(len(head))
            return real(head, *rest)

        with monkeypatch.context() as patched:
            patched.setattr(paths, "survey", survey)
            explanation = kb.explain(f"r({length})")
        (proof,) = explanation.proofs
        assert len(proof.steps) == 2 * length + 2
        return sum(sizes)

    assert looked_at(400) < 3 * looked_at(200), "each step is looked at a fixed number of times"


def test_deep_proofs_are_right() -> None:
    assert_right(edges(70), chain(70).explain("r(70)"))


def test_the_lowest_proof_is_found_among_deep_ones() -> None:
    """The path over 1000 is longer, except for a short cut in it."""
    other = [(0, 1000), *((i, i + 1) for i in range(1000, 1070)), (1010, 1050), (1070, 70)]
    text = edges(70) + " ".join(f"e({i}, {j}) ." for i, j in other)
    explanation = everlog.KnowledgeBase(text).explain("r(70)")
    (proof,) = explanation.proofs
    assert sum(step.fact.predicate.name == "e" for step in proof.steps) == 1 + 10 + 1 + 20 + 1
    assert_right(text, explanation)


def test_text_is_a_page_deep_and_says_what_is_folded() -> None:
    explanation = chain(200).explain("r(200)")
    shown = str(explanation)
    lines = shown.splitlines()
    assert max(map(len, lines)) < 250
    assert sum(line.endswith("...") for line in lines) == 1
    tree = lines[: lines.index("")]
    steps = sum("rule" in line or "given" in line for line in tree)
    assert tree[-1].startswith(f"... {402 - steps} steps are folded, more than 40 levels deep")
    assert explanation.to_text(40) == shown


def test_other_depths_and_other_forms_have_everything() -> None:
    explanation = chain(100).explain("r(100)")
    whole = explanation.to_text()
    assert "folded" not in whole
    assert whole == explanation.to_text(1000)
    assert len(whole.split("\n\n")[0].splitlines()) == 202
    assert explanation.to_text(1).splitlines()[0].endswith("...")
    steps = json.loads(explanation.to_json())["answers"][0]["proofs"][0]["steps"]
    assert len(steps) == 202


def test_a_step_that_is_shown_elsewhere_is_not_counted_as_folded() -> None:
    kb = everlog.KnowledgeBase("a(?x) :- b(?x), d(?x) . b(?x) :- c(?x) . c(?x) :- d(?x) . d(?x) :- f(?x) . f(1) .")
    assert "... 1 step is folded, more than 3 levels deep" not in kb.explain("a(1)").to_text(3)
    assert "... 2 steps are folded, more than 2 levels deep" in kb.explain("a(1)").to_text(2)
    assert "... 4 steps are folded, more than 1 levels deep" in kb.explain("a(1)").to_text(1)


def test_the_command_folds_at_the_depth_that_is_asked_for(command_line: CommandLine, tmp_path: Path) -> None:
    chain(60).save(tmp_path / "kb")
    folded = command_line("explain", str(tmp_path / "kb"), "r(60)")
    whole = command_line("explain", str(tmp_path / "kb"), "r(60)", "--depth", "100")
    assert "steps are folded" in folded.out
    assert "folded" not in whole.out
    assert whole.out.count("given") == 61
