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
    """A rule read as one of ``head``, which stands for the predicate in its head or for the inverse of it."""

    rule: Rule
    head: Edge
    edge: Edge | None
    """The body, if it is nothing but an edge."""
    word: Word | None = None
    """The body of a recursive rule or of one with an edge, if it is a path."""

    @property
    def is_alias(self) -> bool:
        """Whether the rule says that its predicate contains one it is an alias of."""
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
        """The edges from below that have a rule of their own."""
        return frozenset(read.edge for read in self.others if read.edge is not None)


@dataclass
class RuleReader:
    """Reads rules in terms of what is known of the components below."""

    aliases: Aliases
    prefixes: Mapping[str, str]
    """By which predicates are named where a kind says why it takes no rules."""
    generators: dict[Predicate, tuple[Edge, ...]] = field(default_factory=dict)
    """For each predicate of a module, edges that have the same transitive closure as itself."""

    def component(self, predicates: tuple[Predicate, ...], rules: Iterable[Rule]) -> Component:
        """The component of these predicates, given the rules for them and their aliases."""
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
        """What comes from outside the module for the predicate and for its aliases, in terms of the predicate."""
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
