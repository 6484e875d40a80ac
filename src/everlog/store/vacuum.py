"""Vacuum: delete the files that no retained version needs.

Deleted are data files that no retained version refers to, unless a living writer wrote them; files that dead writers
left; snapshots that the newest version does not need. The log stays, so a version that lost its files is still
listed, and reading it is an error that says so.
"""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

from everlog.lang.codes import Code
from everlog.store import locking, snapshot
from everlog.store.errors import store_error
from everlog.store.layout import writer_of
from everlog.store.log import file_names, named_files, newest_version
from everlog.store.store import Store


def vacuum(
    store: Store, keep_versions: int | None = None, keep_hours: float | None = None, *, dry_run: bool = False
) -> list[Path]:
    """Delete the files that no retained version needs, and return their paths.

    Retained are the newest version, the newest ``keep_versions`` and those younger than ``keep_hours``. If neither
    is given, only files that no version refers to are deleted. With ``dry_run`` nothing is deleted.
    """
    if keep_versions is not None and keep_versions < 1:
        raise store_error(Code.BAD_OPTION, f"cannot keep {keep_versions} versions", store.path, "keep at least 1")
    with locking.guarded(store.layout):
        fresh = Store.open(store.path)
        retained = _retained(fresh, keep_versions, keep_hours)
        alive = locking.living(fresh.layout)
        facts = _unwanted(fresh.layout.facts, retained, alive)
        terms_retained = {fresh.info(version).terms_version for version in retained}
        newest_terms = newest_version(fresh.layout.terms)
        terms = _unwanted(fresh.layout.terms, terms_retained | {newest_terms or 0}, alive)
        dead = [w for w in locking.writers(fresh.layout) if w not in alive]
        lost = locking.unregistered(fresh.layout)
        found = [*facts, *terms, *(fresh.layout.staging(writer) for writer in dead), *lost]
        if dry_run:
            return found
        for path in (*facts, *terms):
            path.unlink(missing_ok=True)
        for writer in dead:
            locking.remove_dead(fresh.layout, writer)
        for path in lost:
            shutil.rmtree(path, ignore_errors=True)
        return [*found, *snapshot.remove_others(fresh.layout.snapshots, fresh.nearest_snapshot())]


def _retained(store: Store, keep_versions: int | None, keep_hours: float | None) -> set[int]:
    newest = store.version
    if keep_versions is None and keep_hours is None:
        return set(range(newest + 1))
    retained = set(range(max(0, newest + 1 - (keep_versions or 1)), newest + 1))
    if keep_hours is not None:
        since = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=keep_hours)
        retained |= {info.version for info in store.versions() if info.timestamp >= since}
    return retained


def _unwanted(table: Path, retained: set[int], alive: set[str]) -> list[Path]:
    wanted = {name for version in retained for name in file_names(table, version)}
    named = named_files(table)
    found = []
    for path in sorted(table.glob("*.parquet")):
        ours = writer_of(path.name)
        if path.name not in wanted and ours not in alive and (ours is not None or path.name in named):
            found.append(path)
    return found
