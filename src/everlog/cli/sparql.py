"""``everlog sparql``"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import answer_options, limit_options, logging_options, refuse_terminal, setting, store_argument
from everlog.cli.terminal import echo
from everlog.lang.layout import counted
from everlog.settings import SETTINGS

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.kb.change import Change
    from everlog.query.sparql.results import Result, Solutions
    from everlog.store import Version

FORMATS = ("table", "csv", "tsv", "json", "xml", "nt", "ttl", "parquet", "arrow")
BINARY = ("parquet", "arrow")


@click.command("sparql")
@store_argument
@click.argument("text", metavar="QUERY")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    envvar=SETTINGS["format"].variable,
    help="How answers are written; as a table, triples are written as Turtle.",
)
@setting("limit", "base")
@answer_options
@click.option("--update", is_flag=True, help="QUERY is an update request; the store gets a new version.")
@limit_options
@setting("wait")
@logging_options
def command(
    console: Console,
    store: str,
    text: str,
    format: str,
    limit: int | None,
    base: str | None,
    at: Version | None,
    output: str | None,
    update: bool,
    limits: dict[str, Any],
    wait: float,
) -> None:
    """Answer a SPARQL 1.1 QUERY, or carry out an update; `-` reads it from stdin.

    `s rdf:type C` is the fact C(s), `s p o` is p(s, o), and a predicate with a bare name is
    everlog:name. csv, tsv, json and xml are the standard result formats; nt and ttl are for the
    triples of CONSTRUCT and DESCRIBE.
    """
    if update and at is not None:
        raise click.UsageError("--update is for the newest version, not for --at")
    refuse_terminal(format, output)
    progress = console.progress
    begun = time.monotonic()
    from everlog.kb import stores
    from everlog.query.sparql.parsing import is_update

    console.watch_compilation()
    query = sys.stdin.read() if text == "-" else text
    if update:
        from everlog.jobs.changed import changed

        version, changes = changed(store, lambda kb: kb.sparql_update(query, base=base or ""), wait=wait, **limits)
        for line in _described(store, version, changes):
            echo(line)
        figures: dict[str, Any] = _figures(changes)
        progress.result(store=store, version=version, **figures)
        return
    kb = stores.open(store, at, **limits)
    if is_update(query):
        raise click.UsageError("this is an update request: add --update")
    answer = kb.sparql(query, base=base or "")
    written = _write(answer, format, output, limit, kb.program.program.prefixes)
    seconds = time.monotonic() - begun
    count = counted(len(answer), "answer") if answer.columns else "answered"
    summary = f"{f'{written:,} of ' if written < len(answer) else ''}{count} in {seconds:.2f} s"
    progress.result(summary, answers=len(answer), written=written, seconds=round(seconds, 3))


def _write(answer: Result, form: str, output: str | None, limit: int | None, prefixes: Any) -> int:
    """Write an answer and return the number of rows written."""
    from everlog.cli.writers import sink, write_answers
    from everlog.query.sparql.formats import write
    from everlog.query.sparql.results import Triples, Truth

    if not isinstance(answer, Truth):
        answer = answer.first(limit)
    if isinstance(answer, Triples) and form == "table":
        form = "ttl"
    if form == "table" or form in BINARY:
        rows: Any = answer if form in BINARY or isinstance(answer, Truth) else _Shown(answer)
        return write_answers(rows, form, output, prefixes=prefixes)
    with sink(output) as file:
        write(answer, form, file, prefixes=prefixes)
    return len(answer)


class _Shown:
    """Solutions as rows of a table: an unbound variable is an empty cell."""

    def __init__(self, solutions: Solutions) -> None:
        self._solutions = solutions
        self.columns = solutions.columns

    def __len__(self) -> int:
        return len(self._solutions)

    def text_batches(self, stop: int) -> Iterator[list[pa.LargeStringArray]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        empty = pa.scalar('""', pa.large_string())
        yield [pc.fill_null(column, empty) for column in self._solutions.texts(0, stop)]


def _described(store: str, version: int, changes: Sequence[Change]) -> Iterator[str]:
    figures = _figures(changes)
    idle = f"; {counted(figures['not_explicit'], 'deletion')} did nothing" if figures["not_explicit"] else ""
    news = "new" if any(changes) else "not changed"
    yield f"store      {store}, version {version}, {news}"
    yield f"explicit   +{figures['explicit_inserted']:,} -{figures['explicit_deleted']:,}{idle}"
    yield f"facts      +{figures['inserted']:,} -{figures['deleted']:,}"
    algorithms = dict.fromkeys(change.stats.algorithm for change in changes)
    yield f"algorithm  {', '.join(algorithms) or 'none'}"


def _figures(changes: Sequence[Change]) -> dict[str, int]:
    names = ("explicit_inserted", "explicit_deleted", "inserted", "deleted")
    totals = {name: sum(len(rows) for change in changes for rows in getattr(change, name).values()) for name in names}
    return {**totals, "not_explicit": sum(change.not_explicit for change in changes)}
