"""The report: every table of the papers is computed from the result files of the benchmarks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.evidence import report, theory
from bench.evidence.tables import TABLES, PaperTable
from bench.evidence.update_tables import INCOMPLETE, scores
from bench.progress import shown
from bench.suites import SUITES, Suite, SuiteRun


@pytest.mark.parametrize("each", TABLES.values(), ids=lambda each: each.name)
def test_every_table_has_our_figures(each: PaperTable) -> None:
    results = SUITES[each.suite].last_results()
    if not results:
        pytest.skip(f"{SUITES[each.suite].command} has not been run")
    lines = each.text(results).splitlines()
    assert lines != [INCOMPLETE]
    ours = [line for line in lines[2:] if line.startswith("|") and not line.startswith("| paper:")]
    assert any(character.isdigit() for line in ours for character in line)


@pytest.mark.parametrize("each", TABLES.values(), ids=lambda each: each.name)
def test_a_table_without_measurements(each: PaperTable) -> None:
    lines = each.text({}).splitlines()
    assert lines == [INCOMPLETE] or all(line.startswith("| paper:") for line in lines[2:])


def test_scores_leave_out_what_was_cut_off() -> None:
    assert scores([{"a": 2.0, "b": 1.0}, {"a": 3.0}], ["a", "b"]) == {"a": [2.0, 1.0], "b": [1.0]}


def test_instances_are_as_the_papers_prove() -> None:
    counted = [*theory.chains(lengths=(10, 40)), *theory.without_recursion(sizes=(400,))]
    assert [one.counted for one in counted] == [one.expected for one in counted]
    assert len(counted) == 2 * 2 * 5 + 1


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_benchmark_has_the_command_that_is_documented(suite: Suite) -> None:
    options = suite.options(suite.arguments)
    assert not options.quick
    parts = list(suite.benchmark().parts)[:1]
    assert suite.options(["--quick", *parts]).names == parts
    with pytest.raises(SystemExit):
        suite.options(["no-such-part"])


@pytest.mark.long
def test_a_benchmark_that_fails_loses_nothing_of_the_others(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(SUITES, "broken", Suite("broken", "Broken", "bench.no_such_benchmark"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["evidence", "broken", "theory", "--quick"]) == 1
    (text,) = [path.read_text() for path in tmp_path.glob("*/REPORT.md")]
    assert "Proposition 29: dredc" in text
    assert "ended with status 2, nothing was written" in text
    assert capfd.readouterr().err.rstrip().endswith("FAILED: broken")


def test_the_report_says_how_long_a_whole_run_took(tmp_path: Path) -> None:
    ran = {name: SuiteRun(61.0, 0, True) for name in SUITES}
    text = report.write(ran, results=tmp_path).read_text()
    assert f"`make bench` measured all of it in {shown(61 * len(SUITES))} minutes." in text
    assert "nothing was written" not in text
    assert not any(each.failed for each in ran.values())
    assert SuiteRun(1.0, 0, False).failed
    again = report.write({}, results=tmp_path).read_text()
    assert f"in {shown(61 * len(SUITES))} minutes. Some parts were measured again since." in again
