"""Conjunctive queries with negation: one rule whose head has the variables asked for."""

from __future__ import annotations

from everlog.analysis.check import CheckedQuery
from everlog.engine.match import Engine, RuleSet
from everlog.engine.state import State
from everlog.lang.syntax import Atom, Predicate, Rule
from everlog.query.answers import Rows

ANSWER = "answer"


def answer(query: CheckedQuery, state: State, engine: Engine) -> Rows:
    """The answers to a query: a set of rows, a column for each named variable.

    A query without variables has one answer, the empty row, or none.
    """
    head = Atom(Predicate(ANSWER, len(query.variables)), query.variables)
    rules = RuleSet([Rule(head, query.positive, query.negative)])
    found = engine.match(rules, state.facts, state.facts, phase="query").facts()
    return Rows(state.dictionary, found.relation(head.predicate), [v.name for v in query.variables])
