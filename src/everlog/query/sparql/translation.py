"""Translation of rdflib's algebra into :mod:`.algebra`.

Details that rdflib leaves to its evaluator are resolved here: paths become joins and unions where possible, unnamed
group conditions get names, ``SELECT *`` gets its columns in the order of the text, and unsupported parts raise an error
that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from rdflib import paths as rdflib_paths
from rdflib.plugins.sparql import algebra as rdflib_algebra
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, URIRef
from rdflib.term import Literal as RdflibLiteral
from rdflib.term import Variable as RdflibVariable

from everlog.lang.codes import Code
from everlog.lang.errors import RuleError
from everlog.lang.syntax import Constant, Variable
from everlog.lang.terms import RDF, is_convertible, literal_text
from everlog.query.sparql import algebra
from everlog.query.sparql.algebra import Expression, Operation, Path, Pattern, Quad, Term, Triple
from everlog.query.sparql.functions import FUNCTIONS
from everlog.query.sparql.scoping import REFERENCE
from everlog.query.sparql.templates import template_names

AGGREGATED = "__agg_"
"""The prefix that rdflib gives to variables for aggregates."""

MOST_ROWS = 1 << 61
"""Greatest value of LIMIT and OFFSET; greater ones are read as this one."""

REPETITIONS = {"?": (0, False), "*": (0, True), "+": (1, True)}
ARGUMENTS = ("arg", "arg1", "arg2", "arg3", "text", "start", "length", "pattern", "replacement", "flags")
"""The names of the arguments of built-in functions, in the order in which functions take them."""


def unsupported(what: str, hint: str | None = None) -> RuleError:
    return RuleError.of(Code.UNSUPPORTED_SPARQL, f"{what} is not supported", None, hint)


def translate_query(tree: Any, namespaces: Mapping[str, str], base: str, source: str) -> algebra.SparqlQuery:
    """A query as rdflib has parsed it."""
    parsed = tree[1]
    name, shown = parsed.name, parsed.projection
    if name == "DescribeQuery" and parsed.var is None:
        found: set[Any] = set()
        rdflib_algebra.traverse(parsed.where, lambda x: rdflib_algebra._findVars(x, found))
        parsed["var"] = sorted(found)
    short = name == "ConstructQuery" and parsed.where is not None and parsed.where.name == "FakeGroupGraphPatten"
    translated = rdflib_algebra.translateQuery(tree, base or None, dict(namespaces))
    root, own_base = translated.algebra, str(translated.prologue.base or "")
    translation = _QueryTranslation()
    pattern = algebra.Basic() if root.p is None else translation.pattern(root.p)
    graphs = _graphs(root.datasetClause)
    form: algebra.Select | algebra.Ask | algebra.Construct | algebra.Describe
    if name == "SelectQuery":
        form = translation.select(pattern, root.PV, shown is None, source)
    elif name == "AskQuery":
        form = algebra.Ask(pattern)
    elif name == "ConstructQuery":
        triples = _where_triples(root.p) if short else root.template or ()
        template = tuple(map(translation.template_triple, triples))
        form = algebra.Construct(template, _projected(pattern, tuple(sorted(template_names(template)))))
    else:
        form = algebra.Describe(tuple(map(_term, root.PV)), pattern)
    return algebra.SparqlQuery(form, graphs, own_base)


def translate_update(translated: Any, base: str) -> list[Operation]:
    """An update request as rdflib has translated it."""
    return [_operation(request) for request in getattr(translated, "algebra", translated)]


def _where_triples(pattern: Any) -> Iterable[Any]:
    while pattern.name != "BGP":
        pattern = pattern.p
    found: Iterable[Any] = pattern.triples
    return found


def _graphs(clauses: Iterable[Any] | None) -> algebra.From | None:
    if not clauses:
        return None
    default = tuple(_term_text(clause.default) for clause in clauses if clause.default)
    named = tuple(_term_text(clause.named) for clause in clauses if clause.named)
    return algebra.From(default, named)


# terms ------------------------------------------------------------------------------------------


def _term(term: Any) -> Term:
    if isinstance(term, RdflibVariable):
        return Variable(str(term))
    if isinstance(term, BNode):
        return Variable(f"_:{term}")
    return Constant(_term_text(term))


def _term_text(term: Any) -> str:
    if isinstance(term, URIRef):
        return f"<{term}>"
    if isinstance(term, RdflibLiteral):
        datatype = None if term.datatype is None else str(term.datatype)
        return literal_text(str(term), datatype, term.language)
    raise unsupported(f"the term {term!r}")


# paths ------------------------------------------------------------------------------------------


def _path(path: Any) -> Path:
    if isinstance(path, URIRef):
        return algebra.Link(f"<{path}>")
    if isinstance(path, rdflib_paths.InvPath):
        return algebra.Inverse(_path(path.arg))
    if isinstance(path, rdflib_paths.SequencePath):
        return algebra.Sequence(tuple(map(_path, path.args)))
    if isinstance(path, rdflib_paths.AlternativePath):
        return algebra.Alternative(tuple(map(_path, path.args)))
    if isinstance(path, rdflib_paths.MulPath):
        return algebra.Repeated(_path(path.path), *REPETITIONS[str(path.mod)])
    if isinstance(path, rdflib_paths.NegatedPath):
        properties: list[Any] = list(path.args)
        forward = tuple(f"<{each}>" for each in properties if isinstance(each, URIRef))
        backward = tuple(f"<{each.part}>" for each in properties if isinstance(each, CompValue))
        return algebra.Negated(forward if forward or not backward else None, backward or None)
    raise unsupported(f"the path {path}")


def _joined(patterns: Iterable[Pattern]) -> Pattern:
    found: Pattern = algebra.Basic()
    for pattern in patterns:
        if found == algebra.Basic():
            found = pattern
        elif pattern != algebra.Basic():
            found = algebra.Join(found, pattern)
    return found


class _QueryTranslation:
    """The translation of one query, with the names that it has generated."""

    def __init__(self) -> None:
        self._numbers = count()
        self._conditions: list[str] = []
        self._patterns: dict[str, Callable[[Any], Pattern]] = {
            "BGP": self._basic,
            "Join": lambda n: _joined((self.pattern(n.p1), self.pattern(n.p2))),
            "LeftJoin": self._left_join,
            "Minus": lambda n: algebra.Minus(self.pattern(n.p1), self.pattern(n.p2)),
            "Union": lambda n: algebra.Union(self.pattern(n.p1), self.pattern(n.p2)),
            "Graph": lambda n: algebra.InGraph(self.pattern(n.p), _term(n.term)),
            "Filter": lambda n: algebra.Filter(self.pattern(n.p), self.expression(n.expr)),
            "Extend": self._extend,
            "ToMultiSet": self._multiset,
            "AggregateJoin": self._group,
            "Project": lambda n: algebra.Project(self.pattern(n.p), tuple(map(str, n.PV))),
            "Distinct": lambda n: algebra.Distinct(self.pattern(n.p)),
            "Reduced": lambda n: self.pattern(n.p),
            "OrderBy": self._order_by,
            "Slice": lambda n: algebra.Slice(
                self.pattern(n.p), _rows(n.start or 0), None if n.length is None else _rows(n.length)
            ),
        }

    def _fresh(self, kind: str) -> str:
        """A name that no variable or blank node of a query has."""
        return f"_:.{kind}{next(self._numbers)}"

    # patterns -----------------------------------------------------------------------------------

    def pattern(self, node: Any) -> Pattern:
        if node.name in ("GroupGraphPatternSub", "SubSelect"):
            node = rdflib_algebra.traverse(node, visitPost=rdflib_algebra.translatePath)
            node = rdflib_algebra.translateGroupGraphPattern(node)
        if node.name not in self._patterns:
            raise unsupported(node.name)
        return self._patterns[node.name](node)

    def select(self, pattern: Pattern, columns: Iterable[Any], everything: bool, source: str) -> algebra.Select:
        if not everything:
            return algebra.Select(pattern, tuple(map(str, columns)))
        inner: Any = pattern
        while not isinstance(inner, algebra.Project):
            inner = inner.pattern
        names = [name for name in inner.pattern.variables if not name.startswith(("_:", AGGREGATED))]
        ordered = tuple(sorted(names, key=lambda name: _position(name, source)))
        return algebra.Select(_projected(pattern, ordered), ordered)

    def triple(self, subject: Term, path: Any, value: Term) -> Iterator[Triple | Pattern]:
        """A triple pattern, or the patterns for a path between two terms."""
        if isinstance(path, RdflibVariable | URIRef | BNode):
            yield Triple(subject, _term(path), value)
        else:
            yield from self._connected(subject, _path(path), value)

    def _connected(self, subject: Term, path: Path, value: Term) -> Iterator[Triple | Pattern]:
        if isinstance(path, algebra.Link):
            yield Triple(subject, Constant(path.iri), value)
        elif isinstance(path, algebra.Inverse):
            yield from self._connected(value, path.path, subject)
        elif isinstance(path, algebra.Sequence):
            between = [subject, *(Variable(self._fresh("path")) for _ in path.parts[1:]), value]
            for i, part in enumerate(path.parts):
                yield from self._connected(between[i], part, between[i + 1])
        elif isinstance(path, algebra.Alternative):
            sides = [_gathered(self._connected(subject, part, value)) for part in path.parts]
            both = sides[0]
            for side in sides[1:]:
                both = algebra.Union(both, side)
            yield both
        elif isinstance(path, algebra.Negated):
            yield self._negated(subject, path, value)
        else:
            yield algebra.PathPattern(subject, path, value)

    def _negated(self, subject: Term, path: algebra.Negated, value: Term) -> Pattern:
        """A negated property set: a solution for each triple with another property."""
        found: list[Pattern] = []
        for excluded, one, other in ((path.forward, subject, value), (path.backward, value, subject)):
            if excluded is not None:
                predicate = Variable(self._fresh("path"))
                allowed = algebra.Call("not in", (predicate, *map(Constant, excluded)))
                found.append(algebra.Filter(algebra.Basic((Triple(one, predicate, other),)), allowed))
        return found[0] if len(found) == 1 else algebra.Union(*found)

    def _basic(self, node: Any) -> Pattern:
        parts = [part for s, p, o in node.triples for part in self.triple(_term(s), p, _term(o))]
        return _gathered(parts)

    def template_triple(self, triple: Any) -> Triple:
        subject, predicate, value = triple
        return Triple(_term(subject), _term(predicate), _term(value))

    def _left_join(self, node: Any) -> Pattern:
        condition = None if node.expr.name == "TrueFilter" else self.expression(node.expr)
        return algebra.LeftJoin(self.pattern(node.p1), self.pattern(node.p2), condition)

    def _extend(self, node: Any) -> Pattern:
        if node.var is None:  # an unnamed condition of GROUP BY; the outermost is the last
            variable = self._conditions.pop()
            return algebra.Extend(self.pattern(node.p), variable, self.expression(node.expr))
        inner, expression, name = self.pattern(node.p), self.expression(node.expr), str(node.var)
        if isinstance(expression, Variable) and expression.name.startswith(AGGREGATED) and name in inner.variables:
            return inner  # a sample of a key is that key
        if name in inner.variables:
            message = f"?{name} has a value already where `AS ?{name}` gives it one"
            raise RuleError.of(Code.VARIABLE_IN_USE, message, None, "choose another name after AS")
        return algebra.Extend(inner, name, expression)

    def _multiset(self, node: Any) -> Pattern:
        if isinstance(node.p, list):
            return algebra.Values((), ())
        if node.p.name != "values":
            return self.pattern(node.p)
        columns = tuple(dict.fromkeys(str(name) for row in node.p.res for name in row))
        rows = tuple(
            tuple(_term_text(value) if isinstance(value, URIRef | RdflibLiteral) else None for value in row.values())
            for row in node.p.res
        )
        return algebra.Values(columns, rows)

    def _group(self, node: Any) -> Pattern:
        group = node.p
        conditions = group.expr
        named: list[str] = []
        computed: list[tuple[str, Expression]] = []
        for condition in conditions or ():
            if isinstance(condition, RdflibVariable):
                named.append(str(condition))
                continue
            named.append(self._fresh("key"))
            if condition is None:
                self._conditions.append(named[-1])
            else:
                computed.append((named[-1], self.expression(condition)))
        pattern = self.pattern(group.p)
        for name, expression in computed:
            pattern = algebra.Extend(pattern, name, expression)
        aggregates = tuple(self._aggregate(each) for each in node.A)
        return algebra.Grouping(pattern, None if conditions is None else tuple(named), aggregates)

    def _aggregate(self, node: Any) -> algebra.Aggregate:
        name = node.name.removeprefix("Aggregate_").lower()
        argument = None if isinstance(node.vars, str) and node.vars == "*" and not _is_term(node.vars) else node.vars
        separator = " " if node.separator is None else str(node.separator)
        expression = None if argument is None else self.expression(argument)
        return algebra.Aggregate(name, expression, bool(node.distinct), str(node.res), separator)

    def _order_by(self, node: Any) -> Pattern:
        conditions = tuple((self.expression(c.expr), c.order == "DESC") for c in node.expr)
        return algebra.OrderBy(self.pattern(node.p), conditions)

    # expressions --------------------------------------------------------------------------------

    def expression(self, node: Any) -> Expression:
        if _is_term(node):
            return _term(node)
        if not isinstance(node, CompValue):
            if len(node) == 1:
                return self.expression(node[0])
            raise unsupported(f"the expression {node}")
        name = node.name
        if name == REFERENCE:
            return Variable(node.variable)
        if name == "RelationalExpression":
            return self._relational(node)
        if name in ("ConditionalAndExpression", "ConditionalOrExpression"):
            operator = "&&" if name == "ConditionalAndExpression" else "||"
            return algebra.Call(operator, tuple(map(self.expression, (node.expr, *node.other))))
        if name in ("AdditiveExpression", "MultiplicativeExpression"):
            found = self.expression(node.expr)
            for operator, other in zip(node.op, node.other, strict=True):
                found = algebra.Call(str(operator), (found, self.expression(other)))
            return found
        if name in ("UnaryNot", "UnaryMinus", "UnaryPlus"):
            operator = {"UnaryNot": "!", "UnaryMinus": "unary -", "UnaryPlus": "unary +"}[name]
            return algebra.Call(operator, (self.expression(node.expr),))
        if name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            exists = algebra.Exists(self.pattern(node.graph))
            return exists if name == "Builtin_EXISTS" else algebra.Call("!", (exists,))
        if name == "Function":
            return self._cast(node)
        if name.startswith("Builtin_"):
            return algebra.Call(name.removeprefix("Builtin_").lower(), tuple(self._arguments(node)))
        raise unsupported(f"the expression {name}")

    def _relational(self, node: Any) -> Expression:
        operator = str(node.op).lower()
        if operator not in ("in", "not in"):
            return algebra.Call(operator, (self.expression(node.expr), self.expression(node.other)))
        others = () if node.other == URIRef(RDF + "nil") else node.other
        return algebra.Call(operator, tuple(map(self.expression, (node.expr, *others))))

    def _arguments(self, node: Any) -> Iterator[Expression]:
        for name in ARGUMENTS:
            if name not in node or node[name] is None:
                continue
            value = node[name]
            if node.name in ("Builtin_CONCAT", "Builtin_COALESCE"):
                yield from map(self.expression, () if _is_term(value) and value == URIRef(RDF + "nil") else value)
            else:
                yield self.expression(value)

    def _cast(self, node: Any) -> Expression:
        iri = str(node.iri)
        if iri not in FUNCTIONS:
            raise unsupported(f"the function <{iri}>", "beside the functions of SPARQL 1.1 there are the casts of xsd:")
        arguments = tuple(map(self.expression, node.expr or ()))
        if len(arguments) != 1:
            raise RuleError.of(Code.SPARQL_SYNTAX, f"<{iri}> takes one argument, not {len(arguments)}")
        return algebra.Call(iri, arguments)


def _rows(number: Any) -> int:
    """A number of rows, at most the largest that can be counted."""
    digits = str(number)
    return min(int(digits), MOST_ROWS) if is_convertible(digits) else MOST_ROWS


def _is_term(node: Any) -> bool:
    return isinstance(node, RdflibVariable | BNode | URIRef | RdflibLiteral)


def _gathered(parts: Iterable[Triple | Pattern]) -> Pattern:
    """The triples as one basic graph pattern, joined with the other patterns."""
    listed = list(parts)
    triples = tuple(part for part in listed if isinstance(part, Triple))
    return _joined([algebra.Basic(triples), *(part for part in listed if not isinstance(part, Triple))])


def _position(name: str, source: str) -> tuple[int, str]:
    found = re.search(rf"[?$]{re.escape(name)}(?!\w)", source)
    return (len(source) if found is None else found.start()), name


def _projected(pattern: Any, columns: tuple[str, ...]) -> Pattern:
    """The pattern with other columns in its outermost projection."""
    if isinstance(pattern, algebra.Project):
        return algebra.Project(pattern.pattern, columns)
    inner = _projected(pattern.pattern, columns)
    if isinstance(pattern, algebra.Slice):
        return algebra.Slice(inner, pattern.offset, pattern.limit)
    return algebra.Distinct(inner)


# updates ----------------------------------------------------------------------------------------


def _operation(request: Any) -> Operation:
    base = str(request.prologue.base or "")
    translation = _QueryTranslation()
    if request.name == "InsertData":
        return algebra.Modify((), _ground(translation, request), algebra.Basic(), base=base)
    if request.name == "DeleteData":
        return algebra.Modify(_without_blanks(_ground(translation, request)), (), algebra.Basic(), base=base)
    if request.name == "DeleteWhere":
        quads = _without_blanks(_quads(translation, request, None))
        return algebra.Modify(quads, (), _quad_pattern(quads), base=base)
    if request.name == "Modify":
        return _modify(translation, request, base)
    if request.name in ("Clear", "Drop"):
        target = request.graphiri
        if isinstance(target, URIRef):
            return algebra.Clear(False, False, f"<{target}>")
        return algebra.Clear(target in ("DEFAULT", "ALL"), target in ("NAMED", "ALL"))
    hint = "use `everlog update --insert FILE`" if request.name == "Load" else None
    raise unsupported(request.name.upper(), hint)


def _modify(translation: _QueryTranslation, request: Any, base: str) -> algebra.Modify:
    own = None if request.withClause is None else Constant(f"<{request.withClause}>")
    delete = _without_blanks(_quads(translation, request.delete, own)) if request.delete else ()
    insert = _quads(translation, request.insert, own) if request.insert else ()
    where, graph = translation.pattern(request.where), None if own is None else own.text
    return algebra.Modify(delete, insert, where, _graphs(request.using), graph, base)


def _quads(translation: _QueryTranslation, node: Any, graph: Constant | None) -> tuple[Quad, ...]:
    found: list[Quad] = [(graph, translation.template_triple(triple)) for triple in node.triples or ()]
    for name, triples in (node.quads or {}).items():
        found += [(_term(name), translation.template_triple(triple)) for triple in triples]
    return tuple(found)


def _ground(translation: _QueryTranslation, request: Any) -> tuple[Quad, ...]:
    quads = _quads(translation, request, None)
    for graph, triple in quads:
        for term in (graph, *triple):
            if isinstance(term, Variable) and not term.name.startswith("_:"):
                hint = "write INSERT { ... } WHERE { ... } or DELETE WHERE { ... } to use variables"
                raise RuleError.of(Code.SPARQL_SYNTAX, f"?{term.name} is a variable, and DATA has none", None, hint)
    return quads


def _without_blanks(quads: tuple[Quad, ...]) -> tuple[Quad, ...]:
    for _, triple in quads:
        if any(isinstance(term, Variable) and term.name.startswith("_:") for term in triple):
            hint = "put a variable in its place, and in WHERE what it is"
            raise RuleError.of(Code.BLANK_NODE_IN_DELETE, "a blank node cannot be deleted by its label", None, hint)
    return quads


def _quad_pattern(quads: Iterable[Quad]) -> Pattern:
    by_graph: dict[Term | None, list[Triple]] = {}
    for graph, triple in quads:
        by_graph.setdefault(graph, []).append(triple)
    patterns: list[Pattern] = []
    for graph, triples in by_graph.items():
        basic = algebra.Basic(tuple(triples))
        patterns.append(basic if graph is None else algebra.InGraph(basic, graph))
    return _joined(patterns)
