"""The parts of a program: terms, atoms, rules, programs, each with its place in the source.

All types are frozen and compare by content; places do not take part in comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from everlog.lang.errors import Place
from everlog.lang.terms import Value, value_of


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that was read, and its name in messages."""

    name: str
    text: str = field(repr=False)

    def line(self, number: int) -> str:
        """The line with this number, counted from 1, without its end."""
        lines = _lines(self.text)
        return lines[number - 1] if 0 < number <= len(lines) else ""


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a source text. Lines and columns count from 1; the end column is exclusive."""

    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> Place:
        """The start of the span, with its line, for a message."""
        line = self.source.line(self.line)
        end = self.end_column if self.end_line == self.line else len(line) + 1
        return Place(self.source.name, self.line, self.column, line, max(1, end - self.column))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, such as ``?x``."""

    name: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """The wildcard ``_``: any value in a positive atom, no value in a negated one."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant by its canonical text (see :mod:`everlog.lang.terms`)."""

    text: str

    @property
    def value(self) -> Value:
        return value_of(self.text)


Term = Variable | Wildcard | Constant


@dataclass(frozen=True, slots=True, order=True)
class Predicate:
    """A predicate is a name, bare or ``<iri>``, and an arity.

    >>> str(Predicate("ancestor", 2)), Predicate.parse("<http://e.org/p>/1").arity
    ('ancestor/2', 1)
    """

    name: str
    arity: int

    def __str__(self) -> str:
        """The text that stands for the predicate in a store."""
        return f"{self.name}/{self.arity}"

    @classmethod
    def parse(cls, text: str) -> Predicate:
        """The inverse of ``str``."""
        name, _, arity = text.rpartition("/")
        return cls(name, int(arity))


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom ``p(t1, ..., tn)``."""

    predicate: Predicate
    terms: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        assert len(self.terms) == self.predicate.arity

    def variables(self) -> Iterator[Variable]:
        """The variables in order, repeated as they occur."""
        return (term for term in self.terms if isinstance(term, Variable))

    @property
    def is_ground(self) -> bool:
        return all(isinstance(term, Constant) for term in self.terms)

    def put(self, values: Mapping[Variable, Term]) -> Atom:
        """The atom with values in place of some variables, without its place in the source.

        >>> Atom(Predicate("p", 2), (Variable("x"), Variable("y"))).put({Variable("x"): Constant("1")}).terms
        (Constant(text='1'), Variable(name='y'))
        """
        return Atom(self.predicate, tuple([values.get(t, t) if isinstance(t, Variable) else t for t in self.terms]))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule ``head :- positive, ~negative .``; a written rule with several heads becomes several of these."""

    head: Atom
    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def body(self) -> tuple[Atom, ...]:
        return self.positive + self.negative


def constants_of(rules: Iterable[Rule]) -> list[Constant]:
    """The different constants of rules, in the order of their first occurrences."""
    atoms = (atom for rule in rules for atom in (rule.head, *rule.body))
    return list(dict.fromkeys(term for atom in atoms for term in atom.terms if isinstance(term, Constant)))


@dataclass(frozen=True, slots=True)
class Columns:
    """Facts of one predicate, as Arrow columns of canonical texts; a fact may occur twice."""

    predicate: Predicate
    arrays: tuple[Any, ...]

    def __post_init__(self) -> None:
        assert len(self.arrays) == self.predicate.arity > 0

    def __len__(self) -> int:
        return len(self.arrays[0])

    def atoms(self) -> Iterator[Atom]:
        """The facts one by one."""
        for texts in zip(*(array.to_pylist() for array in self.arrays), strict=True):
            yield Atom(self.predicate, tuple(map(Constant, texts)))


@dataclass(frozen=True, slots=True)
class Program:
    """Rules and explicit facts as they were written, with prefixes resolved, not checked yet.

    ``data`` has further explicit facts, which came with the program but are not part of its text.
    """

    rules: tuple[Rule, ...]
    facts: tuple[Atom, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    data: tuple[Columns, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Query:
    """``positive, ~negative``: its answers are the values of ``variables``, in order of first appearance."""

    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    variables: tuple[Variable, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def body(self) -> tuple[Atom, ...]:
        return self.positive + self.negative
