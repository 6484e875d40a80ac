"""Checks of the place where a writer begins, and removal of the files of dead writers.

The functions here are about writers that died or gave up. They never touch a version, or the files of a living
writer.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from pathlib import Path

from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.store import locking, snapshot
from everlog.store.errors import store_error
from everlog.store.layout import StoreLayout, writer_of
from everlog.store.log import is_table, named_files, newest_version
from everlog.store.versions import read_version

log = logging.getLogger(__name__)

OWN_NAMES = {"facts", "terms", "snapshot", "work", "streams", "damaged"}
"""The names in the directory of a store."""


def exists(path: Path | str) -> bool:
    """Whether there is a store with at least one version at ``path``.

    >>> exists("no/such/place")
    False
    """
    return is_table(StoreLayout.at(path).facts)


def refuse_strangers(layout: StoreLayout) -> None:
    """Raise an error unless there is a store, an unfinished store, or nothing."""
    root = layout.root
    newest = newest_version(layout.facts)
    if newest is not None:
        read_version(layout.facts, newest)
        return
    if not root.exists():
        return
    if not root.is_dir():
        hint = "choose another path for the store"
        raise store_error(Code.NOT_A_STORE, "this is a file, not a directory", root, hint)
    names = _names_in(root)
    if names and not _is_unfinished(layout, names):
        shown = ", ".join(sorted(names)[:5])
        hint = "choose an empty or new directory for the store"
        raise store_error(Code.NOT_A_STORE, f"the directory is no Everlog store but has {shown}", root, hint)


def _is_unfinished(layout: StoreLayout, names: set[str]) -> bool:
    """Whether a writer has made its first files or directories here, or a repair left no whole version."""
    at_work = _names_in(layout.work)
    just_begun = names == {"work"} and not at_work and not layout.work.is_file()
    repaired = layout.damaged.name in names  # and no version was whole
    return names <= OWN_NAMES and (layout.guard.name in at_work or just_begun or repaired)


def _names_in(directory: Path) -> set[str]:
    try:
        return set(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return set()


def clean_dead(layout: StoreLayout) -> None:
    """Remove the files of dead writers: staging, locks, unfinished snapshots, and data files that no log entry names.
    Call under the guard.

    Call under the guard.
    """
    snapshot.remove_unfinished(layout.snapshots)
    for path in locking.unregistered(layout):
        shutil.rmtree(path, ignore_errors=True)
    dead = {writer for writer in locking.writers(layout) if not locking.is_alive(layout, writer)}
    if not dead:
        return
    for table in (layout.facts, layout.terms):
        remove_unnamed([path for path in table.glob("*.parquet") if writer_of(path.name) in dead], table)
    for writer in dead:
        locking.remove_dead(layout, writer)


def remove_unnamed(files: list[Path], table: Path) -> None:
    """Remove the data files that no log entry of the table names; none if an entry cannot be read."""
    if not files:
        return
    try:
        named = named_files(table)
    except StoreError as error:
        log.warning("data files that may not be needed stay in %s: %s", table, error.diagnostics[0].message)
        return
    for path in files:
        if path.name not in named:
            path.unlink(missing_ok=True)


def remove_unfinished(layout: StoreLayout, made: Path | None) -> None:
    """Remove a store that has no version and no writer, and the directories made for it. Under the guard.

    What has data files of facts, or parts that a repair moved aside, had a version once. Its log may still be restored,
    so it stays.
    """
    if is_table(layout.facts) or locking.writers(layout):
        return
    if any(layout.facts.glob("*.parquet")) or layout.damaged.exists():
        return
    for directory in (layout.facts, layout.terms, layout.snapshots):
        shutil.rmtree(directory, ignore_errors=True)
    layout.guard.unlink(missing_ok=True)
    remove_empty(layout, made)


def remove_if_unfinished(layout: StoreLayout, made: Path | None) -> None:
    """Remove a store that has no version and no writer; only empty directories if the guard cannot be had."""
    try:
        with locking.guarded(layout):
            remove_unfinished(layout, made)
    except OSError:
        remove_empty(layout, made)


def remove_empty(layout: StoreLayout, made: Path | None) -> None:
    """Remove ``work/`` and the directories up to the first one made, as far as they are empty."""
    with contextlib.suppress(OSError):
        layout.work.rmdir()
    if made is None:
        return
    for directory in (layout.root, *layout.root.parents):
        with contextlib.suppress(OSError):
            directory.rmdir()
        if directory == made:
            return
