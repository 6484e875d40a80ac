"""Warnings about rules and facts that do not fit together, once facts are loaded.

None of these is an error: a predicate may be empty, and facts may be meant for queries only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from everlog.analysis.check import CheckedProgram, unknown_predicate
from everlog.analysis.kinds import never_joined
from everlog.analysis.names import likely_typos
from everlog.analysis.places import atom_place
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, Place
from everlog.lang.internal import is_internal
from everlog.lang.kinds import Kinds
from everlog.lang.printer import print_name
from everlog.lang.syntax import Atom, Predicate, Rule

NO_FACTS: Mapping[Predicate, Kinds] = MappingProxyType({})
EMPTY = "load facts for it; if it is to be empty, give it an empty file, or in Python insert no rows"
MOST_SINGLE = 3
"""Maximum number of separate warnings about predicates without facts; more are put into one warning."""
MOST_SHOWN = 10
"""Maximum number of predicates that the one warning names."""


@dataclass(frozen=True)
class ExplicitPredicates:
    """The predicates that have explicit facts or empty files, with the kinds of their columns.

    ``named`` are those whose name a user has written, with the files that have the name, as opposed to the many
    predicates of an RDF document. ``whole`` is whether all facts have been given, so that a predicate without any is
    worth a warning. ``merged`` is whether equal terms are represented by one of them: these may be of different kinds,
    so that kinds rule out no join.
    """

    kinds: Mapping[Predicate, Kinds]
    named: Mapping[Predicate, Place | None] = field(default_factory=dict)
    whole: bool = True
    merged: bool = False


def about_facts(
    program: CheckedProgram,
    given: ExplicitPredicates,
    before: Mapping[Predicate, Kinds] = NO_FACTS,
    known: Collection[Predicate] = (),
) -> Iterator[Diagnostic]:
    """Warnings about facts whose kinds are not in ``before``; ``known`` are further predicates that are not new.

    >>> from everlog.analysis.check import check
    >>> from everlog.lang.parser import parse_program
    >>> program = check(parse_program("ancestor(?x, ?y) :- parnet(?x, ?y) ."))
    >>> given = ExplicitPredicates({Predicate("parent", 2): (2, 2)})
    >>> [(found.message, found.hint) for found in about_facts(program, given)]
    [('no rule and no fact gives `parnet`', 'did you mean `parent`, which has facts that no rule reads?')]
    """
    if not program.rules or not given.kinds:
        return
    used = {*program.predicates, *before, *known}
    fresh = [predicate for predicate in given.kinds if predicate not in used]
    missing = _missing(program, program.rules, given.kinds)
    meant = _probably_meant(missing, fresh)
    yield from _without_facts(program, given, missing, meant)
    for predicate in fresh:
        if predicate in given.named and predicate not in meant.values() and all(given.kinds[predicate]):
            yield _unread(program, predicate, given.named[predicate])
    news = (predicate for predicate, kinds in given.kinds.items() if before.get(predicate) != kinds)
    if given.merged or set(program.predicates).isdisjoint(news):
        return
    reported = set(never_joined(program, before)) if before else set()
    yield from (found for found in never_joined(program, given.kinds) if found not in reported)


def about_rules(
    program: CheckedProgram, added: Iterable[Rule], given: ExplicitPredicates, old: CheckedProgram
) -> Iterator[Diagnostic]:
    """Warnings about rules that were added to an old program, given the explicit facts."""
    if not given.kinds:
        return
    missing = _missing(program, added, given.kinds)
    meant = _probably_meant(missing, [predicate for predicate in given.kinds if predicate not in program.predicates])
    yield from _without_facts(program, given, missing, meant)
    if given.merged:
        return
    reported = {found.message for found in never_joined(old, given.kinds)}
    yield from (found for found in never_joined(program, given.kinds) if found.message not in reported)


def about_deletions(deleted: Mapping[Predicate, Place | None], known: Collection[Predicate]) -> Iterator[Diagnostic]:
    """Warnings about unknown predicates among those whose facts are deleted, with the files that name them.

    >>> [found.hint for found in about_deletions({Predicate("egde", 2): None}, [Predicate("edge", 2)])]
    ['did you mean `edge`?']
    """
    for predicate, place in deleted.items():
        if predicate not in known:
            yield replace(unknown_predicate(predicate, known, place), severity=Severity.WARNING)


def _missing(program: CheckedProgram, rules: Iterable[Rule], given: Mapping[Predicate, Kinds]) -> dict[Predicate, Atom]:
    """The predicates that rules read and that have no rule and no fact, with the first atom that has each.

    Classes and properties without facts are usual where rules come from ontologies, which have no places.
    """
    derived, found = program.derived, dict[Predicate, Atom]()
    for rule in rules:
        for atom in rule.body:
            if atom.predicate in derived or atom.predicate in given or is_internal(atom.predicate):
                continue
            if atom.span is not None:
                found.setdefault(atom.predicate, atom)
    return found


def _probably_meant(missing: Collection[Predicate], fresh: Iterable[Predicate]) -> dict[Predicate, Predicate]:
    """For each predicate without facts, the unread predicate with facts that was probably meant."""
    of_name = {predicate.name: predicate for predicate in fresh}
    names = dict.fromkeys(predicate.name for predicate in missing)
    near = dict(likely_typos([name for name in names if name not in of_name], of_name))
    pairs = ((predicate, of_name.get(near.get(predicate.name, predicate.name))) for predicate in missing)
    return {predicate: other for predicate, other in pairs if other is not None}


def _without_facts(
    program: CheckedProgram,
    given: ExplicitPredicates,
    missing: Mapping[Predicate, Atom],
    meant: Mapping[Predicate, Predicate],
) -> Iterator[Diagnostic]:
    """A warning for each predicate without facts that is probably misspelt; with ``whole``, for the others, too."""
    for predicate, other in meant.items():
        hint = f"did you mean `{print_name(other.name, program.prefixes)}`, which has facts that no rule reads?"
        if other.name == predicate.name:
            name = print_name(other.name, program.prefixes)
            hint = f"there are facts of `{name}` with another number of arguments, {other.arity}"
        yield _no_facts(program, missing[predicate], hint)
    others = [predicate for predicate in missing if predicate not in meant] if given.whole else []
    if len(others) <= MOST_SINGLE:
        known = [*given.kinds, *program.derived]
        yield from (_no_facts(program, missing[each], _similar_hint(program, each, known, EMPTY)) for each in others)
        return
    shown = [(each, atom_place(missing[each])) for each in others[:MOST_SHOWN]]
    notes = [(f"`{print_name(each.name, program.prefixes)}`, read at {place}", None) for each, place in shown]
    more = len(others) - len(notes)
    notes += [(f"and {more:,} more", None)] if more else []
    message = f"{len(others):,} predicates that rules read have no rule and no fact"
    hint = "load facts for them; those that are to be empty may have empty files, or in Python no rows"
    yield Diagnostic(Code.NO_FACTS, message, None, hint, tuple(notes), Severity.WARNING)


def _no_facts(program: CheckedProgram, atom: Atom, hint: str) -> Diagnostic:
    message = f"no rule and no fact gives `{print_name(atom.predicate.name, program.prefixes)}`"
    return Diagnostic(Code.NO_FACTS, message, atom_place(atom), hint, severity=Severity.WARNING)


def _unread(program: CheckedProgram, predicate: Predicate, place: Place | None) -> Diagnostic:
    message = f"there are facts of `{print_name(predicate.name, program.prefixes)}`, which no rule has"
    hint = _similar_hint(program, predicate, program.predicates, "ignore this if the facts are there for queries alone")
    return Diagnostic(Code.UNREAD_FACTS, message, place, hint, severity=Severity.WARNING)


def _similar_hint(program: CheckedProgram, predicate: Predicate, others: Iterable[Predicate], otherwise: str) -> str:
    """The hint for an unknown predicate: the one with the most similar name, otherwise ``otherwise``."""
    names = sorted({other.name for other in others if other.name != predicate.name})
    near = [other for _, other in likely_typos([predicate.name], names)]
    return f"did you mean `{print_name(near[0], program.prefixes)}`? Otherwise {otherwise}" if near else otherwise
