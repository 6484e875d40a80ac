"""Updates on Spark: a version of a store repaired where it lies, and the change written by executors.

Of the store only predicates of the program and of the change are read, and of these, row group by row
group, only what joins with changes ask for. Where the counters of the version are those of modules, a
module whose input changed is closed again by its plan and compared with what was there. Otherwise the
rules are applied without modules, and where there are no counters of theirs, these are computed first.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import FactSet
from everlog.engine.match import Limits
from everlog.engine.multiset import Counts
from everlog.lake import COUNTED
from everlog.lang.syntax import Predicate
from everlog.reasoning.maintenance import Update, UpdateStatistics
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.update import Algorithm, Strategy, update
from everlog.spark.encoded import StoredFacts, learn_predicates, staged_facts, width_of
from everlog.spark.engine import SparkEngine
from everlog.spark.factset import FrameSet
from everlog.spark.materialise import predicates_of, spark_program
from everlog.spark.multiset import FrameCounts
from everlog.spark.names import Names
from everlog.spark.settings import SparkSettings
from everlog.spark.workspace import Workspace
from everlog.spark.write import Signed, rows_of, write_rows
from everlog.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

Sizes = Mapping[Predicate, int]


@dataclass(frozen=True)
class StagedChange:
    """Files of encoded facts to delete and to insert, and of their terms, in a directory that all workers share."""

    delete: Sequence[str]
    insert: Sequence[str]
    terms: Sequence[str]
    work: Path


@dataclass(frozen=True)
class Repaired:
    """The data files of an update, how many facts of each predicate it changed, and its figures for the store."""

    files: list[Path]
    inserted: Sizes
    deleted: Sizes
    explicit_inserted: Sizes
    explicit_deleted: Sizes
    not_explicit: int
    stats: UpdateStatistics
    figures: dict[str, Any]
    counted: bool

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)


def update_on_spark(
    spark: SparkSession,
    program: StratifiedProgram,
    store: Store,
    version: int,
    staged: StagedChange,
    algorithm: Algorithm = "auto",
    strategy: Strategy = "never",
    *,
    settings: SparkSettings | None = None,
    limits: Limits | None = None,
) -> Repaired:
    """Repair a version of a store after a change of its explicit facts; the program is the one of the version."""
    info, said = store.info(version), store.info(version).statistics
    is_counted = info.bookkeeping == COUNTED
    of_modules = is_counted and bool(said.get("modules", False))
    program = spark_program(program, of_modules)
    names = Names(predicates_of(program), info.salt)
    changed = [*staged.delete, *staged.insert]
    learn_predicates(spark, names, changed, staged.terms)
    width = max(store.width(version), width_of(changed, names.predicates))
    with Workspace(spark, staged.work, names, width) as space:
        hidden = program.external
        stored = StoredFacts(space, store, version, frozenset(names.predicates).difference(hidden.values()))
        explicit, facts = stored.explicit(), stored.facts()
        if hidden:
            fed = stored.fed(hidden)
            facts = FrameSet(space, (*facts.base, *fed.base), facts.removed, facts.added)
        counters = (stored.counts("nr").renamed(hidden), stored.counts("rec").renamed(hidden))
        nr, rec = counters if is_counted and bool(hidden) == of_modules else (None, None)
        if is_counted and nr is None:
            log.info("the counters of version %d are those of modules that Spark has not; it counts again", version)
        delete, insert = (staged_facts(space, files).renamed(hidden) for files in (staged.delete, staged.insert))
        given, facts = explicit.renamed(hidden), facts.with_count(said["facts"])
        if isinstance(given, FrameSet):
            given.with_count(said["explicit"])
        old = Materialisation(given, facts, nr, rec, instances=said["instances"])
        engine = SparkEngine(space, limits=limits, settings=settings)
        done = update(engine, program, old, delete, insert, algorithm, strategy)
        return _Repair(space, program, old, counters, delete, insert, done).written(staged.work, said)


@dataclass(frozen=True)
class _Repair:
    """An update that was computed, on its way to the store."""

    space: Workspace
    program: StratifiedProgram
    old: Materialisation
    counters: tuple[Counts, ...]
    """As the store has them, right or not."""
    delete: FactSet
    insert: FactSet
    done: Update

    def written(self, work: Path, said: Mapping[str, Any]) -> Repaired:
        gone, fresh = (self.delete & self.old.explicit) - self.insert, self.insert - self.old.explicit
        gone, fresh = gone.renamed(self.shown), fresh.renamed(self.shown)
        came, went = self._visible(self.done.inserted), self._visible(self.done.deleted)
        not_explicit = (self.delete - self.old.explicit).count
        new = self.done.materialisation
        weights: dict[str, Signed] = {
            "holds": [(came, 1), (went, -1)],
            "explicit": [(fresh, 1), (gone, -1)],
            "nr": self._changed(new.nr, self.old.nr, self.counters[0]),
            "rec": self._changed(new.rec, self.old.rec, self.counters[1]),
        }
        inserted, deleted, won, lost = map(_sizes, (came, went, fresh, gone))
        rows = rows_of(self.space, weights) if inserted or deleted or won or lost else None
        files = [] if rows is None else write_rows(self.space, rows, _together(inserted, deleted), work)
        figures = {
            **said,
            "facts": said["facts"] + sum(inserted.values()) - sum(deleted.values()),
            "explicit": said["explicit"] + sum(won.values()) - sum(lost.values()),
            "instances": new.instances,
            "modules": bool(self.program.external),
            "update": asdict(self.done.statistics),
        }
        figures |= {"derived": figures["facts"] - figures["explicit"], "listed": figures["facts"]}
        is_counted = new.nr is not None
        stats = self.done.statistics
        return Repaired(files, inserted, deleted, won, lost, not_explicit, stats, figures, is_counted)

    def _changed(self, new: Counts | None, old: Counts | None, stored: Counts) -> Signed:
        """What to add to a counter. One that is not kept stays as it is in the rows, until it is kept again."""
        if not isinstance(new, FrameCounts):
            return []
        if isinstance(old, FrameCounts) and any(piece.rows is old.pieces[0].rows for piece in new.pieces):
            return [(new.since(old).renamed(self.shown), 1)]
        return [(new.renamed(self.shown), 1), (stored.renamed(self.shown), -1)]

    @property
    def shown(self) -> dict[Predicate, Predicate]:
        """For each hidden predicate the one that users see."""
        return {hidden: predicate for predicate, hidden in self.program.external.items()}

    def _visible(self, facts: FactSet) -> FactSet:
        return facts.restricted(p for p in facts if p not in self.shown)


def _sizes(facts: FactSet) -> Sizes:
    return {p: size for p, size in facts.sizes.items() if size} if isinstance(facts, FrameSet) else {}


def _together(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
