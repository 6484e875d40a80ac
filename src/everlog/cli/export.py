"""``everlog export``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from everlog.cli.console import Console
from everlog.cli.options import at_option, logging_options, setting, store_argument
from everlog.cli.terminal import echo
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.kb.knowledge_base import KnowledgeBase
    from everlog.lang.syntax import Predicate
    from everlog.store import Version


TRIPLES = ("nt", "ttl")
"""The formats of triples."""


@click.command("export")
@store_argument
@click.option("--format", "form", type=click.Choice(["csv", "parquet", "nt", "ttl"]), default="csv", show_default=True)
@click.option(
    "--output", type=click.Path(), metavar="PATH", help="A new directory; for nt and ttl a file, or stdout without."
)
@click.option("--predicate", "predicates", multiple=True, metavar="P", help="Only this predicate. May be repeated.")
@click.option("--explicit", is_flag=True, help="Only explicit facts, not what follows from them.")
@setting("on-error")
@at_option
@logging_options
def command(
    console: Console,
    store: str,
    form: str,
    output: str | None,
    predicates: tuple[str, ...],
    explicit: bool,
    on_error: str,
    at: Version | None,
) -> None:
    """Write the facts of a STORE to files.

    csv and parquet: a file for each predicate in a new directory, named after it, and _manifest.json,
    which says what is where; the csv files have no header and can be given to --facts again. nt and ttl:
    one file of N-Triples or Turtle with C(s), p(s, o) and triple(s, p, o) as triples. A fact that cannot be
    written in the format is an error, and nothing is written; --on-error skip leaves such facts out.
    """
    if form not in TRIPLES and output is None:
        raise click.UsageError(f"{form} makes a file for each predicate: add --output DIR")
    progress = console.progress
    from everlog.cli.exporting import export_files
    from everlog.cli.triples import export_triples
    from everlog.kb.stores import open as open_store

    console.watch_compilation()
    kb = open_store(store, at)
    chosen, skip = _chosen(kb, predicates, form), on_error == "skip"
    progress.phase("write")
    if form in TRIPLES:
        written, left_out = export_triples(kb.state(), chosen, form, output, kb.prefixes, explicit=explicit, skip=skip)
    else:
        assert output is not None
        parts = {p: kb[p].explicit if explicit else kb[p] for p in chosen}
        written, left_out = export_files(parts, form, output, kb.program.program.prefixes, skip=skip)
    progress.close()
    for line in left_out.lines():
        echo(line, err=True)
    summary = f"wrote {counted(written, 'fact')}"
    progress.result(summary, written=written, left_out=len(left_out))


def _chosen(kb: KnowledgeBase, names: tuple[str, ...], form: str) -> list[Predicate]:
    """The predicates with one of the names, with any arity.

    Without names they are all predicates; for triples, those that the program of a profile uses internally are left
    out.
    """
    from everlog.analysis.predicates import Names
    from everlog.lang.internal import is_internal
    from everlog.lang.parser import resolve_predicate_name

    if not names:
        return [p for p in kb.predicates if form not in TRIPLES or not is_internal(p)]
    prefixes, found = kb.prefixes, []
    for name in dict.fromkeys(names):
        same = [p for p in kb.predicates if p.name == resolve_predicate_name(name, prefixes)]
        found += same or [Names(kb.predicates, prefixes).find(name)]
    return found
