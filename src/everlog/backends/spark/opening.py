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
from everlog.backends.backend import OpenedVersion
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet, PendingFacts, SourcePart, framed
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.stored import StoredFacts
from everlog.backends.spark.workspace import Workspace
from everlog.backends.too_much import TooMuchError
from everlog.engine.factset import NONE
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.modules.boundary import bridges
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.observers import ignore_rounds
from everlog.reasoning.ways import close
from everlog.store import Store, VersionInfo
from everlog.store.codec import COUNTED
from everlog.store.loading import generated_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MANY = 1 << 40
"""Maximum number of pairs assumed of a closure whose pairs have not been counted."""


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
class StoredState:
    """A version as reasoning takes it, and the sums of its counters as they are in its rows."""

    version: OpenedVersion[FrameSet, FrameCounts]
    counters: tuple[FrameCounts, FrameCounts]


def state_of_nothing(space: Workspace, program: StratifiedProgram, *, is_counted: bool) -> StoredState:
    """What is there before the first version: no facts, and counters if they are to be kept."""
    counts = FrameCounts(space)
    nr, rec = (counts, counts) if is_counted else (None, None)
    nothing = Materialisation(FrameSet(space), FrameSet(space), nr, rec)
    return StoredState(OpenedVersion(program, nothing), (counts, counts))


def opened(
    space: Workspace, program: StratifiedProgram, store: Store, version: int, settings: SparkSettings | None = None
) -> StoredState:
    """Open a version of a store; the program is the one that :func:`program_of` returns for it."""
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
