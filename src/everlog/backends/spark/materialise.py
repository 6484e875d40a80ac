"""Materialising on Spark: from staged files to the data files of a store, with only counts in the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.modules.hidden import is_inner
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.multiset import FrameCounts, framed_counts
from everlog.backends.spark.names import HashedNames
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import full_disks
from everlog.backends.spark.watched import spark_engine
from everlog.backends.spark.workspace import Workspace
from everlog.backends.spark.write import Signed, rows_of, write_rows
from everlog.engine.limits import Limits
from everlog.lang.internal import VIOLATION
from everlog.lang.syntax import Predicate
from everlog.profiling.watch import UNWATCHED, Watch
from everlog.reasoning.materialisation import AnyMaterialisation, Maintain, Materialisation, with_bookkeeping
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Staging:
    """Files of encoded facts, and of all their terms, in a directory that all workers share."""

    facts: Sequence[str]
    terms: Sequence[str]
    work: Path
    salt: int = 0


@dataclass(frozen=True)
class Reasoned:
    """The data files of a version, with the statistics of reasoning.

    ``counted`` says whether the rows have counters, ``listed`` is the number of facts in the files, and ``generated``
    are the predicates whose facts are not.
    """

    files: list[Path]
    statistics: Statistics
    counted: bool
    listed: int
    generated: frozenset[Predicate] = frozenset()


def spark_program(program: StratifiedProgram, modules: bool) -> StratifiedProgram:
    """The program as Spark evaluates it, with modules if ``modules`` is set; its counters are of this form, too."""
    return with_modules(program) if modules else program


def materialise_on_spark(
    spark: SparkSession,
    program: StratifiedProgram,
    staging: Staging,
    maintain: Maintain = "dredc",
    *,
    settings: SparkSettings | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    watch: Watch = UNWATCHED,
    check: Callable[[Iterable[Predicate]], None] = lambda explicit: None,
) -> Reasoned:
    """Derive all facts that follow from staged facts, and write them, with their counters, as data files of a store.

    ``check`` is called with the predicates of the explicit facts first. A trace is not stored, so none is made.
    """
    names = HashedNames(predicates_of(program), staging.salt)
    learn_predicates(spark, names, staging.facts, staging.terms)
    width = width_of(staging.facts, names.predicates)
    with full_disks(), Workspace(spark, staging.work, names, width) as space:
        engine = spark_engine(watch, space, limits=limits, settings=settings)
        booking: Maintain = "none" if maintain == "counting" else maintain
        engine.counts_known = None if booking == "none" else {}
        explicit = staged_facts(space, staging.facts)
        check(explicit)
        explicit = explicit.renamed(program.external)
        facts, statistics = seminaive(engine, program, explicit, watch.listener(listener))
        fresh: AnyMaterialisation = Materialisation(explicit, facts, instances=statistics.instances)
        kept = with_bookkeeping(engine, program, fresh, booking)
        most = engine.settings.expand_below
        generated = frozenset[Predicate]() if most is None else above(program, framed(space, facts).sizes, most)
        return _written(space, staging.work, program, _in_frames(space, kept), generated, statistics)


def above(program: StratifiedProgram, sizes: Mapping[Predicate, int], most: int) -> frozenset[Predicate]:
    """The predicates of modules that have more than ``most`` facts."""
    modules = [stratum.alone for stratum in program.strata if stratum.alone is not None]
    return frozenset(p for module in modules for p in module.predicates if sizes.get(p, 0) > most)


def predicates_of(program: StratifiedProgram) -> set[Predicate]:
    """The predicates of a program, hidden ones included."""
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    found = {atom.predicate for rule in rules for atom in (rule.head, *rule.body)}
    found.update(p for module in program.special for p in (*module.predicates, *module.inputs))
    return found | {*program.program.predicates, *program.external, *program.external.values()}


def _in_frames(space: Workspace, kept: AnyMaterialisation) -> Materialisation[FrameSet, FrameCounts]:
    """A materialisation whose sets are all in DataFrames; empty local sets are replaced by empty sets in DataFrames."""
    nr, rec = (None if counts is None else framed_counts(space, counts) for counts in (kept.nr, kept.rec))
    return Materialisation(framed(space, kept.explicit), framed(space, kept.facts), nr, rec, instances=kept.instances)


def _seen(
    program: StratifiedProgram, kept: Materialisation[FrameSet, FrameCounts]
) -> Materialisation[FrameSet, FrameCounts]:
    """The materialisation that users see: explicit facts under hidden names are under their own names again."""
    if not program.external:
        return kept
    shown = {hidden: predicate for predicate, hidden in program.external.items() if not is_inner(predicate)}
    bridged = [hidden for predicate, hidden in program.external.items() if is_inner(predicate)]
    hidden = set(program.external.values())
    facts = kept.facts.restricted(p for p in kept.facts if p not in hidden)
    nr, rec = (None if counts is None else counts.without(bridged).renamed(shown) for counts in (kept.nr, kept.rec))
    return replace(kept, explicit=kept.explicit.renamed(shown), facts=facts, nr=nr, rec=rec)


def _written(
    space: Workspace,
    work: Path,
    program: StratifiedProgram,
    inside: Materialisation[FrameSet, FrameCounts],
    generated: frozenset[Predicate],
    statistics: Statistics,
) -> Reasoned:
    kept = _seen(program, inside)
    rest = kept.facts.restricted(p for p in kept.facts if p not in generated)
    fed = {program.external[p]: p for p in generated}
    listed = rest.extended(inside.facts.restricted(fed).renamed(fed)) if fed else kept.facts
    weights: dict[str, Signed] = {
        "holds": [(listed, 1)],
        "explicit": [(kept.explicit, 1)],
        "nr": [] if kept.nr is None else [(kept.nr, 1)],
        "rec": [] if kept.rec is None else [(kept.rec, 1)],
    }
    rows = rows_of(space, weights)
    sizes = listed.sizes
    files = [] if rows is None else write_rows(space, rows, sizes, work)
    violations = kept.facts.restricted([VIOLATION]).count
    figures = replace(statistics, facts=kept.facts.count, violations=violations)
    return Reasoned(files, figures, kept.nr is not None, sum(sizes.values()), generated)
