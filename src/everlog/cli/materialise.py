"""``everlog materialise``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, report_skipped, setting, spark_options
from everlog.cli.profile import ProfiledCommand, profile_options, profiled
from everlog.cli.reporting import report_for
from everlog.cli.terminal import echo
from everlog.host.memory import bytes_of
from everlog.lang.layout import counted, violations_line

if TYPE_CHECKING:
    from everlog.jobs.materialise import MaterialiseResult


@click.command("materialise", cls=ProfiledCommand)
@click.argument("rules", metavar="[RULES]...", nargs=-1, type=click.Path())
@click.option(
    "--facts",
    multiple=True,
    type=click.Path(),
    metavar="[NAME=]PATH",
    help="A file, directory or glob of facts, for the predicate NAME or that of the file's name; "
    "PATH[COLUMN, ...] picks columns by name. May be repeated.",
)
@click.option("--store", required=True, type=click.Path(), metavar="DIR", help="Where the store is, or is made.")
@click.option("--overwrite", is_flag=True, help="Make a new version of an existing store, with nothing of the old one.")
@click.option("--source", metavar="NAME", help="Label blank nodes by this name instead of the file's.")
@setting("header", "types", "base", "graphs", "large-gz", "on-error", "engine", "modules", "stratification", "maintain")
@setting("profile", "equality", "schema", "expand-below", "max-facts", "timeout", "salt")
@setting("memory", "wait", "spark-local-finish")
@spark_options
@profile_options
@setting("warnings")
@logging_options
def command(
    console: Console,
    /,
    rules: tuple[str, ...],
    facts: tuple[str, ...],
    store: str,
    overwrite: bool,
    source: str | None,
    profile: Any,
    modules: str,
    memory: str | None,
    spark_local_finish: int,
    show_profile: bool,
    profile_report: str | None,
    **options: Any,
) -> None:
    """Derive everything that follows from RULES and facts, into a store.

    RULES are rule files (.rls) and ontologies in any serialisation of RDF, of which --profile says
    how they become rules; the profiles rl, rdfs and skos need none (see `everlog owl`).

    Files of up to 64 MB in all are read by this process; more, and everything with --master, by Spark, embedded in
    this process unless --master says otherwise. Rules are applied on this machine, or by Spark with --engine spark, or
    where they may need more than --memory. After an error the store is as before. --profile without the name of a
    profile prints where time and instances went, --profile FILE.html writes it with plots.
    """
    progress = console.progress
    if not rules and profile in ("lower", "upper"):
        raise click.UsageError("Missing argument 'RULES...'.")
    from everlog.jobs.materialise import MaterialiseJob, materialise

    console.watch_compilation()
    options.update(facts=facts, store=store, overwrite=overwrite, source=source, profile=profile)
    options.update(modules=modules == "on", memory=bytes_of(memory), local_finish=spark_local_finish)
    job = MaterialiseJob(rules=rules, **options)
    with profiled(show_profile, profile_report, progress, f"everlog materialise {store}") as times:
        result = materialise(job, report_for(progress, times))
        progress.close()
        report_skipped(result.bad, result.bad_count)
        for line in describe(store, result):
            echo(line)
        if times is not None:
            times.phases = result.seconds
    data = _data(result) if times is None else {**_data(result), "profile": times.as_dict()}
    progress.result(store=store, **data)


def describe(store: str, result: MaterialiseResult) -> Iterator[str]:
    """The lines that describe a materialisation."""
    figures = result.statistics
    seconds = ", ".join(f"{name} {taken:.1f}" for name, taken in result.seconds.items())
    skipped = f", {result.bad_count:,} skipped" if result.bad_count else ""
    yield f"store      {store}, version {result.version}"
    yield f"read       {counted(result.rows, 'row')}{skipped}"
    yield f"facts      {figures.facts:,}: {figures.explicit:,} explicit, {figures.derived:,} derived"
    yield from violations_line(figures.violations, store)
    work = f"{counted(figures.instances, 'instance')} in {counted(figures.rounds, 'round')}"
    yield f"reasoning  {work}, {counted(len(figures.strata), 'stratum', 'strata')}"
    yield f"seconds    {sum(result.seconds.values()):.1f}: {seconds}"


def _data(result: MaterialiseResult) -> dict[str, Any]:
    return {
        "version": result.version,
        "rows": result.rows,
        "skipped": result.bad_count,
        "seconds": {name: round(taken, 3) for name, taken in result.seconds.items()},
        "statistics": result.statistics.as_dict(),
    }
