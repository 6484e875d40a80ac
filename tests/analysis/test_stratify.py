"""Both stratifications against their definitions, on random programs of arity 0."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.cycles import negative_cycle
from everlog.analysis.dependencies import dependencies, strong_components
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.lang.errors import RuleError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Atom, Predicate, Program, Rule

PREDICATES = [Predicate(name, 0) for name in "abcdefg"]

atoms = st.sampled_from(PREDICATES).map(lambda predicate: Atom(predicate, ()))
rules = st.builds(
    lambda head, positive, negative: Rule(head, tuple(positive), tuple(negative)),
    atoms,
    st.lists(atoms, max_size=2),
    st.lists(atoms, max_size=1),
)
programs = st.lists(rules, max_size=9).map(lambda drawn: check(Program(tuple(drawn))))


def reaches(program: CheckedProgram) -> set[tuple[Predicate, Predicate]]:
    """The direct and indirect dependencies of each predicate."""
    pairs = {(rule.head.predicate, atom.predicate) for rule in program.rules for atom in rule.body}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs


def stratifiable(program: CheckedProgram) -> bool:
    pairs = reaches(program)
    return not any(
        atom.predicate == rule.head.predicate or (atom.predicate, rule.head.predicate) in pairs
        for rule in program.rules
        for atom in rule.negative
    )


def levels(program: CheckedProgram) -> dict[Predicate, int]:
    """The levels by definition: 0 without rules, otherwise one above the dependencies of the component outside it."""
    pairs = reaches(program)

    def level(predicate: Predicate) -> int:
        if predicate not in program.derived:
            return 0
        component = {predicate} | {other for other in PREDICATES if {(predicate, other), (other, predicate)} <= pairs}
        used = {atom.predicate for rule in program.rules if rule.head.predicate in component for atom in rule.body}
        return 1 + max(map(level, used - component), default=0)

    return {predicate: level(predicate) for predicate in program.predicates}


def heights(program: CheckedProgram) -> dict[Predicate, int]:
    """The least numbering with derived predicates from 1, not below what is used and above what is negated."""
    number = {predicate: int(predicate in program.derived) for predicate in program.predicates}
    before = None
    while number != before:
        before = dict(number)
        for rule in program.rules:
            bounds = [number[atom.predicate] for atom in rule.positive]
            bounds += [number[atom.predicate] + 1 for atom in rule.negative]
            number[rule.head.predicate] = max([number[rule.head.predicate], *bounds])
    return number


def assert_well_formed(result: StratifiedProgram) -> None:
    number = result.stratum_of
    assert [stratum.index for stratum in result.strata] == list(range(1, len(result.strata) + 1))
    assert sorted(map(repr, result.program.rules)) == sorted(repr(r) for each in result.strata for r in each.rules)
    for stratum in result.strata:
        assert set(stratum.predicates) == {rule.head.predicate for rule in stratum.rules}
        assert all(number[predicate] == stratum.index for predicate in stratum.predicates)
        for rule in stratum.rules:
            own = any(number[atom.predicate] == stratum.index for atom in rule.positive)
            assert (rule in stratum.recursive) == own
            assert (rule in stratum.nonrecursive) == (not own)
            assert all(number[atom.predicate] < stratum.index for atom in rule.negative)


@settings(max_examples=400, deadline=None)
@given(programs)
def test_strata_are_as_defined(program: CheckedProgram) -> None:
    kinds: tuple[Kind, ...] = ("levels", "single")
    if not stratifiable(program):
        for kind in kinds:
            with pytest.raises(RuleError, match="negation-cycle"):
                stratify(program, kind)
        return
    for kind, definition in zip(kinds, (levels, heights), strict=True):
        result = stratify(program, kind)
        assert dict(result.stratum_of) == definition(program)
        assert_well_formed(result)


@settings(max_examples=400, deadline=None)
@given(programs)
def test_a_negative_cycle_is_one(program: CheckedProgram) -> None:
    for component in dependencies(program.rules).components():
        inside = [rule for rule in program.rules if rule.head.predicate in component]
        if not any(atom.predicate in component for rule in inside for atom in rule.negative):
            continue
        cycle = negative_cycle(inside, component)
        assert any(cycle[0][1] is atom for atom in cycle[0][0].negative)
        for (rule, used), (following, _) in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert used in rule.body
            assert used.predicate == following.head.predicate


def test_each_component_that_negates_itself_is_reported() -> None:
    text = "a() :- ~b() . b() :- c() . c() :- a(), ~c() . win(?x) :- move(?x, ?y), ~win(?y) . d() :- ~a() ."
    with pytest.raises(RuleError) as caught:
        stratify(check(parse_program(text)))
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [
        "`a` depends on its own negation: a <- ~b <- c <- a",
        "`win` depends on its own negation: win <- ~win",
    ]
    assert [len(diagnostic.notes) for diagnostic in caught.value.diagnostics] == [3, 1]


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), min_size=8, max_size=8))
def test_strong_components_are_the_classes_of_mutual_reachability(edges: list[list[int]]) -> None:
    components = strong_components(range(8), edges.__getitem__)
    reached = [{node} for node in range(8)]
    for _ in range(8):
        reached = [
            set().union(found, *(reached[other] for node in found for other in edges[node])) for found in reached
        ]
    for node in range(8):
        mutual = {other for other in reached[node] if node in reached[other]}
        assert mutual == set(next(component for component in components if node in component))
    position = {node: at for at, component in enumerate(components) for node in component}
    assert all(position[other] <= position[node] for node in range(8) for other in edges[node])


@pytest.mark.parametrize("cyclic", [False, True])
def test_ten_thousand_predicates_in_a_chain(cyclic: bool) -> None:
    size = 10_000
    chain = [Atom(Predicate(f"p{i}", 0), ()) for i in range(size + 1)]
    drawn = [Rule(chain[i], (chain[i + 1],)) for i in range(size)]
    if cyclic:
        drawn.append(Rule(chain[size], (chain[0],)))
    start = time.process_time()
    result = stratify(check(Program(tuple(drawn))))
    seconds = time.process_time() - start
    print(f"{size} rules checked and stratified in {seconds:.2f} s")
    assert len(result.strata) == (1 if cyclic else size)
    assert seconds < 20
