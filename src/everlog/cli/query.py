"""``everlog query``"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import answer_options, limit_options, logging_options, refuse_terminal, setting, store_argument
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.store import Version


@click.command("query")
@store_argument
@click.argument("text", metavar="QUERY")
@setting("format", "limit")
@answer_options
@limit_options
@logging_options
def command(
    console: Console,
    store: str,
    text: str,
    format: str,
    limit: int | None,
    at: Version | None,
    output: str | None,
    limits: dict[str, Any],
) -> None:
    """Answer a QUERY such as 'ancestor(alice, ?x), ~orphan(?x)'.

    The columns are the named variables in order of appearance; `_` stands for any value. A query
    without variables prints true or false. The default format is a table; parquet and arrow go to a
    file or a pipe.
    """
    refuse_terminal(format, output)
    begun = time.monotonic()
    from everlog.cli.writers import write_answers
    from everlog.kb.stores import open as open_store

    console.watch_compilation()
    kb = open_store(store, at, **limits)
    answers = kb.query(text)
    written = write_answers(answers, format, output, limit=limit, prefixes=kb.program.program.prefixes)
    seconds = time.monotonic() - begun
    count = counted(len(answers), "answer") if answers.columns else "answered"
    summary = f"{f'{written:,} of ' if written < len(answers) else ''}{count} in {seconds:.2f} s"
    console.progress.result(summary, answers=len(answers), written=written, seconds=round(seconds, 3))
