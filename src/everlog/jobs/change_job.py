"""What a job that changes a store is asked to do, and what it says it did."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, TypeVar

from everlog.ingest.split import BadRow
from everlog.kb.change import Change
from everlog.reasoning.names import Algorithm, Strategy
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH, LOOK_UP_ROWS, PROBE_ROWS, WAIT

C_co = TypeVar("C_co", bound=Change, covariant=True)


@dataclass(frozen=True)
class ChangeJob:
    """Which store is to be changed, and how what follows is repaired."""

    store: str
    _: KW_ONLY
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    engine: str = "auto"
    master: str | None = None
    on_error: str = "stop"
    max_facts: int | None = None
    timeout: float | None = None
    memory: int | None = None
    """Bytes that this process may hold while it reasons; with the engine ``auto`` Spark updates stores that may need
    more."""
    expand_below: int = EXPAND_BELOW
    """Closures that have more facts by other rules, and had not, are no longer listed."""
    dry_run: bool = False
    compact: bool = True
    wait: float = WAIT
    """Seconds to wait for another writer of the store."""
    local_finish: int = LOCAL_FINISH
    look_up_rows: int = LOOK_UP_ROWS
    """On Spark one task looks up what an update needs, unless that is more rows of the store than this; 0 is never."""
    probe_rows: int = PROBE_ROWS
    """Where Spark joins a change with more rows of the store than this, it finds out first which row groups to read."""


@dataclass(frozen=True)
class ChangeResult(Generic[C_co]):
    """What a job did: ``version`` is the one it made, or the old one if nothing changed.

    ``rows`` are those read, of which ``bad_count`` were bad; ``bad`` has the first of them.
    """

    version: int
    change: C_co
    seconds: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
    compacted: int | None = None
    """The version that a compaction made after it, if there was one."""
    violations: int = 0
    """How many facts say that something contradicts an ontology."""


@dataclass(frozen=True)
class RowsRead:
    """How many rows were read for a change, and which of them were bad."""

    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
