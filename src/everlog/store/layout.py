"""The paths in a store. No other module joins store paths. ::

    STORE/facts/      Delta table: signed changes of facts
    STORE/terms/      Delta table: id and text of every term and predicate
    STORE/snapshot/   memory-mapped copies, rebuildable, never the truth
    STORE/work/       staging of the writers at work and their locks
    STORE/streams/    Spark's checkpoints of the streams that the store follows, unless they are elsewhere
    STORE/damaged/    parts of logs that a repair moved aside

The name of a data file has the transaction that wrote it, which tells files of dead writers from those of living
ones, and a checksum of what Parquet's own checksums do not cover.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from everlog.host.addresses import local_path

WRITER = re.compile(r"[0-9a-f]{32}")
FILE_NAME = re.compile(rf"part-\d{{5}}-(?P<writer>{WRITER.pattern})(-(?P<check>[0-9a-f]{{16}}))?\.parquet")


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """The paths of one store.

    >>> StoreLayout(Path("kb")).commit_file(StoreLayout(Path("kb")).facts, 3).as_posix()
    'kb/facts/_delta_log/00000000000000000003.json'
    """

    root: Path

    @classmethod
    def at(cls, place: Path | str) -> StoreLayout:
        """The store at a path or ``file://`` address; an error for any other address."""
        return cls(local_path(place))

    @property
    def facts(self) -> Path:
        """The Delta table of facts."""
        return self.root / "facts"

    @property
    def terms(self) -> Path:
        """The Delta table of terms."""
        return self.root / "terms"

    @property
    def snapshots(self) -> Path:
        """The directory of snapshots."""
        return self.root / "snapshot"

    @property
    def work(self) -> Path:
        """The directory of staging directories and locks."""
        return self.root / "work"

    @property
    def damaged(self) -> Path:
        """The directory to which ``everlog repair`` moves damaged parts of logs."""
        return self.root / "damaged"

    @property
    def guard(self) -> Path:
        """The lock under which writers register and leave."""
        return self.work / "guard"

    def lock(self, writer: str) -> Path:
        """The lock a writer holds as long as it lives."""
        return self.work / f"{writer}.lock"

    def staging(self, writer: str) -> Path:
        """The private directory of a writer."""
        return self.work / writer

    def checkpoint(self, stream: str) -> Path:
        """The directory of Spark's checkpoint of a stream, if it is in the store."""
        return self.root / "streams" / quote(stream, safe=" ")

    @staticmethod
    def log(table: Path) -> Path:
        """The log of a Delta table."""
        return table / "_delta_log"

    @staticmethod
    def last_checkpoint(table: Path) -> Path:
        """The file that names the newest checkpoint of a Delta table."""
        return StoreLayout.log(table) / "_last_checkpoint"

    @staticmethod
    def checkpoint_file(table: Path, version: int) -> Path:
        """The checkpoint of one version of a Delta table, if there is one."""
        return StoreLayout.log(table) / f"{version:020}.checkpoint.parquet"

    @staticmethod
    def commit_file(table: Path, version: int) -> Path:
        """The log entry of one version of a Delta table."""
        return StoreLayout.log(table) / f"{version:020}.json"

    @staticmethod
    def file_name(number: int, writer: str, check: str) -> str:
        """The name of a writer's n-th data file of a table."""
        return f"part-{number:05}-{writer}-{check}.parquet"


def writer_of(file_name: str) -> str | None:
    """The transaction that wrote a data file, None if another tool wrote it.

    >>> writer_of("part-00000-" + "ab" * 16 + ".parquet") == "ab" * 16, writer_of("other.parquet")
    (True, None)
    """
    found = FILE_NAME.fullmatch(file_name)
    return found["writer"] if found else None


def check_in(file_name: str) -> str | None:
    """The checksum in the name of a data file, None if it has none: earlier versions wrote none.

    >>> check_in("part-00000-" + "ab" * 16 + "-" + "0123" * 4 + ".parquet"), check_in("other.parquet")
    ('0123012301230123', None)
    """
    found = FILE_NAME.fullmatch(file_name)
    return found["check"] if found else None
