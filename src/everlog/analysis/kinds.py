"""Joins that can never succeed, because they compare terms of different kinds.

The kinds of the explicit facts are propagated through the rules to a least fixpoint: a head's argument may be of any
kind that its variable may have in all positive atoms of the body. Where a variable, or a constant, can have no kind at
all, although each of its arguments has some, no instance of the rule exists, and a negated atom excludes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everlog.analysis.check import CheckedProgram
from everlog.analysis.places import term_place
from everlog.lang import kinds as kind
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic
from everlog.lang.internal import is_internal
from everlog.lang.kinds import Kinds, described, joined, kind_of
from everlog.lang.printer import print_name, print_rule, print_term
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable, Wildcard

Masks = dict[Predicate, Kinds]


@dataclass(frozen=True)
class _Clash:
    """A term with which an atom matches no fact; ``other`` is another atom with the term, if it is a variable."""

    atom: Atom
    at: int
    here: int
    there: int
    other: Atom | None


def never_joined(program: CheckedProgram, facts: Mapping[Predicate, Kinds]) -> Iterator[Diagnostic]:
    """Warnings about joins in rules that the kinds of the explicit facts rule out.

    >>> from everlog.analysis.check import check
    >>> from everlog.lang.parser import parse_program
    >>> program = check(parse_program("p(?x) :- q(?x), r(?x) ."))
    >>> [found] = never_joined(program, {Predicate("q", 1): (kind.INTEGER,), Predicate("r", 1): (kind.DOUBLE,)})
    >>> found.message
    '`?x` is never the same in `q` and `r`: it stands for integers there, and for doubles here'
    """
    masks = _derived(program.rules, facts)
    reported: set[Diagnostic] = set()
    for rule in program.rules:
        for clash in _clashes(rule, masks):
            found = _diagnostic(clash, rule, program.prefixes)
            if found not in reported:
                reported.add(found)
                yield found


def _derived(rules: Sequence[Rule], facts: Mapping[Predicate, Kinds]) -> Masks:
    """The kinds of all facts that may be derived; predicates that are missing have no facts."""
    masks = {predicate: kinds for predicate, kinds in facts.items() if all(kinds)}
    masks |= {predicate: (kind.ANY,) * predicate.arity for predicate in _internal(rules)}
    readers: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        for predicate in {atom.predicate for atom in rule.positive}:
            readers.setdefault(predicate, []).append(rule)
    waiting = deque(rules)
    queued = set(map(id, waiting))
    while waiting:
        rule = waiting.popleft()
        queued.discard(id(rule))
        found = _head(rule, masks)
        known = masks.get(rule.head.predicate)
        if found is None or joined(known, found) == known:
            continue
        masks[rule.head.predicate] = joined(known, found)
        for reader in readers.get(rule.head.predicate, ()):
            if id(reader) not in queued:
                queued.add(id(reader))
                waiting.append(reader)
    return masks


def _internal(rules: Iterable[Rule]) -> set[Predicate]:
    """The predicates whose facts Everlog adds itself."""
    return {atom.predicate for rule in rules for atom in rule.body if is_internal(atom.predicate)}


def _head(rule: Rule, masks: Masks) -> Kinds | None:
    """The kinds that the head of a rule may have; None if the rule has no instance."""
    bound: dict[Variable, int] = {}
    for atom in rule.positive:
        own = masks.get(atom.predicate)
        if own is None:
            return None
        for term, mask in zip(atom.terms, own, strict=True):
            if isinstance(term, Constant):
                left = kind_of(term.text) & mask
            else:
                assert isinstance(term, Variable)
                left = bound[term] = bound.get(term, kind.ANY) & mask
            if not left:
                return None
    return tuple(bound[t] if isinstance(t, Variable) else kind_of(t.text) for t in _arguments(rule.head))


def _arguments(head: Atom) -> Iterator[Variable | Constant]:
    """The arguments of a head, which are never wildcards."""
    return (term for term in head.terms if not isinstance(term, Wildcard))


def _clashes(rule: Rule, masks: Masks) -> Iterator[_Clash]:
    """The terms in the body of a rule that no fact can match, each variable once."""
    places: dict[Variable, list[tuple[Atom, int]]] = {}
    reported: set[Variable] = set()
    for number, atom in enumerate(rule.body):
        for at, (term, mask) in enumerate(zip(atom.terms, masks.get(atom.predicate, ()), strict=False)):
            if isinstance(term, Constant):
                if not kind_of(term.text) & mask:
                    yield _Clash(atom, at, mask, kind_of(term.text), None)
            elif isinstance(term, Variable):
                if term in reported:
                    continue
                others = places.setdefault(term, [])
                clash = next(((other, there) for other, there in others if not there & mask), None)
                if clash is not None:
                    reported.add(term)
                    yield _Clash(atom, at, mask, clash[1], clash[0])
                if number < len(rule.positive):
                    others.append((atom, mask))


def _diagnostic(clash: _Clash, rule: Rule, prefixes: Mapping[str, str]) -> Diagnostic:
    term, name = clash.atom.terms[clash.at], print_name(clash.atom.predicate.name, prefixes)
    shown = print_term(term, prefixes)
    notes, hint = [], _advice(clash.here, clash.there)
    if clash.other is None:
        hint = f"write the constant as the facts have it, or load the facts as {described(clash.there)}"
        message = f"`{shown}` is never in `{name}`: the argument holds {described(clash.here)}"
        message = f"{message}, not {described(clash.there)}"
    else:
        other = print_name(clash.other.predicate.name, prefixes)
        message = f"`{shown}` is never the same in `{other}` and `{name}`: it stands for {described(clash.there)} there"
        message = f"{message}, and for {described(clash.here)} here"
        notes.append((f"`{shown}` in `{other}`", term_place(clash.other, term)))
    place = term_place(clash.atom, term)
    if place is None:
        notes = [(f"in the rule `{print_rule(rule, prefixes)}`", None)]
    return Diagnostic(Code.NEVER_JOINED, message, place, hint, tuple(notes), Severity.WARNING)


_ADVICE = (
    (
        kind.INTEGER,
        kind.DOUBLE,
        'make both integers; pandas makes floats of integers where a value is missing: `astype("Int64")` undoes that',
    ),
    (kind.INTEGER, kind.DECIMAL, "make both integers or both decimals before they are loaded: 1 and 1.0 are not equal"),
    (kind.DECIMAL, kind.DOUBLE, "make both decimals or both doubles before they are loaded"),
    (kind.DATE, kind.LOCAL_TIME | kind.ZONED_TIME, "make both dates or both timestamps before they are loaded"),
    (
        kind.LOCAL_TIME,
        kind.ZONED_TIME,
        'give both a time zone before they are loaded, in pandas by `dt.tz_localize("UTC")`',
    ),
    (
        kind.STRING,
        kind.LANGUAGE_STRING,
        'a string with a language is written "..."@en; add it, or leave it out',
    ),
    (kind.STRING, kind.RESOURCE, "an IRI is written <...>, in Python everlog.IRI(...); a name without <> is a string"),
    (
        kind.STRING,
        kind.ANY,
        "make both the same kind; with `--types string` all cells of files are strings",
    ),
)


def _advice(one: int, other: int) -> str:
    """The hint for a join of terms of two kinds."""
    for a, b, advice in _ADVICE:
        if (one & a and other & b) or (one & b and other & a):
            return advice
    return "make both the same kind before they are loaded"
