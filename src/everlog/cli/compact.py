"""``everlog compact``"""

from __future__ import annotations

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, store_argument
from everlog.cli.text import counted


@click.command("compact")
@store_argument
@logging_options
@click.pass_obj
def command(console: Console, store: str, quiet: bool, json_logs: bool) -> None:
    """Rewrite the newest version of a STORE so that each fact is one row, in few files.

    The facts stay the same, and older versions stay readable until `everlog vacuum`.
    """
    progress = console.configure(quiet, json_logs)
    from everlog.store.store import Store

    opened = Store.open(store)
    before, files = opened.version, len(opened.files()) + len(opened.term_files())
    progress.phase("compact")
    version = opened.compact()
    progress.close()
    after = len(opened.files()) + len(opened.term_files())
    if version == before:
        click.echo(f"version {version} is compact already: {counted(files, 'file')}")
    else:
        click.echo(f"version {version}: {counted(after, 'file')} instead of {files}")
    progress.result(version=version, files=after, files_before=files)
