"""Reading the program of a job from rule files, ontologies, or both."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.ingest.extensions import KIND_OF_EXTENSION, RDF_KINDS, kind_by_name
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, Place, RuleError, warn
from everlog.lang.internal import TRIPLE
from everlog.lang.parser import parse_file, parse_program
from everlog.lang.printer import NO_PREFIXES
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.equality import Equality

if TYPE_CHECKING:
    from everlog.owl.programs import Translation

Profile = Literal["lower", "upper", "rl", "rdfs", "skos"]
Schema = Literal["drop", "keep"]
MOST_SHOWN = 10
"""Maximum number of untranslated axioms that a warning shows."""

_PATH = re.compile(r"[^(\[@%]*\.\w+")
"""Matches the path of a file with an extension; programs have parentheses, brackets, directives or only comments."""


@dataclass(frozen=True)
class ProgramRead:
    """A program, the ontologies whose triples are facts of it, and warnings about it."""

    program: Program
    facts: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def is_ontology(path: str) -> bool:
    """Whether the extension of a path is one of RDF.

    >>> is_ontology("univ-bench.owl.gz"), is_ontology("rules.rls")
    (True, False)
    """
    name = path.lower().removesuffix(".gz")
    return any(name.endswith(extension) for extension, kind in KIND_OF_EXTENSION.items() if kind in RDF_KINDS)


def has_ontology(paths: str | Sequence[str], profile: Profile) -> bool:
    """Whether rules come from ontologies or from a profile that is a program of its own."""
    given = [paths] if isinstance(paths, str) else paths
    return profile not in ("lower", "upper") or any(map(is_ontology, given))


def is_path(text: str) -> bool:
    """Whether a text is the path of a rule file or an ontology rather than a program.

    A file may have any extension: a text with an extension and without the characters that every program has is a path.

    >>> is_path("rules.rls"), is_path("rules.dl"), is_path("p(?x) :- q(?x) .")
    (True, True, False)
    """
    if "\n" in text:
        return False
    return text.endswith(".rls") or is_ontology(text) or _PATH.fullmatch(text) is not None


def given_program(
    rules: str | Path | Program,
    equality: Equality = "off",
    name: str = "<program>",
    prefixes: Mapping[str, str] = NO_PREFIXES,
    profile: Profile = "lower",
    schema: Schema = "drop",
) -> Program:
    """The program at a path, in a text, whose name in messages is ``name``, or the given program itself.

    A profile that is a program of its own is joined with it, and its prefixes hold in a text.

    >>> len(given_program("p(?x) :- q(?x) .").rules)
    1
    """
    if isinstance(rules, Path) or (isinstance(rules, str) and is_path(rules)):
        return load_program(str(rules), equality=equality, prefixes=prefixes, profile=profile, schema=schema)
    if profile in ("lower", "upper"):
        return parse_program(rules, name, prefixes) if isinstance(rules, str) else rules
    from everlog.owl.programs import shipped_program, with_program

    prefixes = {**shipped_program(profile).prefixes, **prefixes}
    program = parse_program(rules, name, prefixes) if isinstance(rules, str) else rules
    return with_program(profile, program, equality)


def refuse_ontology(rules: object, predicates: Collection[Predicate]) -> None:
    """Raise an error if an ontology is to change rules over triples, for which its triples are facts."""
    if isinstance(rules, str | Path) and is_ontology(str(rules)) and TRIPLE in predicates:
        message = "the rules are about triples, and for them what an ontology says is facts"
        hint = "insert it like other facts: `everlog update STORE --insert FILE`, in Python `kb.load(FILE)`"
        raise RuleError.of(Code.ONTOLOGY_IS_FACTS, message, Place(str(rules)), hint)


def load_program(
    path: str,
    *,
    equality: Equality = "off",
    prefixes: Mapping[str, str] = NO_PREFIXES,
    profile: Profile = "lower",
    schema: Schema = "drop",
) -> Program:
    """The program of a rule file or an ontology; warns of axioms that the program does not express.

    ``prefixes`` hold in a rule file unless it declares others.
    """
    if kind_by_name(path) in ("csv", "tsv", "parquet"):
        hint = "make the knowledge base from the rules, and insert what the file has"
        raise RuleError.of(Code.NOT_RULES, "the file has facts, not rules", Place(path), hint)
    if not is_ontology(path):
        return given_program(parse_file(path, prefixes), equality, profile=profile)
    from everlog.owl.programs import program_of

    translation = program_of(path, profile, equality=equality, schema=schema)
    for found in _warnings(translation):
        warn(replace(found, place=Place(path)))
    return translation.program


def read_program(
    paths: str | Sequence[str],
    profile: Profile = "lower",
    *,
    equality: Equality = "off",
    base: str | None = None,
    schema: Schema = "drop",
) -> ProgramRead:
    """The program of rule files and ontologies.

    With a profile that is a program of its own, the ontologies are read as facts.
    """
    given = [paths] if isinstance(paths, str) else list(paths)
    if profile in ("lower", "upper") and len(given) == 1 and not is_ontology(given[0]):
        return ProgramRead(parse_file(given[0]))
    from everlog.owl.programs import SHIPPED, program_of

    ontologies = [path for path in given if is_ontology(path)]
    if profile in SHIPPED:
        rules = [path for path in given if path not in ontologies]
        return ProgramRead(program_of(rules, profile, equality=equality).program, tuple(ontologies))
    translation = program_of(given, profile, equality=equality, base=base, schema=schema)
    return ProgramRead(translation.program, (), tuple(_warnings(translation)))


def _warnings(translation: Translation) -> Iterator[Diagnostic]:
    from everlog.owl.programs import shown

    for note in translation.notes:
        yield Diagnostic(Code.ONTOLOGY, note, severity=Severity.NOTE)
    missing = translation.untranslated
    if missing:
        prefixes = translation.program.prefixes
        notes = [(f"{shown(each, prefixes)}: {each.reason}", None) for each in missing[:MOST_SHOWN]]
        axioms = "an axiom is" if len(missing) == 1 else f"{len(missing):,} axioms are"
        message = f"{axioms} not expressed by the rules, or not wholly"
        hint = "`everlog owl` lists them all" if len(missing) > MOST_SHOWN else None
        yield Diagnostic(Code.UNTRANSLATED, message, None, hint, tuple(notes), Severity.WARNING)
