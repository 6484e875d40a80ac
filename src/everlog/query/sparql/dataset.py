"""Datasets of queries: one knowledge base, or several as the default graph and named graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.limits import Limits
from everlog.engine.state import State
from everlog.lang.codes import Code
from everlog.lang.errors import RuleError
from everlog.lang.kinds import Kinds
from everlog.lang.syntax import Predicate
from everlog.lang.terms import IRI
from everlog.query.sparql.algebra import From
from everlog.query.sparql.evaluation import Evaluation, Graphs
from everlog.query.sparql.graphs import TripleGraph
from everlog.query.sparql.matching import Matcher
from everlog.query.sparql.pool import TermPool


class GraphBase(Protocol):
    """A knowledge base as one of the graphs of a dataset."""

    max_facts: int | None
    timeout: float | None
    max_memory: int | None

    @property
    def prefixes(self) -> Mapping[str, str]: ...

    @property
    def predicates(self) -> list[Predicate]: ...

    def state(self) -> State: ...

    def update_facts(
        self, insert: FactSet, delete: FactSet, *, kinds: Mapping[Predicate, Kinds] | None = None, unknown: int = 0
    ) -> Any:
        """Change the explicit facts; returns the change."""


Base = TypeVar("Base", bound=GraphBase)


class GraphSet(Generic[Base]):
    """A default graph and named graphs, each of them a knowledge base.

    Updates that name an unknown graph call ``make`` for its knowledge base, or fail without ``make``.
    """

    def __init__(
        self, default: Base, named: Mapping[str | IRI, Base] | None = None, make: Callable[[], Base] | None = None
    ) -> None:
        self.default = default
        self.named: dict[str, Base] = {f"<{name}>": kb for name, kb in (named or {}).items()}
        self._make = make

    @property
    def prefixes(self) -> Mapping[str, str]:
        return self.default.prefixes

    def graph(self, name: str | None) -> Base:
        """The knowledge base of a graph, made with ``make`` if it is unknown."""
        if name is None:
            return self.default
        if name not in self.named and self._make is None:
            message = f"there is no graph {name}, and a knowledge base cannot keep one: it has one graph"
            hint = "leave out the graph, or make a Dataset of several knowledge bases in Python"
            raise RuleError.of(Code.ONE_GRAPH, message, None, hint)
        if name not in self.named and self._make is not None:
            self.named[name] = self._make()
        return self.named[name]

    def limits(self) -> Limits:
        """The limits for a query or an update that begins now."""
        kb = self.default
        return Limits.from_now(kb.max_facts, kb.timeout, kb.max_memory)

    def evaluation(
        self, limits: Limits, graphs: From | None = None, base: str = "", default: str | None = None
    ) -> Evaluation:
        """An evaluation over the graphs that a query names, or over all of them.

        ``default`` is a named graph that replaces the default graph.
        """
        dictionary, facts = _with_one_dictionary([self.default, *self.named.values()])
        by_name = dict(zip(self.named, facts[1:], strict=True))
        whole, names = facts[0], list(by_name)
        if graphs is not None:
            whole, names = _merged(by_name, graphs.default), list(graphs.named)
        elif default is not None:
            whole = by_name.get(default, NONE)
        terms = TermPool(dictionary, limits)
        named = {name: TripleGraph(_found(by_name, name), terms) for name in names}
        return Evaluation(Graphs(TripleGraph(whole, terms), named), Matcher(terms, limits), base)


def _found(graphs: Mapping[str, FactSet], name: str) -> FactSet:
    if name not in graphs:
        known = ", ".join(graphs) or "there are no named graphs, all facts are in the default graph"
        raise RuleError.of(Code.UNKNOWN_GRAPH, f"there is no graph {name}", None, f"known: {known}")
    return graphs[name]


def _merged(graphs: Mapping[str, FactSet], names: Iterable[str]) -> FactSet:
    found = NONE
    for name in names:
        found = found | _found(graphs, name)
    return found


def _with_one_dictionary(bases: Sequence[GraphBase]) -> tuple[Dictionary, list[FactSet]]:
    """The facts of knowledge bases over one dictionary."""
    states = [kb.state() for kb in bases]
    if len(states) == 1:
        return states[0].dictionary, [states[0].facts]
    both = Dictionary()
    numbers = []
    for state in states:
        texts = state.dictionary.decode(np.arange(len(state.dictionary), dtype=np.int64))
        numbers.append(both.encode(texts))
    facts = [
        FactSet({p: r.renumbered(ids, len(both)) for p, r in state.facts.items()})
        for state, ids in zip(states, numbers, strict=True)
    ]
    return both, facts
