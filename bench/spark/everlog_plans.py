"""Everlog's plans for the workloads that the DataFrame loops run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, Stratum, stratify
from everlog.backends.spark.plans import PlanSettings, StratumPlan, close, membership_of, plan_of
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.kinds import with_modules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLOSURE = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) ."
SYMMETRIC = "p(?x, ?y) :- e(?x, ?y) . p(?y, ?x) :- p(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
SAME_GENERATION = "p(?x, ?y) :- e(?z, ?x), e(?z, ?y) . p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) ."
E, P = Predicate("e", 2), Predicate("p", 2)
IN_ONE_TASK = PlanSettings().shared_facts
"""Maximum number of facts for the local finish: the number that may be shared with workers of 2 GB."""


def reachability(session: SparkSession, edges: DataFrame, work: Path) -> DataFrame:
    """Transitive closure, computed from the condensed graph."""
    stratum = _program(CLOSURE, modules=True).strata[-1]
    return close(_plan(stratum, "reachability"), session, {E: edges}, work)[P]


def decomposed(session: SparkSession, edges: DataFrame, work: Path) -> DataFrame:
    """Transitive closure in slices, each computed by the general rules of the local engine."""
    (stratum,) = _program(CLOSURE, modules=False).strata
    return close(_plan(stratum, "decomposed"), session, {E: edges, P: edges}, work)[P]


AT_ONCE, IN_ROUNDS = PlanSettings(), PlanSettings(united_edges=500_000)
"""Components are computed in one task, or contracted in rounds until a number of edges is left."""


def components(session: SparkSession, edges: DataFrame, work: Path, settings: PlanSettings) -> DataFrame:
    """Component membership."""
    stratum = _program(SYMMETRIC, modules=True).strata[-1]
    assert stratum.alone is not None
    sizes = {stratum.alone.inputs[0]: edges.count()}
    return membership_of(plan_of(stratum, sizes, settings), session, {stratum.alone.inputs[0]: edges}, work)


def same_generation(session: SparkSession, arcs: DataFrame, work: Path, finish: bool) -> DataFrame:
    """Same-generation by rounds, with or without the local finish."""
    from everlog.backends.spark.engine import SparkEngine
    from everlog.backends.spark.factset import FrameSet
    from everlog.backends.spark.settings import SparkSettings
    from everlog.backends.spark.workspace import Workspace
    from everlog.reasoning.strata import close_strata
    from everlog.store.names import HashedNames

    program = _program(SAME_GENERATION, modules=False)
    space = Workspace(session, work, HashedNames(program.program.predicates), 2)
    settings = SparkSettings(local_finish=IN_ONE_TASK if finish else 0)
    explicit = FrameSet.of(space, space.store(arcs.selectExpr(f"{space.names.id(E)} as predicate", "c0", "c1")))
    facts, _ = close_strata(SparkEngine(space, settings=settings), program, explicit)
    assert isinstance(facts, FrameSet)
    return facts.frame([P]).select("c0", "c1")


def _program(text: str, modules: bool) -> StratifiedProgram:
    program = stratify(check(parse_program(text)))
    return with_modules(program) if modules else program


def _plan(stratum: Stratum, kind: str) -> StratumPlan:
    plan = plan_of(stratum, {})
    assert plan.kind == kind, plan
    return plan
