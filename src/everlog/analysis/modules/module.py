"""Modules: the rules of a stratum in parts, each with its own way to derive facts (thesis, Definition 8).

Every rule of a stratum is in exactly one of its modules. Ordinary rules are in one of the kind
:class:`OrdinaryRules`, which is evaluated by matching. A :class:`SpecialModule` takes rules whose meaning is known as
a whole, such as a closure. Other rules that derive its predicates, and explicit facts of these, go into hidden
predicates that it reads. So its relations are a function of what it reads, and it keeps them in a form of its own.

What is here needs no facts: which rules a kind takes, what it reads and derives, and how it is shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar, cast

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.feeding import fed, fed_by
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.lang.syntax import Predicate, Rule

T = TypeVar("T")

Shown = Callable[[Edge], str]
"""Gives the text of an edge."""


class Module(Protocol):
    """Rules of one stratum that are evaluated together."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the program that the module takes."""

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """What the module derives."""

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        """What the module reads."""


@dataclass(frozen=True)
class OrdinaryRules:
    """Ordinary rules of a stratum.

    >>> from everlog.lang.parser import parse_program
    >>> rules = OrdinaryRules((), parse_program("p(?x) :- q(?x) . p(?x) :- r(?x), q(?x) .").rules)
    >>> [str(predicate) for predicate in rules.inputs]
    ['q/1', 'r/1']
    """

    recursive: tuple[Rule, ...] = ()
    """The rules with a positive body atom of the stratum."""
    nonrecursive: tuple[Rule, ...] = ()
    _made: dict[Callable[[OrdinaryRules], object], object] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return self.nonrecursive + self.recursive

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        return tuple(dict.fromkeys(rule.head.predicate for rule in self.rules))

    @cached_property
    def inputs(self) -> tuple[Predicate, ...]:
        return tuple(dict.fromkeys(atom.predicate for rule in self.rules for atom in rule.body))

    def once(self, make: Callable[[OrdinaryRules], T]) -> T:
        """The cached result of ``make(self)``, for example plans."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("T", self._made[make])

    def __reduce__(self) -> tuple[type[OrdinaryRules], tuple[tuple[Rule, ...], tuple[Rule, ...]]]:
        """Pickle the rules without cached results."""
        return OrdinaryRules, (self.recursive, self.nonrecursive)


class SpecialModule(ABC):
    """A module that derives and keeps its relations in a way of its own. Kinds are frozen dataclasses."""

    kind: str
    """The name of the kind, where modules are shown and stored."""
    rules: tuple[Rule, ...]
    """The rules of the program that the module takes."""
    external: Mapping[Predicate, Predicate]
    """For each predicate derived, the hidden predicate with explicit facts and with what other rules derive."""

    @property
    @abstractmethod
    def predicates(self) -> tuple[Predicate, ...]:
        """What the module derives."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Predicate, ...]:
        """What the module reads."""

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """All parameters that the relations depend on besides facts: modules with equal identities derive equal
        relations.
        """

    @abstractmethod
    def path(self, shown: Shown) -> str:
        """The facts of the module as a path, in the manner of SPARQL's property paths."""

    # What feeds it ----------------------------------------------------------------------------------

    def feeding(self, read: ReadRule, reader: RuleReader) -> tuple[Rule, ...]:
        """The rules that feed the module in place of a rule that it does not take."""
        return (fed(read.rule, read.head),)

    def fed_by_aliases(self, reader: RuleReader) -> tuple[Rule, ...]:
        """Rules that feed the module with external facts of its aliases."""
        own = [predicate for predicate in self.predicates if predicate in reader.aliases.others]
        return tuple(rule for predicate in own for rule in fed_by(reader.sources(predicate)[1:], predicate))

    def generators(self, reader: RuleReader) -> Mapping[Predicate, tuple[Edge, ...]]:
        """For each binary predicate of the module, edges that have the same transitive closure as itself."""
        return {predicate: (Edge(predicate),) for predicate in self.predicates if predicate.arity == 2}


@dataclass(frozen=True)
class Taken:
    """A module, and further rules that derive its inputs."""

    module: SpecialModule
    bridges: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Untaken:
    """A recursive rule that no special module takes."""

    rule: Rule
    reason: str


class Detection:
    """Which rules a kind of modules takes. Each method gets rules that no module has taken; by default it takes none.

    :meth:`of_component` and :meth:`of_alias` give modules for strata of their own: nothing that such a module reads
    depends on what it derives. Those of :meth:`inside` may depend on their own facts through other rules.
    """

    def of_component(self, component: Component, reader: RuleReader) -> Taken | Sequence[str]:
        """The module of the component, or a reason for each recursive rule; no reasons if the kind does not apply."""
        return ()

    def of_alias(self, predicate: Predicate, rules: Sequence[Rule], reader: RuleReader) -> SpecialModule | None:
        """The module of a predicate that equals one of a module, or the inverse of one, by these rules."""
        return None

    def inside(self, predicate: Predicate, rules: Sequence[Rule]) -> SpecialModule | None:
        """The module formed by some recursive rules of a predicate; the stratum may have other rules for it."""
        return None


Detections = Iterable[Detection]
"""One for each kind, in the order in which they are asked."""
