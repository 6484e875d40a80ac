"""Checks of arity and safety for programs and queries. All mistakes are reported at once.

In a checked program, every positive wildcard is a fresh variable, so that positive atoms have variables and constants
only. Wildcards remain in negated atoms, where they mean "no value".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from types import MappingProxyType

from everlog.analysis.names import closest, local_part
from everlog.analysis.places import atom_place, position, term_place
from everlog.analysis.warnings import warnings_about
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError, Place, RuleError, UnknownPredicateError
from everlog.lang.printer import NO_PREFIXES, print_atom, print_rule
from everlog.lang.syntax import Atom, Columns, Predicate, Program, Query, Rule, Term, Variable, Wildcard


@dataclass(frozen=True)
class CheckedProgram:
    """A program whose predicates have one arity each and whose rules are safe."""

    rules: tuple[Rule, ...]
    facts: tuple[Atom, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    predicates: tuple[Predicate, ...] = ()
    """Every predicate of the program, in order of appearance in rules, then facts."""
    written: Program | None = field(default=None, compare=False, repr=False)
    """The program as it was before it was checked."""

    @property
    def data(self) -> tuple[Columns, ...]:
        """Facts read with the program, such as those of an ontology, that are not in its text."""
        return self.written.data if self.written is not None else ()

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings about rules and facts that are allowed but probably a mistake, in the order of the text."""
        return tuple(sorted(warnings_about(self.written), key=position)) if self.written is not None else ()

    @property
    def derived(self) -> frozenset[Predicate]:
        """The predicates that have rules."""
        return frozenset(rule.head.predicate for rule in self.rules)

    @property
    def arities(self) -> dict[str, int]:
        """The arity of each bare name."""
        return {predicate.name: predicate.arity for predicate in self.predicates if not _is_iri(predicate)}


@dataclass(frozen=True)
class CheckedQuery:
    """A safe query over known predicates; its answers are the values of ``variables``."""

    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    variables: tuple[Variable, ...] = ()

    @property
    def body(self) -> tuple[Atom, ...]:
        return self.positive + self.negative


def check(program: Program) -> CheckedProgram:
    """The checked program; raises a :class:`RuleError` with every mistake.

    >>> from everlog.lang.parser import parse_program
    >>> check(parse_program("p(?x) :- q(?x, _) .")).rules[0].positive[0].terms
    (Variable(name='x'), Variable(name='_1'))
    """
    atoms = [*chain.from_iterable((rule.head, *rule.body) for rule in program.rules), *program.facts]
    predicates = tuple(dict.fromkeys([*(atom.predicate for atom in atoms), *(each.predicate for each in program.data)]))
    checked = [*program.rules, *(Rule(fact, ()) for fact in program.facts if not fact.is_ground)]
    wrong = [
        *_arity_errors(atoms, predicates),
        *chain.from_iterable(_unsafe(rule, program.prefixes) for rule in checked),
    ]
    if wrong:
        raise RuleError(sorted(wrong, key=position))
    return CheckedProgram(
        tuple(
            Rule(rule.head, _without_wildcards(rule.positive, rule.body), rule.negative, rule.span)
            for rule in program.rules
        ),
        program.facts,
        program.prefixes,
        predicates,
        program,
    )


def check_query(query: Query, known: Collection[Predicate], prefixes: Mapping[str, str] = NO_PREFIXES) -> CheckedQuery:
    """The query, checked against the predicates that are known.

    Raises :class:`UnknownPredicateError` if unknown predicates are the only mistakes, otherwise :class:`RuleError`.
    """
    wrong: list[Diagnostic] = list(_unsafe_negation(query.positive, query.negative, prefixes))
    unknown: list[Diagnostic] = []
    for atom in query.body:
        if atom.predicate not in known:
            found = unknown_predicate(atom.predicate, known, atom_place(atom))
            (unknown if found.code is Code.UNKNOWN_PREDICATE else wrong).append(found)
    if wrong or unknown:
        error: type[EverlogError] = RuleError if wrong else UnknownPredicateError
        raise error(sorted(wrong + unknown, key=position))
    return CheckedQuery(_without_wildcards(query.positive, query.body), query.negative, query.variables)


def unknown_predicate(predicate: Predicate, known: Iterable[Predicate], place: Place | None = None) -> Diagnostic:
    """The diagnostic for an unknown predicate, with the names it may have been meant to be."""
    same_name = sorted(other for other in known if other.name == predicate.name)
    if same_name and not _is_iri(predicate):
        arity = same_name[0].arity
        message = f"`{predicate.name}` is used with {_arguments(predicate.arity)}, but has {_arguments(arity)}"
        hint = f"write {_arguments(arity)}; `_` stands for any value"
        return Diagnostic(Code.ARITY, message, place, hint)
    if same_name:
        near = f"it is known with {' and '.join(_arguments(other.arity) for other in same_name)}"
    else:
        names = closest(predicate.name, sorted({other.name for other in known}))
        near = f"did you mean {' or '.join(f'`{name}`' for name in names)}?" if names else _some_names(known)
    message = f"there is no predicate `{predicate.name}` with {_arguments(predicate.arity)}"
    return Diagnostic(Code.UNKNOWN_PREDICATE, message, place, near)


_MOST_NAMED = 8
"""Maximum number of known predicates that a hint names."""


def _some_names(known: Iterable[Predicate]) -> str:
    """The names of the known predicates, or of the first of them, for a hint."""
    names = sorted({other.name for other in known})
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"the predicates are {shown}{more}" if names else "there are no predicates yet"


def _arity_errors(atoms: Iterable[Atom], predicates: Iterable[Predicate]) -> Iterable[Diagnostic]:
    names = Counter(predicate.name for predicate in predicates if not _is_iri(predicate))
    if not names or max(names.values()) == 1:
        return
    first: dict[str, Atom] = {}
    reported: set[Predicate] = set()
    for atom in sorted(atoms, key=_start_of):
        predicate = atom.predicate
        before = first.setdefault(predicate.name, atom)
        if before.predicate.arity == predicate.arity or predicate in reported or _is_iri(predicate):
            continue
        reported.add(predicate)
        yield Diagnostic(
            Code.ARITY,
            f"`{predicate.name}` is used with {_arguments(predicate.arity)} here, "
            f"but with {_arguments(before.predicate.arity)} before",
            atom_place(atom),
            "a bare name has one arity; give one of the two another name",
            ((f"here it has {_arguments(before.predicate.arity)}", atom_place(before)),),
        )


def _start_of(atom: Atom) -> tuple[int, int]:
    return (atom.span.line, atom.span.column) if atom.span is not None else (0, 0)


def _unsafe(rule: Rule, prefixes: Mapping[str, str]) -> Iterable[Diagnostic]:
    bound = {variable for atom in rule.positive for variable in atom.variables()}
    for variable in dict.fromkeys(rule.head.variables()):
        if variable in bound:
            continue
        if not rule.body:
            message = f"the variable `?{variable.name}` stands in a fact"
            hint = f"a fact has constants only; a rule has a body that says which values `?{variable.name}` has"
        else:
            message = f"the variable `?{variable.name}` of the head is not in any positive atom of the body"
            hint = f"add a positive atom with `?{variable.name}` to the body"
        yield Diagnostic(Code.UNSAFE_VARIABLE, message, term_place(rule.head, variable), hint)
    if any(isinstance(term, Wildcard) for term in rule.head.terms):
        hint = "write a constant, or a variable that the body binds"
        place = term_place(rule.head, Wildcard())
        yield Diagnostic(Code.WILDCARD_IN_HEAD, "`_` cannot stand in a head or a fact", place, hint)
    yield from _unsafe_negation(rule.positive, rule.negative, prefixes, frozenset(rule.head.variables()))


def _unsafe_negation(
    positive: Iterable[Atom],
    negative: tuple[Atom, ...],
    prefixes: Mapping[str, str],
    head: frozenset[Variable] = frozenset(),
) -> Iterable[Diagnostic]:
    bound = {variable for atom in positive for variable in atom.variables()}
    occurrences = [variable for atom in negative for variable in atom.variables()]
    reported = set(head)
    for atom in negative:
        for variable in dict.fromkeys(atom.variables()):
            if variable in bound or variable in reported:
                continue
            reported.add(variable)
            instead = "write `_` instead"
            if list(atom.variables()).count(variable) > 1:
                instead = _with_another_predicate(atom, bound, prefixes)
            elif occurrences.count(variable) > 1:
                instead = "write `_` in each of them"
            hint = f'{instead} if you mean "for no value", otherwise add a positive atom with `?{variable.name}`'
            message = f"the variable `?{variable.name}` is only in negated atoms"
            yield Diagnostic(Code.UNSAFE_VARIABLE, message, term_place(atom, variable), hint)


def _with_another_predicate(atom: Atom, bound: set[Variable], prefixes: Mapping[str, str]) -> str:
    """The hint for negating an atom with a variable that occurs several times there and nowhere else."""
    name = "some_" + re.sub(r"\W+", "_", local_part(atom.predicate.name)).strip("_")
    variables = tuple(dict.fromkeys(variable for variable in atom.variables() if variable in bound))
    other = Atom(Predicate(name, len(variables)), variables)
    rule = print_rule(Rule(other, (atom,)), prefixes)
    return f"add the rule `{rule}` and write `~{print_atom(other)}`"


def _without_wildcards(atoms: tuple[Atom, ...], body: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The atoms with a fresh variable for each wildcard."""
    if not any(isinstance(term, Wildcard) for atom in atoms for term in atom.terms):
        return atoms
    used = {variable.name for atom in body for variable in atom.variables()}
    fresh = (Variable(name) for name in map("_{}".format, count(1)) if name not in used)

    def replace(term: Term) -> Term:
        return next(fresh) if isinstance(term, Wildcard) else term

    return tuple(Atom(atom.predicate, tuple(map(replace, atom.terms)), atom.span) for atom in atoms)


def _arguments(arity: int) -> str:
    return "1 argument" if arity == 1 else f"{arity} arguments"


def _is_iri(predicate: Predicate) -> bool:
    return predicate.name.startswith("<")
