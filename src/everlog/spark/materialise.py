"""Materialising on Spark: from staged files to the data files of a store, with nothing but counts in the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.modules import with_modules
from everlog.analysis.modules.kinds import is_inner
from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import FactSet
from everlog.engine.match import Limits
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics
from everlog.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.spark.engine import SparkEngine
from everlog.spark.factset import FrameSet
from everlog.spark.multiset import FrameCounts
from everlog.spark.names import Names
from everlog.spark.settings import SparkSettings
from everlog.spark.workspace import Workspace
from everlog.spark.write import Signed, rows_of, write_rows

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
    """Data files of a version, what reasoning took, and whether they have counters."""

    files: list[Path]
    statistics: Statistics
    counted: bool


def spark_program(program: StratifiedProgram, modules: bool) -> StratifiedProgram:
    """The program as Spark evaluates it: closures that depend on themselves through rules are left to the rules."""
    if not modules:
        return program
    found = with_modules(program)
    return program if any(stratum.inner for stratum in found.strata) else found


def materialise_on_spark(
    spark: SparkSession,
    program: StratifiedProgram,
    staging: Staging,
    maintain: Maintain = "dredc",
    *,
    settings: SparkSettings | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    check: Callable[[FactSet], None] = lambda explicit: None,
) -> Reasoned:
    """Derive everything that follows from staged facts and write it, with its counters, for a store to take over.

    ``check`` sees the explicit facts beforehand. A trace is not stored, so none is made.
    """
    names = Names(predicates_of(program), staging.salt)
    learn_predicates(spark, names, staging.facts, staging.terms)
    width = width_of(staging.facts, names.predicates)
    with Workspace(spark, staging.work, names, width) as space:
        engine = SparkEngine(space, limits=limits, settings=settings)
        explicit = staged_facts(space, staging.facts)
        check(explicit)
        explicit = explicit.renamed(program.external)
        facts, statistics = seminaive(engine, program, explicit, listener)
        fresh = Materialisation(explicit, facts, instances=statistics.instances)
        kept = _seen(program, booked(engine, program, fresh, "none" if maintain == "counting" else maintain))
        return _written(space, staging.work, kept, statistics)


def predicates_of(program: StratifiedProgram) -> set[Predicate]:
    """The predicates of a program, hidden ones included."""
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    found = {atom.predicate for rule in rules for atom in (rule.head, *rule.body)}
    found.update(p for module in program.modules for p in (*module.predicates, *module.inputs))
    return found | {*program.program.predicates, *program.external, *program.external.values()}


def _seen(program: StratifiedProgram, kept: Materialisation) -> Materialisation:
    """What users see: hidden predicates under the names of those whose explicit facts they have."""
    if not program.external:
        return kept
    shown = {hidden: predicate for predicate, hidden in program.external.items() if not is_inner(predicate)}
    bridged = [hidden for predicate, hidden in program.external.items() if is_inner(predicate)]
    hidden = set(program.external.values())
    assert isinstance(kept.facts, FrameSet) or not kept.facts
    facts = kept.facts.restricted(p for p in kept.facts if p not in hidden)
    nr, rec = (
        counts.without(bridged).renamed(shown) if isinstance(counts, FrameCounts) else counts
        for counts in (kept.nr, kept.rec)
    )
    return replace(kept, explicit=kept.explicit.renamed(shown), facts=facts, nr=nr, rec=rec)


def _written(space: Workspace, work: Path, kept: Materialisation, statistics: Statistics) -> Reasoned:
    weights: dict[str, Signed] = {
        "holds": [(kept.facts, 1)],
        "explicit": [(kept.explicit, 1)],
        "nr": [(kept.nr, 1)],
        "rec": [(kept.rec, 1)],
    }
    rows = rows_of(space, weights)
    sizes = kept.facts.sizes if isinstance(kept.facts, FrameSet) else {}
    files = [] if rows is None else write_rows(space, rows, sizes, work)
    return Reasoned(files, replace(statistics, facts=kept.facts.count), kept.nr is not None)
