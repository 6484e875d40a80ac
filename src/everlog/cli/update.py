"""``everlog update``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.changed import described_change
from everlog.cli.console import Console
from everlog.cli.options import logging_options, report_skipped, setting, spark_options, store_argument
from everlog.cli.profile import ProfiledCommand, profile_options
from everlog.cli.repairing import repair, repair_options, version_line
from everlog.host.memory import bytes_of
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.jobs.update import UpdateResult


@click.command("update", cls=ProfiledCommand)
@store_argument
@click.option(
    "--insert",
    multiple=True,
    type=click.Path(),
    metavar="[NAME=]PATH",
    help="Facts to add, as for --facts. May be repeated.",
)
@click.option(
    "--delete", multiple=True, type=click.Path(), metavar="[NAME=]PATH", help="Facts to remove. May be repeated."
)
@repair_options
@click.option("--source", metavar="NAME", help="Label blank nodes by this name instead of the file's.")
@setting("header", "types", "base", "graphs", "large-gz", "on-error", "engine", "max-facts", "timeout")
@setting("memory", "wait", "spark-local-finish")
@spark_options
@profile_options
@setting("warnings")
@logging_options
def command(
    console: Console,
    /,
    store: str,
    insert: tuple[str, ...],
    delete: tuple[str, ...],
    no_compact: bool,
    memory: str | None,
    spark_local_finish: int,
    show_profile: bool,
    profile_report: str | None,
    **options: Any,
) -> None:
    """Add and remove explicit facts of a STORE, and repair what follows from them.

    A fact that is both removed and added stays. Removing what is not explicit does nothing and is
    counted. Files of up to 64 MB in all are read by this process, more by Spark, as with
    --engine spark; that also applies the rules, as it does with --engine auto if the store does not
    fit --memory. After an error the store is as before. --profile prints where time and instances
    went, --profile FILE.html writes it with plots.
    """
    if not insert and not delete:
        raise click.UsageError("there is nothing to do: add --insert or --delete")
    progress = console.progress
    from everlog.jobs.update import UpdateJob, update

    console.watch_compilation()
    options.update(compact=not no_compact, local_finish=spark_local_finish, memory=bytes_of(memory))
    job = UpdateJob(store=store, insert=insert, delete=delete, **options)
    repair(
        lambda report: update(job, report),
        lambda result: _described(store, result, job.dry_run),
        lambda result: {"store": store, "dry_run": job.dry_run, "rows": result.rows, "skipped": result.bad_count},
        progress,
        (show_profile, profile_report),
        f"everlog update {store}",
    )


def _described(store: str, result: UpdateResult, dry_run: bool) -> Iterator[str]:
    """The lines that describe an update; rows that were left out are listed on stderr before."""
    report_skipped(result.bad, result.bad_count)
    skipped = f", {result.bad_count:,} skipped" if result.bad_count else ""
    yield version_line(store, result, dry_run)
    yield f"read       {counted(result.rows, 'row')}{skipped}"
    yield from described_change(result.change, result.seconds, store, result.violations)
