"""Proofs as users see them: steps from given facts to the fact that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from everlog.lang.syntax import Atom, Constant

Kind = Literal["given", "rule", "path", "query", "equal", "same"]


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A fact and the reason why it holds: it was given, or it follows from facts of earlier steps.

    ``rule``: by an instance of the one rule in ``rules``, with these ``bindings``; facts in ``absent`` do not hold.
    ``path``: by the rules of a closure, one premise after the other. ``query``: the premises answer a query. ``equal``:
    the first premise with some terms replaced by equal ones; the other premises are these equalities, one for each pair
    in ``equal``. ``same``: terms are equal along the premises, which are ``owl:sameAs`` facts in either direction.
    """

    fact: Atom
    kind: Kind
    rules: tuple[int, ...] = ()
    """Positions in the program, from 0."""
    bindings: tuple[tuple[str, Constant], ...] = ()
    premises: tuple[int, ...] = ()
    """Positions of earlier steps in the proof."""
    absent: tuple[Atom, ...] = ()
    equal: tuple[tuple[Constant, Constant], ...] = ()

    def after(self, premises: tuple[int, ...]) -> ProofStep:
        """The step with other premises."""
        return ProofStep(self.fact, self.kind, self.rules, self.bindings, premises, self.absent, self.equal)


@dataclass(frozen=True)
class Proof:
    """Steps, each after its premises; the last one has the fact that is proved. No fact has two steps."""

    steps: tuple[ProofStep, ...]

    @property
    def fact(self) -> Atom:
        """The fact that is proved."""
        return self.steps[-1].fact

    @property
    def goal(self) -> ProofStep:
        return self.steps[-1]

    @cached_property
    def height(self) -> int:
        """The maximum number of consecutive steps; 0 for a given fact."""
        heights: list[int] = []
        for step in self.steps:
            heights.append(0 if step.kind == "given" else 1 + max((heights[p] for p in step.premises), default=0))
        return heights[-1]

    def __len__(self) -> int:
        """The number of different facts."""
        return len(self.steps)

    @cached_property
    def rules(self) -> tuple[int, ...]:
        """The positions of the rules that are used."""
        return tuple(sorted({rule for step in self.steps for rule in step.rules}))
