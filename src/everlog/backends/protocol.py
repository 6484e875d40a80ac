"""What a back end is: it has the facts of a version while they are changed.

There are three, of one shape. :class:`everlog.backends.local.backend.LocalBackend` has all facts in this process;
:class:`everlog.backends.local.task.TaskBackend` has them in one task of Spark.
:class:`everlog.backends.lookup.backend.LookUpBackend` fetches facts from the store when they are asked for.
:class:`everlog.backends.spark.backend.SparkBackend` has them in executors. A request
(:class:`everlog.jobs.changing.Request`) is carried out through the protocols of this file, so it does not know which
back end it has; :mod:`everlog.backends.cascade` chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import FactsToChange, OtherRules, StagedChange
from everlog.engine.dictionary import Dictionary
from everlog.ingest.facts import FactsRead
from everlog.ingest.split import BadRow
from everlog.ingest.stage import Staged
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged
from everlog.lang.errors import Place
from everlog.lang.syntax import Predicate
from everlog.reasoning.equality import Equality
from everlog.reasoning.statistics import Statistics
from everlog.store import Transaction, VersionInfo

C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)

Named = Mapping[Predicate, Place]
"""Predicates that a user has named, with the places of the names."""


@dataclass(frozen=True)
class RowsRead:
    """The number of rows read for a change, and the bad ones among them."""

    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0

    @classmethod
    def of(cls, *parts: FactsRead | Staged) -> RowsRead:
        """The rows of several parts, and their bad rows."""
        bad = tuple(row for part in parts for row in part.bad)
        return cls(sum(part.rows for part in parts), bad, sum(part.bad_count for part in parts))


NO_ROWS = RowsRead()
"""The rows of a change for which none are read."""


class Commit(Protocol):
    """Commits a change as the next version."""

    def __call__(
        self, transaction: Transaction, figures: Mapping[str, Any], positions: Mapping[str, Any] | None
    ) -> int:
        """Commit the change if any fact, rule or one of the ``positions`` of streams changed; returns the newest
        version. ``figures`` are kept with its statistics.
        """


@dataclass(frozen=True)
class Made(Generic[C_co]):
    """A change that a back end has made, and that is not committed yet."""

    changed: Callable[[], C_co]
    """Returns the facts that were inserted and deleted, or their numbers."""
    statistics: Statistics
    """The figures of the materialisation after the change."""
    commit: Commit
    keep: Callable[[int, Transaction], None] | None = None
    """Writes a snapshot of the version that was committed, once the transaction has ended; None if the commit has
    updated the snapshot, or the first process that opens the version writes one."""
    read: RowsRead = NO_ROWS
    kb: KnowledgeBase | None = None
    """The knowledge base that has the facts after the change, if they are in this process."""

    @property
    def change(self) -> C_co:
        """The facts that were inserted and deleted, or their numbers."""
        return self.changed()


class FactReader(Protocol):
    """Reads the facts that a request deletes and inserts, in the form that a back end takes."""

    def read(self, kb: KnowledgeBase) -> FactsToChange:
        """Read the facts over the dictionary of a knowledge base."""

    def stage(self, program: CheckedProgram, info: VersionInfo) -> StagedChange:
        """Read the facts, as ids of a version with a program; they are read only once."""


class Backend(Protocol):
    """A version of a store that is being changed, where its facts are.

    All methods may raise :class:`everlog.backends.too_much.TooMuchError`: then another back end makes the change.
    """

    @property
    def program(self) -> CheckedProgram:
        """The rules of the version."""

    @property
    def predicates(self) -> Sequence[Predicate]:
        """The predicates that are known of the version."""

    @property
    def of_fixed_arity(self) -> Sequence[Predicate]:
        """The predicates that rows to be read must have the arity of."""

    @property
    def equality(self) -> Equality:
        """The meaning of ``owl:sameAs``."""

    @property
    def work(self) -> Path:
        """A directory for files, which all workers share."""

    def declare(self, prefixes: Mapping[str, str]) -> None:
        """Add prefixes to the next version."""

    def read(self, reader: FactReader) -> Any:
        """Read the facts to change, in the form that :meth:`update` takes."""

    def update(self, asked: Any, named: tuple[Named, Named], warned: Callable[[], None]) -> Made[Change]:
        """Change explicit facts, and repair what follows.

        ``named`` are the predicates that a user has named for facts to delete and for facts to insert. ``warned`` is
        called once all warnings have been given.
        """

    def change_rules(self, rules: OtherRules, warned: Callable[[], None]) -> Made[RulesChanged]:
        """Change the rules, and repair what follows; ``warned`` is as for :meth:`update`."""


class InputReader(Protocol):
    """Reads the inputs of a first version."""

    @property
    def is_small(self) -> bool:
        """Whether the inputs are small enough for this process to read them."""

    def read(self, dictionary: Dictionary) -> FactsRead:
        """Read the facts in this process."""

    def stage(self) -> Staged:
        """Let Spark read the facts of inputs and program into files, with all terms; they are read only once."""


class Beginning(Protocol):
    """A version that is made from nothing, where its facts will be. Methods raise errors as those of a back end."""

    def read(self, reader: InputReader) -> Any:
        """Read the inputs, in the form that :meth:`derive` takes."""

    def derive(self, read: Any, named: Named, warned: Callable[[], None], *, whole: bool) -> Made[Change]:
        """Derive what follows from the facts that were read and those of the program.

        ``named`` are the predicates that a user has named; without ``whole``, predicates may be without facts for now.
        ``warned`` is called once all warnings have been given.
        """
