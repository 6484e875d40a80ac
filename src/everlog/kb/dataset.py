"""Several knowledge bases that SPARQL queries and updates as one dataset."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.terms import IRI
from everlog.query.sparql.dataset import GraphSet
from everlog.query.sparql.results import Result
from everlog.query.sparql.run import query
from everlog.query.sparql.update import update


class Dataset(GraphSet[KnowledgeBase]):
    """A default graph and named graphs, each of them a knowledge base.

    >>> from everlog import IRI, KnowledgeBase
    >>> a = KnowledgeBase("<http://e.org/p>(1, 2) .")
    >>> data = Dataset(named={"http://e.org/a": a})
    >>> data.sparql("SELECT ?g ?x { GRAPH ?g { ?x <http://e.org/p> 2 } }").rows()
    [(IRI(value='http://e.org/a'), 1)]

    Updates create graphs that they name and that do not exist.
    """

    def __init__(
        self, default: KnowledgeBase | None = None, named: Mapping[str | IRI, KnowledgeBase] | None = None
    ) -> None:
        super().__init__(KnowledgeBase() if default is None else default, named, KnowledgeBase)

    def sparql(self, text: str, *, base: str = "") -> Result:
        """The answer to a query."""
        return query(self, text, base=base)

    def update(self, text: str, *, base: str = "") -> tuple[Change, ...]:
        """Carry out an update request; returns the changes of its operations, graph by graph."""
        return update(self, text, base=base)
