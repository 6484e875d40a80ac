"""Profiles: their numbers equal those of the statistics, and profiling changes no result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import everlog
from everlog.analysis.predicates import Key
from everlog.engine.match import Engine
from everlog.profiling.figures import Round, RuleWork
from everlog.profiling.profile import Profile
from everlog.profiling.report import page
from everlog.reasoning.names import Algorithm
from tests.cli.running import CommandLine, saved

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
far(?x, ?y) :- path(?x, ?y), ~edge(?x, ?y) .
"""
EDGES = [(i, i + 1) for i in range(30)]


def knowledge_base(**options: object) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(RULES, **options)  # type: ignore[arg-type]
    kb.insert("edge", EDGES)
    return kb


def test_a_materialisation_by_rule_round_and_stratum() -> None:
    kb, profile = knowledge_base(modules=False, maintain="none"), Profile()
    statistics = kb.materialise(profile=profile)
    assert profile.instances == sum(rule.instances for rule in profile.rules) == statistics.instances
    assert {rule.rule for rule in profile.rules} == set(RULES.strip().splitlines())
    assert [work.new_facts for work in profile.strata] == [31 * 30 // 2, 31 * 30 // 2 - 30]
    assert [(work.stratum, work.derives) for work in profile.strata] == [(1, "path"), (2, "far")]
    by_stratum = {work.stratum: work.instances for work in profile.strata}
    assert by_stratum == {stratum.index: stratum.instances for stratum in statistics.strata}
    rounds = [each for each in profile.rounds if each.stratum == 1]
    assert [each.number for each in rounds] == [*range(1, statistics.strata[0].rounds + 2)]
    assert (rounds[0].new_facts, rounds[-1].new_facts) == (30, 0), "the last pass finds nothing new"
    assert profile.matching <= profile.seconds
    assert sum(each.seconds for each in profile.rounds) <= profile.seconds


def test_counters_and_modules_are_told_apart() -> None:
    kb = knowledge_base()
    kb.materialise(profile=True)
    assert kb.profile is not None
    assert {rule.phase for rule in kb.profile.rules} == {"module", "forward", "bookkeeping"}
    module = next(rule for rule in kb.profile.rules if rule.phase == "module")
    assert module.rule == "module transitive: (path external)+"
    assert [each.new_facts for each in kb.profile.rounds if each.phase == "module"] == [31 * 30 // 2]
    assert kb.profile.memory[0][1] > 1 << 20


@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "fbf", "dred", "counting", "rematerialise", "auto"])
def test_an_update_by_phase(algorithm: Algorithm) -> None:
    kb = knowledge_base(modules=False)
    kb.materialise()
    change = kb.update(insert={"edge": [(50, 51)]}, delete={"edge": [(15, 16)]}, algorithm=algorithm, profile=True)
    assert kb.profile is not None
    found: dict[str, int] = {}
    for rule in kb.profile.rules:
        found[rule.phase] = found.get(rule.phase, 0) + rule.instances
    expected = {phase: number for phase, number in change.stats.instances.items() if number}
    assert {phase: number for phase, number in found.items() if number and phase != "bookkeeping"} == expected
    assert kb.profile.instances == sum(found.values())


def test_without_a_profile_nothing_watches() -> None:
    kb = knowledge_base()
    kb.materialise(profile=True)
    assert type(kb._reasoner.engine()) is Engine
    first = kb.profile
    kb.update(insert={"edge": [(70, 71)]})
    assert kb.profile is first
    assert kb.rules == everlog.KnowledgeBase(RULES).rules


def test_watching_changes_nothing() -> None:
    plain, watched = knowledge_base(), knowledge_base()
    assert plain.materialise().facts == watched.materialise(profile=True).facts
    deletion: dict[Key, list[tuple[int, int]]] = {"edge": [(10, 11), (3, 4)]}
    one, other = plain.update({}, deletion), watched.update({}, deletion, profile=True)
    assert one.deleted["path"].rows() == other.deleted["path"].rows()
    assert plain["far"].rows() == watched["far"].rows()


def test_a_profile_ends_with_a_limit() -> None:
    kb, profile = knowledge_base(modules=False, max_facts=200), Profile()
    with pytest.raises(everlog.LimitError):
        kb.materialise(profile=profile)
    assert profile.rounds
    assert type(kb._reasoner.engine()) is Engine


def test_the_text() -> None:
    kb = knowledge_base(modules=False)
    kb.materialise(profile=True)
    text = str(kb.profile)
    assert re.search(r"^profile    \d+\.\d{3} s of reasoning: .* instances of rules", text)
    assert re.search(r"\n +\d\.\d{3} +\d+% +4,495 +\d+ +1  derive +path\(\?x, \?z\) :- path", text)
    assert "count derivations" in text


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase('p(?x, "<script>alert(1)</script>") :- q(?x) . q(1) . q(2) .')
    kb.materialise(profile=True)
    assert kb.profile is not None
    kb.profile.write(tmp_path / "p.html", "a <title>")
    text = (tmp_path / "p.html").read_text()
    assert "<script" not in text
    assert "a &lt;title&gt;" in text
    assert not re.search(r"(src|href)=|https?:", text)
    drawings = re.findall(r"<svg.*?</svg>", text)
    assert len(drawings) >= 4
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert kb.profile._repr_html_().count("<table>") == 3


def test_plots_of_much_are_small() -> None:
    rounds = [Round(1, "forward", i, i * 0.001, 0.001, 0.001, i, i % 7, i) for i in range(100_000)]
    work = {(i, "forward"): RuleWork(f"p{i}(?x) :- q(?x) .", "", 1, "forward", 1, i, i * 0.1) for i in range(500)}
    text = page(Profile(rounds=rounds, work=work, seconds=100.0), "large")
    assert len(text) < 500_000
    assert "450 more rows" in text


def test_an_empty_profile() -> None:
    assert "0 instances" in str(Profile())
    assert "<svg" not in page(Profile(), "empty") or "NaN" not in page(Profile(), "empty")


# the command line -----------------------------------------------------------------------------------


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    (tmp_path / "edge.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(30, 40)))
    return saved(tmp_path / "kb", RULES + " ".join(f"edge({a}, {b}) ." for a, b in EDGES))


def test_an_update_prints_its_profile(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command("update", "kb", "--insert", "edge.csv", "--profile")
    assert done.status == 0
    assert done.out.index("store      kb") < done.out.index("profile    ") < done.out.index("\nrules (")
    assert "far(?x, ?y) :- path(?x, ?y), ~edge(?x, ?y) ." in done.out


@pytest.mark.parametrize(
    "options", [["--profile", "p.html"], ["--profile=p.html"], ["--profile-report", "p.html", "--show-profile"]]
)
def test_a_page_is_written(everlog_command: CommandLine, kb: Path, options: list[str]) -> None:
    done = everlog_command("update", "kb", "--insert", "edge.csv", "--dry-run", *options)
    assert done.status == 0, done.err
    assert done.out.endswith("plots      p.html\n")
    assert "<h2>Time of the command</h2>" in (kb.parent / "p.html").read_text()


def test_a_page_that_cannot_be_written_is_noticed_at_once(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command("update", "kb", "--insert", "edge.csv", "--profile", "nowhere/p.html")
    assert (done.status, done.out) == (2, "")
    assert everlog_command("changes", "kb", "--from", "0").out.count("\n") == 2


def test_a_limit_shows_the_profile_too(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command("update", "kb", "--insert", "edge.csv", "--max-facts", "900", "--profile")
    assert done.status == 1
    assert "error[max-facts]" in done.err
    assert "profile    " in done.out


@pytest.mark.slow
def test_on_spark_rules_of_one_job_share_a_row(everlog_command: CommandLine, kb: Path, spark: Any) -> None:
    rules = [
        "path(?x, ?y) :- edge(?x, ?y) .",
        "far(?x, ?y) :- path(?x, ?y), ~edge(?y, ?x) .",
        "near(?x, ?y) :- path(?x, ?y), edge(?y, ?x) .",
    ]
    (kb.parent / "r.rls").write_text("\n".join(rules))
    options = ["--store", "new", "--engine", "spark", "--profile", "p.html", "--quiet"]
    done = everlog_command("materialise", "r.rls", "--facts", "edge.csv", *options)
    assert done.status == 0, done.err
    strata = done.out.partition("\nstrata\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[2:4] for line in sorted(strata[1:], key=lambda line: line.split()[5])] == [["10", "+10"]] * 2
    listed = done.out.partition("\nrules (")[2].partition("\n\n")[0].splitlines()[2:]
    found = {tuple(re.split(r"  +", line.strip())[i] for i in (2, 3, 5, 6)) for line in listed}
    assert ("10", "1", "derive", rules[0]) in found
    assert ("10", "1", "derive", "2 rules together: far 10, near 0") in found
    assert "Facts by round" in (kb.parent / "p.html").read_text()


def test_ontologies_have_profiles_of_their_own(everlog_command: CommandLine, tmp_path: Path) -> None:
    done = everlog_command("materialise", "--profile", "--store", "x")
    assert (done.status, "Missing argument 'RULES...'" in done.err) == (2, True)
    done = everlog_command("materialise", "--profile=dl", "r.rls", "--store", "x")
    assert (done.status, "'dl' is not one of" in done.err) == (2, True)
