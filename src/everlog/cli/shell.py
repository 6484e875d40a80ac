"""``everlog shell``"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everlog import __version__
from everlog.cli.console import Console
from everlog.cli.options import limit_options, setting
from everlog.cli.terminal import echo
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.kb.knowledge_base import KnowledgeBase


@click.command("shell")
@click.argument("source", metavar="[RULES|STORE]", required=False, type=click.Path())
@limit_options
@setting("wait")
@click.pass_obj
def command(console: Console, /, source: str | None, limits: dict[str, Any], wait: float) -> None:
    """Rules, queries, updates and explanations on a live knowledge base.

    It begins with RULES (a rule file or an ontology), a STORE, or nothing. What is changed is in memory until `:save`.
    Without a terminal, inputs are read from stdin: errors are shown, the next input is read, and the exit status is 1
    in the end.
    """
    console.configure(quiet=not sys.stderr.isatty(), json_logs=False).shows_warnings = True
    from everlog.shell import loop
    from everlog.shell.session import Session
    from everlog.shell.terminal import completion_and_history

    console.watch_compilation()
    kb = _opened(source, **limits)
    kb.materialise()
    on_terminal = sys.stdin.isatty()
    session = Session(kb, echo, asks=on_terminal, wait=wait)
    if not on_terminal:
        if not loop.run(session, loop.piped, _show_error, on_terminal=False):
            raise click.exceptions.Exit(1)
        return
    rules = counted(len(kb.program.program.rules), "rule")
    echo(f"Everlog {__version__}: {rules}, {counted(kb.state().facts.count, 'fact')}. `:help` says what to type.")
    with completion_and_history(session):
        loop.run(session, loop.typed, _show_error, on_terminal=True)


def _opened(source: str | None, **allowed: Any) -> KnowledgeBase:
    if source is None or not os.path.isdir(source):
        from everlog.kb.knowledge_base import KnowledgeBase

        return KnowledgeBase("" if source is None else Path(source), **allowed)
    from everlog.kb.stores import open as open_store

    return open_store(source, **allowed)


def _show_error(message: str) -> None:
    sys.stdout.flush()
    echo(message, err=True)
