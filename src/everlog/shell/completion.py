"""Completion of words: commands, predicates, variables, constants and files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from everlog.lang.characters import VARIABLE
from everlog.lang.printer import print_name
from everlog.shell.commands import COMMANDS
from everlog.shell.session import Session

DELIMITERS = " \t\n,()[]~"
"""The characters that separate words; colons, dashes and angle brackets are part of words."""

MOST = 200
"""Maximum number of completions."""


def completions(session: Session, line: str, begin: int, word: str) -> list[str]:
    """The completions of a word that begins at a position of a line.

    >>> import everlog
    >>> session = Session(everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(ann, bob) ."), print)
    >>> completions(session, "? pa", 2, "pa"), completions(session, ":ru", 0, ":ru")
    (['path('], [':rules'])
    """
    return sorted(dict.fromkeys(_candidates(session, line, begin, word)))[:MOST]


def _candidates(session: Session, line: str, begin: int, word: str) -> Iterable[str]:
    before = line[:begin].strip()
    if not before and word.startswith(":"):
        return (name for name in COMMANDS if name.startswith(word))
    if before in COMMANDS and COMMANDS[before].files:
        return _files(word)
    if before == ":help":
        return (name for name in COMMANDS if name.startswith(word))
    if word.startswith("?"):
        return (name for name in VARIABLE.findall(line) if name.startswith(word) and name != word)
    return _names(session, word, inside=line[:begin].count("(") > line[:begin].count(")"))


def _names(session: Session, word: str, inside: bool) -> Iterator[str]:
    """The completions inside a query: predicates at the beginning of an atom, within an atom the constants that were
    typed or shown.
    """
    if inside:
        yield from (text for text in session.seen if text.startswith(word))
        return
    for predicate in session.kb.predicates:
        name = print_name(predicate.name, session.prefixes)
        if name.startswith(word):
            yield f"{name}("


def _files(word: str) -> Iterator[str]:
    name, equals, path = word.rpartition("=")
    directory, _, start = path.rpartition("/")
    root = Path(directory or ("/" if path.startswith("/") else "."))
    if not root.is_dir():
        return
    for entry in os.scandir(root):
        if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
            shown = f"{directory}/{entry.name}" if "/" in path else entry.name
            yield f"{name}{equals}{shown}{'/' if entry.is_dir() else ''}"
