"""Conjunctive queries with negation, evaluated as one rule whose head has the variables of the answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from everlog.analysis.check import CheckedQuery
from everlog.engine.dictionary import Constants
from everlog.engine.keys import BLOCK_ROWS
from everlog.engine.limits import Limits
from everlog.engine.match import Engine, Matches
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.engine.state import State
from everlog.lang.syntax import Atom, Constant, Predicate, Rule
from everlog.lang.terms import text_of
from everlog.query.answers import Rows
from everlog.query.counting import count

ANSWER = "answer"
FIRST = 1 << 14
"""Maximum number of matches in a block if only one answer is needed."""


def answer(query: CheckedQuery, state: State, limits: Callable[[], Limits]) -> Rows:
    """The answers to a query: a set of rows with a column for each named variable.

    A query without variables has one answer, the empty row, or none.
    """
    return Answers(query, state, limits)


class Answers(Rows):
    """The answers to a query over the facts at the time of the query.

    They are computed when they are read. Before that, ``len`` counts them without listing those that only differ in
    variables of a single atom, ``bool`` looks for one, and ``in`` for the given one.
    """

    def __init__(self, query: CheckedQuery, state: State, limits: Callable[[], Limits]) -> None:
        self._dictionary = state.dictionary
        self.columns = tuple(variable.name for variable in query.variables)
        self._query = query
        self._facts = state.facts
        self._constants = Constants(state.dictionary)
        self._limits = limits
        self._head = Predicate(ANSWER, len(query.variables))

    @cached_property
    def _relation(self) -> Relation:
        return self._matches(self._rule(), self._engine()).facts().relation(self._head)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        found = None if "_relation" in self.__dict__ else count(self._query, self._facts, self._engine())
        return len(self._relation) if found is None else found

    def __bool__(self) -> bool:
        if "_relation" in self.__dict__ or "_count" in self.__dict__:
            return len(self) > 0
        return self._matches(self._rule(), self._engine(FIRST)).any()

    def __contains__(self, row: object) -> bool:
        """Whether a row of values is an answer; values are compared as terms: 1, 1.0 and True differ."""
        if "_relation" in self.__dict__:
            return super().__contains__(row)
        if not isinstance(row, tuple) or len(row) != len(self.columns):
            return False
        try:
            values = {v: Constant(text_of(value)) for v, value in zip(self._query.variables, row, strict=True)}
        except (TypeError, ValueError):  # not a term
            return False
        rule = self._rule()
        positive, negative = (tuple(a.put(values) for a in atoms) for atoms in (rule.positive, rule.negative))
        return self._matches(Rule(rule.head.put(values), positive, negative), self._engine(FIRST)).any()

    def _rule(self) -> Rule:
        return Rule(Atom(self._head, self._query.variables), self._query.positive, self._query.negative)

    def _matches(self, rule: Rule, engine: Engine) -> Matches:
        return engine.match(RuleSet([rule]), self._facts, self._facts, phase="query")

    def _engine(self, block: int = BLOCK_ROWS) -> Engine:
        return Engine(len(self._dictionary), self._constants, limits=self._limits(), block=block)
