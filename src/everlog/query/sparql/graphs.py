"""Facts as triples: which predicates a triple pattern is about.

``C(s)`` is ``s rdf:type C``, ``p(s, o)`` is ``s p o``, and ``triple(s, p, o)`` is itself. A predicate with a bare
name is the IRI ``urn:everlog:name``. Facts of other arities are not triples, and SPARQL does not see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from everlog.engine.factset import FactSet
from everlog.engine.keys import Column
from everlog.engine.relation import Relation
from everlog.lang.syntax import Atom, Constant, Predicate, Variable
from everlog.lang.terms import RDF_TYPE
from everlog.query.sparql.algebra import Term, Triple
from everlog.query.sparql.pool import Terms

BARE = "urn:everlog:"
"""What comes before a bare name to make it an IRI."""

TRIPLE = Predicate("triple", 3)
"""Facts of this predicate are triples as they stand."""


MERGED = Predicate(".merged", 3)
"""The facts of many small relations as triples; see :meth:`Graph.merged`."""

MANY = 64
SMALL = 2000
"""From so many ways to match a pattern on, those by relations of so few facts are matched as one."""


def iri_of(predicate: Predicate) -> str:
    """The text of the IRI by which SPARQL knows a predicate.

    >>> iri_of(Predicate("edge", 2)), iri_of(Predicate("<http://e.org/p>", 2))
    ('<urn:everlog:edge>', '<http://e.org/p>')
    """
    return predicate.name if predicate.name.startswith("<") else f"<{BARE}{predicate.name}>"


@dataclass(frozen=True)
class Option:
    """One way to match a triple pattern: an atom, and what it makes of variables that no fact has a place for."""

    atom: Atom
    fixed: Mapping[Variable, Constant] = field(default_factory=dict)


class Graph:
    """The triples of a fact set."""

    def __init__(self, facts: FactSet) -> None:
        self.facts = facts
        self.classes = self._by_iri(1)
        self.properties = self._by_iri(2)
        self.has_triples = bool(facts.relation(TRIPLE))
        self._merged: Relation | None = None

    def _by_iri(self, arity: int) -> dict[str, list[Predicate]]:
        found: dict[str, list[Predicate]] = {}
        for predicate in self.facts:
            if predicate.arity == arity:
                found.setdefault(iri_of(predicate), []).append(predicate)
        return found

    def __len__(self) -> int:
        """The number of triples, if none is there in two ways."""
        return sum(len(self.facts[p]) for p in self.predicates())

    def predicates(self) -> Iterator[Predicate]:
        """The predicates whose facts are triples."""
        for by_iri in (self.classes, self.properties):
            for predicates in by_iri.values():
                yield from predicates
        if self.has_triples:
            yield TRIPLE

    def options(self, triple: Triple) -> list[Option]:
        """The ways to match a triple pattern. Different ones match different triples, but for those of TRIPLE."""
        subject, predicate, value = triple
        found: list[Option] = []
        wanted = predicate.text if isinstance(predicate, Constant) else None
        for iri in self.properties if wanted is None else (wanted,):
            for each in self.properties.get(iri, ()):
                found += _option(Atom(each, (subject, value)), (predicate, iri))
        if wanted in (None, RDF_TYPE):
            for iri in self.classes if not isinstance(value, Constant) else (value.text,):
                for each in self.classes.get(iri, ()):
                    found += _option(Atom(each, (subject,)), (predicate, RDF_TYPE), (value, iri))
        if self.has_triples:
            found.append(Option(Atom(TRIPLE, (subject, predicate, value))))
        return found

    def fewer(self, options: list[Option], triple: Triple) -> list[Option]:
        """The options with those by small relations as one, if there are many."""
        if len(options) < MANY:
            return options
        large = [o for o in options if o.atom.predicate == TRIPLE or len(self.facts[o.atom.predicate]) > SMALL]
        return [*large, Option(Atom(MERGED, tuple(triple)))]

    def merged(self, terms: Terms) -> Relation:
        """The facts of all small relations as triples."""
        if self._merged is None:
            pieces: list[list[Column]] = [[np.empty(0, np.int64)] * 3]
            for by_iri in (self.classes, self.properties):
                for iri, predicates in by_iri.items():
                    for predicate in predicates:
                        if len(self.facts[predicate]) <= SMALL:
                            pieces.append(self._triples(predicate, iri, terms))
            columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
            self._merged = Relation.from_columns(columns, len(terms) + 1)
        return self._merged

    def _triples(self, predicate: Predicate, iri: str, terms: Terms) -> list[Column]:
        columns = self.facts[predicate].columns()
        name = np.full(len(columns[0]), terms.add(iri), np.int64)
        if predicate.arity == 2:
            return [columns[0], name, columns[1]]
        return [columns[0], np.full(len(columns[0]), terms.add(RDF_TYPE), np.int64), name]

    @cached_property
    def is_mixed(self) -> bool:
        """Whether a triple may be there in two ways."""
        doubled = any(len(each) > 1 for by_iri in (self.classes, self.properties) for each in by_iri.values())
        return doubled or (self.has_triples and bool(self.classes or self.properties))

    def nodes(self, terms: Terms) -> Column:
        """The ids of all subjects and objects, ascending."""
        seen = np.zeros(len(terms), np.bool_)
        classes = [terms.add(iri) for iri in self.classes]
        for predicate in self.predicates():
            columns = self.facts[predicate].columns()
            for column in columns[:1] + columns[1:][-1:]:
                seen[column] = True
        outside = [iri for iri in classes if iri >= len(seen)]
        seen[[iri for iri in classes if iri < len(seen)]] = True
        return np.concatenate([np.flatnonzero(seen), np.array(sorted(outside), np.int64)])


def _option(atom: Atom, *given: tuple[Term, str]) -> list[Option]:
    """The option in which terms have given values, if they can."""
    fixed: dict[Variable, Constant] = {}
    for term, text in given:
        if isinstance(term, Constant):
            if term.text != text:
                return []
        elif fixed.setdefault(term, Constant(text)).text != text:
            return []
    return [Option(atom, fixed)]
