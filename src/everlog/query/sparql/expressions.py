"""Evaluation of expressions on columns: a value or a truth value for each row of a table.

A function is called once for each distinct combination of its arguments. Comparisons of numbers, strings and IRIs are
done on whole columns. Errors are not raised: a row without a value is unbound, and truth has three values,
:data:`TRUE`, :data:`FALSE` and :data:`ERROR`.
"""

from __future__ import annotations

import datetime
import random
import uuid
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.keys import Column, Mask
from everlog.lang.syntax import Constant, Variable
from everlog.lang.terms import IRI, BlankNode, Literal
from everlog.query.sparql.algebra import Call, Exists, Expression, Pattern
from everlog.query.sparql.functions import COLUMN_FUNCTIONS, FUNCTIONS, ColumnFunction, Function, iri
from everlog.query.sparql.pool import UNBOUND, TermPool, distinct_ids
from everlog.query.sparql.table import SolutionTable, groups
from everlog.query.sparql.terms import DATE_TIME, ExpressionError, Node, number_node, string_node
from everlog.query.sparql.values import COMPARISONS, truth

Truths = npt.NDArray[np.int8]
TRUE, FALSE, ERROR = 1, 0, -1

SOLUTION = ".solution"
"""A column that numbers solutions, for ``BNODE("x")``, which is a different blank node in each."""

BLOCK = 1 << 14
"""Number of distinct arguments for which a function is computed between two checks of the limits."""

VOLATILE = frozenset({"rand", "uuid", "struuid", "bnode"})
LOGICAL = frozenset({"&&", "||", "!", "bound", "in", "not in", *COMPARISONS})
EXACT_DIGITS = 15
"""Maximum number of characters of decimal numbers whose doubles are distinct."""


def is_volatile(expression: Expression) -> bool:
    """Whether an expression may have different values for equal rows."""
    if isinstance(expression, Call):
        return expression.name in VOLATILE or any(map(is_volatile, expression.arguments))
    return False


class ExpressionEvaluator:
    """Evaluates expressions. ``exists`` gives a mask of the rows of a table for which a pattern has a solution."""

    def __init__(self, terms: TermPool, exists: Callable[[Pattern, SolutionTable], Mask], base: str = "") -> None:
        self._terms = terms
        self._exists = exists
        self._base = base
        self._now = datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
        self._token = uuid.uuid4().hex[:12]
        self._made = 0

    def values(self, expression: Expression, table: SolutionTable) -> Column:
        """The id of the value for each row, ``UNBOUND`` where there is none."""
        if isinstance(expression, Variable):
            return table.column(expression.name)
        if isinstance(expression, Constant):
            return np.full(table.size, self._terms.add(expression.text), np.int64)
        if isinstance(expression, Exists) or expression.name in LOGICAL:
            return self._booleans(self.truths(expression, table))
        if expression.name == "if":
            return self._if(expression, table)
        if expression.name == "coalesce":
            return self._coalesce(expression, table)
        if expression.name in VOLATILE or expression.name == "now":
            return self._fresh(expression, table)
        columns = [self.values(a, table) for a in expression.arguments]
        if expression.name in COLUMN_FUNCTIONS:
            return self._applied_to_columns(COLUMN_FUNCTIONS[expression.name], columns, table.size)
        return self._applied(self._function(expression.name), columns, table.size)

    def truths(self, expression: Expression, table: SolutionTable) -> Truths:
        """The truth value of an expression for each row."""
        if isinstance(expression, Exists):
            return self._exists(expression.pattern, table).astype(np.int8)
        if isinstance(expression, Call):
            name, arguments = expression.name, expression.arguments
            if name == "bound":
                return (self.values(arguments[0], table) >= 0).astype(np.int8)
            if name == "!":
                return _negated(self.truths(arguments[0], table))
            if name in ("&&", "||"):
                truths = (self.truths(argument, table) for argument in arguments)
                return _combined(truths, FALSE if name == "&&" else TRUE, table.size)
            if name in ("in", "not in"):
                wanted, others = self.values(arguments[0], table), arguments[1:]
                equal = (self._compared("=", wanted, self.values(a, table)) for a in others)
                found = _combined(equal, TRUE, table.size)
                return found if name == "in" else _negated(found)
            if name in COMPARISONS:
                return self._compared(name, self.values(arguments[0], table), self.values(arguments[1], table))
        return self._truths_of(self.values(expression, table))

    # truth --------------------------------------------------------------------------------------

    def _booleans(self, truths: Truths) -> Column:
        ids = np.array([self._terms.add("false"), self._terms.add("true"), UNBOUND], np.int64)
        return ids[truths]

    def _truths_of(self, ids: Column) -> Truths:
        """The effective boolean values of terms."""
        bound = ids >= 0
        values, places = self._terms.mapped(_truth, ids[bound])
        found = np.full(len(ids), ERROR, np.int8)
        found[bound] = np.array(values, np.int8)[places] if values else ERROR
        return found

    def _compared(self, name: str, left: Column, right: Column) -> Truths:
        """A comparison, on whole columns where both values are numbers, strings or not literals."""
        found = np.full(len(left), ERROR, np.int8)
        rows = np.flatnonzero((left >= 0) & (right >= 0))
        a, b = left[rows], right[rows]
        different, places = distinct_ids(np.concatenate([a, b]))
        kinds = _Kinds(self._terms.texts(different))
        one, other = places[: len(rows)], places[len(rows) :]
        numbers = kinds.is_number[one] & kinds.is_number[other]
        strings = kinds.is_string[one] & kinds.is_string[other]
        done = numbers | strings
        result = np.zeros(len(rows), np.bool_)
        compare = COMPARISONS[name]
        result[numbers] = compare(kinds.numbers[one[numbers]], kinds.numbers[other[numbers]])
        if strings.any():
            ranks = kinds.ranks
            result[strings] = compare(ranks[one[strings]], ranks[other[strings]])
        if name in ("=", "!="):
            nodes = kinds.is_node[one] | kinds.is_node[other]
            result[nodes] = (a[nodes] == b[nodes]) == (name == "=")
            done |= nodes
        found[rows[done]] = result[done]
        rest = rows[~done]
        if len(rest):
            values = self._applied(FUNCTIONS[name], [left[rest], right[rest]], len(rest))
            found[rest] = np.where(values < 0, ERROR, values == self._terms.add("true"))
        return found

    # values -------------------------------------------------------------------------------------

    def _if(self, expression: Call, table: SolutionTable) -> Column:
        condition, then, otherwise = expression.arguments
        truths = self.truths(condition, table)
        chosen = np.where(truths == TRUE, self.values(then, table), self.values(otherwise, table))
        return np.where(truths == ERROR, UNBOUND, chosen)

    def _coalesce(self, expression: Call, table: SolutionTable) -> Column:
        found = np.full(table.size, UNBOUND, np.int64)
        for argument in expression.arguments:
            found = np.where(found >= 0, found, self.values(argument, table))
        return found

    def _function(self, name: str) -> Function:
        if name in ("iri", "uri"):
            return lambda node: iri(node, self._base)
        return FUNCTIONS[name]

    def _applied(self, function: Function, columns: Sequence[Column], size: int) -> Column:
        """The values of a function, called once for each distinct combination of arguments."""

        def called(combinations: Sequence[Column]) -> Column:
            arguments = [self._terms.nodes(column) for column in combinations]
            if not arguments:
                return self._terms.add_nodes([_called(function)])
            return self._terms.add_nodes([_called(function, *each) for each in zip(*arguments, strict=True)])

        return self._by_combination(called, columns, size)

    def _applied_to_columns(self, function: ColumnFunction, columns: Sequence[Column], size: int) -> Column:
        """The values of a function, called once for each distinct combination of all arguments but the first."""

        def called(combinations: Sequence[Column]) -> Column:
            first, *others = combinations
            heads, group = groups(others, len(first))
            found = np.full(len(first), UNBOUND, np.int64)
            parts = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
            for part, each in zip(parts, zip(*(self._terms.nodes(o[heads]) for o in others), strict=True), strict=True):
                made = _called_on_column(function, self._terms.nodes(first[part]), *each)
                if made is not None:
                    found[part] = self._terms.add_nodes(made)
            return found

        return self._by_combination(called, columns, size)

    def _by_combination(
        self, function: Callable[[Sequence[Column]], Column], columns: Sequence[Column], size: int
    ) -> Column:
        """The values of a function of the distinct combinations of bound arguments, computed in blocks."""
        found = np.full(size, UNBOUND, np.int64)
        rows = np.arange(size)
        for column in columns:
            rows = rows[column[rows] >= 0]
        if not len(rows):
            return found
        bound = [column[rows] for column in columns]
        heads, group = groups(bound, len(rows))
        made = []
        for start in range(0, len(heads), BLOCK):
            self._terms.limits.check(0)
            made.append(function([column[heads[start : start + BLOCK]] for column in bound]))
        found[rows] = np.concatenate(made)[group]
        return found

    def _fresh(self, expression: Call, table: SolutionTable) -> Column:
        """Functions with a new value for each row, and the time, which is one value for the whole query."""
        if expression.name == "now":
            return np.full(table.size, self._terms.add_nodes([Literal(self._now, DATE_TIME)])[0], np.int64)
        if expression.name == "bnode" and expression.arguments:
            return self._labelled(self.values(expression.arguments[0], table), table)
        makers: dict[str, Callable[[], Node]] = {
            "rand": lambda: number_node(random.random(), 3),
            "uuid": lambda: IRI(uuid.uuid4().urn),
            "struuid": lambda: string_node(str(uuid.uuid4())),
            "bnode": self._blank,
        }
        return self._terms.add_nodes([makers[expression.name]() for _ in self._terms.watched(range(table.size))])

    def _blank(self) -> BlankNode:
        self._made += 1
        return BlankNode(f"b{self._token}-{self._made}")

    def _labelled(self, labels: Column, table: SolutionTable) -> Column:
        """A blank node for each label in each solution."""
        solutions = table.columns.get(SOLUTION, np.arange(table.size))
        made: list[Node | None] = []
        for row, label in self._terms.watched(zip(solutions.tolist(), labels.tolist(), strict=True)):
            made.append(BlankNode(f"b{self._token}-{row}-{label}") if label >= 0 else None)
        return self._terms.add_nodes(made)


def _combined(truths: Iterable[Truths], decisive: int, size: int) -> Truths:
    """The conjunction or disjunction of truth values: a decisive one decides, also if another is an error."""
    found = np.full(size, 1 - decisive, np.int8)
    for other in truths:
        error = (other == ERROR) & (found != decisive)
        found = np.where(other == decisive, decisive, np.where(error, ERROR, found)).astype(np.int8)
    return found


def _negated(truths: Truths) -> Truths:
    return np.where(truths == ERROR, ERROR, 1 - truths).astype(np.int8)


class _Kinds:
    """The kinds of distinct terms, for comparisons on whole columns."""

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts
        self.is_node = matching(texts, "^[<_]")
        self.is_string = matching(texts, r'(?s)^".*"$')
        self.is_number = is_exact(texts)
        bare = pc.if_else(pa.array(self.is_number), texts, pa.scalar(None, pa.large_string()))
        self.numbers = pc.cast(bare, pa.float64()).to_numpy(zero_copy_only=False)

    @property
    def ranks(self) -> Column:
        """The rank of each string among all strings."""
        order = pc.sort_indices(pc.utf8_slice_codeunits(self._texts, 1, -1)).to_numpy()
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


def is_exact(texts: pa.LargeStringArray) -> Mask:
    """A mask of the texts of numbers that doubles represent uniquely: doubles, and numbers of few digits."""
    short = pc.utf8_length(texts).to_numpy(zero_copy_only=False) <= EXACT_DIGITS
    return matching(texts, r"^-?[0-9]") & (short | matching(texts, "^[^E]*E[^E]*$"))


def matching(texts: pa.LargeStringArray, pattern: str) -> Mask:
    """A mask of the texts that match a regular expression."""
    found: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found.astype(np.bool_)


def _called(function: Function, *arguments: Node) -> Node | None:
    try:
        return function(*arguments)
    except (ExpressionError, ArithmeticError):
        return None


def _called_on_column(function: ColumnFunction, first: Sequence[Node], *others: Node) -> Sequence[Node | None] | None:
    try:
        return function(first, *others)
    except ExpressionError:
        return None


def _truth(node: Node) -> int:
    try:
        return TRUE if truth(node) else FALSE
    except ExpressionError:
        return ERROR
