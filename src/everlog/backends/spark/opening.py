"""Opens a version of a store for reasoning on Spark; facts are read only when a rule needs them.

Where the counters of the version are those of modules, the program is given the modules, too; the facts that feed a
module are those that are explicit or have a counter above zero. Pairs of closures that the store does not list are
derived from these, and listed by executors if a rule needs them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet, PendingFacts, SourcePart, framed
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.stored import StoredFacts
from everlog.backends.spark.workspace import Workspace
from everlog.backends.working import OpenedVersion
from everlog.engine.factset import NONE
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.modules.boundary import bridges
from everlog.reasoning.observers import ignore_rounds
from everlog.reasoning.ways import close
from everlog.store import Store
from everlog.store.codec import COUNTED
from everlog.store.loading import generated_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MANY = 1 << 40
"""Maximum number of pairs assumed of a closure whose pairs have not been counted."""


@dataclass(frozen=True)
class StoredState:
    """An opened version with the counters as stored."""

    version: OpenedVersion[FrameSet, FrameCounts]
    counters: tuple[FrameCounts, FrameCounts]


def state_of_nothing(space: Workspace, program: StratifiedProgram, *, is_counted: bool) -> StoredState:
    """The state before the first version: no facts, and empty counters if derivations are counted."""
    counts = FrameCounts(space)
    nr, rec = (counts, counts) if is_counted else (None, None)
    nothing = Materialisation(FrameSet(space), FrameSet(space), nr, rec)
    return StoredState(OpenedVersion(program, nothing), (counts, counts))


def opened(
    space: Workspace, program: StratifiedProgram, store: Store, version: int, settings: SparkSettings | None = None
) -> StoredState:
    """Open a version of a store, with the program that :func:`everlog.backends.stored_version.program_of` returns."""
    info = store.info(version)
    figures, hidden, generated = info.statistics, program.external, generated_in(info)
    is_counted = info.bookkeeping == COUNTED
    stored = StoredFacts(space, store, version, frozenset(space.names.predicates).difference(hidden.values()))
    engine = SparkEngine(space, settings=settings)
    facts = _with_fed(engine, program, stored, generated, is_counted)
    counters = (stored.counts("nr").renamed(hidden), stored.counts("rec").renamed(hidden))
    nr, rec = _with_bridges(engine, program, facts, counters) if is_counted else (None, None)
    explicit = stored.explicit().renamed(hidden).with_count(figures["explicit"])
    facts = facts.with_count(figures["facts"])
    materialisation = Materialisation(explicit, facts, nr, rec, instances=figures["instances"])
    return StoredState(OpenedVersion(program, materialisation, generated, figures), counters)


def _with_fed(
    engine: SparkEngine,
    program: StratifiedProgram,
    stored: StoredFacts,
    generated: frozenset[Predicate],
    is_counted: bool,
) -> FrameSet:
    """All facts of the version, with those that feed modules under their hidden names."""
    facts, hidden = stored.facts(but=generated), program.external
    if not hidden:
        return facts
    fed = stored.fed(hidden) if is_counted else stored.facts(stored.predicates - generated).renamed(hidden)
    facts = _added(facts, fed)
    for rules in (rules for pair in bridges(program) for rules in pair):
        facts = _added(facts, engine.match(rules, facts, facts, phase="opening").facts())
    for stratum in program.strata:
        if stratum.alone is not None and not generated.isdisjoint(stratum.predicates):
            facts = _added(facts, _unlisted(engine, stratum, facts))
    return facts


def _with_bridges(
    engine: SparkEngine, program: StratifiedProgram, facts: FrameSet, counters: tuple[FrameCounts, FrameCounts]
) -> tuple[FrameCounts, FrameCounts]:
    """The counters with those of the facts that bridge rules derive, which the store does not have."""
    nr, rec = counters
    for nonrecursive, recursive in bridges(program):
        nr = nr + engine.match(nonrecursive, facts, facts, phase="opening").counts()
        rec = rec + engine.match(recursive, facts, facts, phase="opening").counts()
    return nr, rec


def _unlisted(engine: SparkEngine, stratum: Stratum, facts: FrameSet) -> FrameSet:
    """The facts of a module, which is closed when they are needed."""
    lazily = SparkEngine(engine.space, settings=replace(engine.settings, expand_below=0))

    @functools.cache
    def closed() -> FrameSet:
        inputs = facts.restricted(stratum.alone.inputs if stratum.alone is not None else ())
        return framed(engine.space, close(lazily, stratum, inputs, NONE, ignore_rounds))

    def frame(predicate: Predicate) -> DataFrame:
        return closed().frame([predicate])

    steps = [PendingFacts(functools.partial(frame, p), frozenset([p]), MANY, is_scan=True) for p in stratum.predicates]
    return FrameSet(engine.space, map(SourcePart.whole, steps))


def _added(facts: FrameSet, more: FrameSet) -> FrameSet:
    """The union of facts with facts of other predicates."""
    if not more.possible:
        return facts
    return FrameSet(
        facts.space, (*facts.base, *more.base), (*facts.removed, *more.removed), (*facts.added, *more.added)
    )
