"""Programs of ontologies, by profile.

``lower`` and ``upper`` make rules of the axioms (see :mod:`everlog.owl.rules`). ``rl``, ``rdfs`` and
``skos`` are programs that come with the package; with them the triples of the ontology are facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from everlog.ingest.triples import as_triples
from everlog.lang.internal import SAME_NODES, TRIPLE
from everlog.lang.parser import parse_file, parse_program
from everlog.lang.printer import print_atom, print_program, print_rule, print_text
from everlog.lang.syntax import Atom, Columns, Predicate, Program, Rule, Variable
from everlog.owl.assertions import grouped, separated
from everlog.owl.axioms import Ontology, Unread
from everlog.owl.equality import difference_rule, equality_rules
from everlog.owl.functional import functional
from everlog.owl.graph import Document, read_document
from everlog.owl.mapping import ontology_of
from everlog.owl.rules import Translated, Translator, Untranslated
from everlog.owl.vocabulary import PREFIXES, THING
from everlog.reasoning.equality import Equality

Profile = Literal["lower", "upper", "rl", "rdfs", "skos"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
SHIPPED: frozenset[Profile] = frozenset({"rl", "rdfs", "skos"})
Schema = Literal["drop", "keep"]
"""Whether triples about classes and properties, annotations included, are dropped or kept as facts."""
OVER_TRIPLES: frozenset[Profile] = frozenset({"rl", "rdfs"})
"""The profiles whose programs have one relation ``triple(subject, predicate, object)``."""

MOST_KINDS = 6
"""Maximum number of kinds of triples that a note names."""


@dataclass(frozen=True)
class Translation:
    """The result of translating ontologies and rule files: a program, and the axioms that it does not express."""

    profile: Profile
    program: Program
    untranslated: tuple[Untranslated, ...] = ()
    notes: tuple[str, ...] = ()
    """Further notes for readers of the program."""
    parts: tuple[Translated, ...] = field(default=(), repr=False)
    """The rules of each axiom."""

    @property
    def facts(self) -> tuple[Atom, ...]:
        """All distinct facts of the program, including those kept as columns."""
        data = chain.from_iterable(each.atoms() for each in self.program.data)
        return tuple(dict.fromkeys(chain(self.program.facts, data)))

    def text(self) -> str:
        """The text of the program, each rule below its axiom; axioms that are not expressed are comments."""
        return "".join(f"{line}\n" for line in _lines(self))


def program_of(
    paths: str | Path | Sequence[str | Path],
    profile: Profile = "lower",
    *,
    equality: Equality | bool = "off",
    base: str | None = None,
    schema: Schema = "drop",
) -> Translation:
    """The program of ontologies, in any serialisation of RDF, and of rule files (``.rls``) among them.

    Several files make one program. An ``owl:imports`` is not followed: give the imported file too, otherwise a note
    says that it is missing. With ``equality="rules"`` the lower and upper programs also derive equalities, and their
    consequences for the predicates of the program; the profile ``rl`` always does. With ``equality="representatives"``
    they leave the consequences to a knowledge base with that option. With ``schema="keep"`` they also have the triples
    about classes and properties as facts: ``rdfs:subClassOf(:A, :B)``, ``rdfs:label(:A, "a")``, ``owl:Class(:A)``,
    except those with blank nodes, which are parts of class expressions, lists and annotations of axioms. Otherwise a
    note says how many of them are left out. The other profiles have all triples.
    """
    if profile not in PROFILES:
        raise ValueError(f"profile={profile!r}: choose one of {', '.join(PROFILES)}")
    given = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    rules = [parse_file(path) for path in given if path.endswith(".rls")]
    ontologies = [path for path in given if not path.endswith(".rls")]
    document = read_document(ontologies, base) if ontologies else Document()
    how: Equality = equality if isinstance(equality, str) else "rules" if equality else "off"
    made = (
        _shipped_translation(document, profile, how)
        if profile in SHIPPED
        else _bound_translation(document, profile, how, schema)
    )
    return _with_rules(made, rules)


def shipped_program(profile: Profile) -> Program:
    """A program that comes with the package.

    >>> len(shipped_program("rl").rules) > 90
    True
    """
    return _parsed(profile)


def with_program(profile: Profile, program: Program, equality: Equality = "off") -> Program:
    """A program that comes with the package, joined with another.

    >>> len(with_program("rdfs", parse_program("p(?x) :- triple(?x, _, _) .")).rules)
    13
    """
    return _with_rules(_shipped_translation(Document(), profile, equality), [program]).program


def shipped_text(profile: Profile) -> str:
    """The text of a program that comes with the package, its comments included."""
    return files("everlog.owl").joinpath("shipped", f"{profile}.rls").read_text("utf-8")


@lru_cache
def _parsed(profile: Profile) -> Program:
    """The shipped program of a profile. Its atoms have no places, so that users get no warnings about it."""
    parsed = parse_program(shipped_text(profile), f"{profile}.rls")
    return replace(parsed, rules=tuple(map(_without_places, parsed.rules)))


def _without_places(rule: Rule) -> Rule:
    positive, negative = (tuple(replace(atom, span=None) for atom in part) for part in (rule.positive, rule.negative))
    return Rule(replace(rule.head, span=None), positive, negative)


def _shipped_translation(document: Document, profile: Profile, equality: Equality) -> Translation:
    program = shipped_program(profile)
    rules = program.rules
    if equality == "representatives":
        rules = tuple(rule for rule in rules if not _replaces_equals(rule))
    batches = [as_triples(batch) for batch in document.batches] if profile in OVER_TRIPLES else document.batches
    prefixes = MappingProxyType({**document.prefixes, **program.prefixes})
    return Translation(profile, Program(rules, program.facts, prefixes, tuple(grouped(batches))))


def _replaces_equals(rule: Rule) -> bool:
    """Whether a rule of ``rl`` is superfluous with representatives: eq-sym, eq-trans and eq-rep-*."""
    return rule.head.predicate == TRIPLE and any(atom.predicate == SAME_NODES for atom in rule.positive)


def _bound_translation(document: Document, profile: Profile, equality: Equality, schema: Schema) -> Translation:
    assert profile in ("lower", "upper")
    found = separated(document)
    ontology = ontology_of(found.graph)
    prefixes = {**{name: iri for name, iri in document.prefixes.items() if name not in PREFIXES}, **PREFIXES}
    translator = Translator(profile, equality != "off", prefixes)
    parts = tuple(translator.translate(axiom) for axiom in ontology.axioms)
    rules = dict.fromkeys(chain.from_iterable(part.rules for part in parts))
    facts = dict.fromkeys(chain.from_iterable(part.facts for part in parts))
    signature = _signature(rules, [*facts, *found.data])
    rules.update(dict.fromkeys(_thing_rules([*rules], signature, ontology)))
    if equality != "off":
        axioms = [difference_rule()] if equality == "representatives" else equality_rules(signature)
        rules.update(dict.fromkeys(axioms))
    untranslated = [Untranslated(unread, unread.reason) for unread in ontology.unread]
    untranslated += chain.from_iterable(part.untranslated() for part in parts)
    keep = schema == "keep"
    data = (*found.data, *found.schema) if keep else found.data
    program = Program(tuple(rules), tuple(facts), MappingProxyType(prefixes), data)
    notes = tuple(_notes(ontology, () if keep else found.schema, prefixes))
    return Translation(profile, program, tuple(untranslated), notes, parts)


def _signature(rules: Iterable[Rule], facts: Iterable[Atom | Columns]) -> list[Predicate]:
    atoms = chain.from_iterable((rule.head, *rule.body) for rule in rules)
    return list(dict.fromkeys(each.predicate for each in chain(atoms, facts)))


def _thing_rules(rules: Sequence[Rule], signature: Iterable[Predicate], ontology: Ontology) -> Iterator[Rule]:
    """The rules for ``owl:Thing``, if some rule reads it: every individual in a fact of the ontology's predicates is
    one."""
    thing = Predicate(THING, 1)
    if not any(atom.predicate == thing for rule in rules for atom in rule.positive):
        return
    for predicate in signature:
        terms = tuple(Variable(name) for name in "xyz"[: predicate.arity])
        values = predicate.arity == 2 and predicate.name not in ontology.data_properties
        for term in terms[: 2 if values else 1]:
            if predicate != thing:
                yield Rule(Atom(thing, (term,)), (Atom(predicate, terms),))


def _notes(ontology: Ontology, left_out: Sequence[Columns], prefixes: Mapping[str, str]) -> Iterator[str]:
    for name in ontology.missing_imports:
        yield f"{print_text(name, prefixes)} is imported and was not given: what it says is not here"
    if left_out:
        total = sum(map(len, left_out))
        kinds = sorted(left_out, key=lambda each: (-len(each), each.predicate))
        shown = ", ".join(f"{print_text(each.predicate.name, prefixes)} {len(each):,}" for each in kinds[:MOST_KINDS])
        more = f" and {len(kinds) - MOST_KINDS:,} more" if len(kinds) > MOST_KINDS else ""
        triples = "1 triple" if total == 1 else f"{total:,} triples"
        yield f"{triples} about classes and properties left out of the facts: {shown}{more} (--schema keep keeps them)"


def _with_rules(made: Translation, programs: Sequence[Program]) -> Translation:
    """The translation joined with programs, whose prefixes take precedence."""
    if not programs:
        return made
    prefixes = dict(made.program.prefixes)
    for program in reversed(programs):
        prefixes.update(program.prefixes)
    rules = dict.fromkeys(chain(made.program.rules, *(program.rules for program in programs)))
    facts = dict.fromkeys(chain(made.program.facts, *(program.facts for program in programs)))
    data = (*made.program.data, *chain.from_iterable(program.data for program in programs))
    program = Program(tuple(rules), tuple(facts), MappingProxyType(prefixes), data)
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
    same_prefixes = all(program.prefixes[name] == iri for name, iri in written.prefixes.items())
    if not (same_prefixes and {*written.rules} <= {*program.rules}):
        written = Program(())
    if written.rules:
        yield from shipped_text(translation.profile).splitlines()
    prefixes = {name: iri for name, iri in program.prefixes.items() if name not in written.prefixes}
    yield from print_program(Program((), (), prefixes)).splitlines()
    yield from _grouped(translation, written)


def _grouped(translation: Translation, written: Program) -> Iterator[str]:
    """The lines of facts, then of each axiom with its rules, then of other rules; without those in ``written``."""
    program, known = translation.program, frozenset(written.facts)
    rest = dict.fromkeys(program.rules)
    for rule in written.rules:
        rest.pop(rule, None)
    facts = [fact for fact in translation.facts if fact not in known]
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
