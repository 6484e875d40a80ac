"""Repairing the logs of a store: parts that a power cut or a disk has damaged are moved aside.

A version is whole if its log entry and that of its terms are. Newer entries, and checkpoints that cannot be used,
are moved to ``damaged/``; data files stay, and ``vacuum`` removes those that no version needs. Nothing else is
changed: damage in data files and in older entries can only be undone from a backup.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from everlog.lang.codes import Code
from everlog.store import locking
from everlog.store.durable import sync_directories
from everlog.store.entries import damage, entries_in, last_checkpoint, last_checkpoint_damage, newest_listed
from everlog.store.errors import file_errors, store_error
from everlog.store.layout import StoreLayout
from everlog.store.log import by_delta, contents, forget_contents, is_table, newest_version
from everlog.store.versions import newest_usable, no_terms


@dataclass(frozen=True)
class QuarantinedFile:
    """A damaged file, the description of its damage, and its new path."""

    path: Path
    reason: str
    to: Path


@dataclass(frozen=True)
class RepairedStore:
    """The result of a repair: ``version`` is the newest version now, None if none was whole."""

    version: int | None
    moved: tuple[QuarantinedFile, ...]


def refuse_damage(layout: StoreLayout) -> None:
    """Raise an error if a log is damaged, since nothing may be written on top of it."""
    for log, reason in _damaged(layout):
        hint = f"nothing was changed; run everlog repair {layout.root}, then again"
        raise store_error(Code.DAMAGED_LOG, reason, log, hint)


def _damaged(layout: StoreLayout) -> Iterator[tuple[Path, str]]:
    """The damaged logs, each with a description of the damage."""
    for table in (layout.facts, layout.terms):
        if (newest := newest_listed(table)) is None:
            continue
        if (found := damage(table, newest)) is not None:
            yield StoreLayout.log(table), f"version {newest} of {table.name}/ is not whole: its log entry {found}"
        elif (found := last_checkpoint_damage(table) or contents(table, newest).checkpoint) is not None:
            yield StoreLayout.log(table), found


def repair(path: Path | str) -> RepairedStore:
    """Move the damaged parts of the logs of a store aside, so that it can be written to again. It is an error if
    there is no store, or a writer is at work.
    """
    layout = StoreLayout.at(path)
    if not is_table(layout.facts) and not is_table(layout.terms):
        raise store_error(Code.NOT_A_STORE, "there is no store here to repair", layout.root)
    if is_table(layout.facts) and not is_table(layout.terms):
        raise no_terms(layout)
    with file_errors("repairing", layout.root), locking.guarded(layout):
        if locking.living(layout):
            hint = "wait until it is done, and run again"
            raise store_error(Code.WRITER_AT_WORK, "a writer is at work in this store", layout.root, hint)
        usable = newest_usable(layout)
        found = [*_unusable(layout.facts, usable), *_unusable(layout.terms, newest_version(layout.terms))]
        aside = layout.damaged / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000_000:09}"
        moved = tuple(_move(path, reason, aside) for path, reason in found)
        if moved:
            logs = [StoreLayout.log(table) for table in (layout.facts, layout.terms)]
            there = [directory for directory in logs if directory.exists()]
            sync_directories([*{move.to.parent for move in moved}, aside, layout.damaged, layout.root, *there])
        forget_contents()
        for log, reason in _damaged(layout):  # the newest entries and checkpoints alone can be done without
            hint = "restore the table's _delta_log from a backup"
            raise store_error(Code.DAMAGED_LOG, f"this cannot be repaired: {reason}", log, hint)
    return RepairedStore(usable, moved)


def _unusable(table: Path, newest: int | None) -> Iterator[tuple[Path, str]]:
    """The parts of a log that are newer than its newest whole version, and unusable checkpoints."""
    last = -1 if newest is None else newest
    for version, entry in sorted(entries_in(table).items()):
        if version > last:
            yield entry, damage(table, version) or "belongs to a version that is not whole"
    gone = set()
    for path in sorted(StoreLayout.log(table).glob("*.checkpoint.parquet")):
        version = int(path.name.partition(".")[0])
        found = "is of a version that is not whole" if version > last else by_delta(table, version)
        if isinstance(found, str):
            gone.add(version)
            yield path, found
    reason = last_checkpoint_damage(table)
    if last_checkpoint(table) in gone:
        reason = f"{StoreLayout.last_checkpoint(table).name} names a checkpoint that cannot be used"
    if reason is not None:
        yield StoreLayout.last_checkpoint(table), reason


def _move(path: Path, reason: str, aside: Path) -> QuarantinedFile:
    to = aside / path.parent.parent.name / path.name
    to.parent.mkdir(parents=True, exist_ok=True)
    path.rename(to)
    return QuarantinedFile(path, reason, to)
