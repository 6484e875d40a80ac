"""A change of a store that is asked for, and the options by which a back end makes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from everlog.engine.limits import Limits
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged
from everlog.lang.syntax import Program
from everlog.reasoning.names import Algorithm, Strategy
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH, LOOK_UP_ROWS, PROBE_ROWS


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """The options by which facts are derived or repaired."""

    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    engine: str = "auto"
    on_error: str = "stop"
    max_facts: int | None = None
    timeout: float | None = None
    memory: int | None = None
    """Maximum bytes that this process may hold while it reasons, or a stratum in one task of Spark; with the engine
    ``auto`` Spark does the work that may need more."""
    expand_below: int = EXPAND_BELOW
    """Maximum number of facts of a listed closure; a change of rules that gives a closure more facts ends
    its listing.
    """
    local_finish: int = LOCAL_FINISH
    look_up_rows: int = LOOK_UP_ROWS
    """Maximum number of rows of the store that one task looks up for an update on Spark; 0 disables look-ups."""
    probe_rows: int = PROBE_ROWS
    """Minimum number of rows of the store from which Spark first finds the row groups to read for a join
    with a change.
    """

    @property
    def limits(self) -> Limits:
        """The limits of reasoning that begins now."""
        return Limits.from_now(self.max_facts, self.timeout)


@dataclass(frozen=True)
class OtherRules:
    """Rules to add and rules to remove; their facts become explicit, or cease to be."""

    add: Program
    remove: Program


@dataclass(frozen=True)
class Asked:
    """A change that is asked for: facts in files that all workers share, or other rules.

    ``deleted_from`` are the splits that the facts to delete were read from.
    """

    delete: Staged = field(default_factory=lambda: Staged(2))
    insert: Staged = field(default_factory=lambda: Staged(2))
    deleted_from: tuple[Split, ...] = ()
    rules: OtherRules | None = None

    @property
    def rows(self) -> int:
        """The number of facts that were read."""
        return self.delete.rows + self.insert.rows

    @property
    def terms(self) -> tuple[str, ...]:
        """The files of the terms of all facts."""
        return (*self.delete.term_files, *self.insert.term_files)
