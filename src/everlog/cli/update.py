"""``everlog update``"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.changed import changed_counts, described_change
from everlog.cli.console import Console
from everlog.cli.options import logging_options, report_skipped, set_spark, setting, store_argument
from everlog.cli.profile import ProfiledCommand, profile_options, profiled
from everlog.cli.reporting import followed, told
from everlog.cli.text import counted
from everlog.memory import bytes_of

if TYPE_CHECKING:
    from everlog.pipeline.updates import UpdateResult

ALGORITHMS = ("auto", "dredc", "bfc", "fbf", "dred", "counting", "rematerialise")


class StrategyType(click.ParamType):  # type: ignore[type-arg]
    """``never``, ``always`` or a number."""

    name = "strategy"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        if value in ("never", "always"):
            return str(value)
        if not str(value).isdigit():
            self.fail(f"{value!r} is not never, always or a number", param, ctx)
        return int(value)


@click.command("update", cls=ProfiledCommand)
@store_argument
@click.option("--insert", multiple=True, metavar="[NAME=]PATH", help="Facts to add, as for --facts. May be repeated.")
@click.option("--delete", multiple=True, metavar="[NAME=]PATH", help="Facts to remove. May be repeated.")
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default="auto",
    show_default=True,
    help="How the derived facts are repaired; all give the same.",
)
@click.option(
    "--strategy",
    type=StrategyType(),
    default="never",
    show_default=True,
    metavar="never|always|N",
    help="When fbf and bfc give up looking for other proofs: N is after so many steps back.",
)
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--no-compact", is_flag=True, help="Leave many small files as they are.")
@click.option("--source", metavar="NAME", help="Label blank nodes by this name instead of the file's.")
@setting("header", "types", "base", "graphs", "large-gz", "on-error", "engine", "max-facts", "timeout")
@setting("memory", "spark-local-finish", "master", "spark-memory", "spark-log")
@profile_options
@logging_options
@click.pass_obj
def command(
    console: Console,
    /,
    store: str,
    insert: tuple[str, ...],
    delete: tuple[str, ...],
    no_compact: bool,
    memory: str | None,
    spark_local_finish: int,
    spark_memory: str | None,
    spark_log: str | None,
    show_profile: bool,
    profile_report: str | None,
    quiet: bool,
    json_logs: bool,
    **options: Any,
) -> None:
    """Add and remove explicit facts of a STORE, and repair what follows from them.

    A fact that is both removed and added stays. Removing what is not explicit does nothing and is
    counted. Files of up to 64 MB in all are read by this process, more by Spark, as with
    --engine spark. After an error the store is as before. --profile prints where time and instances
    went, --profile FILE.html writes it with plots.
    """
    if not insert and not delete:
        raise click.UsageError("there is nothing to do: add --insert or --delete")
    progress = console.configure(quiet, json_logs)
    set_spark(spark_memory, spark_log)
    from everlog.pipeline.updates import UpdateJob, update

    console.watch_compilation()
    options.update(compact=not no_compact, local_finish=spark_local_finish, memory=bytes_of(memory))
    job = UpdateJob(store=store, insert=insert, delete=delete, **options)
    with profiled(show_profile, profile_report, progress, f"everlog update {store}") as times:
        result = update(job, told(progress, followed(progress, times)))
        progress.close()
        report_skipped(result.bad, result.bad_count)
        for line in describe(store, result, job.dry_run):
            click.echo(line)
        if times is not None:
            times.phases = result.seconds
    data = _data(result) if times is None else {**_data(result), "profile": times.as_dict()}
    progress.result(store=store, dry_run=job.dry_run, **data)


def describe(store: str, result: UpdateResult, dry_run: bool) -> Iterator[str]:
    """An update as people read it, line by line."""
    change = result.change
    skipped = f", {result.bad_count:,} skipped" if result.bad_count else ""
    news = "not changed" if dry_run or not change else "new"
    compacted = f", compacted as version {result.compacted}" if result.compacted is not None else ""
    yield f"store      {store}, version {result.version}, {news}{compacted}"
    yield f"read       {counted(result.rows, 'row')}{skipped}"
    yield from described_change(change, result.seconds)


def _data(result: UpdateResult) -> dict[str, Any]:
    change = result.change
    return {
        "version": result.version,
        "compacted": result.compacted,
        "rows": result.rows,
        "skipped": result.bad_count,
        **changed_counts(change),
        "statistics": asdict(change.stats),
        "seconds": {name: round(taken, 3) for name, taken in result.seconds.items()},
    }
