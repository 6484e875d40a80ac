"""``everlog vacuum``"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, store_argument
from everlog.cli.terminal import echo


@click.command("vacuum")
@store_argument
@click.option("--keep-versions", type=click.IntRange(1), metavar="N", help="Keep the newest N versions.")
@click.option("--keep-hours", type=click.FloatRange(0), metavar="H", help="Keep versions younger than H hours.")
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@logging_options
def command(console: Console, store: str, keep_versions: int | None, keep_hours: float | None, dry_run: bool) -> None:
    """Delete files of a STORE that no version to be kept needs.

    Without --keep-versions and --keep-hours all versions are kept, and only what killed writers left
    is deleted. The newest version is always kept. Versions whose files are gone cannot be read again.
    """
    from everlog.lang.layout import bytes_text
    from everlog.store.store import Store
    from everlog.store.vacuum import vacuum

    opened = Store.open(store)
    planned = vacuum(opened, keep_versions, keep_hours, dry_run=True)
    size = _size(planned)
    deleted = planned if dry_run else vacuum(opened, keep_versions, keep_hours)
    if dry_run:
        for path in deleted:
            echo(str(path))
    verb = "would be deleted" if dry_run else "deleted"
    echo(f"{verb}: {len(deleted):,} files and directories with {bytes_text(size)}", err=dry_run)
    console.progress.result(deleted=len(deleted), bytes=size, dry_run=dry_run)


def _size(paths: Iterable[Path]) -> int:
    found = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return sum(file.stat().st_size for file in found if file.is_file())
