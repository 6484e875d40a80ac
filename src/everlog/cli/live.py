"""A live display on a terminal: phases with their seconds, strata, rounds, facts and the rate."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live as RichLive
from rich.table import Table

from everlog.cli.progress import COMPILING, Progress, round_text, shown
from everlog.host.memory import size_text
from everlog.lang.errors import Diagnostic
from everlog.reasoning.statistics import RoundEvent

if TYPE_CHECKING:
    from everlog.ingest.amounts import Amount

WORTH_SHOWING = 0.03
"""The remaining time is shown once this share of the work is done."""


@dataclass
class _Phase:
    name: str
    begun: float
    detail: str = ""
    changed: int = 0
    ended: float | None = None

    @property
    def seconds(self) -> float:
        return (self.ended if self.ended is not None else time.monotonic()) - self.begun


class Live(Progress):
    """Draws the phases so far, with the progress of the last one. Nothing is drawn before the first phase."""

    shows_amounts = True

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._phases: list[_Phase] = []
        self._live: RichLive | None = None
        self._compiled = ""

    def phase(self, name: str) -> None:
        self._end_phase()
        self._phases.append(_Phase(name, time.monotonic()))
        if self._live is None:
            self._live = RichLive(
                get_renderable=self.picture, console=self._console, refresh_per_second=8, redirect_stdout=False
            )
            self._live.start()

    def round_done(self, event: RoundEvent) -> None:
        if self._phases:
            phase = self._phases[-1]
            phase.changed += abs(event.new_facts)
            seconds = max(phase.seconds, 1e-3)
            rates = f"{_short(phase.changed / seconds)} facts/s, {_short(event.instances / seconds)} instances/s"
            phase.detail = f"{round_text(event)}; {rates}"

    def amount(self, amount: Amount) -> None:
        if self._phases:
            phase = self._phases[-1]
            phase.detail = amount_text(amount, phase.seconds)

    def compiling(self, kernel: str) -> None:
        if not self._compiled:
            self.note(COMPILING)
        self._compiled = kernel
        if self._phases:
            self._phases[-1].detail = f"compiling {kernel}"

    def warning(self, found: Diagnostic) -> None:
        self._console.print(str(found), markup=False, style="yellow", soft_wrap=True)

    def note(self, message: str, **data: Any) -> None:
        self._console.print(shown(message), markup=False, style="dim", soft_wrap=True)

    def result(self, message: str = "", **data: Any) -> None:
        self.close()
        if message:
            self.note(message)

    def failed(self, found: Iterable[Diagnostic]) -> None:
        self.close()
        self._console.print("\n\n".join(map(str, found)), markup=False, soft_wrap=True)

    def close(self) -> None:
        self._end_phase()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def picture(self) -> Table:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold")
        grid.add_column(justify="right")
        grid.add_column(style="dim", no_wrap=True, overflow="ellipsis")
        for phase in self._phases:
            grid.add_row(phase.name, f"{phase.seconds:.1f} s", phase.detail)
        return grid

    def _end_phase(self) -> None:
        if self._phases and self._phases[-1].ended is None:
            self._phases[-1].ended = time.monotonic()


def amount_text(amount: Amount, seconds: float) -> str:
    """The amount that is done, the rate, and the remaining time at this rate.

    >>> from everlog.ingest.amounts import Amount
    >>> amount_text(Amount(250 << 20, 1 << 30, "bytes", 3_000_000), 10)
    '24% of 1.0 GB, 3,000,000 rows, 300.0 k rows/s, about 31 s left'
    """
    whole = size_text(amount.total) if amount.unit == "bytes" else f"{amount.total:,} rows"
    parts = [f"{100 * amount.done // max(amount.total, 1)}% of {whole}"]
    if amount.unit == "bytes":
        parts.append(f"{amount.rows:,} rows")
    parts.append(f"{_short(amount.rows / max(seconds, 1e-3))} rows/s")
    if WORTH_SHOWING * amount.total < amount.done < amount.total:
        left = seconds * (amount.total - amount.done) / amount.done
        parts.append(f"about {left:.0f} s left")
    return ", ".join(parts)


def _short(number: float) -> str:
    """A number with about three digits and a unit.

    >>> _short(12_345_678), _short(950)
    ('12.3 M', '950')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f} {letter}"
    return f"{number:.0f}"
