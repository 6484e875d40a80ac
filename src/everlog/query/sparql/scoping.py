"""Checks of queries beyond the grammar (SPARQL 1.1, sections 10.2, 11.4, 18.2.1 and 19.6).

The checks work on rdflib's parse tree, before it is translated: the translation takes a sample of variables that are
not grouped, fills or cuts rows of VALUES, and treats equal labels of blank nodes as one variable everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from pyparsing import ParseResults
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode
from rdflib.term import Variable as RdflibVariable

from everlog.lang.codes import Code
from everlog.lang.errors import Place, RuleError
from everlog.lang.layout import counted

Locate = Callable[[re.Match[str] | None], Place]
"""The place of a match in the text of the query."""

QUERIES = frozenset({"SelectQuery", "SubSelect", "ConstructQuery", "DescribeQuery", "AskQuery"})
PATTERN = frozenset({"GroupGraphPatternSub", "FakeGroupGraphPatten", "SubSelect"})
SERVICE = "Service"
"""A new name for SERVICE patterns: under their own name rdflib copies their text, endlessly if they are nested."""

REFERENCE = "Reference"
"""A node for a variable of a grouped query that is a key or an earlier result; rdflib would take a sample of it."""

NO_COLUMNS = "_:.none"
"""The variable that is added to a VALUES block without variables."""


class Scoping:
    """The checks of one query or update request."""

    def __init__(self, source: str, locate: Locate) -> None:
        self._source = source
        self._locate = locate

    def check_query(self, tree: Any) -> None:
        """Raise an error for a query that the grammar allows and the standard does not; prepare grouped queries."""
        self._check_nodes(tree)
        self._check_labels(_basic_patterns(tree), *IN_PATTERNS)

    def check_update(self, tree: Any) -> None:
        self._check_nodes(tree)
        inserted: list[set[str]] = []
        for operation in tree.request or ():
            self._check_labels(_basic_patterns(operation), *IN_PATTERNS)
            if operation.name == "InsertData":
                inserted.append(set(map(str, _leaves(operation, BNode))))
        self._check_labels(inserted, *IN_DATA)

    # the whole tree -----------------------------------------------------------------------------

    def _check_nodes(self, tree: Any) -> None:
        nodes = list(_nodes(tree))
        if any(node.name == SERVICE for node in nodes):
            hint = "a query sees this knowledge base only"
            raise RuleError.of(Code.UNSUPPORTED_SPARQL, "SERVICE is not supported", self._keyword("SERVICE"), hint)
        queries = [node for node in nodes if node.name in QUERIES]
        allowed = {id(each) for query in queries for part in _after_where(query) for each in _aggregates(part)}
        self._check_aggregates(nodes, allowed)
        for node in nodes:
            if node.name in ("InlineData", "ValuesClause"):
                self._check_values(node)
        for query in queries:
            self._check_names(query)
            if query.groupby or any(True for part in _after_where(query) for _ in _aggregates(part)):
                self._check_groups(query)

    def _check_aggregates(self, nodes: Iterable[CompValue], allowed: set[int]) -> None:
        """Check that aggregates are in SELECT, HAVING or ORDER BY, and not inside each other."""
        for node in nodes:
            if not _is_aggregate(node):
                continue
            name = node.name.removeprefix("Aggregate_").upper()
            inner = [each.name.removeprefix("Aggregate_").upper() for each in _aggregates(list(node.values()))]
            if inner:
                message, hint = f"{inner[0]} is inside of {name}", "compute the inner one in a subquery"
                raise self._error(Code.AGGREGATE_IN_AGGREGATE, message, rf"\b{name}\b", hint)
            if id(node) not in allowed:
                message = f"{name} stands where there are no groups"
                hint = "write it in SELECT or ORDER BY, or as a condition in HAVING after the pattern"
                raise self._error(Code.MISPLACED_AGGREGATE, message, rf"\b{name}\b", hint)

    def _check_values(self, node: CompValue) -> None:
        """Check that each row of VALUES has a value for each variable; add a variable without values if there is
        none."""
        names = [str(name) for name in node.var or ()]
        rows = list(node.value or ())
        for name in names:
            if names.count(name) > 1:
                message = f"VALUES has the variable ?{name} twice"
                raise self._error(Code.SPARQL_SYNTAX, message, rf"[?$]{re.escape(name)}(?!\w)", "leave one of them out")
        for number, row in enumerate(rows, 1):
            if isinstance(row, list | ParseResults) and len(row) != len(names):
                values, variables = counted(len(row), "value"), counted(len(names), "variable")
                message = f"row {number} of VALUES has {values} for {variables}"
                hint = "UNDEF stands for a value that is not given"
                raise RuleError.of(Code.VALUES_WIDTH, message, self._keyword("VALUES"), hint)
        if not names and rows:
            node["var"], node["value"] = [RdflibVariable(NO_COLUMNS)], [["UNDEF"] for _ in rows]

    # one query ----------------------------------------------------------------------------------

    def _check_names(self, query: CompValue) -> None:
        """Check that each name after AS is used once in a SELECT clause."""
        shown = [str(each.evar or each.var) for each in query.projection or ()]
        for name in (str(each.evar) for each in query.projection or () if each.evar):
            if shown.count(name) > 1:
                message = f"?{name} has a value already where `AS ?{name}` gives it one"
                raise self._error(Code.VARIABLE_IN_USE, message, rf"(?i:AS)\s+[?$]{re.escape(name)}(?!\w)", CHOOSE)

    def _check_groups(self, query: CompValue) -> None:
        """Check that variables outside of aggregates in a grouped query are keys, or results of earlier expressions."""
        if query.name in ("SelectQuery", "SubSelect") and not query.projection:
            hint = "list the variables that the query is grouped by, and aggregates"
            place = self._locate(re.search(r"\*", self._source))
            raise RuleError.of(Code.SELECT_ALL_OF_GROUPS, "SELECT * has no meaning for groups", place, hint)
        keys = [each if isinstance(each, RdflibVariable) else each.var for each in _conditions(query)]
        grouped = {str(key) for key in keys if key is not None}
        known = set(grouped)
        for name in map(str, chain(_leaves(query.template, RdflibVariable), query.var or ())):
            self._require(name, known)
        for each in query.projection or ():
            if each.evar:
                each["expr"] = self._referenced(each.expr, known)
                known.add(str(each.evar))
            else:
                self._require(str(each.var), known)
        if query.having:
            self._check_having(query.having, known - grouped)
            query.having["condition"] = [self._referenced(each, grouped) for each in query.having.condition]
        if query.orderby:
            query.orderby["condition"] = [self._referenced(each, known) for each in query.orderby.condition]

    def _check_having(self, having: CompValue, results: set[str]) -> None:
        """Check that HAVING uses no names after AS, which have no values yet."""
        for name in _free_variables(having.condition):
            if name in results:
                message = f"?{name} has no value yet in HAVING, which chooses groups before `AS ?{name}` gives it one"
                hint = f"write in HAVING what stands before `AS ?{name}`, such as HAVING (SUM(?x) > 1)"
                keyword = re.search(r"\bHAVING\b", self._source, re.IGNORECASE)
                variable = re.compile(rf"[?$]{re.escape(name)}(?!\w)")
                place = self._locate(variable.search(self._source, keyword.end() if keyword else 0))
                raise RuleError.of(Code.RESULT_IN_HAVING, message, place, hint)

    def _referenced(self, expression: Any, known: set[str]) -> Any:
        """The expression with references instead of the variables that are not inside of aggregates."""
        if isinstance(expression, RdflibVariable):
            self._require(str(expression), known)
            return CompValue(REFERENCE, variable=str(expression))
        if isinstance(expression, list | ParseResults):
            return [self._referenced(each, known) for each in expression]
        if isinstance(expression, CompValue) and _is_plain(expression):
            for key, value in list(expression.items()):
                expression[key] = self._referenced(value, known)
        return expression

    def _require(self, name: str, known: set[str]) -> None:
        if name not in known:
            message = f"?{name} is neither a variable that the query is grouped by nor inside of an aggregate"
            hint = (
                f"add ?{name} to GROUP BY, or say which of its values is meant, such as MIN(?{name}) or SAMPLE(?{name})"
            )
            raise self._error(Code.UNGROUPED_VARIABLE, message, rf"[?$]{re.escape(name)}(?!\w)", hint)

    def _check_labels(self, patterns: Iterable[set[str]], where: str, hint: str) -> None:
        """Check that each label of a blank node is in one basic graph pattern only, or in one INSERT DATA of a
        request."""
        seen: set[str] = set()
        for labels in patterns:
            for label in sorted(labels & seen):
                places = list(re.finditer(rf"_:{re.escape(label)}(?![\w-])", self._source))
                message = f"the blank node _:{label} stands in two {where}, and its label holds in one only"
                raise RuleError.of(Code.BLANK_NODE_SCOPE, message, self._locate(places[-1] if places else None), hint)
            seen |= labels

    # places -------------------------------------------------------------------------------------

    def _error(self, code: Code, message: str, at: str, hint: str) -> RuleError:
        return RuleError.of(code, message, self._locate(re.search(at, self._source, re.IGNORECASE)), hint)

    def _keyword(self, word: str) -> Place:
        return self._locate(re.search(rf"\b{word}\b", self._source, re.IGNORECASE))


CHOOSE = "choose another name after AS"
IN_PATTERNS = ("patterns", "put a variable in its place if both are the same node, or use two labels")
IN_DATA = ("INSERT DATA", "write one INSERT DATA if both are the same node, or use two labels")


def _parts(tree: Any, enter: Callable[[CompValue], bool] = lambda node: True) -> Iterator[Any]:
    """All nodes and leaves of a tree, parents before their children; ``enter`` is whether to look inside a node."""
    yield tree
    if isinstance(tree, CompValue):
        tree = list(tree.values()) if enter(tree) else ()
    if isinstance(tree, list | tuple | ParseResults):
        for each in tree:
            yield from _parts(each, enter)


def _nodes(tree: Any) -> Iterator[CompValue]:
    return (part for part in _parts(tree) if isinstance(part, CompValue))


def _leaves(tree: Any, kind: type) -> Iterator[Any]:
    return (part for part in _parts(tree) if isinstance(part, kind))


def _is_aggregate(node: Any) -> bool:
    return isinstance(node, CompValue) and node.name.startswith("Aggregate_")


def _is_plain(node: CompValue) -> bool:
    """Whether a node of an expression is neither an aggregate nor a pattern of EXISTS."""
    return not _is_aggregate(node) and node.name not in PATTERN


def _aggregates(tree: Any) -> Iterator[CompValue]:
    """The outermost aggregates of an expression, without those in patterns of EXISTS."""
    return filter(_is_aggregate, _parts(tree, _is_plain))


def _free_variables(tree: Any) -> Iterator[str]:
    """The variables of an expression that are neither inside of aggregates nor in patterns of EXISTS."""
    return (str(part) for part in _parts(tree, _is_plain) if isinstance(part, RdflibVariable))


def _after_where(query: CompValue) -> Iterator[Any]:
    """The parts of a query in which aggregates are allowed."""
    yield from (each.expr for each in query.projection or () if each.evar)
    yield query.having
    yield query.orderby


def _conditions(query: CompValue) -> list[Any]:
    return list(query.groupby.condition) if query.groupby else []


def _basic_patterns(tree: Any) -> Iterator[set[str]]:
    """The labels of blank nodes in each basic graph pattern, which ends at any pattern other than a FILTER."""
    for node in _nodes(tree):
        if node.name not in ("GroupGraphPatternSub", "FakeGroupGraphPatten"):
            continue
        labels: set[str] = set()
        for part in node.part or ():
            if part.name == "TriplesBlock":
                labels.update(map(str, _leaves(part, BNode)))
            elif part.name != "Filter":
                yield labels
                labels = set()
        yield labels
