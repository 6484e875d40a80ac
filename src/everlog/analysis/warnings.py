"""Warnings about programs: what is allowed, but probably a mistake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from everlog.analysis.names import likely_typos
from everlog.analysis.places import atom_place, term_place
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic
from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Term, Variable
from everlog.lang.terms import RDF_TYPE

_LIKE_VARIABLE = re.compile(r'"(?:[A-Z][A-Za-z0-9_]*|[a-z])"')


def warnings_about(program: Program) -> Iterator[Diagnostic]:
    """The warnings about a program whose rules are safe."""
    written = _as_written(program.rules)
    yield from _typos(program)
    yield from _duplicates(program.rules)
    yield from chain.from_iterable(_used_once(rules) for rules in written)
    yield from chain.from_iterable(_like_variables(rules[0]) for rules in written)
    yield from _rdf_type(program)


def _as_written(rules: Iterable[Rule]) -> list[list[Rule]]:
    """The rules of each statement: those with several heads share their span."""
    statements: list[list[Rule]] = []
    for rule in rules:
        if statements and rule.span is not None and statements[-1][0].span is rule.span:
            statements[-1].append(rule)
        else:
            statements.append([rule])
    return statements


def _typos(program: Program) -> Iterator[Diagnostic]:
    """Warnings about predicates that are read, have no rule and no fact, and are one slip away from another one.

    Of two such predicates that are both only read, since they come with the data, the one with fewer atoms is taken for
    the misspelt one, and of two with equally many atoms the later one.
    """
    known = _known(program)
    read: dict[Predicate, list[Atom]] = {}
    for rule in program.rules:
        for atom in rule.body:
            if atom.predicate not in known:
                read.setdefault(atom.predicate, []).append(atom)
    order = sorted(read, key=lambda predicate: -len(read[predicate]))
    for arity in sorted({predicate.arity for predicate in read}):
        right = sorted(each.name for each in known if each.arity == arity)
        names = [predicate.name for predicate in order if predicate.arity == arity]
        for name, other in likely_typos(names, right):
            yield _warning(
                Code.POSSIBLE_TYPO,
                f"`{name}` has no rule and no fact in the program",
                read[Predicate(name, arity)][0],
                f"did you mean `{other}`? Ignore this if `{name}` comes with the data",
            )


def _known(program: Program) -> set[Predicate]:
    """The predicates that have a rule or a fact."""
    facts = {fact.predicate for fact in program.facts} | {each.predicate for each in program.data}
    return {rule.head.predicate for rule in program.rules} | facts


def _duplicates(rules: Iterable[Rule]) -> Iterator[Diagnostic]:
    first: dict[object, Rule] = {}
    for rule in rules:
        before = first.setdefault(_up_to_names(rule), rule)
        if before is not rule:
            place = before.span.place if before.span is not None else None
            yield Diagnostic(
                Code.DUPLICATE_RULE,
                f"the rule for `{rule.head.predicate.name}` says the same as one before",
                rule.span.place if rule.span is not None else None,
                "remove one of them",
                (("the first one", place),),
                Severity.WARNING,
            )


def _up_to_names(rule: Rule) -> object:
    """A key of a rule with its variables numbered: equal for rules that differ in variable names only."""
    numbers: dict[Variable, int] = {}

    def shape(term: Term) -> object:
        return numbers.setdefault(term, len(numbers)) if isinstance(term, Variable) else term

    def shapes(atoms: Iterable[Atom]) -> tuple[object, ...]:
        return tuple((atom.predicate, tuple(map(shape, atom.terms))) for atom in atoms)

    return shapes((rule.head,)), shapes(rule.positive), shapes(rule.negative)


def _used_once(rules: list[Rule]) -> Iterator[Diagnostic]:
    body = rules[0].body
    heads = [rule.head for rule in rules]
    uses = Counter(variable for atom in chain(heads, body) for variable in atom.variables())
    for atom in body:
        for variable in atom.variables():
            if uses[variable] == 1 and not variable.name.startswith("_"):
                message = f"the variable `?{variable.name}` is used once"
                yield _warning(Code.SINGLE_USE, message, atom, "write `_` if its value does not matter", variable)


def _like_variables(rule: Rule) -> Iterator[Diagnostic]:
    """Warnings about constants in several atoms of a rule that look like the variables of other Datalog languages."""
    where: dict[Constant, Atom] = {}
    for atom in (rule.head, *rule.body):
        for term in dict.fromkeys(atom.terms):
            if isinstance(term, Constant) and _LIKE_VARIABLE.fullmatch(term.text):
                if where.setdefault(term, atom) is atom:
                    continue
                name = term.text[1:-1]
                message = f"`{name}` is a constant here, in several atoms"
                yield _warning(Code.LIKE_A_VARIABLE, message, where[term], f"a variable is written `?{name}`", term)
                return


def _rdf_type(program: Program) -> Iterator[Diagnostic]:
    """Warnings about atoms with ``rdf:type``, which has no facts unless a rule derives them: RDF types are unary
    predicates."""
    derived = _known(program)
    predicate = Predicate(RDF_TYPE, 2)
    if predicate in derived:
        return
    for rule in program.rules:
        for atom in rule.body:
            if atom.predicate == predicate:
                hint = "write `[?x, a, ex:C]` or `ex:C(?x)`"
                if isinstance(atom.terms[1], Variable):
                    hint += ", in one rule for each class"
                yield _warning(Code.RDF_TYPE, "types in RDF data are read as `ex:C(?x)`, not as `rdf:type`", atom, hint)


def _warning(code: Code, message: str, atom: Atom, hint: str, term: Term | None = None) -> Diagnostic:
    place = atom_place(atom) if term is None else term_place(atom, term)
    return Diagnostic(code, message, place, hint, severity=Severity.WARNING)
