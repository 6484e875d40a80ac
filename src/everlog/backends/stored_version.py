"""A version of a store that a back end is to change, as the driver of a job describes it to the back end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from everlog.analysis.check import check
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.asked import Asked, ChangeOptions
from everlog.ingest.stored_labels import with_stored_labels
from everlog.ingest.tasks import Runner, work_directory
from everlog.lang.parser import parse_stored
from everlog.lang.syntax import Predicate
from everlog.store import Store, VersionInfo


@dataclass(frozen=True)
class StoredVersion:
    """A version of a store that is to be changed, with the options of the change.

    ``program`` is the program in strata, without modules. Files are written into ``work``, a directory that all
    workers share.
    """

    store: Store
    info: VersionInfo
    program: StratifiedProgram
    work: Path
    options: ChangeOptions

    @classmethod
    def of(cls, store: Store, info: VersionInfo, work: Path, options: ChangeOptions) -> StoredVersion:
        kind: Kind = info.statistics.get("stratification", "levels")
        text = parse_stored(info.rules, f"{store.path} (rules of version {info.version})")
        return cls(store, info, stratify(check(text), kind), work, options)

    @property
    def path(self) -> str:
        """The store, for workers in other directories."""
        return str(self.store.path.absolute())

    @property
    def directory(self) -> str:
        """The work directory, which is made if it is not there yet."""
        return str(work_directory(self.work))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(file.rows or 0 for file in self.store.files(self.info.version))

    @property
    def term_files(self) -> list[str]:
        """The files of the terms."""
        return [str(path) for path in self.store.term_paths(self.info.version)]

    @property
    def has_representatives(self) -> bool:
        """Whether the facts are those of representatives of equal terms, listed for all members of each class."""
        return bool(self.info.statistics.get("equality") == "representatives")

    def given(self) -> GivenFacts:
        """The explicit facts as the version describes them; without a description any predicate may have facts of any
        kind.
        """
        figures, known = self.info.statistics, self.program.program.predicates
        predicates = [Predicate.parse(name) for name in figures[KINDS]] if KINDS in figures else known
        return GivenFacts.from_store(figures, predicates, known)

    def with_labels(self, asked: Asked, runner: Runner) -> Asked:
        """The change with the blank nodes to delete found by the labels that the store shows."""
        found = with_stored_labels(
            runner,
            asked.delete,
            asked.deleted_from,
            self.term_files,
            self.work,
            salt=self.info.salt,
            on_error=self.options.on_error,
        )
        return replace(asked, delete=found)
