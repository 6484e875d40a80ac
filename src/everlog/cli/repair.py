"""``everlog repair``"""

from __future__ import annotations

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, store_argument
from everlog.cli.terminal import echo
from everlog.lang.layout import counted


@click.command("repair")
@store_argument
@logging_options
def command(console: Console, store: str) -> None:
    """Move aside what a power cut or a disk has damaged in the logs of a STORE.

    The newest version is then the last one that is whole, and can be written to. What is damaged goes to STORE/damaged;
    data files are left as they are.
    """
    from everlog.store.repair import repair

    done = repair(store)
    for moved in done.moved:
        echo(f"{moved.path}: {moved.reason}; moved to {moved.to}")
    version = "no version is whole: materialise again" if done.version is None else f"version {done.version}"
    news = f"{counted(len(done.moved), 'file')} moved aside" if done.moved else "nothing in its logs is damaged"
    echo(f"store      {store}, {version}, {news}")
    console.progress.result(version=done.version, moved=[str(moved.to) for moved in done.moved])
