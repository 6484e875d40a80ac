"""Programs of ontologies, by profile.

``lower`` and ``upper`` make rules of the axioms (see :mod:`everlog.owl.rules`). ``rl``, ``rdfs`` and
``skos`` are programs that come with the package; with them the triples of the ontology are facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from everlog.lang.parser import parse_file, parse_program
from everlog.lang.printer import print_atom, print_program, print_rule, print_text
from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Variable
from everlog.owl.axioms import Ontology, Unread
from everlog.owl.equality import equality_rules
from everlog.owl.functional import functional
from everlog.owl.graph import Graph, read_graph
from everlog.owl.mapping import ontology_of
from everlog.owl.rules import Translated, Translator, Untranslated
from everlog.owl.vocabulary import PREFIXES, THING, TYPE, is_iri

Profile = Literal["lower", "upper", "rl", "rdfs", "skos"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
SHIPPED: frozenset[Profile] = frozenset({"rl", "rdfs", "skos"})
OVER_TRIPLES: frozenset[Profile] = frozenset({"rl", "rdfs"})
"""The profiles whose programs have one relation ``triple(subject, predicate, object)``."""

TRIPLE = Predicate("triple", 3)


@dataclass(frozen=True)
class Translation:
    """The program of some ontologies and rule files, and what it does not express."""

    profile: Profile
    program: Program
    untranslated: tuple[Untranslated, ...] = ()
    notes: tuple[str, ...] = ()
    """What else a reader of the program should know."""
    parts: tuple[Translated, ...] = field(default=(), repr=False)
    """The rules of each axiom."""

    @property
    def over_triples(self) -> bool:
        """Whether facts are to be read as ``triple(subject, predicate, object)``."""
        return self.profile in OVER_TRIPLES

    def text(self) -> str:
        """The program, each rule under the axiom it comes from, and what is not expressed as comments."""
        return "".join(f"{line}\n" for line in _lines(self))


def program_of(
    paths: str | Path | Sequence[str | Path],
    profile: Profile = "lower",
    *,
    equality: bool = False,
    base: str | None = None,
) -> Translation:
    """The program of ontologies, in any serialisation of RDF, and of rule files (``.rls``) among them.

    Several files make one program. An ``owl:imports`` is not followed: give the imported file too,
    otherwise a note says that it is missing. With ``equality`` the lower and upper programs also
    derive what follows to be equal, and what follows from that for the predicates they have; the
    profile ``rl`` does so in any case.
    """
    if profile not in PROFILES:
        raise ValueError(f"profile={profile!r}: choose one of {', '.join(PROFILES)}")
    given = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    rules = [parse_file(path) for path in given if path.endswith(".rls")]
    ontologies = [path for path in given if not path.endswith(".rls")]
    graph = read_graph(ontologies, base) if ontologies else Graph.of([])
    made = _shipped_translation(graph, profile) if profile in SHIPPED else _bound(graph, profile, equality)
    return _with_rules(made, rules)


def shipped_program(profile: Profile) -> Program:
    """A program that comes with the package.

    >>> len(shipped_program("rl").rules) > 90
    True
    """
    return _parsed(profile)


def shipped_text(profile: Profile) -> str:
    """The text of a program that comes with the package, its comments included."""
    return files("everlog.owl").joinpath("shipped", f"{profile}.rls").read_text("utf-8")


@lru_cache
def _parsed(profile: Profile) -> Program:
    return parse_program(shipped_text(profile), f"{profile}.rls")


def _shipped_translation(graph: Graph, profile: Profile) -> Translation:
    program = shipped_program(profile)
    known = frozenset(program.facts)
    make = _as_triple if profile in OVER_TRIPLES else _as_fact
    constants = {text: Constant(text) for triple in graph.triples for text in triple}
    given = (make(constants[s], constants[p], constants[o]) for s, p, o in graph.triples)
    facts = (*program.facts, *(fact for fact in given if fact not in known))
    prefixes = MappingProxyType({**graph.prefixes, **program.prefixes})
    return Translation(profile, Program(program.rules, facts, prefixes))


def _as_triple(subject: Constant, predicate: Constant, value: Constant) -> Atom:
    return Atom(TRIPLE, (subject, predicate, value))


def _as_fact(subject: Constant, predicate: Constant, value: Constant) -> Atom:
    if predicate.text == TYPE and is_iri(value.text):
        return Atom(Predicate(value.text, 1), (subject,))
    return Atom(Predicate(predicate.text, 2), (subject, value))


def _bound(graph: Graph, profile: Profile, equality: bool) -> Translation:
    assert profile in ("lower", "upper")
    ontology = ontology_of(graph)
    prefixes = {**{name: iri for name, iri in graph.prefixes.items() if name not in PREFIXES}, **PREFIXES}
    translator = Translator(profile, equality, prefixes)
    parts = tuple(translator.translate(axiom) for axiom in ontology.axioms)
    rules = dict.fromkeys(chain.from_iterable(part.rules for part in parts))
    facts = dict.fromkeys(chain.from_iterable(part.facts for part in parts))
    signature = _signature([*rules], [*facts])
    rules.update(dict.fromkeys(_thing_rules([*rules], signature, ontology)))
    if equality:
        rules.update(dict.fromkeys(equality_rules(signature)))
    untranslated = [Untranslated(unread, unread.reason) for unread in ontology.unread]
    untranslated += chain.from_iterable(part.untranslated() for part in parts)
    program = Program(tuple(rules), tuple(facts), MappingProxyType(prefixes))
    return Translation(profile, program, tuple(untranslated), tuple(_notes(ontology, prefixes)), parts)


def _signature(rules: Iterable[Rule], facts: Iterable[Atom]) -> list[Predicate]:
    atoms = [*chain.from_iterable((rule.head, *rule.body) for rule in rules), *facts]
    return list(dict.fromkeys(atom.predicate for atom in atoms))


def _thing_rules(rules: Sequence[Rule], signature: Iterable[Predicate], ontology: Ontology) -> Iterator[Rule]:
    """What makes an individual a thing, if some rule asks for things: that a predicate of the ontology has it."""
    thing = Predicate(THING, 1)
    if not any(atom.predicate == thing for rule in rules for atom in rule.positive):
        return
    for predicate in signature:
        terms = tuple(Variable(name) for name in "xyz"[: predicate.arity])
        values = predicate.arity == 2 and predicate.name not in ontology.data_properties
        for term in terms[: 2 if values else 1]:
            if predicate != thing:
                yield Rule(Atom(thing, (term,)), (Atom(predicate, terms),))


def _notes(ontology: Ontology, prefixes: Mapping[str, str]) -> Iterator[str]:
    for name in ontology.missing_imports:
        yield f"{print_text(name, prefixes)} is imported and was not given: what it says is not here"
    if ontology.annotations:
        yield f"{ontology.annotations:,} annotations of classes, properties, axioms and ontologies are left out"


def _with_rules(made: Translation, programs: Sequence[Program]) -> Translation:
    """The translation together with programs; a prefix that these declare is theirs."""
    if not programs:
        return made
    prefixes = dict(made.program.prefixes)
    for program in reversed(programs):
        prefixes.update(program.prefixes)
    rules = dict.fromkeys(chain(made.program.rules, *(program.rules for program in programs)))
    facts = dict.fromkeys(chain(made.program.facts, *(program.facts for program in programs)))
    program = Program(tuple(rules), tuple(facts), MappingProxyType(prefixes))
    return Translation(made.profile, program, made.untranslated, made.notes, made.parts)


def _lines(translation: Translation) -> Iterator[str]:
    program = translation.program
    for note in translation.notes:
        yield f"% {note}"
    for each in translation.untranslated:
        yield f"% not expressed{' wholly' if each.partly else ''}: {shown(each, program.prefixes)}"
        yield f"%   {each.reason}"
    if translation.notes or translation.untranslated:
        yield ""
    written = shipped_program(translation.profile) if translation.profile in SHIPPED else Program(())
    if any(program.prefixes[name] != iri for name, iri in written.prefixes.items()):
        written = Program(())
    if written.rules:
        yield from shipped_text(translation.profile).splitlines()
    prefixes = {name: iri for name, iri in program.prefixes.items() if name not in written.prefixes}
    yield from print_program(Program((), (), prefixes)).splitlines()
    yield from _grouped(translation, written)


def _grouped(translation: Translation, written: Program) -> Iterator[str]:
    """Facts, then the rules of each axiom under it, then the others; without what is written already."""
    program, known = translation.program, frozenset(written.facts)
    rest = dict.fromkeys(program.rules)
    for rule in written.rules:
        rest.pop(rule, None)
    facts = [fact for fact in program.facts if fact not in known]
    if facts:
        yield ""
        yield from (f"{print_atom(fact, program.prefixes)} ." for fact in facts)
    for part in translation.parts:
        fresh = [rule for rule in part.rules if rule in rest]
        if fresh:
            yield ""
            yield f"% {_one_line(functional(part.axiom, program.prefixes))}"
        for rule in fresh:
            del rest[rule]
            yield print_rule(rule, program.prefixes)
    if rest:
        yield ""
        yield from (print_rule(rule, program.prefixes) for rule in rest)


def shown(untranslated: Untranslated, prefixes: Mapping[str, str]) -> str:
    """The axiom that is not expressed, as text on one line."""
    axiom = untranslated.axiom
    text = axiom.text if isinstance(axiom, Unread) else functional(axiom, prefixes)
    return _one_line(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
