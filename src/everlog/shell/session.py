"""A session of the shell: a live knowledge base, the last change, and the constants typed or shown."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from everlog.analysis.predicates import Key
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError
from everlog.lang.parser import parse_query
from everlog.lang.printer import print_query
from everlog.lang.syntax import Atom, Constant, Program
from everlog.lang.terms import Value
from everlog.settings import WAIT
from everlog.shell.changes import change_text

if TYPE_CHECKING:
    from everlog.kb.change import Change
    from everlog.kb.knowledge_base import KnowledgeBase

MOST_SEEN = 5000
"""Maximum number of constants remembered for completion."""


class Session:
    """A knowledge base with the operations of the shell. ``write`` is called with each text to show."""

    def __init__(
        self, kb: KnowledgeBase, write: Callable[[str], None], *, asks: bool = False, wait: float = WAIT
    ) -> None:
        self.kb = kb
        self.write = write
        self.asks = asks
        """Whether the user can be asked, that is, whether stdin is a terminal."""
        self.wait = wait
        """Seconds to wait for another writer of a store."""
        self.limit = 100
        """Maximum number of answers shown."""
        self.seen: dict[str, None] = {}
        """Constants that were typed or shown, the most recent last."""
        self.saved = True
        self.over = False
        self._before: list[tuple[KnowledgeBase, str]] = []

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes used in queries and in output; those of fact files are not used in rules."""
        return self.kb.prefixes

    # changing -----------------------------------------------------------------------------------

    def change(self, program: Program, *, remove: bool = False) -> None:
        """Add or remove rules and facts, and show what that changed."""
        self._remember_constants(program.facts)
        if not remove and program.prefixes != self.kb.program.program.prefixes:
            self.kb.change_rules(add=Program((), prefixes=program.prefixes))
        if program.rules:
            add, removed = (None, program) if remove else (program, None)
            self.applied("a change of rules", lambda: [self.kb.change_rules(add, removed, profile=True)])
        elif program.facts:
            rows = _rows(program.facts)
            insert, delete = ({}, rows) if remove else (rows, {})
            self.applied("a change of facts", lambda: [self.kb.update(insert, delete, profile=True)])

    def applied(self, what: str, change: Callable[[], Sequence[Change]]) -> None:
        """Change the knowledge base, keep its previous state for undoing, and show what changed, step by step."""
        before = copy.copy(self.kb)
        made = change()
        for each in made:
            self.write(change_text(each, self.prefixes))
        if any(made):
            self._before.append((before, what))
            self.saved = False

    def undo(self) -> None:
        if not self._before:
            raise EverlogError.of(Code.NOTHING_TO_UNDO, "there is nothing to undo")
        self.kb, what = self._before.pop()
        self.write(f"undone: {what}")
        self.saved = False

    # asking -------------------------------------------------------------------------------------

    def ask(self, text: str) -> None:
        """Show the answers to a query, up to the limit."""
        from everlog.shell.answers import table_lines

        query = parse_query(text, self.prefixes)
        answers = self.kb.query(text)
        self._remember_constants((*query.positive, *query.negative))
        if not answers.columns:
            self.write("true" if answers else "false")
            return
        for line in table_lines(answers, self.limit, self.prefixes, self._remember):
            self.write(line)

    def explain(self, text: str) -> None:
        """Show why a fact, or each answer to a query, holds; or why not."""
        explanation = self.kb.explain(print_query(parse_query(text, self.prefixes)), answers=self.limit)
        self.write(str(explanation).rstrip("\n"))

    def _remember_constants(self, atoms: Iterable[Atom]) -> None:
        from everlog.lang.printer import print_term

        terms = (term for atom in atoms for term in atom.terms if isinstance(term, Constant))
        self._remember(print_term(term, self.prefixes) for term in terms)

    def _remember(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.seen.pop(text, None)
            self.seen[text] = None
        while len(self.seen) > MOST_SEEN:
            self.seen.pop(next(iter(self.seen)))


def _rows(facts: Iterable[Atom]) -> dict[Key, list[tuple[Value, ...]]]:
    rows: dict[Key, list[tuple[Value, ...]]] = {}
    for atom in facts:
        rows.setdefault(atom.predicate, []).append(tuple(t.value for t in atom.terms if isinstance(t, Constant)))
    return rows
