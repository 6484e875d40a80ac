"""Checks proofs as they are written in JSON, from their definition: sets of tuples and the rules as parsed.

Shares nothing with the code that finds proofs. A proof is right if every fact in it was given, or is the head of an
instance of a rule whose positive atoms are facts of earlier steps and whose negated atoms have no fact; or, for a path,
if the rules it names derive the fact from the facts of the path alone. With equality, a fact may also be an earlier one
with terms in place of others for each of which an ``owl:sameAs`` fact is among the premises, and an ``owl:sameAs`` fact
may be a walk along others.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from everlog.lang.parser import parse_query
from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Variable, Wildcard
from tests.facts import parse_fact
from tests.oracle import naive
from tests.oracle.naive import Fact, Facts, Row

SAME = Predicate("<http://www.w3.org/2002/07/owl#sameAs>", 2)
ANSWER = Atom(Predicate("the answer to a query", 0), ())


def fact_of(text: str, prefixes: Mapping[str, str]) -> Fact:
    """A fact as written."""
    atom = parse_fact(text, prefixes)
    return atom.predicate, tuple(term.text for term in atom.terms if isinstance(term, Constant))


def check_explanation(data: Mapping[str, Any], program: Program, given: AbstractSet[Fact], holds: Facts) -> int:
    """Check all proofs; returns how many there are."""
    count = 0
    for answer in data["answers"]:
        for proof in answer.get("proofs", ()):
            check_proof(proof["steps"], program, given, holds)
            assert proof["steps"][-1]["fact"] == answer["fact"]
            assert proof["height"] == height(proof["steps"])
            count += 1
    return count


def check_proof(steps: list[Mapping[str, Any]], program: Program, given: AbstractSet[Fact], holds: Facts) -> list[Fact]:
    """Check one proof; returns its facts."""
    facts = [_fact(step, program.prefixes) for step in steps]
    assert len(set(facts)) == len(facts), "a fact has two steps"
    used = {len(steps) - 1}
    for at in range(len(steps) - 1, -1, -1):
        assert at in used, "a step is not needed"
        step = steps[at]
        premises = step.get("from", [])
        assert all(0 <= other < at for other in premises), "a step comes before what it follows from"
        used.update(premises)
        _check_step(step, facts[at], [facts[other] for other in premises], program, given, holds)
    return facts


def height(steps: list[Mapping[str, Any]]) -> int:
    """The maximum number of consecutive steps."""
    heights: list[int] = []
    for step in steps:
        heights.append(0 if step["by"] == "given" else 1 + max((heights[at] for at in step["from"]), default=0))
    return heights[-1]


def _check_step(
    step: Mapping[str, Any],
    fact: Fact,
    premises: list[Fact],
    program: Program,
    given: AbstractSet[Fact],
    holds: Facts,
) -> None:
    if step["by"] == "given":
        assert fact in given
        return
    if step["by"] == "query":
        query = parse_query(step["fact"], program.prefixes)
        _check_instance(step, Rule(ANSWER, query.positive, query.negative), premises, program, holds)
        return
    if step["by"] == "equal":
        _check_replaced(fact, premises[0], premises[1:])
        return
    if step["by"] == "same":
        assert fact not in premises
        assert fact[0] == SAME
        assert fact[1] in walks(premises)
        return
    rules = [program.rules[number - 1] for number in step["rules"]]
    if step["by"] == "path":
        assert fact not in premises
        assert follows(fact, tuple(rules), premises)
        return
    (rule,) = rules
    bound = _check_instance(step, rule, premises, program, holds)
    assert fact == (rule.head.predicate, ground(rule.head, bound))


def _check_replaced(fact: Fact, other: Fact, equalities: list[Fact]) -> None:
    """Check that a fact is another one with equal terms, and that the equalities for that are among the premises."""
    assert all(predicate == SAME for predicate, _ in equalities)
    assert fact[0] == other[0]
    pairs = {frozenset(pair) for pair in zip(fact[1], other[1], strict=True) if pair[0] != pair[1]}
    assert pairs == {frozenset(row) for _, row in equalities}
    assert len(equalities) == len(set(equalities))
    assert pairs


def walks(premises: list[Fact]) -> set[Row]:
    """The possible ends of a walk along equalities, in their order and each in either direction."""
    assert all(predicate == SAME for predicate, _ in premises)
    first, *rest = ([row, row[::-1]] for _, row in premises)
    found = set(first)
    for ways in rest:
        found = {(begin, end) for begin, here in found for there, end in ways if there == here}
    return found


def _check_instance(
    step: Mapping[str, Any], rule: Rule, premises: list[Fact], program: Program, holds: Facts
) -> dict[str, str]:
    """Check that the body of a rule holds with the values of its variables, which are returned."""
    bound = {name: fact_of(f"x({text})", program.prefixes)[1][0] for name, text in step["bindings"].items()}
    assert bound.keys() == {v.name for atom in (rule.head, *rule.body) for v in atom.variables()}
    assert len(premises) == len(rule.positive)
    for atom, (predicate, row) in zip(rule.positive, premises, strict=True):
        assert predicate == atom.predicate
        assert fits(atom, row, bound)
    assert len(step.get("absent", ())) == len(rule.negative)
    for atom in rule.negative:
        assert not any(fits(atom, row, bound) for row in holds.get(atom.predicate, ()))
    return bound


def _fact(step: Mapping[str, Any], prefixes: Mapping[str, str]) -> Fact:
    if step["by"] == "query":
        return ANSWER.predicate, tuple(step["bindings"].values())
    return fact_of(step["fact"], prefixes)


WINDOW = 5
"""Maximum number of facts of a path that are checked together."""


def follows(fact: Fact, rules: tuple[Rule, ...], path: list[Fact]) -> bool:
    """Whether rules derive a fact from the facts of a path alone.

    A long path is followed from one of its ends: what the rules derive of the end so far is carried on, together with
    the last facts.
    """
    if len(path) <= WINDOW:
        return fact[1] in naive.materialise(Program(rules), path).get(fact[0], ())
    ends = ((fact[1][0], path), (fact[1][-1], path[::-1]))
    return any(_followed(fact, Program(rules), end, order) for end, order in ends)


def _followed(fact: Fact, program: Program, end: str, path: list[Fact]) -> bool:
    carried: set[Fact] = set()
    for last in range(WINDOW, len(path) + 1):
        window = path[last - WINDOW : last]
        found = naive.flat(naive.materialise(program, {*carried, *window}))
        here = {text for _, row in window for text in row}
        carried = {other for other in found if end in other[1] and here.intersection(other[1])}
    return fact in carried


def ground(atom: Atom, bound: Mapping[str, str]) -> Row:
    """The atom with values for its variables."""
    return tuple(
        t.text if isinstance(t, Constant) else bound[t.name] for t in atom.terms if not isinstance(t, Wildcard)
    )


def fits(atom: Atom, row: Row, bound: Mapping[str, str]) -> bool:
    """Whether a row is the atom with these values, wildcards being free."""
    for term, text in zip(atom.terms, row, strict=True):
        if isinstance(term, Constant) and term.text != text:
            return False
        if isinstance(term, Variable) and bound[term.name] != text:
            return False
    return True


def least_heights(program: Program, given: AbstractSet[Fact], holds: Facts) -> dict[Fact, int]:
    """The least height of a proof of each fact that holds, by rounds."""
    heights = dict.fromkeys(given, 0)
    level = 0
    while True:
        level += 1
        new = set(naive.heads(program.rules, naive.grouped(heights), holds)).difference(heights)
        if not new:
            return heights
        heights.update(dict.fromkeys(new, level))


def all_proofs(rules: tuple[Rule, ...], given: AbstractSet[Fact], holds: Facts, goal: Fact) -> set[frozenset[Any]]:
    """Every proof of a fact as the set of (fact, instance) it consists of; for tiny programs only."""
    instances: dict[Fact, list[tuple[Any, tuple[Fact, ...]]]] = {}
    for number, sigma in naive.instances(rules, holds, holds):
        rule = naive._without_wildcards(rules[number])
        body = tuple((atom.predicate, ground(atom, dict(sigma))) for atom in rule.positive)
        head = (rule.head.predicate, ground(rule.head, dict(sigma)))
        instances.setdefault(head, []).append(((number, sigma), body))

    def proofs(fact: Fact, above: frozenset[Fact], chosen: dict[Fact, Any]) -> list[dict[Fact, Any]]:
        """All ways to prove a fact that agree with the chosen steps and use none of the facts above."""
        if fact in above:
            return []
        if fact in given and above:
            return [chosen]
        options = instances.get(fact, ())
        if fact in chosen:
            options = [option for option in options if option[0] == chosen[fact]]
        found = []
        for instance, body in options:
            partial = [{**chosen, fact: instance}]
            for other in body:
                partial = [more for each in partial for more in proofs(other, above | {fact}, each)]
            found += partial
        return found

    return {frozenset(each.items()) for each in proofs(goal, frozenset(), {})}
