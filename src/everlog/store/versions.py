"""The description of a version, which is in the metadata of its commit.

Rules are written only by the version that changes them; later versions name that version.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.store.entries import METADATA_KEY, damage
from everlog.store.errors import store_error
from everlog.store.layout import StoreLayout
from everlog.store.log import commit_info, newest_version
from everlog.store.schema import FORMAT

OPTIONAL = frozenset({"positions", "closures", "prefixes"})
"""The names of metadata that are left out where they are empty."""

Version = int | datetime.datetime
"""A version by its number, or by a time: the newest one that was committed by then. A time without a zone is local."""


@dataclass(frozen=True)
class VersionInfo:
    """One version of a knowledge base.

    ``terms_version`` is the version of the terms table that has its terms. ``bookkeeping`` names what ``nr`` and
    ``rec`` hold. ``salt`` is that of the ids. ``positions`` has the position up to which each stream was followed,
    by the stream's name. ``closures`` are the predicates whose facts are not all listed, and how the others follow
    from those that are. ``modules`` is whether modules take rules that they fit; None in versions of an Everlog that
    did not record it. ``prefixes`` are those declared by the files of facts.
    """

    version: int
    timestamp: datetime.datetime
    operation: str
    statistics: dict[str, Any]
    bookkeeping: str
    terms_version: int
    salt: int
    format: int
    writer: str | None
    positions: dict[str, Any]
    closures: tuple[dict[str, Any], ...]
    modules: bool | None
    prefixes: dict[str, str]
    _table: Path = field(repr=False)
    _said: dict[str, Any] = field(repr=False)

    @cached_property
    def rules(self) -> str:
        """The program as text, read at the first use."""
        said = self._said
        if "rules_at" in said:
            said = commit_info(self._table, said["rules_at"]).get(METADATA_KEY, {})
        return str(said.get("rules", ""))

    def carried(self) -> dict[str, Any]:
        """The metadata of a commit on top that changes nothing; the rules only if no commit can be named for them."""
        said = {name: value for name, value in self._said.items() if name != "rules"}
        if "rules_at" not in said:
            at = commit_info(self._table, self.version).get(METADATA_KEY, {})
            said |= {"rules_at": self.version} if "rules" in at else {"rules": self.rules}
        return said


def read_version(table: Path, version: int) -> VersionInfo:
    """The description of a version.

    A commit made by another tool (say, Spark's OPTIMIZE) has no rules and terms; those of the version before it
    hold.
    """
    info = commit_info(table, version)
    ours: dict[str, Any] = info.get(METADATA_KEY, {})
    said, at = ours, version
    while not said and at > 0:
        at -= 1
        said = commit_info(table, at).get(METADATA_KEY, {})
    _refuse_unknown(table, said)
    return VersionInfo(
        version=version,
        timestamp=datetime.datetime.fromtimestamp(ours.get("time", info.get("timestamp", 0)) / 1000, datetime.UTC),
        operation=ours.get("operation", info.get("operation", "unknown")),
        statistics=said.get("statistics", {}),
        bookkeeping=said.get("bookkeeping", "none"),
        terms_version=said["terms_version"],
        salt=said.get("salt", 0),
        format=said["format"],
        writer=ours.get("writer"),
        positions=said.get("positions", {}),
        closures=tuple(said.get("closures", ())),
        modules=said.get("modules"),
        prefixes=said.get("prefixes", {}),
        _table=table,
        _said=said,
    )


def newest_usable(layout: StoreLayout) -> int | None:
    """The newest version of a store that is whole, and whose terms are; None if there is none."""
    version = newest_version(layout.facts)
    while version is not None and not _is_whole(layout, version):
        version = version - 1 if version else None
    return version


def no_terms(layout: StoreLayout) -> StoreError:
    """The error for a store whose terms are gone."""
    hint = "restore terms/ from a backup, or materialise again with --overwrite"
    return store_error(Code.NO_TERMS, "the store has no terms table", layout.terms, hint)


def _is_whole(layout: StoreLayout, version: int) -> bool:
    """Whether the log entries of a version and of its terms are whole."""
    if damage(layout.facts, version) is not None:
        return False
    return damage(layout.terms, read_version(layout.facts, version).terms_version) is None


def _refuse_unknown(table: Path, said: dict[str, Any]) -> None:
    if not said:
        hint = "choose another path for the store"
        raise store_error(Code.NOT_A_STORE, f"{table.name}/ is a Delta table that Everlog did not write", table, hint)
    if said["format"] > FORMAT:
        hint = "use a newer Everlog"
        message = f"the store has format {said['format']}, this Everlog knows formats up to {FORMAT}"
        raise store_error(Code.STORE_FORMAT, message, table, hint)


def metadata_for(base: VersionInfo | None, rules: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a commit on top of ``base``: its rules, and what else is said of the version."""
    metadata = {"format": FORMAT, **{name: value for name, value in said.items() if value or name not in OPTIONAL}}
    if metadata["modules"] is None:
        del metadata["modules"]
    if base is not None and base.rules == rules:
        carried = base.carried()
        return metadata | {name: carried[name] for name in ("rules", "rules_at") if name in carried}
    return {**metadata, "rules": rules}
