"""Runs a workload with all of its systems and keeps the best run of each."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from bench.inputs import is_here, write
from bench.measure import ProcessResult, start
from bench.peers import EVERLOG, SORT_KERNEL, SYSTEMS, Outcome
from bench.progress import log_progress
from bench.workloads import OURS, Workload

REPEAT_SECONDS = 10.0
"""A system is run again until its runs have taken this number of seconds in total."""


@dataclass(frozen=True)
class Row:
    """The best run of a system on a workload, or the error if all runs failed."""

    system: str
    outcome: Outcome | None
    runs: int
    error: str | None = None
    stopped_after: float | None = None


@dataclass(frozen=True)
class Comparison:
    """The runs of all systems on one workload."""

    workload: str
    program: str
    rows: tuple[Row, ...]
    disagreements: tuple[str, ...]
    skipped: str | None = None

    def row(self, system: str) -> Row | None:
        return next((row for row in self.rows if row.system == system), None)

    def outcome(self, system: str) -> Outcome | None:
        row = self.row(system)
        return row.outcome if row else None


def compare(workload: Workload, runs: int | None = None, only: Collection[str] = ()) -> Comparison:
    """Measure the systems in turns, so that a slow phase of the machine affects all of them."""
    if not is_here(workload):
        return Comparison(workload.name, workload.program.name, (), (), f"{workload.shared[0]} is not there")
    systems = [name for name in workload.systems if SYSTEMS[name].available() and (not only or name in only)]
    reports: dict[str, list[ProcessResult]] = {name: [] for name in systems}
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        write(workload.tables(), Path(scratch))
        for turn in range(runs or workload.runs):
            for name in systems:
                if turn == 0 or _worth_repeating(reports[name]):
                    log_progress(f"{workload.name}: {name}, run {turn + 1}")
                    reports[name].append(_measure(workload, name, scratch))
    rows = tuple(_best(name, reports[name]) for name in systems)
    return Comparison(workload.name, workload.program.name, rows, tuple(disagreements(workload, rows)))


def _measure(workload: Workload, system: str, directory: str) -> ProcessResult:
    job = {
        "task": "peers.measure_system",
        "system": system,
        "program": workload.program.name,
        "directory": directory,
        "one_core": SYSTEMS[system].one_core,
    }
    return start(job, workload.timeout)


def _worth_repeating(reports: list[ProcessResult]) -> bool:
    return all(report.error is None for report in reports) and sum(report.wall for report in reports) < REPEAT_SECONDS


def _best(system: str, reports: list[ProcessResult]) -> Row:
    outcomes = [Outcome(**report.result) for report in reports if report.result]
    if not outcomes:
        last = reports[-1]
        return Row(system, None, len(reports), last.error, last.wall if last.timed_out else None)
    return Row(system, min(outcomes, key=lambda outcome: outcome.seconds), len(reports))


def disagreements(workload: Workload, rows: tuple[Row, ...]) -> list[str]:
    """Numbers of answers and of rule instances that differ from the expected ones.

    The expected number of answers is that of the workload, otherwise that of a peer; the expected number of instances
    is that of the sort kernel, otherwise that of the first system that counts them."""
    outcomes = {row.system: row.outcome for row in rows if row.outcome is not None}
    facts = {name: outcome.facts for name, outcome in outcomes.items() if outcome.facts is not None}
    instances = {name: outcome.instances for name, outcome in outcomes.items() if outcome.instances is not None}
    peers = [count for name, count in facts.items() if name not in OURS]
    expected = workload.facts if workload.facts is not None else next(iter([*peers, *facts.values()]), None)
    problems = [f"{name}: {count:,} facts, not {expected:,}" for name, count in facts.items() if count != expected]
    expected_instances = instances.get(SORT_KERNEL, next(iter(instances.values()), None))
    for name, count in instances.items():
        if count != expected_instances:
            problems.append(f"{name}: {count:,} rule instances, not {expected_instances:,}")
    return problems


def ratio(comparison: Comparison, system: str, against: str = EVERLOG) -> float | None:
    """The total seconds of a system divided by those of another; a lower bound for a system that was stopped."""
    mine, other = comparison.row(system), comparison.outcome(against)
    if mine is None or other is None:
        return None
    seconds = mine.outcome.seconds if mine.outcome else mine.stopped_after
    return seconds / other.seconds if seconds else None
