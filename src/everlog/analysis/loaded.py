"""What is probably wrong with facts for rules, or with rules for facts, once facts are loaded.

Nothing of it is an error: a predicate may be empty, and facts may be there to be asked for only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from everlog.analysis.check import CheckedProgram
from everlog.analysis.kinds import never_joined
from everlog.analysis.names import closest, likely_typos
from everlog.analysis.places import atom_place
from everlog.lang.errors import Diagnostic, Place
from everlog.lang.internal import is_internal
from everlog.lang.kinds import Kinds
from everlog.lang.printer import print_name
from everlog.lang.syntax import Atom, Predicate, Rule

NO_FACTS: Mapping[Predicate, Kinds] = MappingProxyType({})


@dataclass(frozen=True)
class Given:
    """The predicates that have explicit facts, or were given none on purpose, with the kinds of their columns.

    ``named`` are those whose name a user has written, with the files that have the name, as opposed to the many
    predicates of an RDF document. ``whole`` is whether these are all facts there are to be for now, so that a predicate
    without any is worth a warning.
    """

    kinds: Mapping[Predicate, Kinds]
    named: Mapping[Predicate, Place | None] = field(default_factory=dict)
    whole: bool = True


def about_facts(
    program: CheckedProgram,
    given: Given,
    before: Mapping[Predicate, Kinds] = NO_FACTS,
    known: Collection[Predicate] = (),
) -> Iterator[Diagnostic]:
    """Warnings about facts that were not there ``before``; ``known`` are other predicates that are not new.

    >>> from everlog.analysis.check import check
    >>> from everlog.lang.parser import parse_program
    >>> program = check(parse_program("ancestor(?x, ?y) :- parnet(?x, ?y) ."))
    >>> [(found.message, found.hint) for found in about_facts(program, Given({Predicate("parent", 2): (2, 2)}))]
    [('no rule and no fact gives `parnet`', 'did you mean `parent`, which has facts that no rule reads?')]
    """
    if not program.rules or not given.kinds:
        return
    used = {*program.predicates, *before, *known}
    fresh = [predicate for predicate in given.kinds if predicate not in used]
    missing = _missing(program, program.rules, given.kinds)
    meant = _meant(missing, fresh)
    for predicate, atom in missing.items():
        if predicate in meant or given.whole:
            yield _without_facts(program, given, predicate, atom, meant.get(predicate))
    for predicate in fresh:
        if predicate in given.named and predicate not in meant.values() and all(given.kinds[predicate]):
            yield _unread(program, predicate, given.named[predicate])
    said = set(never_joined(program, before)) if before else set()
    yield from (found for found in never_joined(program, given.kinds) if found not in said)


def about_rules(
    program: CheckedProgram, added: Iterable[Rule], given: Given, old: CheckedProgram
) -> Iterator[Diagnostic]:
    """Warnings about rules that were added to an old program, given the explicit facts that there are."""
    if not given.kinds:
        return
    missing = _missing(program, added, given.kinds)
    meant = _meant(missing, [predicate for predicate in given.kinds if predicate not in program.predicates])
    for predicate, atom in missing.items():
        if predicate in meant or given.whole:
            yield _without_facts(program, given, predicate, atom, meant.get(predicate))
    said = {found.message for found in never_joined(old, given.kinds)}
    yield from (found for found in never_joined(program, given.kinds) if found.message not in said)


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


def _meant(missing: Collection[Predicate], fresh: Iterable[Predicate]) -> dict[Predicate, Predicate]:
    """For predicates without facts the ones that were probably meant, among those that no rule reads."""
    of_name = {predicate.name: predicate for predicate in fresh}
    names = dict.fromkeys(predicate.name for predicate in missing)
    near = dict(likely_typos([name for name in names if name not in of_name], of_name))
    pairs = ((predicate, of_name.get(near.get(predicate.name, predicate.name))) for predicate in missing)
    return {predicate: other for predicate, other in pairs if other is not None}


def _without_facts(
    program: CheckedProgram, given: Given, predicate: Predicate, atom: Atom, meant: Predicate | None
) -> Diagnostic:
    name = print_name(predicate.name, program.prefixes)
    if meant is not None:
        other = print_name(meant.name, program.prefixes)
        hint = f"did you mean `{other}`, which has facts that no rule reads?"
        if meant.name == predicate.name:
            hint = f"there are facts of `{other}` with another number of arguments, {meant.arity}"
    else:
        others = {each.name for each in (*given.kinds, *program.derived) if each.arity == predicate.arity}
        near = closest(predicate.name, sorted(others - {predicate.name}), 1)
        hint = "load facts for it; if it is to be empty, give it an empty file, or in Python insert no rows"
        hint = f"did you mean `{print_name(near[0], program.prefixes)}`? Otherwise {hint}" if near else hint
    message = f"no rule and no fact gives `{name}`"
    return Diagnostic("no-facts", message, atom_place(atom), hint, severity="warning")


def _unread(program: CheckedProgram, predicate: Predicate, place: Place | None) -> Diagnostic:
    name = print_name(predicate.name, program.prefixes)
    near = closest(predicate.name, sorted({each.name for each in program.predicates}), 1)
    hint = "ignore this if the facts are there for queries alone"
    hint = f"did you mean `{print_name(near[0], program.prefixes)}`? Otherwise {hint}" if near else hint
    return Diagnostic(
        "unread-facts", f"there are facts of `{name}`, which no rule has", place, hint, severity="warning"
    )
