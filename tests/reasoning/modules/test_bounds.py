"""The functions of a module stay within the bounds of the thesis (table 5.2), for whole sequences of calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.stratify import stratify
from everlog.engine.factset import FactSet
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.materialisation import Materialisation, with_counters
from everlog.reasoning.modules.closure.description import Closure, Transition
from everlog.reasoning.modules.implementation import ModuleImplementation
from everlog.reasoning.modules.kinds import implementation, with_modules
from everlog.reasoning.modules.union.description import VirtualUnion
from everlog.reasoning.modules.union.implementation import UnionImplementation
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from tests.reasoning.modules.symmetry import Symmetric, SymmetricImplementation
from tests.reasoning.modules.test_updates import visible
from tests.reasoning.test_maintenance import Ids, same
from tests.strategies import Case, updates

Pair = tuple[int, int]
P, E = Predicate("p", 2), Predicate("e", 2)
X = hidden(P)
LINEAR = (Transition(0, Edge(E), 0),)
MODULES = {
    "transitive": Closure("transitive", (P,), (), {P: X}),
    "symmetric-transitive": Closure("symmetric-transitive", (P,), (), {P: X}),
    "left": Closure("linear", (P,), (), {P: X}, LINEAR),
    "right": Closure("linear", (P,), (), {P: X}, LINEAR, mirrored=True),
}
pairs = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=9)


def consequences(name: str, p: set[Pair], e: set[Pair], new_p: set[Pair], new_e: set[Pair]) -> set[Pair]:
    """What one application of the module's rules derives with at least one of the new facts."""

    def joined(first: set[Pair], second: set[Pair]) -> set[Pair]:
        return {(a, d) for a, b in first for c, d in second if b == c}

    if name == "left":
        return joined(new_p, e) | joined(p, new_e)
    if name == "right":
        return joined(e, new_p) | joined(new_e, p)
    found = joined(new_p, p) | joined(p, new_p)
    return found | ({(b, a) for a, b in new_p} if name == "symmetric-transitive" else set())


def closed(name: str, p: set[Pair], e: set[Pair]) -> set[Pair]:
    while more := consequences(name, p, e, p, e) - p:
        p = p | more
    return p


def relation(rows: set[Pair]) -> Relation:
    ordered = sorted(rows)
    return Relation.from_columns([[a for a, _ in ordered], [b for _, b in ordered]])


def rows(found: FactSet) -> set[Pair]:
    first, second = found.relation(P).columns()
    return set(zip(first.tolist(), second.tolist(), strict=True))


@pytest.mark.parametrize("name", MODULES)
@given(external=pairs, edges=pairs, more=st.lists(st.tuples(pairs, pairs), max_size=3), gone=st.tuples(pairs, pairs))
def test_one_history(
    name: str, external: set[Pair], edges: set[Pair], more: list[tuple[set[Pair], set[Pair]]], gone: tuple[Any, Any]
) -> None:
    """Call Add several times, then Del for some of the facts, then Red."""
    state = implementation(MODULES[name]).in_fixpoint(FactSet({X: relation(external), E: relation(edges)}))
    if name in ("transitive", "symmetric-transitive"):
        edges, more = set(), [(x, set()) for x, _ in more]
    p = rows(FactSet(state.relations()))
    assert p == closed(name, external, edges)
    for some_x, some_e in more:
        new_x, new_e = some_x - external, some_e - edges
        inside = p | new_x
        found = rows(state.add(FactSet({X: relation(new_x), E: relation(new_e)}))) - inside
        external, edges = external | new_x, edges | new_e
        least = consequences(name, inside, edges, new_x - p, new_e) - inside
        assert least <= found <= closed(name, inside, edges) - inside
        p = inside | found
    lost_x, lost_e = gone[0] & external, gone[1] & edges
    doomed = rows(state.delete(FactSet({X: relation(lost_x), E: relation(lost_e)})))
    left_x, left_e = external - lost_x, edges - lost_e
    after = closed(name, left_x, left_e)
    assert consequences(name, p, edges, lost_x, lost_e) - after <= doomed <= p
    assert p - after <= doomed
    left = FactSet({X: relation(left_x), E: relation(left_e)})
    kept = p - doomed
    gone_facts = FactSet({X: relation(lost_x), E: relation(lost_e)})
    found = rows(state.rederive(FactSet({P: relation(doomed)}), gone_facts, left))
    assert (consequences(name, kept, left_e, kept, left_e) | left_x) & doomed <= found <= after & doomed
    assert rows(FactSet(state.relations())) == after


PARTS = (Edge(X), Edge(E, True))
SYMMETRIC = Symmetric(P, (), {P: X})
OF_ONE_ROUND: dict[str, tuple[ModuleImplementation[Any], Callable[[set[Pair], set[Pair]], set[Pair]]]] = {
    "union": (UnionImplementation(VirtualUnion(P, PARTS, (), {P: X})), lambda x, e: x | {(b, a) for a, b in e}),
    "derived anew": (SymmetricImplementation(SYMMETRIC), lambda x, e: x | {(b, a) for a, b in x}),
}


@pytest.mark.parametrize("name", OF_ONE_ROUND)
@given(given_facts=st.tuples(pairs, pairs), more=st.tuples(pairs, pairs), gone=st.tuples(pairs, pairs), others=pairs)
def test_modules_whose_rules_apply_once(name: str, given_facts: Any, more: Any, gone: Any, others: set[Pair]) -> None:
    """Add is exact, Del has all that is lost, Red gives back what still follows, whatever else was overdeleted."""
    made, derived = OF_ONE_ROUND[name]

    def facts(sides: tuple[set[Pair], set[Pair]]) -> FactSet:
        return FactSet({X: relation(sides[0]), E: relation(sides[1])})

    state = made.in_fixpoint(facts(given_facts))
    before = derived(*given_facts)
    assert rows(FactSet(state.relations())) == before
    held = given_facts[0] | more[0], given_facts[1] | more[1]
    assert rows(state.add(facts((more[0] - given_facts[0], more[1] - given_facts[1])))) == derived(*held) - before
    lost = gone[0] & held[0], gone[1] & held[1]
    left = held[0] - lost[0], held[1] - lost[1]
    doomed = rows(state.delete(facts(lost)))
    assert derived(*held) - derived(*left) <= doomed <= derived(*held)
    overdeleted = doomed | (others & derived(*held))
    found = rows(state.rederive(FactSet({P: relation(overdeleted)}), facts(lost), facts(left)))
    assert found == overdeleted & derived(*left)
    assert rows(FactSet(state.relations())) == derived(*left)


PROGRAM = """
p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
q(?x, ?z) :- q(?x, ?y), p(?y, ?z) .
r(?x, ?y) :- r(?y, ?x) .
r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .
p(?x, ?y) :- r(?x, ?y), e(?x, ?y) .
q(?x, ?y) :- p(?y, ?x), f(?x, ?y) .
r(?x, ?y) :- q(?x, ?y), ~f(?y, ?x) .
p(?x, ?y) :- e(?x, ?y), f(?x, _) .
"""
BINARY = tuple(Predicate(name, 2) for name in "efpqr")
DOMAIN = ("a", "b", "c", "d")


@given(st.data())
def test_every_order_of_modules(data: st.DataObject) -> None:
    row = st.tuples(st.sampled_from(DOMAIN), st.sampled_from(DOMAIN))
    facts = data.draw(st.sets(st.tuples(st.sampled_from(BINARY), row), max_size=12))
    rules = parse_program(PROGRAM).rules
    case = Case(Program(rules), frozenset(facts), BINARY, DOMAIN)
    plain = stratify(check(Program(rules)))
    modular = with_modules(plain)
    (stratum,) = (stratum for stratum in modular.strata if stratum.is_mixed)
    assert sorted(module.kind for module in stratum.special) == ["linear", "symmetric-transitive", "transitive"]
    changes, ids = data.draw(updates(case, max_size=3)), Ids(case)
    for order in permutations(stratum.special):
        strata = tuple(replace(s, modules=(s.ordinary, *order)) if s.is_mixed else s for s in modular.strata)
        program = replace(modular, strata=strata)
        explicit = ids.facts(facts)
        start, _ = close_strata(ids.engine(), program, explicit.renamed(program.external))
        state = Materialisation(explicit.renamed(program.external), start)
        for change in changes:
            delete, insert = ids.facts(change.delete), ids.facts(change.insert)
            explicit = (explicit - delete) | insert
            inner = [part.renamed(program.external) for part in (delete, insert)]
            state = update(ids.engine(), program, state, inner[0], inner[1], "dredc").materialisation
            expected, _ = close_strata(ids.engine(), plain, explicit)
            assert same(visible(program, state.facts), expected)
            fresh = with_counters(ids.engine(), program, Materialisation(state.explicit, state.facts))
            assert (state.nr, state.rec) == (fresh.nr, fresh.rec)


def test_support_in_a_circle_does_not_last() -> None:
    """A pair and the outside fact that only follows from it are both deleted."""
    rules = (
        "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- e(?x, ?y) . p(?x, ?y) :- q(?x, ?y) . q(?x, ?y) :- p(?x, ?y) ."
    )
    program = with_modules(stratify(check(parse_program(rules + " q(?x, ?y) :- p(?x, ?y), p(?y, ?x) ."))))
    ids = {"a": 0, "b": 1}
    explicit = FactSet({E: Relation.from_columns([np.array([0]), np.array([1])])})
    facts, _ = close_strata(Engine(10, ids), program, explicit)
    done = update(Engine(10, ids), program, Materialisation(explicit, facts), explicit, FactSet(), "dredc")
    assert not done.materialisation.facts
