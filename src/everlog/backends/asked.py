"""A change of a store that is asked for, and the options by which a back end makes it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from everlog.analysis.stratify import Kind
from everlog.engine.limits import Limits
from everlog.ingest.facts import FactsRead
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged
from everlog.lang.syntax import Program
from everlog.reasoning.equality import Equality
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.names import Algorithm, Strategy
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH, LOOK_UP_ROWS, PROBE_ROWS


@dataclass(frozen=True, kw_only=True)
class ReasoningOptions:
    """The options by which facts are derived."""

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

    def limits(self) -> Limits:
        """The limits of reasoning that begins now."""
        return Limits.from_now(self.max_facts, self.timeout)


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(ReasoningOptions):
    """The options by which facts are repaired."""

    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    look_up_rows: int = LOOK_UP_ROWS
    """Maximum number of rows of the store that one task looks up for an update on Spark; 0 disables look-ups."""
    probe_rows: int = PROBE_ROWS
    """Minimum number of rows of the store from which Spark first finds the row groups to read for a join
    with a change.
    """

    def alone(self) -> ChangeOptions:
        """These options without those that a subclass adds, for tasks."""
        return ChangeOptions(**{each.name: getattr(self, each.name) for each in fields(ChangeOptions)})


@dataclass(frozen=True, kw_only=True)
class BeginningOptions(ReasoningOptions):
    """The options by which a first version is made."""

    stratification: Kind = "levels"
    maintain: Maintain = "dredc"
    salt: int = 0
    modules: bool = True
    equality: Equality = "off"


@dataclass(frozen=True)
class OtherRules:
    """Rules to add and rules to remove; their facts become explicit, or cease to be."""

    add: Program
    remove: Program


@dataclass(frozen=True)
class FactsToChange:
    """Facts to delete and facts to insert, over the dictionary of a knowledge base."""

    delete: FactsRead
    insert: FactsRead


@dataclass(frozen=True)
class StagedChange:
    """Facts to delete and facts to insert, in files that all workers share or held by this process.

    ``deleted_from`` are the splits that the facts to delete were read from.
    """

    delete: Staged
    insert: Staged
    deleted_from: tuple[Split, ...] = ()

    @property
    def rows(self) -> int:
        """The number of facts that were read."""
        return self.delete.rows + self.insert.rows

    def in_files(self, work: Path) -> StagedChange:
        """The change with all facts in files."""
        return replace(self, delete=self.delete.in_files(work), insert=self.insert.in_files(work))

    @property
    def facts(self) -> tuple[str, ...]:
        """The files of all facts."""
        return (*self.delete.fact_files, *self.insert.fact_files)

    @property
    def terms(self) -> tuple[str, ...]:
        """The files of the terms of all facts."""
        return (*self.delete.term_files, *self.insert.term_files)
