"""``everlog rules``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.changed import described_change
from everlog.cli.console import Console
from everlog.cli.options import at_option, logging_options, setting, spark_options, store_argument
from everlog.cli.profile import ProfiledCommand, profile_options
from everlog.cli.progress import Progress
from everlog.cli.repairing import repair, repair_options, version_line
from everlog.cli.terminal import echo
from everlog.host.memory import bytes_of
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.jobs.rules import RulesResult
    from everlog.store import Version

SHOWN = 10
"""Maximum number of rules listed."""

RULES = ("rules_added", "rules_removed", "rules_known")
"""The parts of a change that are about rules."""


@click.command("rules", cls=ProfiledCommand)
@store_argument
@click.option(
    "--add", multiple=True, type=click.Path(), metavar="FILE", help="Rules to add, or an ontology. May be repeated."
)
@click.option("--remove", multiple=True, type=click.Path(), metavar="FILE", help="Rules to remove. May be repeated.")
@repair_options
@setting("engine", "expand-below", "max-facts", "timeout", "memory", "wait")
@setting("spark-local-finish")
@spark_options
@at_option
@profile_options
@setting("warnings")
@logging_options
def command(
    console: Console,
    /,
    store: str,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    no_compact: bool,
    memory: str | None,
    spark_local_finish: int,
    at: Version | None,
    show_profile: bool,
    profile_report: str | None,
    **options: Any,
) -> None:
    """Print the rules of a STORE, or change them and repair what follows.

    Without --add and --remove the rules are printed, those of an earlier version with --at. Names of variables and the
    order of a rule's body do not matter. A fact in a file that is added becomes explicit, one in a file that is
    removed ceases to be. Removing a rule that is not there is an error; adding one that is there changes nothing.
    Earlier versions keep their rules. With --engine spark, and with --engine auto if the store does not fit --memory,
    one task of Spark opens the store and does it, or, if the store is too large for a task, everything is derived
    again. After an error the store is as before.
    """
    progress = console.progress
    if not add and not remove:
        _print_rules(store, at, progress)
        return
    if at is not None:
        raise click.UsageError("only the newest version can be changed: --at goes with neither --add nor --remove")
    from everlog.jobs.rules import RulesJob, change_rules

    console.watch_compilation()
    options.update(compact=not no_compact, memory=bytes_of(memory), local_finish=spark_local_finish)
    job = RulesJob(store, add, remove, **options)
    repair(
        lambda report: change_rules(job, report),
        lambda result: _described(store, result, job.dry_run),
        lambda result: {
            "store": store,
            "dry_run": job.dry_run,
            **{name: getattr(result.change, name) for name in RULES},
        },
        progress,
        (show_profile, profile_report),
        f"everlog rules {store}",
    )


def _print_rules(store: str, at: Version | None, progress: Progress) -> None:
    from everlog.store import Store

    info = Store.open(store).info(at)
    echo(info.rules, nl=False)
    progress.result(version=info.version)


def _described(store: str, result: RulesResult, dry_run: bool) -> Iterator[str]:
    """The lines that describe a change of the rules."""
    change = result.change
    known = len(change.rules_known)
    there = f"; {known:,} {'was' if known == 1 else 'were'} there already" if known else ""
    yield version_line(store, result, dry_run)
    yield f"rules      +{len(change.rules_added):,} -{len(change.rules_removed):,}{there}"
    for sign, rules in (("-", change.rules_removed), ("+", change.rules_added)):
        yield from (f"           {sign} {rule}" for rule in rules[:SHOWN])
        if len(rules) > SHOWN:
            yield f"           {sign} and {counted(len(rules) - SHOWN, 'more rule')}"
    yield from described_change(change, result.seconds, store, result.violations)
