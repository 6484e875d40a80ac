"""``everlog violations``"""

from __future__ import annotations

import click

from everlog.cli.console import Console
from everlog.cli.options import answer_options, logging_options, refuse_terminal, setting, store_argument
from everlog.lang.layout import counted


@click.command("violations")
@store_argument
@setting("format", "limit")
@answer_options
@logging_options
def command(console: Console, store: str, format: str, limit: int | None, at: int | None, output: str | None) -> None:
    """List what in a STORE contradicts its ontology: individuals, and the axiom or rule that each contradicts.

    Violations are facts everlog:violation(what, axiom): everlog explain STORE 'everlog:violation(?what, ?axiom)' says
    why, and everlog changes lists those inserted and deleted.
    """
    refuse_terminal(format, output)
    from everlog.cli.writers import write_answers
    from everlog.kb.stores import open as open_store

    console.watch_compilation()
    kb = open_store(store, at)
    found = kb.violations
    written = write_answers(found, format, output, limit=limit, prefixes=kb.program.program.prefixes)
    summary = f"{f'{written:,} of ' if written < len(found) else ''}{counted(len(found), 'violation')}"
    console.progress.result(summary, violations=len(found), written=written)
