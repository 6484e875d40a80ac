"""Connecting a job with the display of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.cli.progress import Progress
from everlog.host.interrupts import check

if TYPE_CHECKING:
    from everlog.jobs.reports import Report
    from everlog.profiling.profile import Profile


def live_profile(progress: Progress, times: Profile | None) -> Profile | None:
    """A profile that reports each round to a live display, for work that does not report rounds itself."""
    if not progress.shows_amounts:
        return times
    from everlog.profiling.figures import Round
    from everlog.profiling.profile import Profile
    from everlog.reasoning.statistics import RoundEvent

    times, instances = Profile() if times is None else times, 0

    def report_round(done: Round) -> None:
        nonlocal instances
        instances += done.instances
        strata = max([done.stratum, *times.derives])
        progress.round_done(RoundEvent(done.stratum, strata, done.number, done.new_facts, done.facts, instances))

    times.observer = report_round
    return times


def report_for(progress: Progress, times: Profile | None) -> Report:
    """The report of a job: connects it with the display, and with a profile if given. An interrupted job ends with its
    phase."""
    from everlog.jobs.reports import Report

    def phase(name: str) -> None:
        check()
        progress.phase(name)

    amount = progress.amount if progress.shows_amounts else None
    return Report(phase, progress.round_done, progress.warn, amount, times, progress.refuse_warnings)
