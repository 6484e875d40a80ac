"""The displays: the number of lines is limited, the live display shows progress, compilation is reported."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path
from typing import Any

import numba
import pytest
from rich.console import Console as RichConsole

from everlog.backends.executors import SparkRunner
from everlog.cli import progress
from everlog.cli.compiling import watch
from everlog.cli.live import Live
from everlog.cli.reporting import live_profile, report_for
from everlog.ingest.amounts import Amount
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.ingest.stage import stage
from everlog.ingest.tasks import IN_PROCESS
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic
from everlog.reasoning.statistics import RoundEvent


def test_lines_about_rounds_are_few(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    lines = progress.Lines()
    lines.phase("reason")
    for number in range(100):
        now += 0.1
        lines.round_done(RoundEvent(1, 1, number, 5, 10 * number, 7))
    printed = capsys.readouterr().err.splitlines()
    assert printed[0].endswith("reason")
    assert 4 <= len(printed) - 1 <= 5


def test_the_live_display() -> None:
    output = io.StringIO()
    live = Live(RichConsole(file=output, force_terminal=True, width=100, highlight=False))
    live.phase("read")
    live.phase("reason")
    live.round_done(RoundEvent(2, 3, 17, 5, 1234, 5000))
    live.warning(Diagnostic(Code.POSSIBLE_TYPO, "is this meant?", severity=Severity.WARNING))
    live.result("done at last")
    shown = output.getvalue()
    assert "stratum 2 of 3, round 17: 1,234 facts" in shown
    assert "instances/s" in shown
    assert "warning[possible-typo]: is this meant?" in shown
    assert shown.rstrip().endswith("done at last\x1b[0m")
    live.close()


def test_compilation_is_noticed() -> None:
    class Told(progress.Progress):
        kernels: list[str] = []  # noqa: RUF012

        def compiling(self, kernel: str) -> None:
            self.kernels.append(kernel)

    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def doubled(number: int) -> int:
        return 2 * number

    watch(Told())
    try:
        assert doubled(2) == 4
        assert doubled(3) == 6
    finally:
        watch(progress.Progress())
    assert Told.kernels == ["doubled"]


def test_what_is_left_is_shown() -> None:
    live = Live(RichConsole(file=io.StringIO(), force_terminal=True, width=120, highlight=False))
    live.phase("read")
    live.amount(Amount(1 << 20, 1 << 22, "bytes", 5_000))
    detail = live.picture().columns[2]._cells[0]
    assert re.fullmatch(r"25% of 4\.0 MB, 5,000 rows, [\d.]+ [kM] rows/s, about \d+ s left", str(detail))
    live.amount(Amount(100, 100, "rows", 100))
    assert "left" not in str(live.picture().columns[2]._cells[0])
    live.close()


def test_reading_in_process_tells_its_share_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\n" * 500_000)
    (tmp_path / "q.csv").write_text("c,d\n" * 100_000)
    heard: list[Amount] = []
    options = ReadOptions()
    parts = splits(resolve((str(tmp_path / "p.csv"), str(tmp_path / "q.csv")), options), options)
    staged = stage(IN_PROCESS, parts, options, tmp_path / "work", progress=heard.append)
    assert staged.rows == heard[-1].rows == 600_000
    assert heard[-1].done == heard[-1].total == 2_400_000
    assert [amount.done for amount in heard] == sorted(amount.done for amount in heard)


def test_reading_on_spark_tells_its_share_of_the_bytes(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlog.ingest.amounts.SECONDS_BETWEEN", 0.001)
    monkeypatch.setattr("everlog.ingest.stage.SMALLEST_TASK", 1 << 16)
    for name in "abcdef":
        (tmp_path / f"{name}.csv").write_text("x,y\n" * 50_000)
    heard: list[Amount] = []
    options = ReadOptions()
    parts = splits(resolve((str(tmp_path / "*.csv"),), options), options)
    stage(SparkRunner(spark), parts, options, tmp_path / "work", progress=heard.append)
    assert {amount.total for amount in heard} == {1_200_000}
    assert all(amount.done % 200_000 == 0 for amount in heard)
    assert any(amount.done for amount in heard)


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    for display in (progress.Progress(), progress.Lines(), progress.JsonLines()):
        assert report_for(display, None).amount is None
        display.amount(Amount(1, 2, "rows", 1))
    assert capsys.readouterr().err == ""


def test_the_rounds_of_an_update_are_followed_on_a_terminal() -> None:
    live = Live(RichConsole(file=io.StringIO(), force_terminal=True, width=120, highlight=False))
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .", modules=False)
    kb.insert("edge", [(i, i + 1) for i in range(20)])
    kb.materialise()
    live.phase("reason")
    kb.update(delete={"edge": [(10, 11)]}, algorithm="dred", profile=live_profile(live, None) or False)
    assert re.match(r"stratum 1 of 1, round \d+: \d+ facts", str(live.picture().columns[2]._cells[0]))
    live.close()
    assert live_profile(progress.Lines(), None) is None


def test_rounds_that_delete_have_no_negative_rates() -> None:
    live = Live(RichConsole(file=io.StringIO(), force_terminal=True, width=120, highlight=False))
    live.phase("reason")
    live.round_done(RoundEvent(1, 1, 1, -500, 1000, 5000))
    live.round_done(RoundEvent(1, 1, 2, -5, 995, 5000))
    shown = str(live.picture().columns[2]._cells[0])
    live.close()
    assert "995 facts, 5 deleted" in shown
    assert "-" not in shown
