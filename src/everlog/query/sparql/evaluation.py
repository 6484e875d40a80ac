"""Evaluation of patterns to tables: the SPARQL algebra, operator by operator, on whole columns.

Three things are passed down the algebra. The *need* is the set of variables of a pattern that are used above it and
whether the number of solutions matters, so that a pattern is matched only as far as necessary. The *hint* is a table
that the solutions will be joined with, so that others need not be found. The *scope* is the graph that patterns are
matched in and, under EXISTS, the rows whose values stand for variables: every solution below is then tied to its row by
the column :data:`ROW`, and all rows are answered together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from everlog.engine.keys import Column, Mask
from everlog.engine.limits import Limits
from everlog.lang.syntax import Constant, Variable
from everlog.query.sparql import algebra, paths
from everlog.query.sparql.aggregation import aggregated
from everlog.query.sparql.algebra import Expression, Pattern, mentioned, names_in
from everlog.query.sparql.expressions import SOLUTION, TRUE, ExpressionEvaluator, Truths, is_volatile
from everlog.query.sparql.graphs import TripleGraph
from everlog.query.sparql.joining import bound_parts, compatible, has_compatible, join, merged
from everlog.query.sparql.matching import ROW, Matcher, RequiredColumns
from everlog.query.sparql.ordering import ranks
from everlog.query.sparql.pool import TermPool
from everlog.query.sparql.table import SolutionTable, groups, union

Hint = SolutionTable | None
"""A table that solutions will be joined with, if there is one."""


@dataclass(frozen=True)
class Scope:
    """The scope in which a pattern is matched; see the module."""

    graph: TripleGraph
    given: SolutionTable | None = None

    def given_for(self, names: frozenset[str]) -> SolutionTable | None:
        """The rows to which solutions are tied, with the values of some variables."""
        return None if self.given is None else self.given.only(names | {ROW})

    @property
    def tied(self) -> frozenset[str]:
        return frozenset() if self.given is None else frozenset({ROW})


@dataclass(frozen=True)
class Graphs:
    """The graphs of a query: the default one, and named ones by the texts of their names."""

    default: TripleGraph
    named: Mapping[str, TripleGraph]


class Evaluation:
    """One evaluation of patterns over graphs."""

    def __init__(self, graphs: Graphs, matcher: Matcher, base: str = "") -> None:
        self.graphs = graphs
        self.matcher = matcher
        self.terms: TermPool = matcher.terms
        self.limits: Limits = matcher.limits
        self._expressions = ExpressionEvaluator(self.terms, self._exists, base)
        self._scope = Scope(graphs.default)
        self._solutions = 0
        self._operators: dict[type, Callable[[Any, RequiredColumns, Scope, Hint], SolutionTable]] = {
            algebra.Basic: self._basic,
            algebra.PathPattern: self._path,
            algebra.Values: self._values,
            algebra.Join: self._join,
            algebra.LeftJoin: self._left_join,
            algebra.Minus: self._minus,
            algebra.Union: self._union,
            algebra.InGraph: self._in_graph,
            algebra.Filter: self._filter,
            algebra.Extend: self._extend,
            algebra.Grouping: self._group,
            algebra.Project: self._project,
            algebra.Distinct: self._distinct,
            algebra.OrderBy: self._order_by,
            algebra.Slice: self._slice,
        }

    def solutions(
        self, pattern: Pattern, names: frozenset[str], distinct: bool = False, enough: int | None = None
    ) -> SolutionTable:
        """The solutions of a pattern for some variables; with ``enough``, at least that many if there are."""
        return self._table(pattern, RequiredColumns(names, distinct, enough), Scope(self.graphs.default), None)

    def _table(self, pattern: Pattern, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        found = self._operators[type(pattern)](pattern, need, scope, hint)
        self.limits.check(found.size)
        return found

    def unweighted(self, table: SolutionTable) -> SolutionTable:
        """The solutions of a table, one row for each."""
        if table.weights is not None:
            count = table.count
            self.limits.reserve(count, 8 * count * (len(table.columns) + 1))
        return table.unweighted()

    # leaves -------------------------------------------------------------------------------------

    def _basic(self, pattern: algebra.Basic, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        given = scope.given_for(pattern.variables | need.names)
        if not pattern.triples:
            return SolutionTable.unit() if given is None else given
        return self.matcher.basic(scope.graph, pattern, need, given, hint)

    def _path(self, pattern: algebra.PathPattern, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        given = scope.given_for(pattern.variables | need.names)
        found = paths.solve(self.matcher, scope.graph, pattern, hint if given is None else given)
        return found if given is None else join(given, found, self.limits)

    def _values(self, pattern: algebra.Values, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        columns = {name: self.terms.add_all([row[i] for row in pattern.rows]) for i, name in enumerate(pattern.columns)}
        found = SolutionTable(columns, len(pattern.rows))
        given = scope.given_for(pattern.variables | need.names)
        return found if given is None else join(given, found, self.limits)

    # joins --------------------------------------------------------------------------------------

    def _join(self, pattern: algebra.Join, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        waiting = [(self._cost(part, scope), part, part.variables) for part in _joined(pattern)]
        uses = Counter(name for _, _, variables in waiting for name in variables)
        shared = {name for name, times in uses.items() if times > 1}
        inner = need.also(shared)
        found: SolutionTable | None = None
        known: set[str] = set()
        while waiting:
            apart = [bool(known) and known.isdisjoint(variables) for _, _, variables in waiting]
            best = min(range(len(waiting)), key=lambda i: (apart[i], waiting[i][0]))
            _, part, variables = waiting.pop(best)
            known |= variables
            table = self._table(part, inner, scope, hint if found is None else found)
            found = table if found is None else join(found, table, self.limits)
            if not found.size:
                return SolutionTable.empty(need.names)
        assert found is not None
        return found

    def _cost(self, pattern: Pattern, scope: Scope) -> float:
        """An estimate of the number of solutions of a pattern."""
        if isinstance(pattern, algebra.Values):
            return len(pattern.rows)
        if isinstance(pattern, algebra.Basic):
            return min((self._triple_cost(scope.graph, triple) for triple in pattern.triples), default=0.0)
        if isinstance(pattern, algebra.PathPattern):
            return 100.0 if len(pattern.variables) < 2 else 1e15
        if isinstance(pattern, algebra.Filter | algebra.Extend | algebra.InGraph):
            return self._cost(pattern.pattern, scope)
        return 1e12

    def _triple_cost(self, graph: TripleGraph, triple: Any) -> float:
        size = sum(len(graph.facts.relation(option.atom.predicate)) for option in graph.options(triple))
        constants = sum(isinstance(term, Constant) for term in (triple.subject, triple.object))
        return float(size) ** (1 - constants / 2)

    def _left_join(self, pattern: algebra.LeftJoin, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        condition = names_in(pattern.condition) if pattern.condition is not None else frozenset()
        inner = need.also(pattern.left.variables & pattern.right.variables).also(condition)
        left = self._table(pattern.left, inner, scope, hint)
        if not left.size:
            return left
        right = self._table(pattern.right, inner, scope, left)
        left_rows, right_rows = compatible(left, right, self.limits)
        both = merged(left, right, left_rows, right_rows)
        if pattern.condition is not None:
            passed = self._truths(pattern.condition, both, scope) == TRUE
            both, left_rows = both.where(passed), left_rows[passed]
        alone = np.ones(left.size, np.bool_)
        alone[left_rows] = False
        return union([both, left.where(alone)]) if alone.any() else both

    def _minus(self, pattern: algebra.Minus, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        shared = pattern.left.variables & pattern.right.variables
        if scope.given is not None:
            shared -= scope.given.columns.keys()
        left = self._table(pattern.left, need.also(shared), scope, hint)
        if not shared or not left.size:
            return left
        right = self._table(pattern.right, RequiredColumns(shared | scope.tied, True), scope, left)
        return left.where(~has_compatible(left, right.only(shared | scope.tied), sorted(shared)))

    def _union(self, pattern: algebra.Union, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        sides = [self._table(side, need, scope, hint) for side in (pattern.left, pattern.right)]
        return union([side.only(need.names) for side in sides])

    def _in_graph(self, pattern: algebra.InGraph, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        if isinstance(pattern.graph, Constant):
            graph = self.graphs.named.get(pattern.graph.text)
            if graph is None:
                return SolutionTable.empty(need.names)
            return self._table(pattern.pattern, need, replace(scope, graph=graph), hint)
        name, found = pattern.graph.name, []
        for text, graph in self.graphs.named.items():
            table = self._table(pattern.pattern, need.also({name}), replace(scope, graph=graph), hint)
            own, bound = self.terms.add(text), table.column(name)
            table = table.where((bound < 0) | (bound == own))
            found.append(table.extended(name, np.full(table.size, own, np.int64)))
        return union(found) if found else SolutionTable.empty(need.names)

    # expressions --------------------------------------------------------------------------------

    def _filter(self, pattern: algebra.Filter, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        inner = need.also(names_in(pattern.condition))
        hint = self._narrowed(hint, pattern)
        table = self._table(pattern.pattern, inner, scope, hint)
        if is_volatile(pattern.condition):
            table = self.unweighted(table)
        return table.where(self._truths(pattern.condition, table, scope) == TRUE)

    def _narrowed(self, hint: Hint, pattern: algebra.Filter) -> SolutionTable | None:
        """The hint restricted by a filter that equates single variables with terms."""
        for name, text in _pinned(pattern.condition):
            if name in pattern.pattern.variables and (hint is None or name not in hint.columns):
                hint = hint if hint is not None else SolutionTable.unit()
                hint = hint.extended(name, np.full(hint.size, self.terms.add(text), np.int64))
        return hint

    def _extend(self, pattern: algebra.Extend, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        if pattern.variable not in need.names:
            return self._table(pattern.pattern, need, scope, hint)
        others = None if hint is None else hint.only(hint.columns.keys() - {pattern.variable})
        inner = need.without(pattern.variable).also(names_in(pattern.expression))
        if is_volatile(pattern.expression):
            inner = RequiredColumns(inner.names)
        if not need.distinct:
            inner = replace(inner, enough=need.enough)
        table = self._table(pattern.pattern, inner, scope, others)
        if is_volatile(pattern.expression):
            table = self._numbered(self.unweighted(table))
        values = self._valued(pattern.expression, table, scope)
        return table.extended(pattern.variable, values)

    def _numbered(self, table: SolutionTable) -> SolutionTable:
        if SOLUTION in table.columns:
            return table
        self._solutions += table.size
        return table.extended(SOLUTION, np.arange(self._solutions - table.size, self._solutions))

    @contextmanager
    def _in(self, scope: Scope) -> Iterator[ExpressionEvaluator]:
        """Evaluates expressions in a scope, which EXISTS in them uses."""
        outer, self._scope = self._scope, scope
        try:
            yield self._expressions
        finally:
            self._scope = outer

    def _valued(self, expression: Expression, table: SolutionTable, scope: Scope) -> Column:
        with self._in(scope) as expressions:
            return expressions.values(expression, table)

    def _truths(self, expression: Expression, table: SolutionTable, scope: Scope) -> Truths:
        with self._in(scope) as expressions:
            return expressions.truths(expression, table)

    def _exists(self, pattern: Pattern, table: SolutionTable) -> Mask:
        """A mask of the rows for which the pattern has a solution with the row's values of its variables."""
        graph = self._scope.graph
        names = sorted(mentioned(pattern) & table.columns.keys())
        heads, group = groups([table.columns[name] for name in names], table.size)
        found = np.zeros(len(heads), np.bool_)
        different = table.only(names).take(heads)
        for bound, rows in bound_parts(different, names):
            values = {name: different.columns[name][rows] for name in bound}
            given = SolutionTable({ROW: np.arange(len(rows)), **values}, len(rows))
            solved = self._table(pattern, RequiredColumns(frozenset({ROW}), True), Scope(graph, given), None)
            found[rows[solved.column(ROW)]] = True
        return found[group]

    # solution sequences -------------------------------------------------------------------------

    def _group(self, pattern: algebra.Grouping, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        keys = pattern.keys
        aggregates = [
            replace(a, argument=None) if _counts_rows(a, pattern) else a
            for a in pattern.aggregates
            if a.result in need.names
        ]
        used = frozenset(keys or ()).union(*(names_in(a.argument) for a in aggregates if a.argument is not None))
        if any(a.argument is None and a.distinct for a in aggregates):
            used |= pattern.pattern.variables
        as_set = all(a.distinct or a.name in ("min", "max", "sample") for a in aggregates)
        as_set = as_set and not any(a.argument is not None and is_volatile(a.argument) for a in aggregates)
        known = None if hint is None or keys is None else hint.only(keys)
        table = self._table(pattern.pattern, RequiredColumns(used | scope.tied, as_set), scope, known)
        with self._in(scope) as expressions:
            if scope.given is None:
                return aggregated(self.terms, expressions, table, keys, aggregates)
            found = aggregated(self.terms, expressions, table, (ROW, *(keys or ())), aggregates)
            if keys is not None:
                return found
            nothing = aggregated(self.terms, expressions, SolutionTable.empty(), None, aggregates)
        missing = np.setdiff1d(scope.given.columns[ROW], found.columns[ROW])
        return union([found, nothing.take(np.zeros(len(missing), np.int64)).extended(ROW, missing)])

    def _project(self, pattern: algebra.Project, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        shown = frozenset(pattern.columns) | scope.tied
        inner = Scope(scope.graph, scope.given_for(frozenset(pattern.columns)))
        known = None if hint is None else hint.only(pattern.columns)
        table = self._table(
            pattern.pattern, RequiredColumns(need.names & shown, need.distinct, need.enough), inner, known
        )
        return table.only(shown)

    def _distinct(self, pattern: algebra.Distinct, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        names = need.names if need.distinct else pattern.variables | scope.tied
        table = self._table(pattern.pattern, RequiredColumns(names, True, need.enough), scope, hint)
        return table.only(names).distinct()

    def _order_by(self, pattern: algebra.OrderBy, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        table = self._table(
            pattern.pattern, need.also(frozenset().union(*map(names_in, pattern.expressions))), scope, hint
        )
        if table.size < 2:
            return table
        keys = []
        for expression, descending in reversed(pattern.conditions):
            rank = ranks(self.terms, self._valued(expression, table, scope))
            keys.append(-rank if descending else rank)
        return table.take(np.lexsort(keys))

    def _slice(self, pattern: algebra.Slice, need: RequiredColumns, scope: Scope, hint: Hint) -> SolutionTable:
        end = None if pattern.limit is None else pattern.offset + pattern.limit
        enough = None if scope.given is not None else end
        table = self._table(pattern.pattern, RequiredColumns(need.names, enough=enough), scope, None)
        if scope.given is not None:
            table = self.unweighted(table)
            order = np.argsort(table.columns[ROW], kind="stable")
            ordered = table.columns[ROW][order]
            place = np.arange(table.size) - np.searchsorted(ordered, ordered)
            kept = (place >= pattern.offset) & (place < (table.size if end is None else end))
            return table.take(np.sort(order[kept]))
        if end is not None and table.weights is not None:
            enough = int(np.searchsorted(np.cumsum(table.weights), end)) + 1
            table = table.take(np.arange(min(enough, table.size)))
        table = self.unweighted(table)
        return table.take(np.arange(table.size)[pattern.offset : end])


def _joined(pattern: algebra.Join) -> Iterator[Pattern]:
    """The patterns of nested joins, with all basic graph patterns as one."""
    waiting: list[Pattern] = [pattern]
    triples: list[Any] = []
    others: list[Pattern] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, algebra.Join):
            waiting += (part.right, part.left)
        elif isinstance(part, algebra.Basic):
            triples += part.triples
        else:
            others.append(part)
    if triples or not others:
        yield algebra.Basic(tuple(triples))
    yield from others


def _pinned(condition: Expression) -> Iterator[tuple[str, str]]:
    """The variables that a condition equates with terms, with these terms."""
    if not isinstance(condition, algebra.Call):
        return
    if condition.name == "&&":
        for argument in condition.arguments:
            yield from _pinned(argument)
    elif condition.name in ("=", "sameterm"):
        for one, other in (condition.arguments, condition.arguments[::-1]):
            if not isinstance(one, Variable) or not isinstance(other, Constant):
                continue
            if condition.name == "sameterm" or other.text.startswith("<"):
                yield one.name, other.text


def _counts_rows(aggregate: algebra.Aggregate, pattern: algebra.Grouping) -> bool:
    """Whether an aggregate counts a variable that every solution binds."""
    counted = aggregate.argument if aggregate.name == "count" and not aggregate.distinct else None
    return isinstance(counted, Variable) and counted.name in pattern.pattern.certain
