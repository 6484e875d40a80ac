"""The SPARQL algebra as data: a query before it is evaluated.

Terms are those of rules: a :class:`Variable`, or a :class:`Constant` by its canonical text. Blank nodes of a query are
variables whose names begin with ``_:``, which no other variable can have. Every pattern gives the ``variables`` that
its solutions may bind, and those that are ``certain`` to be bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from everlog.lang.syntax import Constant, Variable

Term = Variable | Constant
Names = frozenset[str]
NO_NAMES: Names = frozenset()

# expressions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call of a function or operator by its name in lower case: ``strlen``, ``+``, ``&&``, or the IRI of a cast."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Exists:
    """The condition ``EXISTS { pattern }``; its negation is a ``Call("!", ...)`` of it."""

    pattern: Pattern


Expression = Variable | Constant | Call | Exists


def names_in(expression: Expression) -> Names:
    """The variables that the value of an expression may depend on.

    >>> sorted(names_in(Call("+", (Variable("x"), Variable("y")))))
    ['x', 'y']
    """
    if isinstance(expression, Variable):
        return frozenset({expression.name})
    if isinstance(expression, Call):
        return NO_NAMES.union(*map(names_in, expression.arguments))
    if isinstance(expression, Exists):
        return mentioned(expression.pattern)
    return NO_NAMES


@dataclass(frozen=True)
class Aggregate:
    """An aggregate such as ``COUNT(DISTINCT ?x) AS result``; without an argument it counts solutions."""

    name: str
    argument: Expression | None
    distinct: bool
    result: str
    separator: str = " "


# paths ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """A path of one property."""

    iri: str


@dataclass(frozen=True)
class Inverse:
    path: Path


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Path, ...]


@dataclass(frozen=True)
class Alternative:
    parts: tuple[Path, ...]


@dataclass(frozen=True)
class Repeated:
    """A path ``path?``, ``path*`` or ``path+``: at least ``least`` times, and at most once unless ``many``."""

    path: Path
    least: int
    many: bool


@dataclass(frozen=True)
class Negated:
    """A path ``!(p|^q)``: any property except those of ``forward``, or the inverse of any except those of
    ``backward``."""

    forward: tuple[str, ...] | None
    backward: tuple[str, ...] | None


Path = Link | Inverse | Sequence | Alternative | Repeated | Negated

# patterns ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """A pattern, or what SELECT makes of its solutions."""

    @property
    def parts(self) -> tuple[Pattern, ...]:
        """The patterns that it contains directly."""
        return ()

    @property
    def variables(self) -> Names:
        """The variables that its solutions may bind."""
        return NO_NAMES.union(*(part.variables for part in self.parts))

    @property
    def certain(self) -> Names:
        """The variables that each of its solutions binds."""
        return NO_NAMES.union(*(part.certain for part in self.parts))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()


@dataclass(frozen=True)
class OnePattern(Pattern):
    pattern: Pattern

    @property
    def parts(self) -> tuple[Pattern, ...]:
        return (self.pattern,)


@dataclass(frozen=True)
class TwoPatterns(Pattern):
    left: Pattern
    right: Pattern

    @property
    def parts(self) -> tuple[Pattern, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class Triple:
    """A triple pattern; also a triple of a template."""

    subject: Term
    predicate: Term
    object: Term

    def __iter__(self) -> Iterator[Term]:
        return iter((self.subject, self.predicate, self.object))

    @property
    def names(self) -> Names:
        return frozenset(term.name for term in self if isinstance(term, Variable))


@dataclass(frozen=True)
class Basic(Pattern):
    """A basic graph pattern."""

    triples: tuple[Triple, ...] = ()

    @cached_property
    def variables(self) -> Names:
        return NO_NAMES.union(*(triple.names for triple in self.triples))

    @property
    def certain(self) -> Names:
        return self.variables


@dataclass(frozen=True)
class PathPattern(Pattern):
    """Two terms connected by a repeated path, whose solutions are a set."""

    subject: Term
    path: Repeated
    object: Term

    @property
    def variables(self) -> Names:
        return frozenset(term.name for term in (self.subject, self.object) if isinstance(term, Variable))

    @property
    def certain(self) -> Names:
        return self.variables


@dataclass(frozen=True)
class Values(Pattern):
    """Solutions written in the query: rows of texts, None where a variable is left unbound."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    @property
    def variables(self) -> Names:
        return frozenset(self.columns)

    @property
    def certain(self) -> Names:
        return frozenset(c for i, c in enumerate(self.columns) if all(row[i] is not None for row in self.rows))


@dataclass(frozen=True)
class Join(TwoPatterns):
    @cached_property
    def variables(self) -> Names:
        return super().variables


@dataclass(frozen=True)
class LeftJoin(TwoPatterns):
    """A pattern ``left OPTIONAL { right FILTER condition }``."""

    condition: Expression | None = None

    @property
    def certain(self) -> Names:
        return self.left.certain

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return () if self.condition is None else (self.condition,)


@dataclass(frozen=True)
class Minus(TwoPatterns):
    @property
    def variables(self) -> Names:
        return self.left.variables

    @property
    def certain(self) -> Names:
        return self.left.certain


@dataclass(frozen=True)
class Union(TwoPatterns):
    @property
    def certain(self) -> Names:
        return self.left.certain & self.right.certain


@dataclass(frozen=True)
class InGraph(OnePattern):
    """A pattern ``GRAPH term { pattern }``."""

    graph: Term

    @property
    def variables(self) -> Names:
        return self.pattern.variables | ({self.graph.name} if isinstance(self.graph, Variable) else NO_NAMES)

    @property
    def certain(self) -> Names:
        return self.pattern.certain | ({self.graph.name} if isinstance(self.graph, Variable) else NO_NAMES)


@dataclass(frozen=True)
class Filter(OnePattern):
    condition: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)


@dataclass(frozen=True)
class Extend(OnePattern):
    """A pattern followed by ``BIND(expression AS ?variable)``."""

    variable: str
    expression: Expression

    @property
    def variables(self) -> Names:
        return self.pattern.variables | {self.variable}

    @property
    def certain(self) -> Names:
        return self.pattern.certain

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.expression,)


@dataclass(frozen=True)
class Grouping(OnePattern):
    """Solutions grouped by the values of variables (all in one group if ``keys`` is None), each group aggregated."""

    keys: tuple[str, ...] | None
    aggregates: tuple[Aggregate, ...]

    @property
    def variables(self) -> Names:
        return frozenset(self.keys or ()) | {aggregate.result for aggregate in self.aggregates}

    @property
    def certain(self) -> Names:
        return self.pattern.certain & frozenset(self.keys or ())

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(a.argument for a in self.aggregates if a.argument is not None)


@dataclass(frozen=True)
class Project(OnePattern):
    columns: tuple[str, ...]

    @property
    def variables(self) -> Names:
        return frozenset(self.columns)

    @property
    def certain(self) -> Names:
        return self.pattern.certain & frozenset(self.columns)


@dataclass(frozen=True)
class Distinct(OnePattern):
    """The distinct solutions of a pattern."""


@dataclass(frozen=True)
class OrderBy(OnePattern):
    """Solutions sorted by expressions, each with whether its order is descending."""

    conditions: tuple[tuple[Expression, bool], ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for expression, _ in self.conditions)


@dataclass(frozen=True)
class Slice(OnePattern):
    """A range of solutions, ``OFFSET offset LIMIT limit``."""

    offset: int
    limit: int | None


def mentioned(pattern: Pattern) -> Names:
    """Every variable that occurs in a pattern, whether or not its solutions bind it."""
    inner = NO_NAMES.union(*map(mentioned, pattern.parts), *map(names_in, pattern.expressions))
    return inner | pattern.variables


# queries ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class From:
    """The graphs that a query is about, by the texts of their names."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class Select:
    pattern: Pattern
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Ask:
    pattern: Pattern


@dataclass(frozen=True)
class Construct:
    template: tuple[Triple, ...]
    pattern: Pattern


@dataclass(frozen=True)
class Describe:
    terms: tuple[Term, ...]
    pattern: Pattern


@dataclass(frozen=True)
class SparqlQuery:
    """A whole query: its form, the graphs it is about, and the base of relative IRIs."""

    form: Select | Ask | Construct | Describe
    graphs: From | None = None
    base: str = ""


# updates ----------------------------------------------------------------------------------------

Quad = tuple[Term | None, Triple]
"""A triple of a template and its graph, None for the default graph."""


@dataclass(frozen=True)
class Modify:
    """An update ``DELETE { ... } INSERT { ... } WHERE { ... }``; the DATA forms have a pattern with one empty
    solution."""

    delete: tuple[Quad, ...]
    insert: tuple[Quad, ...]
    pattern: Pattern
    using: From | None = None
    graph: str | None = None
    """The graph of ``WITH``, which replaces the default graph."""
    base: str = ""


@dataclass(frozen=True)
class Clear:
    """An update ``CLEAR`` or ``DROP`` of the default graph, of all named graphs, or of one named by its text."""

    default: bool
    named: bool
    graph: str | None = None


Operation = Modify | Clear
