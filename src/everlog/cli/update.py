"""``everlog update``"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, report_skipped, set_spark, setting, store_argument
from everlog.cli.text import aligned, counted

if TYPE_CHECKING:
    from everlog.change import Change
    from everlog.pipeline.updates import UpdateResult

ALGORITHMS = ("auto", "dredc", "bfc", "fbf", "dred", "counting", "rematerialise")
SHOWN = 25
"""How many predicates are listed."""


class StrategyType(click.ParamType):  # type: ignore[type-arg]
    """``never``, ``always`` or a number."""

    name = "strategy"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        if value in ("never", "always"):
            return str(value)
        if not str(value).isdigit():
            self.fail(f"{value!r} is not never, always or a number", param, ctx)
        return int(value)


@click.command("update")
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
@setting("spark-local-finish", "master", "spark-memory", "spark-log")
@logging_options
@click.pass_obj
def command(
    console: Console,
    /,
    store: str,
    insert: tuple[str, ...],
    delete: tuple[str, ...],
    no_compact: bool,
    spark_local_finish: int,
    spark_memory: str | None,
    spark_log: str | None,
    quiet: bool,
    json_logs: bool,
    **options: Any,
) -> None:
    """Add and remove explicit facts of a STORE, and repair what follows from them.

    A fact that is both removed and added stays. Removing what is not explicit does nothing and is
    counted. Files of up to 64 MB in all are read by this process, more by Spark, as with
    --engine spark. After an error the store is as before.
    """
    if not insert and not delete:
        raise click.UsageError("there is nothing to do: add --insert or --delete")
    progress = console.configure(quiet, json_logs)
    set_spark(spark_memory, spark_log)
    from everlog.pipeline.jobs import Report
    from everlog.pipeline.updates import UpdateJob, update

    console.watch_compilation()
    options.update(compact=not no_compact, local_finish=spark_local_finish)
    job = UpdateJob(store=store, insert=insert, delete=delete, **options)
    result = update(job, Report(progress.phase, progress.round_done, progress.warning))
    progress.close()
    report_skipped(result.bad, result.bad_count)
    for line in describe(store, result, job.dry_run):
        click.echo(line)
    progress.result(store=store, dry_run=job.dry_run, **_data(result))


def describe(store: str, result: UpdateResult, dry_run: bool) -> Iterator[str]:
    """An update as people read it, line by line."""
    change, figures = result.change, result.change.stats
    skipped = f", {result.bad_count:,} skipped" if result.bad_count else ""
    news = "not changed" if dry_run or not change else "new"
    compacted = f", compacted as version {result.compacted}" if result.compacted is not None else ""
    idle = f"; {counted(change.not_explicit, 'deletion')} did nothing" if change.not_explicit else ""
    reason = f" ({figures.reason})" if figures.reason else ""
    phases = ", ".join(f"{name} {number:,}" for name, number in figures.instances.items() if number)
    seconds = ", ".join(f"{name} {taken:.2f}" for name, taken in result.seconds.items())
    yield f"store      {store}, version {result.version}, {news}{compacted}"
    yield f"read       {counted(result.rows, 'row')}{skipped}"
    yield f"explicit   {_plus_minus(change.explicit_inserted, change.explicit_deleted)}{idle}"
    yield f"facts      {_plus_minus(change.inserted, change.deleted)}"
    yield f"algorithm  {figures.algorithm}{reason}"
    yield f"instances  {figures.total_instances:,}{': ' if phases else ''}{phases}"
    yield f"seconds    {sum(result.seconds.values()):.2f}: {seconds}"
    rows = list(by_predicate(change))
    if rows:
        yield ""
        shown = [(name, f"+{added:,}", f"-{removed:,}") for name, added, removed in rows[:SHOWN]]
        yield from aligned(("predicate", "added", "removed"), shown)
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN:,} more predicates"


def by_predicate(change: Change) -> Sequence[tuple[str, int, int]]:
    """The numbers of facts added and removed, for each predicate that changed, the largest first."""
    found = [
        (str(p), len(change.inserted.get(p, ())), len(change.deleted.get(p, ())))
        for p in {*change.inserted, *change.deleted}
    ]
    return sorted(found, key=lambda row: (-row[1] - row[2], row[0]))


def _count(relations: Any) -> int:
    return sum(len(rows) for rows in relations.values())


def _plus_minus(added: Any, removed: Any) -> str:
    return f"+{_count(added):,} -{_count(removed):,}"


def _data(result: UpdateResult) -> dict[str, Any]:
    change = result.change
    return {
        "version": result.version,
        "compacted": result.compacted,
        "rows": result.rows,
        "skipped": result.bad_count,
        "inserted": _count(change.inserted),
        "deleted": _count(change.deleted),
        "explicit_inserted": _count(change.explicit_inserted),
        "explicit_deleted": _count(change.explicit_deleted),
        "not_explicit": change.not_explicit,
        "predicates": {name: {"added": added, "removed": removed} for name, added, removed in by_predicate(change)},
        "statistics": asdict(change.stats),
        "seconds": {name: round(taken, 3) for name, taken in result.seconds.items()},
    }
