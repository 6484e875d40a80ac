"""``everlog compact``"""

from __future__ import annotations

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, setting, store_argument
from everlog.cli.terminal import echo
from everlog.lang.layout import counted


@click.command("compact")
@store_argument
@setting("wait")
@logging_options
def command(console: Console, store: str, wait: float) -> None:
    """Rewrite the newest version of a STORE so that each fact is one row, in few files.

    The facts stay the same, and older versions stay readable until `everlog vacuum`.
    """
    progress = console.progress
    from everlog.store.compaction import compact
    from everlog.store.store import Store

    opened = Store.open(store)
    before, files = opened.version, len(opened.files()) + len(opened.term_files())
    progress.phase("compact")
    version = compact(opened, wait=wait)
    progress.close()
    after = len(opened.files()) + len(opened.term_files())
    if version == before:
        echo(f"version {version} is compact already: {counted(files, 'file')}")
    else:
        echo(f"version {version}: {counted(after, 'file')} instead of {files}")
    progress.result(version=version, files=after, files_before=files)
