"""Facts as triples: the facts that are triples, and the predicates that a triple pattern can match.

``C(s)`` is ``s rdf:type C``, ``p(s, o)`` is ``s p o``, and ``triple(s, p, o)`` is itself if RDF allows it: ``s`` is an
IRI or a blank node and ``p`` is an IRI. A predicate with a bare name is the IRI ``urn:everlog:name``. Three kinds of
facts are not triples, and SPARQL does not see them: facts of other arities, facts of internal relations, and facts of
``triple`` that RDF does not allow, which the rules of OWL RL derive; see :mod:`everlog.query.triples`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from everlog.engine.factset import FactSet
from everlog.engine.keys import Column
from everlog.engine.relation import Relation
from everlog.lang.internal import EVERLOG, TRIPLE, is_internal
from everlog.lang.syntax import Atom, Constant, Predicate, Variable
from everlog.lang.terms import RDF_TYPE
from everlog.query.sparql.algebra import Term, Triple
from everlog.query.sparql.pool import TermPool, with_beginning

BARE = EVERLOG
"""The prefix that turns a bare name into an IRI."""

MERGED = Predicate(".merged", 3)
"""The facts of many small relations as triples; see :meth:`TripleGraph.merged`."""

MANY = 64
"""Minimum number of options of a pattern for its small relations to be matched as one relation."""

SMALL = 2000
"""Maximum number of facts of a small relation."""


def iri_of(predicate: Predicate) -> str:
    """The text of the IRI of a predicate in SPARQL.

    >>> iri_of(Predicate("edge", 2)), iri_of(Predicate("<http://e.org/p>", 2))
    ('<urn:everlog:edge>', '<http://e.org/p>')
    """
    return predicate.name if predicate.name.startswith("<") else f"<{BARE}{predicate.name}>"


def is_seen(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples.

    >>> [is_seen(Predicate(name, arity)) for name, arity in (("edge", 2), ("<urn:everlog:same>", 2), ("p", 3))]
    [True, False, False]
    """
    return predicate == TRIPLE or (predicate.arity in (1, 2) and not is_internal(predicate))


@dataclass(frozen=True)
class Option:
    """One way to match a triple pattern: an atom, and the values of variables that it does not contain."""

    atom: Atom
    fixed: Mapping[Variable, Constant] = field(default_factory=dict)


class TripleGraph:
    """The triples of facts."""

    def __init__(self, facts: FactSet, terms: TermPool) -> None:
        generalised = facts.relation(TRIPLE)
        self.facts = facts.replaced({TRIPLE: _rdf_triples(generalised, terms)}) if generalised else facts
        self.classes = self._by_iri(1)
        self.properties = self._by_iri(2)
        self.has_triples = bool(self.facts.relation(TRIPLE))
        self._merged: Relation | None = None

    def _by_iri(self, arity: int) -> dict[str, Predicate]:
        return {iri_of(p): p for p in self.facts if p.arity == arity and not is_internal(p)}

    def __len__(self) -> int:
        """The number of triples; a triple that comes from two facts is counted twice."""
        return sum(len(self.facts[p]) for p in self.predicates())

    def predicates(self) -> Iterator[Predicate]:
        """The predicates that have triples."""
        yield from self.classes.values()
        yield from self.properties.values()
        if self.has_triples:
            yield TRIPLE

    def options(self, triple: Triple) -> list[Option]:
        """The options of a triple pattern. Distinct options match distinct triples, except those of TRIPLE."""
        subject, predicate, value = triple
        found: list[Option] = []
        wanted = predicate.text if isinstance(predicate, Constant) else None
        for iri, each in _chosen(self.properties, wanted):
            found += _option(Atom(each, (subject, value)), (predicate, iri))
        if wanted in (None, RDF_TYPE):
            for iri, each in _chosen(self.classes, value.text if isinstance(value, Constant) else None):
                found += _option(Atom(each, (subject,)), (predicate, RDF_TYPE), (value, iri))
        if self.has_triples:
            found.append(Option(Atom(TRIPLE, (subject, predicate, value))))
        return found

    def fewer(self, options: list[Option], triple: Triple) -> list[Option]:
        """The options with those of small relations merged into one, if there are many."""
        if len(options) < MANY:
            return options
        large = [o for o in options if o.atom.predicate == TRIPLE or len(self.facts[o.atom.predicate]) > SMALL]
        return [*large, Option(Atom(MERGED, tuple(triple)))]

    def merged(self, terms: TermPool) -> Relation:
        """The facts of all small relations as triples."""
        if self._merged is None:
            pieces: list[list[Column]] = [[np.empty(0, np.int64)] * 3]
            for by_iri in (self.classes, self.properties):
                for iri, predicate in by_iri.items():
                    if len(self.facts[predicate]) <= SMALL:
                        pieces.append(self._triples(predicate, iri, terms))
            columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
            self._merged = Relation.from_columns(columns, len(terms) + 1)
        return self._merged

    def _triples(self, predicate: Predicate, iri: str, terms: TermPool) -> list[Column]:
        columns = self.facts[predicate].columns()
        name = np.full(len(columns[0]), terms.add(iri), np.int64)
        if predicate.arity == 2:
            return [columns[0], name, columns[1]]
        return [columns[0], np.full(len(columns[0]), terms.add(RDF_TYPE), np.int64), name]

    @cached_property
    def is_mixed(self) -> bool:
        """Whether a triple may come from two facts."""
        return self.has_triples and bool(self.classes or self.properties)

    def nodes(self, terms: TermPool) -> Column:
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


def _chosen(by_iri: Mapping[str, Predicate], wanted: str | None) -> list[tuple[str, Predicate]]:
    """The predicate of an IRI, if there is one; without an IRI, all predicates."""
    if wanted is None:
        return list(by_iri.items())
    return [(wanted, by_iri[wanted])] if wanted in by_iri else []


def _option(atom: Atom, *given: tuple[Term, str]) -> list[Option]:
    """The option in which terms have given values, if that is possible."""
    fixed: dict[Variable, Constant] = {}
    for term, text in given:
        if isinstance(term, Constant):
            if term.text != text:
                return []
        elif fixed.setdefault(term, Constant(text)).text != text:
            return []
    return [Option(atom, fixed)]


REMEMBERED = 8
"""Number of relations whose triples are remembered."""

_remembered: dict[int, tuple[weakref.ref[Relation], Relation]] = {}
"""The triples of relations, by the address of the relation, the most recent last."""


def _rdf_triples(relation: Relation, terms: TermPool) -> Relation:
    """The facts of ``triple`` that RDF allows. Computed once for each relation, since relations are immutable."""
    owner, found = _remembered.pop(id(relation), (None, relation))
    if owner is None or owner() is not relation:
        owner, found = weakref.ref(relation), relation - _generalised(relation, terms)
    _remembered[id(relation)] = owner, found
    while len(_remembered) > REMEMBERED:
        del _remembered[next(iter(_remembered))]
    return found


def _generalised(relation: Relation, terms: TermPool) -> Relation:
    """The facts of ``triple`` that RDF does not allow: with a literal as subject, or a predicate that is not an IRI."""
    subjects, predicates, _ = relation.columns()
    allowed = with_beginning(terms, subjects, "<", "_") & with_beginning(terms, predicates, "<")
    return Relation.from_keys(relation.layout, relation.keys()[~allowed])
