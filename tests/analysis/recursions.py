"""Strategies for random recursive rules with data: one to three recursive atoms in each rule, which may be connected
through other relations only, with constants, repeated variables, wildcards and negation."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from everlog.analysis.binary import Unconnected, binarise
from everlog.lang.syntax import Predicate, Program, Rule, Wildcard
from tests.strategies import VARIABLES, Case, _capped, atoms, body_terms, bound_terms, domains, fact_sets, lists

DERIVED = (Predicate("p", 2), Predicate("q", 1), Predicate("r", 3), Predicate("s", 2))
BELOW = (Predicate("e", 2), Predicate("m", 1), Predicate("t", 3))


@st.composite
def recursions(draw: st.DrawFn, *, max_rules: int = 4) -> Case:
    """Recursive rules whose recursive atoms are connected."""
    derived = DERIVED[: draw(st.integers(1, len(DERIVED)))]
    domain = draw(domains())
    rules = dict.fromkeys(draw(lists(recursive_rules(derived, domain), min_size=1, max_size=max_rules)))
    connected = tuple(rule for rule in rules if not isinstance(binarise([rule], derived), Unconnected))
    facts = draw(fact_sets((*derived, *BELOW), domain))
    return Case(Program(connected), frozenset(facts), (*derived, *BELOW), domain)


def recursive_rules(derived: Sequence[Predicate], domain: Sequence[str]) -> st.SearchStrategy[Rule]:
    """Safe rules with recursive atoms at any position of the body."""

    @st.composite
    def rule(draw: st.DrawFn) -> Rule:
        recursive = draw(lists(atoms(derived, body_terms(domain)), min_size=1, max_size=3))
        beside = draw(st.lists(atoms(BELOW, body_terms(domain)), max_size=2))
        positive = _capped(draw(st.permutations([*recursive, *beside])))
        bound = sorted({v for atom in positive for v in atom.variables()}, key=VARIABLES.index)
        negated = st.one_of(bound_terms(bound, domain), st.just(Wildcard()))
        negative = draw(st.lists(atoms(BELOW, negated), max_size=1))
        return Rule(draw(atoms(derived, bound_terms(bound, domain))), tuple(positive), tuple(negative))

    return rule()
