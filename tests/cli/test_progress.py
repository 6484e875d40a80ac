"""The displays: lines are few, the live one draws what it is told, compilation is noticed."""

from __future__ import annotations

import io
import time

import numba
import pytest
from rich.console import Console as RichConsole

from everlog.cli import progress
from everlog.cli.compiling import watch
from everlog.cli.live import Live
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
    live.warning(Diagnostic("typo", "is this meant?", severity="warning"))
    live.result("done at last")
    shown = output.getvalue()
    assert "stratum 2 of 3, round 17: 1,234 facts" in shown
    assert "instances/s" in shown
    assert "warning[typo]: is this meant?" in shown
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
