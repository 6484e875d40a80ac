"""Repeated property paths, ``p?``, ``p*`` and ``p+``, as small recursive rules.

Other paths are translated to joins, unions and filters of patterns by :mod:`.translation`. A path inside a repetition
is a relation that rules define; the engine closes the repetition from all known ends at once, or from every edge if no
end is known.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column
from everlog.engine.relation import Relation
from everlog.lang.internal import TRIPLE
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable
from everlog.query.sparql.algebra import (
    Alternative,
    Inverse,
    Link,
    Negated,
    Path,
    PathPattern,
    Repeated,
    Sequence,
    Triple,
)
from everlog.query.sparql.graphs import Option, TripleGraph
from everlog.query.sparql.joining import contained
from everlog.query.sparql.matching import Matcher
from everlog.query.sparql.table import SolutionTable

X, Y, Z, P = Variable("x"), Variable("y"), Variable("z"), Variable("p")
START, END = Predicate(".start", 1), Predicate(".end", 1)


def solve(matcher: Matcher, graph: TripleGraph, pattern: PathPattern, hint: SolutionTable | None) -> SolutionTable:
    """The pairs of terms that a path connects. ``hint`` is a table that they will be joined with later."""
    start, end = _ends(matcher, pattern, hint)
    pairs = _pairs(matcher, graph, pattern, start, end)
    subject, value = (_is_allowed(column, ids) for column, ids in zip(pairs, (start, end), strict=True))
    kept = subject & value
    columns = {}
    if isinstance(pattern.subject, Variable):
        columns[pattern.subject.name] = pairs[0]
    if isinstance(pattern.object, Variable):
        if pattern.object.name in columns:
            kept &= pairs[0] == pairs[1]
        columns[pattern.object.name] = pairs[1]
    return SolutionTable(columns, len(pairs[0])).where(kept)


def _ends(matcher: Matcher, pattern: PathPattern, hint: SolutionTable | None) -> tuple[Column | None, Column | None]:
    """The terms that may be at each end, None if any term may be."""
    found: list[Column | None] = []
    bound = () if hint is None else hint.bound_columns()
    for term in (pattern.subject, pattern.object):
        if isinstance(term, Constant):
            found.append(np.array([matcher.terms.add(term.text)], np.int64))
        elif hint is not None and term.name in bound:
            found.append(SolutionTable({"x": hint.columns[term.name]}, hint.size).distinct().columns["x"])
        else:
            found.append(None)
    return found[0], found[1]


def _is_allowed(column: Column, ids: Column | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.ones(len(column), np.bool_) if ids is None else contained(column, ids)


def _pairs(
    matcher: Matcher, graph: TripleGraph, pattern: PathPattern, start: Column | None, end: Column | None
) -> tuple[Column, Column]:
    """Pairs that the path connects, including all those with the given ends."""
    path, rules = simplified(pattern.path), _Rules(matcher, graph)
    inner = rules.relation(path.path)
    forwards = end is None or (start is not None and len(start) <= len(end))
    if start is not None and forwards:
        rules.given(START, start)
        reached = rules.define([(X, Y)], [Atom(START, (X,)), Atom(inner, (X, Y))])
        if path.many:
            rules.add(reached, (X, Z), Atom(reached, (X, Y)), Atom(inner, (Y, Z)))
    elif end is not None:
        rules.given(END, end)
        reached = rules.define([(X, Y)], [Atom(inner, (X, Y)), Atom(END, (Y,))])
        if path.many:
            rules.add(reached, (X, Z), Atom(inner, (X, Y)), Atom(reached, (Y, Z)))
    else:
        reached = rules.repeated(inner) if path.many else inner
    subjects, objects = rules.pairs(reached)
    if path.least:
        return subjects, objects
    same = _zero_length(matcher, graph, pattern, start, end)
    both = SolutionTable(
        {"x": np.concatenate([subjects, same]), "y": np.concatenate([objects, same])}, len(subjects) + len(same)
    )
    once = both.distinct()
    return once.columns["x"], once.columns["y"]


def _zero_length(
    matcher: Matcher, graph: TripleGraph, pattern: PathPattern, start: Column | None, end: Column | None
) -> Column:
    """The terms at both ends of a path of length zero: those of the pattern, or any of the graph."""
    fixed = [
        ids
        for term, ids in ((pattern.subject, start), (pattern.object, end))
        if isinstance(term, Constant) and ids is not None
    ]
    if fixed:
        return fixed[0]
    nodes = graph.nodes(matcher.terms)
    for ids in (start, end):
        if ids is not None:
            nodes = nodes[contained(nodes, ids)]
    return nodes


def simplified(path: Repeated) -> Repeated:
    """An equivalent repetition whose path is not a repetition.

    >>> simplified(Repeated(Repeated(Link("<p>"), 1, True), 0, False))
    Repeated(path=Link(iri='<p>'), least=0, many=True)
    """
    inner = path.path
    if not isinstance(inner, Repeated):
        return path
    return simplified(Repeated(inner.path, path.least * inner.least, path.many or inner.many))


class _Rules:
    """Rules for the relations of paths, added as they are needed."""

    def __init__(self, matcher: Matcher, graph: TripleGraph) -> None:
        self._matcher = matcher
        self._graph = graph
        self._rules: list[Rule] = []
        self._given = NONE
        self._count = 0

    def pairs(self, predicate: Predicate) -> tuple[Column, Column]:
        """The facts of a binary predicate."""
        facts = self._graph.facts.extended(self._given) if self._given else self._graph.facts
        if any(rule.head.predicate == predicate for rule in self._rules):
            facts = self._matcher.closed(self._rules, facts)
        first, second = facts.relation(predicate).columns()
        return first, second

    def given(self, predicate: Predicate, ids: Column) -> None:
        self._given = self._given | FactSet({predicate: Relation.from_columns([ids], len(self._matcher.terms))})

    def add(self, head: Predicate, terms: tuple[Variable | Constant, ...], *body: Atom) -> None:
        for atom in (Atom(head, terms), *body):
            for term in atom.terms:
                if isinstance(term, Constant):
                    self._matcher.terms.add(term.text)
        self._rules.append(Rule(Atom(head, terms), body))

    def define(self, heads: list[tuple[Variable | Constant, ...]], body: list[Atom]) -> Predicate:
        """Define a new relation by one rule for each head."""
        predicate = self._new()
        for terms in heads:
            self.add(predicate, terms, *body)
        return predicate

    def _new(self) -> Predicate:
        self._count += 1
        return Predicate(f".path{self._count}", 2)

    def relation(self, path: Path) -> Predicate:
        """The relation of the pairs that a path connects; paths of length zero connect terms of the graph only."""
        if isinstance(path, Link):
            return self._link(path)
        if isinstance(path, Inverse):
            return self.define([(Y, X)], [Atom(self.relation(path.path), (X, Y))])
        if isinstance(path, Sequence):
            relations = [self.relation(part) for part in path.parts]
            steps = [Variable(f"v{i}") for i in range(len(relations) + 1)]
            body = [Atom(r, (steps[i], steps[i + 1])) for i, r in enumerate(relations)]
            return self.define([(steps[0], steps[-1])], body)
        if isinstance(path, Alternative):
            made = self._new()
            for part in path.parts:
                self.add(made, (X, Y), Atom(self.relation(part), (X, Y)))
            return made
        if isinstance(path, Negated):
            return self._negated(path)
        path = simplified(path)
        inner = self.relation(path.path)
        made = self.repeated(inner) if path.many else inner
        if path.least:
            return made
        node = Predicate(".node", 1)
        self.given(node, self._graph.nodes(self._matcher.terms))
        either = self.define([(X, Y)], [Atom(made, (X, Y))])
        self.add(either, (X, X), Atom(node, (X,)))
        return either

    def repeated(self, inner: Predicate) -> Predicate:
        """The transitive closure of a relation."""
        closed = self.define([(X, Y)], [Atom(inner, (X, Y))])
        self.add(closed, (X, Z), Atom(closed, (X, Y)), Atom(inner, (Y, Z)))
        return closed

    def _link(self, path: Link) -> Predicate:
        options = self._graph.options(Triple(X, Constant(path.iri), Y))
        if len(options) == 1 and options[0].atom.terms == (X, Y):
            return options[0].atom.predicate
        made = self._new()
        for option in options:
            self._option(made, (X, Y), option)
        return made

    def _option(self, head: Predicate, terms: tuple[Variable, ...], option: Option) -> None:
        self.add(head, tuple(option.fixed.get(term, term) for term in terms), option.atom)

    def _negated(self, path: Negated) -> Predicate:
        made = self._new()
        for excluded, terms in ((path.forward, (X, Y)), (path.backward, (Y, X))):
            if excluded is None:
                continue
            for option in self._graph.options(Triple(X, P, Y)):
                if option.atom.predicate == TRIPLE:
                    self._other_triples(made, terms, excluded, option)
                elif option.fixed[P].text not in excluded:
                    self._option(made, terms, option)
        return made

    def _other_triples(
        self, head: Predicate, terms: tuple[Variable, ...], excluded: tuple[str, ...], option: Option
    ) -> None:
        listed = Predicate(f".excluded{len(self._rules)}", 1)
        self.given(listed, np.array(sorted(map(self._matcher.terms.add, excluded)), np.int64))
        self._rules.append(Rule(Atom(head, terms), (option.atom,), (Atom(listed, (P,)),)))
