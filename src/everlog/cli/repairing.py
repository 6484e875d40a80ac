"""Options and output shared by the commands that change a store and repair its derived facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from everlog.cli.changed import changed_counts
from everlog.cli.options import together
from everlog.cli.profile import profiled
from everlog.cli.progress import Progress
from everlog.cli.reporting import live_profile, report_for
from everlog.cli.terminal import echo
from everlog.reasoning.names import Algorithm

if TYPE_CHECKING:
    from everlog.jobs.reports import Report
    from everlog.jobs.rules import RulesResult
    from everlog.jobs.update import UpdateResult

Result = TypeVar("Result", "RulesResult", "UpdateResult")


class StrategyType(click.ParamType):  # type: ignore[type-arg]
    """``never``, ``always`` or a number."""

    name = "strategy"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        if value in ("never", "always"):
            return str(value)
        if not str(value).isdigit():
            self.fail(f"{value!r} is not never, always or a number", param, ctx)
        return int(value)


repair_options = together(
    click.option(
        "--algorithm",
        type=click.Choice(get_args(Algorithm)),
        default="auto",
        show_default=True,
        help="How the derived facts are repaired; all give the same.",
    ),
    click.option(
        "--strategy",
        type=StrategyType(),
        default="never",
        show_default=True,
        metavar="never|always|N",
        help="When fbf and bfc give up looking for other proofs: N gives up after N backward steps.",
    ),
    click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing."),
    click.option("--no-compact", is_flag=True, help="Leave many small files as they are."),
)


def repair(
    run: Callable[[Report], Result],
    describe: Callable[[Result], Iterator[str]],
    data: Callable[[Result], dict[str, Any]],
    progress: Progress,
    profile: tuple[bool, str | None],
    title: str,
) -> None:
    """Run a change of a store and print its effect, with a profile if the option is given."""
    with profiled(*profile, progress, title) as times:
        result = run(report_for(progress, live_profile(progress, times)))
        progress.close()
        for line in describe(result):
            echo(line)
        if times is not None:
            times.phases = result.seconds
    shown: dict[str, Any] = {} if times is None else {"profile": times.as_dict()}
    progress.result(**data(result), **repaired(result), **shown)


def version_line(store: str, result: RulesResult | UpdateResult, dry_run: bool) -> str:
    """The line that names the new version, if the change made one."""
    news = "not changed" if dry_run or not result.change else "new"
    compacted = f", compacted as version {result.compacted}" if result.compacted is not None else ""
    return f"store      {store}, version {result.version}, {news}{compacted}"


def repaired(result: RulesResult | UpdateResult) -> dict[str, Any]:
    """The effect of a change of a store as data."""
    return {
        "version": result.version,
        "compacted": result.compacted,
        **changed_counts(result.change),
        "violations": result.violations,
        "statistics": asdict(result.change.stats),
        "seconds": {name: round(taken, 3) for name, taken in result.seconds.items()},
    }
