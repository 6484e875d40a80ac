"""A version of a store that a back end is to change, as the driver of a job describes it to the back end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from everlog.analysis.check import check
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.asked import ChangeOptions, StagedChange
from everlog.backends.too_much import TooMuchError
from everlog.ingest.stored_labels import with_stored_labels
from everlog.ingest.tasks import Runner, work_directory
from everlog.lang.parser import parse_stored
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.kinds import with_modules
from everlog.store import Store, VersionInfo
from everlog.store.codec import COUNTED
from everlog.store.groups import Groups
from everlog.store.loading import generated_in
from everlog.store.names import HashedNames


def program_of(program: StratifiedProgram, info: VersionInfo) -> StratifiedProgram:
    """The program of a version: with modules if its counters are those of modules, or if it does not list closures.

    Raises :class:`TooMuchError` if only an engine that keeps closures as graphs can reason about the version.
    """
    generated = generated_in(info)
    of_modules = bool(info.statistics.get("modules", False)) and (info.bookkeeping == COUNTED or bool(generated))
    found = with_modules(program) if of_modules else program
    mixed = (stratum for stratum in found.strata if stratum.is_mixed)
    inside = {p for stratum in mixed for module in stratum.special for p in module.predicates}
    if not generated.isdisjoint(inside):
        hidden = ", ".join(map(str, sorted(generated & inside)))
        reason = f"closures that are not listed depend on themselves through rules: {hidden}"
        raise TooMuchError(reason, "use --engine local, or materialise again with a larger --expand-below")
    return found


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
        return cls(store, info, stratify(check(text), kind), work, options.alone())

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

    def given(self, others: Iterable[Predicate] = ()) -> GivenFacts:
        """The explicit facts as the version describes them; without a description any predicate may have facts of any
        kind.

        The description leaves out the IRIs that no rule has: of ``others``, those that the store may have facts of are
        found in the footers of its files.
        """
        figures, known = self.info.statistics, self.program.program.predicates
        if KINDS not in figures:
            return GivenFacts.from_store(figures, known, known)
        described = [Predicate.parse(name) for name in figures[KINDS]]
        unknown = [p for p in others if p.name.startswith("<") and p not in known and p not in described]
        return GivenFacts.from_store(figures, [*described, *self._stored(unknown)], known)

    def _stored(self, predicates: Sequence[Predicate]) -> list[Predicate]:
        """The predicates that the store may have facts of."""
        if not predicates:
            return []
        groups = Groups.of([str(path) for path in self.store.fact_paths(self.info.version)])
        names = HashedNames(salt=self.info.salt)
        return [predicate for predicate in predicates if groups.size([names.id(predicate)])]

    def with_labels(self, change: StagedChange, runner: Runner) -> StagedChange:
        """The change with the blank nodes to delete found by the labels that the store shows."""
        found = with_stored_labels(
            runner,
            change.delete,
            change.deleted_from,
            self.term_files,
            self.work,
            salt=self.info.salt,
            on_error=self.options.on_error,
        )
        return replace(change, delete=found)
