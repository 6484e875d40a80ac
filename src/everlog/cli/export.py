"""``everlog export``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from everlog.cli.console import Console
from everlog.cli.options import at_option, logging_options, store_argument
from everlog.cli.text import counted

if TYPE_CHECKING:
    from everlog.knowledge_base import KnowledgeBase
    from everlog.lang.syntax import Predicate


@click.command("export")
@store_argument
@click.option("--format", "form", type=click.Choice(["csv", "parquet", "nt"]), default="csv", show_default=True)
@click.option("--output", type=click.Path(), metavar="PATH", help="A new directory; for nt a file, or stdout without.")
@click.option("--predicate", "predicates", multiple=True, metavar="P", help="Only this predicate. May be repeated.")
@click.option("--explicit", is_flag=True, help="Only explicit facts, not what follows from them.")
@at_option
@logging_options
@click.pass_obj
def command(
    console: Console,
    store: str,
    form: str,
    output: str | None,
    predicates: tuple[str, ...],
    explicit: bool,
    at: int | None,
    quiet: bool,
    json_logs: bool,
) -> None:
    """Write the facts of a STORE to files.

    csv and parquet: a file for each predicate in a new directory, named after it, and _manifest.json,
    which says what is where; the csv files have no header and can be given to --facts again. nt: one
    file of N-Triples; a fact that cannot be a triple is left out and counted.
    """
    if form != "nt" and output is None:
        raise click.UsageError(f"{form} makes a file for each predicate: add --output DIR")
    progress = console.configure(quiet, json_logs)
    from everlog.cli.exporting import export_files, export_ntriples
    from everlog.stores import open as open_store

    console.watch_compilation()
    kb = open_store(store, at)
    parts = {p: kb[p].explicit if explicit else kb[p] for p in _chosen(kb, predicates)}
    progress.phase("write")
    if form == "nt":
        written, skipped = export_ntriples(parts, output)
    else:
        assert output is not None
        written, skipped = export_files(parts, form, output, kb.program.program.prefixes)
    progress.close()
    for reason, count in skipped.items():
        click.echo(f"left out {counted(count, 'fact')}: {reason}", err=True)
    told = f"wrote {counted(written, 'fact')}"
    progress.result(told, written=written, left_out=sum(skipped.values()))


def _chosen(kb: KnowledgeBase, names: tuple[str, ...]) -> list[Predicate]:
    """The predicates with one of the names, of every arity; all predicates without names."""
    from everlog.lang.parser import resolve_predicate_name
    from everlog.predicates import Names

    if not names:
        return kb.predicates
    prefixes, found = kb.program.program.prefixes, []
    for name in dict.fromkeys(names):
        same = [p for p in kb.predicates if p.name == resolve_predicate_name(name, prefixes)]
        found += same or [Names(kb.predicates, prefixes).find(name)]
    return found
