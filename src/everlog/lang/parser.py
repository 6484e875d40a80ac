"""Read programs, queries and facts.

>>> program = parse_program("person(alice) . orphan(?x) :- person(?x), ~parent(_, ?x) .")
>>> len(program.facts), len(program.rules)
(1, 1)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from everlog.lang.builder import ProgramBuilder
from everlog.lang.characters import BARE_NAME
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place, RuleError
from everlog.lang.printer import NO_PREFIXES
from everlog.lang.statements import query_tree, statement_trees
from everlog.lang.syntax import Atom, Program, Query, Rule, SourceText


def parse_program(text: str, name: str = "<program>", prefixes: Mapping[str, str] = NO_PREFIXES) -> Program:
    """The program in a text; raises a :class:`RuleError` with every mistake in it.

    ``name`` is what messages call the text; ``prefixes`` hold unless it declares others.
    """
    builder = ProgramBuilder(source_text(name, text), prefixes)
    rules: list[Rule] = []
    facts: list[Atom] = []
    for tokens, tree in statement_trees(builder.source, builder.report):
        if tree is None:
            builder.assume_prefix(tokens)
            continue
        for rule in builder.statement(tree):
            if not rule.body and rule.head.is_ground:
                facts.append(rule.head)
            else:
                rules.append(rule)
    builder.finish()
    return Program(tuple(rules), tuple(facts), MappingProxyType(builder.prefixes))


def parse_file(path: str | Path, prefixes: Mapping[str, str] = NO_PREFIXES) -> Program:
    """The program in a file of UTF-8 text."""
    name = str(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = "check the path and that you may read the file"
        raise RuleError.of(Code.UNREADABLE_FILE, f"the rules cannot be read: {reason}", Place(name), hint) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise RuleError.of(
            Code.NOT_UTF_8, "the file is not UTF-8 text", Place(name, line, column), "save it as UTF-8"
        ) from error
    try:
        return parse_program(text, name, prefixes)
    except RuleError as error:
        language = _OTHER_LANGUAGES.get(Path(path).suffix)
        if language is None:
            raise
        message = f"the file does not have rules as Everlog reads them; `{Path(path).suffix}` is a file of {language}"
        hint = "there, variables and declarations are written in other ways: write the rules anew, as `.rls`"
        raise RuleError([Diagnostic(Code.OTHER_LANGUAGE, message, Place(name), hint), *error.diagnostics]) from None


_OTHER_LANGUAGES = {".dl": "Soufflé", ".lp": "clingo", ".pl": "Prolog"}
"""Languages with similar syntax, by the extension of their files."""

_HYPHENATED = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>]*>|(?P<variable>\?[A-Za-z_][A-Za-z0-9_]*-[A-Za-z0-9_-]*)')


def parse_stored(text: str, name: str) -> Program:
    """The program that a store keeps, as :func:`~everlog.lang.printer.print_program` wrote it.

    Older stores have variables with hyphens in their names; each hyphen is read as `·`.

    >>> parse_stored('p(?a-b) :- q(?a-b, "?a-b") .', "rules").rules[0].head.terms
    (Variable(name='a·b'),)
    """

    def renamed(found: re.Match[str]) -> str:
        return found["variable"].replace("-", "·") if found["variable"] else found.group()

    return parse_program(_HYPHENATED.sub(renamed, text) if "-" in text else text, name)


def parse_query(text: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> Query:
    """The query in a text; a dot at its end is optional.

    >>> [v.name for v in parse_query("ancestor(alice, ?x), ~orphan(?x)").variables]
    ['x']
    """
    builder = ProgramBuilder(source_text("<query>", text), prefixes)
    tree = query_tree(builder.source, builder.report)
    query = builder.query(tree) if tree is not None else Query(())
    builder.finish()
    return query


def source_text(name: str, text: str) -> SourceText:
    """A text to read; an error if it has lone surrogates, as command line arguments that are not UTF-8 do."""
    source = SourceText(name, text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        column = error.start - text.rfind("\n", 0, error.start)
        shown = source.line(line).encode(errors="replace").decode()
        place = Place(name, line, column, shown)
        raise RuleError.of(Code.NOT_UTF_8, "the text is not UTF-8", place, "write it as UTF-8") from None
    return source


def resolve_predicate_name(text: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The name of the predicate that a user gives as a bare name, a prefixed name or ``<iri>``.

    >>> resolve_predicate_name("ex:p", {"ex": "http://example.org/"})
    '<http://example.org/p>'
    """
    if BARE_NAME.fullmatch(text):
        return text
    builder = ProgramBuilder(SourceText("<predicate>", text), prefixes)
    name = builder.predicate_named(text)
    builder.finish()
    return name
