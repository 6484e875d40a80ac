"""Groups of solutions and their aggregates (SPARQL 1.1, section 18.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.keys import Column, Mask
from everlog.lang.terms import BlankNode, Literal
from everlog.query.sparql.algebra import Aggregate
from everlog.query.sparql.expressions import EXACT_DIGITS, ExpressionEvaluator, matching
from everlog.query.sparql.ordering import ranks, without_value
from everlog.query.sparql.pool import UNBOUND, TermPool, distinct_ids
from everlog.query.sparql.table import SolutionTable, first_rows, groups
from everlog.query.sparql.terms import ExpressionError, Node, Number, number_of, string_node
from everlog.query.sparql.values import computed


@dataclass(frozen=True)
class Grouped:
    """The values of an expression in groups: the group, id and number of each value, and the number of groups."""

    group: Column
    ids: Column
    weights: Column
    count: int

    def bound(self) -> Grouped:
        kept = self.ids >= 0
        return Grouped(self.group[kept], self.ids[kept], self.weights[kept], self.count)

    def distinct(self) -> Grouped:
        """Each distinct value of a group once, with the number 1."""
        rows = first_rows([self.group, self.ids], len(self.ids))
        return Grouped(self.group[rows], self.ids[rows], np.ones(len(rows), np.int64), self.count)

    def summed(self) -> Grouped:
        """Each distinct value of a group in one row, with the sum of its numbers."""
        heads, place = groups([self.group, self.ids], len(self.ids))
        weights = np.zeros(len(heads), np.int64)
        np.add.at(weights, place, self.weights)
        return Grouped(self.group[heads], self.ids[heads], weights, self.count)

    def failed(self) -> Mask:
        """A mask of the groups that have a row without a value."""
        found = np.zeros(self.count, np.bool_)
        found[self.group[self.ids < 0]] = True
        return found


def aggregated(
    terms: TermPool,
    expressions: ExpressionEvaluator,
    table: SolutionTable,
    keys: Sequence[str] | None,
    aggregates: Sequence[Aggregate],
) -> SolutionTable:
    """A table with a row for each group: its keys and the results of the aggregates. Without keys there is one
    group."""
    if keys is None:
        heads, group, count = np.empty(0, np.int64), np.zeros(table.size, np.int64), 1
    else:
        heads, group = groups([table.column(key) for key in keys], table.size)
        count = len(heads)
    columns = {key: table.column(key)[heads] for key in keys or ()}
    weights = np.ones(table.size, np.int64) if table.weights is None else table.weights
    for aggregate in aggregates:
        if aggregate.argument is None:
            columns[aggregate.result] = _rows_counted(terms, table, Grouped(group, group, weights, count), aggregate)
            continue
        grouped = Grouped(group, expressions.values(aggregate.argument, table), weights, count)
        if aggregate.distinct:
            grouped = grouped.distinct()
        columns[aggregate.result] = AGGREGATES[aggregate.name](terms, grouped, aggregate)
    return SolutionTable(columns, count)


def _rows_counted(terms: TermPool, table: SolutionTable, grouped: Grouped, aggregate: Aggregate) -> Column:
    """The values of ``COUNT(*)``."""
    if aggregate.distinct:
        shown = [column for name, column in table.columns.items() if not name.startswith((".", "_:"))]
        rows = first_rows([grouped.group, *shown], table.size)
        grouped = Grouped(grouped.group[rows], rows, np.ones(len(rows), np.int64), grouped.count)
    return _count(terms, grouped, aggregate)


def _count(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
    grouped = grouped.bound()
    totals = np.zeros(grouped.count, np.int64)
    np.add.at(totals, grouped.group, grouped.weights)
    return terms.add_all([str(total) for total in totals.tolist()])


def _sum(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
    sums, _ = _totals(terms, grouped)
    return terms.add_nodes([None if total is None else total.node for total in sums])


def _average(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
    means: list[Node | None] = []
    for total, count in zip(*_totals(terms, grouped), strict=True):
        if total is None or not count:
            means.append(None if total is None else total.node)
        else:
            means.append(computed("/", total, Number(count, 0)).node)
    return terms.add_nodes(means)


def _totals(terms: TermPool, grouped: Grouped) -> tuple[list[Number | None], list[int]]:
    """The sum of each group, None if it has a value that is not a number, and the number of its values."""
    failed = grouped.failed()
    each = grouped.bound().summed()
    quick = _plain_totals(terms, each)
    if quick is not None:
        sums, counts = quick
        return [None if wrong else total for wrong, total in zip(failed.tolist(), sums, strict=True)], counts
    return _exact_totals(terms, each, failed)


def _plain_totals(terms: TermPool, each: Grouped) -> tuple[list[Number], list[int]] | None:
    """The totals computed on whole columns, None unless all values are integers of few digits or doubles."""
    different, places = distinct_ids(each.ids)
    texts = terms.texts(different)
    whole = matching(texts, rf"^-?[0-9]{{1,{EXACT_DIGITS}}}$")
    double = matching(texts, r"^-?[0-9.]+E")
    if not (whole | double).all():
        return None
    values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)[places]
    if whole.any() and (np.abs(values) * each.weights).sum() >= 1 << 53:
        return None
    is_whole = whole[places]
    integers, reals = np.zeros(each.count, np.int64), np.zeros(each.count)
    np.add.at(integers, each.group[is_whole], values[is_whole].astype(np.int64) * each.weights[is_whole])
    np.add.at(reals, each.group[~is_whole], values[~is_whole] * each.weights[~is_whole])
    inexact, counts = np.zeros(each.count, np.bool_), np.zeros(each.count, np.int64)
    inexact[each.group[~is_whole]] = True
    np.add.at(counts, each.group, each.weights)
    sums = [
        Number(integer + real, 3) if any_real else Number(integer, 0)
        for integer, real, any_real in zip(integers.tolist(), reals.tolist(), inexact.tolist(), strict=True)
    ]
    return sums, counts.tolist()


def _exact_totals(terms: TermPool, each: Grouped, failed: Mask) -> tuple[list[Number | None], list[int]]:
    """The totals computed value by value, for all kinds of numbers."""
    numbers, places = terms.mapped(number_of, each.ids)
    sums: list[Number | None] = [None if wrong else Number(0, 0) for wrong in failed.tolist()]
    counts = [0] * each.count
    rows = zip(each.group.tolist(), places.tolist(), each.weights.tolist(), strict=True)
    for group, place, weight in terms.watched(rows):
        number, total = numbers[place], sums[group]
        counts[group] += weight
        if number is None or total is None:
            sums[group] = None
        else:
            sums[group] = _added(total, number, weight)
    return sums, counts


def _added(total: Number, number: Number, weight: int) -> Number | None:
    try:
        product = number if weight == 1 else computed("*", number, Number(weight, 0))
        return computed("+", total, product)
    except ExpressionError:
        return None


def _extreme(least: bool) -> Callable[[TermPool, Grouped, Aggregate], Column]:
    """``MIN`` and ``MAX``, in the order of ORDER BY; ill-typed literals are used only if a group has no other value."""

    def function(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
        grouped = grouped.bound()
        place = ranks(terms, grouped.ids)
        order = np.lexsort([place if least else -place, without_value(terms, grouped.ids), grouped.group])
        return _first(grouped, order)

    return function


def _sample(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
    grouped = grouped.bound()
    return _first(grouped, np.argsort(grouped.group, kind="stable"))


def _first(grouped: Grouped, order: Column) -> Column:
    """The first value of each group in an order of the rows in which groups are contiguous."""
    found = np.full(grouped.count, UNBOUND, np.int64)
    ordered = grouped.group[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    found[ordered[first]] = grouped.ids[order[first]]
    return found


def _concatenated(terms: TermPool, grouped: Grouped, aggregate: Aggregate) -> Column:
    """The values of ``GROUP_CONCAT``, in the order of the rows."""
    grouped = grouped.bound()
    texts, places = terms.mapped(_content, grouped.ids)
    order = np.argsort(grouped.group, kind="stable")
    total = int(grouped.weights.sum())
    terms.limits.reserve(total, 64 * total)
    rows = np.repeat(order, grouped.weights[order])
    starts = np.searchsorted(grouped.group[rows], np.arange(grouped.count + 1)).tolist()
    pieces = [texts[place] for place in places[rows].tolist()]
    joined: list[Node | None] = []
    for first, last in terms.watched(pairwise(starts)):
        own = pieces[first:last]
        joined.append(None if None in own else string_node(aggregate.separator.join(own)))
    return terms.add_nodes(joined)


def _content(node: Node) -> str | None:
    if isinstance(node, BlankNode):
        return None
    return node.lexical if isinstance(node, Literal) else node.value


AGGREGATES: dict[str, Callable[[TermPool, Grouped, Aggregate], Column]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": _extreme(True),
    "max": _extreme(False),
    "sample": _sample,
    "groupconcat": _concatenated,
}
