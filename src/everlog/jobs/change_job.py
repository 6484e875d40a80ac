"""The options of a job that changes a store, and its result."""

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
    """The store to change, and the options by which the facts that follow are repaired."""

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
    """Maximum bytes that this process may hold while it reasons; with the engine ``auto`` Spark updates stores that may
    need more."""
    expand_below: int = EXPAND_BELOW
    """Maximum number of facts of a listed closure; a change of rules that gives a closure more facts ends
    its listing.
    """
    dry_run: bool = False
    compact: bool = True
    wait: float = WAIT
    """Maximum seconds to wait for another writer of the store."""
    local_finish: int = LOCAL_FINISH
    look_up_rows: int = LOOK_UP_ROWS
    """Maximum number of rows of the store that one task looks up for an update on Spark; 0 disables look-ups."""
    probe_rows: int = PROBE_ROWS
    """Minimum number of rows of the store from which Spark first finds the row groups to read for a join
    with a change.
    """


@dataclass(frozen=True)
class ChangeResult(Generic[C_co]):
    """The result of a job: ``version`` is the one it made, or the old one if nothing changed.

    ``rows`` are those read, of which ``bad_count`` were bad; ``bad`` has the first of them.
    """

    version: int
    change: C_co
    seconds: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
    compacted: int | None = None
    """The version that a compaction made afterwards; None if there was no compaction."""
    violations: int = 0
    """The number of facts that report a contradiction of an ontology."""


@dataclass(frozen=True)
class RowsRead:
    """The number of rows read for a change, and the bad ones among them."""

    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
