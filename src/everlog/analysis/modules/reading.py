"""A component of mutually dependent predicates, its rules read as words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from everlog.analysis.modules.aliases import Aliases
from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.words import Word, inverse, single, word
from everlog.lang.syntax import Predicate, Rule


@dataclass(frozen=True, slots=True)
class ReadRule:
    """A rule rewritten for the representative of its head."""

    rule: Rule
    head: Edge
    edge: Edge | None
    """The body, if it is a single edge."""
    word: Word | None = None
    """The body of a recursive rule or of one with an edge, if it is a path."""

    @property
    def is_alias(self) -> bool:
        """Whether the rule derives a predicate from its representative, so that it says nothing more."""
        return self.edge is not None and self.edge.predicate == self.head.predicate

    @property
    def makes_alias(self) -> bool:
        """Whether the rule is one of those that make its predicate an alias of another one."""
        return self.is_alias and self.rule.head.predicate != self.head.predicate


@dataclass(frozen=True)
class Component:
    """Predicates that depend on each other, aliases being one, with all rules for them."""

    predicates: tuple[Predicate, ...]
    recursive: tuple[ReadRule, ...]
    others: tuple[ReadRule, ...]

    @cached_property
    def inside(self) -> frozenset[Predicate]:
        return frozenset(self.predicates)

    @cached_property
    def contained(self) -> frozenset[Edge]:
        """The edges of lower components from which a nonrecursive rule derives the predicate directly."""
        return frozenset(read.edge for read in self.others if read.edge is not None)


@dataclass
class RuleReader:
    """Reads rules as edges and words over representatives and the modules found so far."""

    aliases: Aliases
    prefixes: Mapping[str, str]
    """Prefixes for messages."""
    generators: dict[Predicate, tuple[Edge, ...]] = field(default_factory=dict)
    """For each predicate of a module, edges that have the same transitive closure as itself."""

    def component(self, predicates: tuple[Predicate, ...], rules: Iterable[Rule]) -> Component:
        """The component of some predicates, from the rules for them and their aliases."""
        inside = frozenset(predicates)
        recursive: list[ReadRule] = []
        others: list[ReadRule] = []
        for rule in rules:
            own = any(self.aliases.name(atom.predicate) in inside for atom in rule.positive)
            (recursive if own else others).append(self.read(rule, inside, own))
        return Component(predicates, tuple(recursive), tuple(others))

    def generated(self, edge: Edge) -> tuple[Edge, ...]:
        """Edges with the same transitive closure as this one."""
        found = self.generators.get(edge.predicate)
        return (edge,) if found is None else tuple(each.turned(edge.inverted) for each in found)

    def sources(self, predicate: Predicate) -> tuple[Edge, ...]:
        """External sources of a predicate and its aliases."""
        return tuple(
            Edge(hidden(member), self.aliases.translate(Edge(member)).inverted)
            for member in self.aliases.members(predicate)
        )

    def read(self, rule: Rule, inside: frozenset[Predicate], recursive: bool = True) -> ReadRule:
        """A rule of the component of these predicates."""
        head = self.aliases.translate(Edge(rule.head.predicate))
        edge = single(rule)
        if edge is not None:
            edge = self._known(edge, inside).turned(head.inverted)
            return ReadRule(rule, head, edge, (edge,))
        path = word(rule) if recursive else None
        if path is not None:
            path = tuple([self._known(step, inside) for step in path])
            path = inverse(path) if head.inverted else path
        return ReadRule(rule, head, None, path)

    def _known(self, edge: Edge, inside: frozenset[Predicate]) -> Edge:
        """The edge in terms of a predicate of the component or of a module; aliases outside modules stay."""
        name = self.aliases.name(edge.predicate)
        return self.aliases.translate(edge) if name in inside or name in self.generators else edge
