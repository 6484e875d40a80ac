"""The implementations of the algebra have the operations of its protocols, and do not combine with each other."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from everlog.backends.lookup.engine import LookUpEngine
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.match import FrameMatches, FrameProofs
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.watched import WatchedSparkEngine
from everlog.backends.spark.workspace import Stored
from everlog.engine.algebra import AnyCounts, AnyEngine, AnyFactSet, AnyMatches, AnyProofs
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import layout_for
from everlog.engine.limits import Limits
from everlog.engine.match import Engine, Matches, Proofs
from everlog.engine.multiset import NO_COUNTS, Counts, Multiset
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate

FACT_SETS: list[type[AnyFactSet]] = [FactSet, FrameSet]
COUNTS: list[type[AnyCounts]] = [Counts, FrameCounts]
MATCHES: list[type[AnyMatches]] = [Matches, FrameMatches]
PROOFS: list[type[AnyProofs]] = [Proofs, FrameProofs]
ENGINES: list[type[AnyEngine]] = [Engine, LookUpEngine, SparkEngine, WatchedSparkEngine]
PROTOCOLS: dict[type, list[Any]] = {
    AnyFactSet: FACT_SETS,
    AnyCounts: COUNTS,
    AnyMatches: MATCHES,
    AnyProofs: PROOFS,
    AnyEngine: ENGINES,
}
PAIRS = [(protocol, implementation) for protocol, found in PROTOCOLS.items() for implementation in found]

P = Predicate("p", 1)
NO_SPACE: Any = None
NO_RULES = RuleSet([])


def local() -> FactSet:
    return FactSet({P: Relation.from_columns([[1]])})


def frames() -> FrameSet:
    return FrameSet.of(NO_SPACE, Stored(("a file",), {P: 1}))


def operations(protocol: type) -> dict[str, Any]:
    """The methods and properties of a protocol by their names."""
    own = {name: value for name, value in vars(protocol).items() if name not in ("__init__", "__subclasshook__")}
    return {name: value for name, value in own.items() if inspect.isfunction(value) or isinstance(value, property)}


def parameters(method: Callable[..., Any]) -> list[tuple[str, Any, bool]]:
    """The name and kind of each parameter, and whether it has a default."""
    return [(p.name, p.kind, p.default is not p.empty) for p in inspect.signature(method).parameters.values()]


def test_protocols_have_operations() -> None:
    assert {"count", "__or__", "restricted"} <= operations(AnyFactSet).keys()
    assert parameters(operations(AnyProofs)["bodies"])[2] == (
        "without",
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        False,
    )


@pytest.mark.parametrize(("protocol", "implementation"), PAIRS, ids=lambda each: each.__name__)
def test_signatures(protocol: type, implementation: type) -> None:
    for name, expected in operations(protocol).items():
        found = inspect.getattr_static(implementation, name)
        assert isinstance(found, property) == isinstance(expected, property), name
        if not isinstance(expected, property):
            assert parameters(found) == parameters(expected), name


@pytest.mark.parametrize(
    "engine",
    [Engine(1, {}), LookUpEngine(NO_SPACE, {}, 0, Limits()), SparkEngine(NO_SPACE)],
    ids=lambda engine: type(engine).__name__,
)
def test_engines_have_the_attributes_of_the_protocol(engine: AnyEngine) -> None:
    assert {"work", "held"} <= AnyEngine.__annotations__.keys()
    for name in AnyEngine.__annotations__:
        assert hasattr(engine, name), name


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(FrameSet, FactSet), (FrameCounts, Counts), (FrameMatches, Matches), (FrameProofs, Proofs), (SparkEngine, Engine)],
)
def test_spark_does_not_inherit_from_the_local_implementation(ours: type, theirs: type) -> None:
    assert not issubclass(ours, theirs)


FACT_OPERATIONS: list[Callable[[Any, Any], Any]] = [
    operator.or_,
    operator.sub,
    operator.and_,
    lambda a, b: a.extended(b),
]
COUNT_OPERATIONS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub]


@pytest.mark.parametrize("operation", FACT_OPERATIONS)
def test_facts_of_two_implementations_do_not_combine(operation: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="FactSet and FrameSet"):
        operation(local(), frames())
    with pytest.raises(TypeError, match="FrameSet and FactSet"):
        operation(frames(), local())


@pytest.mark.parametrize("operation", COUNT_OPERATIONS)
def test_counts_of_two_implementations_do_not_combine(operation: Callable[[Any, Any], Any]) -> None:
    here, there = Counts.once(local()), FrameCounts.once_each(frames())
    with pytest.raises(TypeError, match="Counts and FrameCounts"):
        operation(here, there)
    with pytest.raises(TypeError, match="FrameCounts and Counts"):
        operation(there, here)


def test_counts_know_nothing_of_foreign_facts() -> None:
    with pytest.raises(TypeError, match="FactSet and FrameSet"):
        Counts.once(local()).counted(frames())
    with pytest.raises(TypeError, match="FrameSet and FactSet"):
        FrameCounts.once_each(frames()).counted(local())


CALLS: list[Callable[[Any, Any, Any], Any]] = [
    lambda engine, mine, other: engine.once(other),
    lambda engine, mine, other: engine.match(NO_RULES, other, mine),
    lambda engine, mine, other: engine.match(NO_RULES, mine, other),
    lambda engine, mine, other: engine.match(NO_RULES, mine, mine, [(other, mine)]),
    lambda engine, mine, other: engine.match(NO_RULES, mine, mine, [(mine, other)]),
    lambda engine, mine, other: engine.match(NO_RULES, mine, mine).facts(without=other),
    lambda engine, mine, other: engine.prove(NO_RULES, other, mine),
    lambda engine, mine, other: engine.prove(NO_RULES, mine, other),
    lambda engine, mine, other: engine.prove(NO_RULES, mine, mine).facts(other),
    lambda engine, mine, other: engine.prove(NO_RULES, mine, mine).bodies(other, mine),
    lambda engine, mine, other: engine.prove(NO_RULES, mine, mine).bodies(mine, other),
]


@pytest.mark.parametrize("call", CALLS)
def test_engines_refuse_foreign_facts(call: Callable[[Any, Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="FactSet and FrameSet"):
        call(Engine(9, {}), local(), frames())
    with pytest.raises(TypeError, match="FrameSet and FactSet"):
        call(SparkEngine(NO_SPACE), frames(), local())


@pytest.mark.parametrize("operation", FACT_OPERATIONS)
@pytest.mark.parametrize("none", [NONE, FrameSet(NO_SPACE)], ids=["local", "Spark"])
def test_no_facts_do_not_combine_with_what_is_no_set(operation: Callable[[Any, Any], Any], none: Any) -> None:
    with pytest.raises(TypeError, match="object"):
        operation(none, object())


@pytest.mark.parametrize("operation", [*COUNT_OPERATIONS, lambda a, b: a.counted(b)])
@pytest.mark.parametrize("none", [NO_COUNTS, FrameCounts(NO_SPACE)], ids=["local", "Spark"])
def test_no_counts_do_not_combine_with_what_is_no_set(operation: Callable[[Any, Any], Any], none: Any) -> None:
    with pytest.raises(TypeError, match="object"):
        operation(none, object())


@pytest.mark.parametrize("facts", [local(), frames()], ids=["local", "Spark"])
def test_no_facts_combine_with_every_implementation(facts: Any) -> None:
    assert NONE | facts is facts
    assert set(facts | NONE) == {P}
    assert NONE.extended(facts) is facts
    assert set(facts.extended(NONE)) == {P}
    assert facts - NONE is facts
    assert not NONE - facts
    assert not NONE & facts
    assert not facts & NONE


@pytest.mark.parametrize(
    ("counts", "facts"),
    [(Counts.once(local()), local()), (FrameCounts.once_each(frames()), frames())],
    ids=["local", "Spark"],
)
def test_no_counts_combine_with_every_implementation(counts: Any, facts: Any) -> None:
    assert NO_COUNTS + counts is counts
    assert set(counts + NO_COUNTS) == set(counts - NO_COUNTS) == {P}
    assert set(NO_COUNTS - counts) == {P}
    assert not NO_COUNTS.counted(facts)
    assert not counts.counted(NONE)


def test_numbers_that_are_subtracted_from_none_are_negative() -> None:
    (piece,) = (NO_COUNTS - FrameCounts.once_each(frames())).pieces
    assert piece.sign == -1


def test_numbers_that_lie_elsewhere_are_listed_with_what_was_added() -> None:
    layout = layout_for(1, 9)
    elsewhere = Multiset.counted(layout, np.array([3, 5, 3]))
    changed = Multiset(layout, base=elsewhere) + Multiset.counted(layout, np.array([4, 5]))
    keys, weights = (changed - Multiset.counted(layout, np.array([3, 3]))).whole()
    assert (keys.tolist(), weights.tolist()) == ([4, 5], [1, 2])
    assert (elsewhere - Multiset(layout, base=elsewhere)).is_zero
