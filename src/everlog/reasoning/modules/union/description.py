"""Virtual unions: predicates that are exactly the union of others, so that their facts need not be kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.module import Shown, SpecialModule
from everlog.analysis.modules.reading import RuleReader
from everlog.lang.syntax import Predicate, Rule

MAX_GENERATORS = 32
"""Maximum number of relations of a union that feed a closure one by one; a larger union feeds it as a whole."""


@dataclass(frozen=True)
class VirtualUnion(SpecialModule):
    """A predicate that is exactly the union of its parts, so that its facts need not be kept.

    Its explicit facts and what other rules derive are in ``external[predicate]``. That is a part of
    the union, or of the predicate that it shares with others if ``predicate`` equals that one.
    """

    predicate: Predicate
    parts: tuple[Edge, ...]
    rules: tuple[Rule, ...]
    external: Mapping[Predicate, Predicate] = field(hash=False)

    kind = "union"

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return (self.predicate,)

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        return tuple(dict.fromkeys(part.predicate for part in self.parts))

    @property
    def identity(self) -> Hashable:
        return self.predicate, self.parts

    def path(self, shown: Shown) -> str:
        return " | ".join(map(shown, self.parts))

    def fed_by_aliases(self, reader: RuleReader) -> tuple[Rule, ...]:
        """No rules: facts from outside for aliases are among the parts."""
        return ()

    def generators(self, reader: RuleReader) -> Mapping[Predicate, tuple[Edge, ...]]:
        """The edges that generate the relation: a union has the transitive closure of its parts."""
        found = tuple(dict.fromkeys(edge for part in self.parts for edge in reader.generated(part)))
        return {self.predicate: found if len(found) <= MAX_GENERATORS else (Edge(self.predicate),)}
