"""How Spark evaluates strata: a plan for each, chosen from its rules and the sizes of the relations that it reads.

- *nonrecursive*: joins, one for each rule; a virtual union has this plan, too.
- *decomposed*: one stage that closes slices by the local engine (:mod:`everlog.backends.spark.decomposed`).
- *reachability*: a closure from a condensed graph (:mod:`everlog.backends.spark.closure`).
- *components*: a symmetric and transitive relation (:mod:`everlog.backends.spark.components`).
- *rounds*: other recursion, over facts that stay in slices; facts that a rule joins are in one slice
  (:mod:`everlog.backends.spark.rounds`).
- *loop*: all other recursion, by seminaive rounds over DataFrames.
- *local*: rules of any form by the local engine, in one task, if all their facts are expected to fit there
  (:mod:`everlog.backends.spark.local`). Only the engine ``auto`` chooses this plan.

The plan prints every threshold that decides something. A stratum whose components differ is split first
(:func:`everlog.analysis.decompose.parts_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from everlog.analysis.binary import Unconnected, binarise
from everlog.analysis.decompose import Decomposition, decompose
from everlog.analysis.linear import is_linear, other_predicates
from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.ordinary import without_modules
from everlog.analysis.partitioning import partitioned
from everlog.analysis.stratify import Stratum
from everlog.engine.hashing import hash_text
from everlog.engine.tables import argument_name, argument_names
from everlog.lang.printer import print_rule
from everlog.lang.syntax import Predicate, Rule, constants_of
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.union.description import VirtualUnion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PlanKind = Literal["nonrecursive", "decomposed", "reachability", "components", "rounds", "loop", "local"]
Sizes = Mapping[Predicate, int]


CONDENSED_BYTES = 420
"""Bytes, as the maximum measured, for each edge in the task that condenses a graph."""

UNITED_BYTES = 130
"""Bytes, as the maximum measured, for each edge in the task that unites the vertices of components."""

SHARED_BYTES = 130
"""Bytes, as the maximum measured, for each fact in the task that prepares facts to be shared."""

LOCAL_BYTES = 130
"""Bytes, as the maximum measured, for each fact in a task that evaluates a stratum."""

WORKER_BYTES = 500 << 20
"""Bytes, as the maximum measured, of the address space of a worker without facts."""


@dataclass(frozen=True)
class PlanSettings:
    """The thresholds of plans; the defaults are for workers of 2 GB."""

    condensed_edges: int = 4_000_000
    """Maximum number of edges that are condensed in one task; a closure of more edges is decomposed or a loop."""
    united_edges: int = 12_000_000
    """Maximum number of edges that are united in one task; a graph of more edges is contracted in rounds first."""
    shared_facts: int = 12_000_000
    """Maximum number of facts that are shared with every worker; recursion that needs more of them is a loop."""
    local_facts: int = 0
    """Maximum number of facts, read and expected to be derived, of a stratum of rules that is evaluated in one task.
    With 0, as for the engine ``spark``, no stratum is."""
    growth: int = 4
    """Number of facts expected to follow from each fact that a stratum reads."""
    spread_facts: int = 500_000
    """Number of facts above which facts that a loop joins in each round stay in partitions by the joined columns. With
    fewer facts on one side, Spark sends that side to all tasks."""
    slices: int = 8
    """Maximum number of slices of a stage for each of Spark's shuffle partitions; several even out skew."""
    slice_facts: int = 1 << 14
    """Minimum number of facts, on average, in a slice to close, where their number is known. Starting a task takes
    longer than closing fewer facts."""
    slice_pairs: int = 1 << 16
    """Minimum number of pairs in a slice of a closure. Starting a task takes longer than listing fewer pairs."""
    salt: int = 0
    """The salt of the ids of terms, as in the store."""

    def within(self, memory: int) -> PlanSettings:
        """The thresholds for Python workers of ``memory`` bytes each.

        >>> PlanSettings().within(1 << 30).condensed_edges
        1308223
        """
        room = max(0, memory - WORKER_BYTES)
        return replace(
            self,
            condensed_edges=room // CONDENSED_BYTES,
            united_edges=room // UNITED_BYTES,
            shared_facts=room // SHARED_BYTES,
        )

    def choosing(self, memory: int) -> PlanSettings:
        """The thresholds for the engine ``auto``: strata that fit a worker of ``memory`` bytes are evaluated by one.

        >>> PlanSettings().choosing(1 << 30).local_facts
        4226567
        """
        return replace(self.within(memory), local_facts=max(0, memory - WORKER_BYTES) // LOCAL_BYTES)


@dataclass(frozen=True)
class StratumPlan:
    """The way in which one stratum is evaluated, and the reasons for it."""

    kind: PlanKind
    stratum: Stratum
    reasons: tuple[str, ...]
    settings: PlanSettings
    rules: tuple[Rule, ...] = ()
    """The rules that a decomposed stage, rounds or a loop apply."""
    decomposition: Decomposition | None = None
    seeds: Mapping[Predicate, tuple[Edge, ...]] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """For each derived predicate, the relations that its given facts come from, if not from one of its own name."""
    sizes: Sizes = field(default_factory=lambda: MappingProxyType({}), hash=False, repr=False)

    @property
    def closure(self) -> Closure:
        """The closure that a plan of the kind *reachability* or *components* is for."""
        assert isinstance(self.stratum.alone, Closure)
        return self.stratum.alone

    def __str__(self) -> str:
        """The kind of the plan and its reasons, a line each.

        >>> from everlog.analysis.check import check
        >>> from everlog.analysis.stratify import stratify
        >>> from everlog.lang.parser import parse_program
        >>> text = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) ."
        >>> print(plan_of(stratify(check(parse_program(text))).strata[0], {}))
        decomposed: by argument 1 of p; sharing e
          shares 0 facts (shared-facts 12,000,000)
          8 slices for each shuffle partition (slices 8), fewer for few facts (slice-facts 16,384)
        """
        return "\n  ".join([f"{self.kind}: {self.reasons[0]}", *self.reasons[1:]])


def plan_of(stratum: Stratum, sizes: Sizes, settings: PlanSettings | None = None) -> StratumPlan:
    """The plan for a stratum; ``sizes`` are the known numbers of facts of the predicates that it reads."""
    settings, stratum = settings or PlanSettings(), as_planned(stratum)
    expected, is_local = _expected(stratum, sizes, settings)
    if is_local:
        return StratumPlan("local", stratum, ("the local engine in one task", expected), settings, sizes=sizes)
    found = _distributed_plan(stratum, sizes, settings)
    staying = f"many facts that are joined in each round stay in their partitions {limit(settings, 'spread_facts')}"
    more = [*([staying] if found.kind == "loop" else []), *([expected] if expected else [])]
    return replace(found, reasons=(*found.reasons, *more))


def as_planned(stratum: Stratum) -> Stratum:
    """The stratum, with ordinary rules in place of a module of a kind that Spark has no plan for."""
    return stratum if stratum.alone is None or type(stratum.alone) in MODULE_PLANS else without_modules(stratum)


def reads(stratum: Stratum) -> frozenset[Predicate]:
    """The predicates of a stratum's rules and the inputs of its modules."""
    atoms = (atom.predicate for rule in stratum.rules for atom in (rule.head, *rule.body))
    return frozenset(atoms).union(*(module.inputs for module in stratum.special))


def _expected(stratum: Stratum, sizes: Sizes, settings: PlanSettings) -> tuple[str, bool]:
    """A sentence on the number of facts that a stratum is expected to have, and whether they fit one task."""
    if not settings.local_facts or stratum.alone is not None:
        return "", False
    given = sum(sizes.get(predicate, 0) for predicate in reads(stratum))
    facts = given * (1 + settings.growth)
    what = f"reads {given:,} facts, so {facts:,} are expected {limit(settings, 'growth')}"
    is_local = facts <= settings.local_facts
    return f"{what}, {'which fit' if is_local else 'too many for'} one task {limit(settings, 'local_facts')}", is_local


def _distributed_plan(stratum: Stratum, sizes: Sizes, settings: PlanSettings) -> StratumPlan:
    if stratum.alone is not None:
        return MODULE_PLANS[type(stratum.alone)](stratum, stratum.alone, sizes, settings)
    if stratum.special:
        return StratumPlan("loop", stratum, ("closures depend on rules that depend on them",), settings)
    if not stratum.recursive:
        return StratumPlan("nonrecursive", stratum, ("no rule depends on another of the stratum",), settings)
    return _rules_plan(stratum, stratum.recursive, stratum.predicates, sizes, settings)


def close(
    plan: StratumPlan, session: SparkSession, facts: Mapping[Predicate, DataFrame], work: Path
) -> dict[Predicate, DataFrame]:
    """All facts of the predicates of the plan's stratum; the plan may not be a loop, rounds or local.

    ``facts`` has the complete relations that the stratum reads, and of the stratum's own predicates the facts that are
    explicit or derived by nonrecursive rules. Columns are ids, in order. Files are written into ``work``.
    """
    found = _close(plan, session, facts, work)
    return {p: found[p] if p in found else _empty(session, p.arity) for p in plan.stratum.predicates}


def _close(
    plan: StratumPlan, session: SparkSession, facts: Mapping[Predicate, DataFrame], work: Path
) -> Mapping[Predicate, DataFrame]:
    slices = slices_of(plan, session)
    if plan.kind == "nonrecursive":
        return seeded(plan, facts)
    if plan.kind == "reachability":
        from everlog.backends.spark.closure import close_reachability

        return close_reachability(session, plan.closure, facts, work, slices=slices, least=plan.settings.slice_pairs)
    if plan.kind == "components":
        from everlog.backends.spark.components import pairs

        members = membership_of(plan, session, facts, work)
        return {
            plan.stratum.predicates[0]: pairs(session, members, work, slices=slices, shared=plan.settings.shared_facts)
        }
    if plan.kind in ("rounds", "loop", "local"):
        raise ValueError(f"a plan of the kind {plan.kind} is not closed at once")
    assert plan.decomposition is not None
    ids = {p: number for number, p in enumerate(plan.stratum.predicates)}
    stage = decomposed(plan, session, facts, work, ids)
    if stage is None:
        return {}
    if len(plan.decomposition.carried) == 1:
        return dict.fromkeys(plan.decomposition.carried, stage)
    return {p: stage.where(stage.predicate == n).select(*argument_names(p.arity)) for p, n in ids.items()}


def decomposed(
    plan: StratumPlan,
    session: SparkSession,
    facts: Mapping[Predicate, DataFrame],
    work: Path,
    ids: Mapping[Predicate, int],
) -> DataFrame | None:
    """The stage of a decomposed plan; it has a column with the ids of predicates if it derives several."""
    from everlog.backends.spark.decomposed import close_decomposed

    assert plan.decomposition is not None
    constants = {c.text: hash_text(c.text, plan.settings.salt) for c in constants_of(plan.rules)}
    return close_decomposed(
        session,
        plan.rules,
        plan.decomposition,
        seeded(plan, facts),
        work,
        slices=slices_of(plan, session),
        least=plan.settings.slice_facts,
        constants=constants,
        sizes=plan.sizes,
        ids=ids,
    )


def membership_of(
    plan: StratumPlan, session: SparkSession, facts: Mapping[Predicate, DataFrame], work: Path
) -> DataFrame:
    """The membership of a plan of components, as rows (vertex, representative)."""
    from everlog.backends.spark.components import membership

    (source,) = plan.closure.external.values()
    edges = facts[source] if source in facts else _empty(session, 2)
    return membership(session, edges, work, edges_in_one_task=plan.settings.united_edges, size=plan.sizes.get(source))


def slices_of(plan: StratumPlan, session: SparkSession) -> int:
    """The maximum number of slices of a stage of the plan."""
    from everlog.backends.executors import parallelism

    return plan.settings.slices * parallelism(session)


def seeded(plan: StratumPlan, facts: Mapping[Predicate, DataFrame]) -> dict[Predicate, DataFrame]:
    """The facts, where those of a predicate with seeds are the union of its seeds."""
    given = dict(facts)
    for predicate, sources in plan.seeds.items():
        present = [edge for edge in sources if edge.predicate in facts]
        given.pop(predicate, None)
        if present:
            given[predicate] = union(present, facts)
    return given


def union(parts: Sequence[Edge], facts: Mapping[Predicate, DataFrame]) -> DataFrame:
    """The different pairs of some binary predicates or of their inverses."""
    frames = []
    for part in parts:
        frame = facts[part.predicate]
        first, second = frame.columns[::-1] if part.inverted else frame.columns
        frames.append(frame.selectExpr(f"`{first}` as c0", f"`{second}` as c1"))
    joined = frames[0]
    for frame in frames[1:]:
        joined = joined.unionAll(frame)
    return joined if len(frames) == 1 else joined.distinct()


# choosing ---------------------------------------------------------------------------------------


def _union_plan(stratum: Stratum, module: VirtualUnion, sizes: Sizes, settings: PlanSettings) -> StratumPlan:
    seeds = MappingProxyType({module.predicate: module.parts})
    return StratumPlan("nonrecursive", stratum, ("a union of other predicates",), settings, seeds=seeds)


def _closure_plan(stratum: Stratum, module: Closure, sizes: Sizes, settings: PlanSettings) -> StratumPlan:
    edges = sum(sizes.get(predicate, 0) for predicate in module.inputs)
    if module.kind == "symmetric-transitive":
        how = "united in one task" if edges <= settings.united_edges else "contracted in rounds until they fit one task"
        united = f"{edges:,} edges {how} {limit(settings, 'united_edges')}"
        reasons = ("symmetric and transitive, kept as membership", united, _slices(settings))
        return StratumPlan("components", stratum, reasons, settings, sizes=sizes)
    condensed = limit(settings, "condensed_edges")
    if edges <= settings.condensed_edges:
        reasons = (
            f"a {module.kind} closure",
            f"{edges:,} edges condensed in one task {condensed}",
            _slices(settings, "pairs"),
        )
        return StratumPlan("reachability", stratum, reasons, settings, sizes=sizes)
    rules, seeds = module.as_rules()
    found = _rules_plan(stratum, rules, tuple(seeds), sizes, settings)
    why = f"{edges:,} edges are too many to condense in one task {condensed}"
    return replace(found, reasons=(*found.reasons, why), seeds=MappingProxyType(seeds))


MODULE_PLANS: Mapping[type[SpecialModule], Callable[[Stratum, Any, Sizes, PlanSettings], StratumPlan]] = {
    Closure: _closure_plan,
    VirtualUnion: _union_plan,
}
"""The functions that plan modules, by kind. Modules of other kinds are evaluated by the rules that they replaced."""


def _rules_plan(
    stratum: Stratum, rules: tuple[Rule, ...], predicates: tuple[Predicate, ...], sizes: Sizes, settings: PlanSettings
) -> StratumPlan:
    found = decompose(Stratum.of_rules(stratum.index, rules, (), predicates), sizes)
    if not isinstance(found, Decomposition):
        reasons = ("the recursion does not decompose", *(str(obstacle) for obstacle in found))
        return _rounds_plan(StratumPlan("loop", stratum, reasons, settings, rules, sizes=sizes), predicates)
    shared = sum(sizes.get(predicate, 0) for predicate in found.shared)
    amount = f"{shared:,} facts {limit(settings, 'shared_facts')}"
    if shared > settings.shared_facts:
        return StratumPlan(
            "loop", stratum, (f"decomposes {found}", f"would share {amount}"), settings, rules, found, sizes=sizes
        )
    reasons = (str(found), f"shares {amount}", _slices(settings, "facts"))
    return StratumPlan("decomposed", stratum, reasons, settings, rules, found, sizes=sizes)


def _rounds_plan(loop: StratumPlan, predicates: tuple[Predicate, ...]) -> StratumPlan:
    """The plan in rounds, if it can be, otherwise the loop with the reason why not.

    Rounds require that recursive atoms of a rule are connected, and that one task can number all facts that rules read.
    """
    bare = next((predicate for predicate in predicates if not predicate.arity), None)
    if bare is not None:
        return replace(loop, reasons=(*loop.reasons, f"no rounds over slices: {bare.name} has no arguments"))
    steps = binarise(loop.rules, predicates)
    if isinstance(steps, Unconnected):
        why = f"nothing connects the recursive atoms of {print_rule(steps.rule)}"
        return replace(loop, reasons=(*loop.reasons, f"no rounds over slices: {why}"))
    read = sum(loop.sizes.get(predicate, 0) for predicate in (*predicates, *other_predicates(loop.rules, predicates)))
    amount = f"{read:,} facts {limit(loop.settings, 'shared_facts')}"
    if read > loop.settings.shared_facts:
        return replace(loop, reasons=(*loop.reasons, f"rounds would have to share {amount}"))
    reasons = (*_in_slices(loop.rules, steps, predicates), *loop.reasons, f"shares {amount}")
    return replace(loop, kind="rounds", reasons=reasons)


def _in_slices(rules: Sequence[Rule], steps: Sequence[Rule], predicates: tuple[Predicate, ...]) -> list[str]:
    """Sentences on the slices in which the facts of rounds are."""
    if is_linear(rules, predicates):
        return ["one recursive atom a rule, so known facts stay in their slices"]
    partitionings = [p for each in partitioned(steps, predicates).partitionings.values() for p in each]
    reasons = ["facts that a rule joins are in the same slice, so known facts stay there"]
    reasons += [f"applies {print_rule(step)}" for step in steps if step not in rules]
    return [*reasons, f"spreads {', '.join(map(str, partitionings))}"]


def _slices(settings: PlanSettings, of: Literal["", "facts", "pairs"] = "") -> str:
    fewer = f", fewer for few {of} {limit(settings, f'slice_{of}')}" if of else ""
    return f"{settings.slices} slices for each shuffle partition {limit(settings, 'slices')}{fewer}"


def limit(settings: object, name: str) -> str:
    """The text of a threshold in plans and logs.

    >>> limit(PlanSettings(), "shared_facts")
    '(shared-facts 12,000,000)'
    """
    return f"({name.replace('_', '-')} {getattr(settings, name):,})"


def _empty(session: SparkSession, arity: int) -> DataFrame:
    from pyspark.sql.types import LongType, StructField, StructType

    return session.createDataFrame([], StructType([StructField(argument_name(i), LongType()) for i in range(arity)]))
