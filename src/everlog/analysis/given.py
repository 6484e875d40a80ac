"""The kinds of terms in the explicit facts of a knowledge base, for warnings about facts that can match nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from everlog.analysis.check import CheckedProgram
from everlog.analysis.fact_warnings import ExplicitPredicates, about_deletions, about_facts, about_rules
from everlog.lang.errors import Diagnostic, Place
from everlog.lang.kinds import ANY, Kinds, joined
from everlog.lang.syntax import Predicate, Rule

ByPredicate = Mapping[Predicate, Kinds]
StoredKinds = dict[str, list[int]]
"""Kinds by the texts of predicates."""

KINDS = "kinds"
"""The key of the kinds of the explicit facts in the statistics of a version."""


def any_kinds(predicate: Predicate) -> Kinds:
    """The kinds of the columns of a predicate that may hold any terms.

    >>> any_kinds(Predicate("p", 2))
    (2047, 2047)
    """
    return (ANY,) * predicate.arity


class GivenFacts:
    """The predicates of the explicit facts, with a superset of the kinds of terms in their columns.

    Deletions do not remove kinds. ``known`` are predicates that are not new whether they have facts or not; ``merged``
    is as in :class:`ExplicitPredicates`.

    >>> from everlog.analysis.check import check
    >>> from everlog.lang.parser import parse_program
    >>> program, given = check(parse_program("p(?x) :- q(?x), r(?x) .")), GivenFacts()
    >>> given.add({Predicate("q", 1): (8,), Predicate("r", 1): (32,)})
    >>> [found.code for found in given.news(program)], given.news(program)
    (['never-joined'], [])
    """

    def __init__(
        self, kinds: ByPredicate | None = None, known: Collection[Predicate] = (), *, merged: bool = False
    ) -> None:
        self.kinds: dict[Predicate, Kinds] = dict(kinds or {})
        self._known = known
        self._merged = merged
        self._before: dict[Predicate, Kinds | None] = {}
        """The predicates of :attr:`kinds` that changed since the last warnings, with their previous kinds."""
        self._named: dict[Predicate, Place | None] = {}

    def copy(self) -> GivenFacts:
        other = GivenFacts(self.kinds, self._known, merged=self._merged)
        other._before, other._named = dict(self._before), dict(self._named)
        return other

    def add(self, given: ByPredicate, named: Mapping[Predicate, Place | None] | None = None) -> None:
        """Add facts. Those of ``named`` predicates, by default all, have names that a user has written."""
        for predicate, kinds in given.items():
            known = self.kinds.get(predicate)
            both = joined(known, kinds)
            if both != known:
                self._before.setdefault(predicate, known)
                self.kinds[predicate] = both
                if named is None or predicate in named:
                    self._named[predicate] = (named or {}).get(predicate)

    def news(self, program: CheckedProgram, *, whole: bool = True) -> list[Diagnostic]:
        """The warnings about facts added since the last call; see :class:`ExplicitPredicates` for ``whole``."""
        if not self._before:
            return []
        before = {predicate: self._before.get(predicate, kinds) for predicate, kinds in self.kinds.items()}
        given = ExplicitPredicates(self.kinds, self._named, whole, self._merged)
        found = about_facts(program, given, {p: kinds for p, kinds in before.items() if kinds is not None}, self._known)
        warnings = list(found)
        self._before, self._named = {}, {}
        return warnings

    def unknown(self, deleted: Mapping[Predicate, Place | None]) -> list[Diagnostic]:
        """The warnings about predicates whose facts are about to be deleted and that are not known."""
        return list(about_deletions(deleted, {*self.kinds, *self._known}))

    def of_rules(
        self, program: CheckedProgram, added: Iterable[Rule], old: CheckedProgram, *, whole: bool
    ) -> list[Diagnostic]:
        """The warnings about rules that were added to an old program."""
        given = ExplicitPredicates(self.kinds, whole=whole, merged=self._merged)
        return list(about_rules(program, added, given, old))

    def stored(self, program: CheckedProgram) -> StoredKinds:
        """The kinds that a store keeps: of the predicates in rules, and of bare names, which are few."""
        mine = set(program.predicates)
        kept = (predicate for predicate in self.kinds if predicate in mine or not predicate.name.startswith("<"))
        return {str(predicate): list(self.kinds[predicate]) for predicate in kept}

    @classmethod
    def from_store(
        cls,
        statistics: Mapping[str, Any],
        explicit: Iterable[Predicate],
        known: Collection[Predicate],
        *,
        merged: bool = False,
    ) -> GivenFacts:
        """The kinds in the statistics of a version; predicates that are missing there may hold terms of any kind.

        >>> GivenFacts.from_store({"kinds": {"p/1": [8]}}, [Predicate("p", 1), Predicate("q", 2)], ()).kinds
        {Predicate(name='p', arity=1): (8,), Predicate(name='q', arity=2): (2047, 2047)}
        """
        stored = {Predicate.parse(name): tuple(kinds) for name, kinds in statistics.get(KINDS, {}).items()}
        kinds = {predicate: stored.get(predicate) or any_kinds(predicate) for predicate in explicit}
        return cls(kinds, known, merged=merged)
