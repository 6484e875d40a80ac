"""Stratified datalog as a direct implementation of its definition: sets of tuples and nested loops.

The engines are compared with it (journal, section 3, equations 4-6 and 65). It shares the
syntax types with the package and nothing else: neither the analysis nor the engine.
A term is its canonical text. A wildcard in a positive atom is a variable of its own, so each of
its values makes another instance. A wildcard in a negated atom means "for no value".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from everlog.lang.syntax import Atom, Constant, Predicate, Program, Query, Rule, Term, Variable, Wildcard

Row = tuple[str, ...]
Fact = tuple[Predicate, Row]
Facts = Mapping[Predicate, AbstractSet[Row]]
Substitution = tuple[tuple[str, str], ...]
"""(variable name, text) pairs, sorted by name."""
Instance = tuple[int, Substitution]
"""(index of a rule, substitution of all its positive variables and wildcards)."""


def materialise(program: Program, facts: Iterable[Fact] = ()) -> dict[Predicate, set[Row]]:
    """All derived facts: the sequence of datasets I_i^s, stratum by stratum, until there are no new facts."""
    known = grouped([*explicit(program), *facts])
    for stratum in strata(program.rules):
        while new := {fact for fact in heads(stratum, known, known) if fact[1] not in known.get(fact[0], ())}:
            for predicate, row in new:
                known.setdefault(predicate, set()).add(row)
    return known


def explicit(program: Program) -> set[Fact]:
    """The facts in the text of the program."""
    return {(atom.predicate, _ground(atom, {})) for atom in program.facts}


def grouped(facts: Iterable[Fact]) -> dict[Predicate, set[Row]]:
    """The facts by predicate."""
    found: dict[Predicate, set[Row]] = {}
    for predicate, row in facts:
        found.setdefault(predicate, set()).add(row)
    return found


def flat(facts: Facts) -> set[Fact]:
    """The inverse of :func:`grouped`."""
    return {(predicate, row) for predicate, rows in facts.items() for row in rows}


def strata(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The rules by strata of the least stratification: heads are raised above bodies until all conditions hold."""
    level = {atom.predicate: 0 for rule in rules for atom in (rule.head, *rule.body)}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            above = [level[atom.predicate] + 1 for atom in rule.negative]
            least = max([level[atom.predicate] for atom in rule.positive] + above, default=0)
            if least > len(level):
                raise ValueError("the program is not stratifiable")
            if level[rule.head.predicate] < least:
                level[rule.head.predicate] = least
                changed = True
    return [[rule for rule in rules if level[rule.head.predicate] == s] for s in sorted(set(level.values()))]


def instances(
    rules: Sequence[Rule], pos: Facts, neg: Facts, changed: Sequence[tuple[Facts, Facts]] = ()
) -> set[Instance]:
    """The rule instances inst_r[I+, I- : P1, N1 : ... : Pk, Nk] of each rule r, as ``match`` is defined.

    Positive atoms are in ``pos``, negative ones outside ``neg``, and for each (P, N) in ``changed``
        at least one positive atom in P or one negative atom in N.
    """
    return {
        (index, tuple(sorted(sigma.items())))
        for index, rule in enumerate(map(_without_wildcards, rules))
        for sigma in _substitutions(rule.positive, pos, {})
        if not any(_some(atom, neg, sigma) for atom in rule.negative)
        and all(
            any(_some(atom, p, sigma) for atom in rule.positive) or any(_some(atom, n, sigma) for atom in rule.negative)
            for p, n in changed
        )
    }


def heads(rules: Sequence[Rule], pos: Facts, neg: Facts, changed: Sequence[tuple[Facts, Facts]] = ()) -> Counter[Fact]:
    """The multiset of head facts of :func:`instances`."""
    return Counter(
        (rules[index].head.predicate, _ground(rules[index].head, dict(sigma)))
        for index, sigma in instances(rules, pos, neg, changed)
    )


def query(query: Query, facts: Facts) -> set[Row]:
    """The answers of a query: the values of its variables in each match of its body."""
    body = _without_wildcards(Rule(Atom(Predicate("answer", 0), ()), query.positive, query.negative))
    return {
        tuple(sigma[variable.name] for variable in query.variables)
        for sigma in _substitutions(body.positive, facts, {})
        if not any(_some(atom, facts, sigma) for atom in body.negative)
    }


def _substitutions(atoms: Sequence[Atom], facts: Facts, sigma: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if not atoms:
        yield sigma
        return
    for row in facts.get(atoms[0].predicate, ()):
        extended = _unified(atoms[0], row, sigma)
        if extended is not None:
            yield from _substitutions(atoms[1:], facts, extended)


def _some(atom: Atom, facts: Facts, sigma: Mapping[str, str]) -> bool:
    """Whether the facts have an instance of the atom under sigma; wildcards match any value."""
    return any(_unified(atom, row, sigma) is not None for row in facts.get(atom.predicate, ()))


def _unified(atom: Atom, row: Row, sigma: Mapping[str, str]) -> dict[str, str] | None:
    """Sigma extended so that the atom becomes the row, or None if there is no such extension."""
    extended = dict(sigma)
    for term, text in zip(atom.terms, row, strict=True):
        match term:
            case Constant():
                if term.text != text:
                    return None
            case Variable():
                if extended.setdefault(term.name, text) != text:
                    return None
            case Wildcard():
                pass
    return extended


def _ground(atom: Atom, sigma: Mapping[str, str]) -> Row:
    def text(term: Term) -> str:
        assert not isinstance(term, Wildcard), "a head has no wildcards"
        return term.text if isinstance(term, Constant) else sigma[term.name]

    return tuple(map(text, atom.terms))


def _without_wildcards(rule: Rule) -> Rule:
    """The rule with each wildcard of a positive atom replaced by a variable of its own."""
    count = 0

    def renamed(atom: Atom) -> Atom:
        nonlocal count
        terms: list[Term] = []
        for term in atom.terms:
            terms.append(Variable(f"_{count}") if isinstance(term, Wildcard) else term)
            count += 1
        return replace(atom, terms=tuple(terms))

    return replace(rule, positive=tuple(map(renamed, rule.positive)))
