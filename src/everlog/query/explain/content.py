"""The content of an explanation: for each requested fact its proofs, or reasons why it does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from everlog.lang.printer import print_atom, print_rule
from everlog.lang.syntax import Atom, Rule
from everlog.query.explain.missing import Reason
from everlog.query.explain.proof import Proof
from everlog.query.explain.requested import ANSWER


@dataclass(frozen=True)
class Answer:
    """A fact with its proofs, lowest first; or an atom that nothing satisfies, with reasons."""

    fact: Atom
    proofs: tuple[Proof, ...] = ()
    reasons: tuple[Reason, ...] = ()
    complete: bool | None = None
    """Whether these are all proofs; None if no others were searched for."""
    notes: tuple[str, ...] = ()
    """Sentences that say why there may be other proofs, or about the terms of an atom that does not hold."""

    @property
    def holds(self) -> bool:
        return bool(self.proofs)

    @property
    def proof(self) -> Proof | None:
        """The first proof."""
        return self.proofs[0] if self.proofs else None


@dataclass(frozen=True)
class Content(Sequence[Answer]):
    """The answers, one for each fact, and the rules that they refer to; the forms of an explanation show it."""

    query: str
    answers: tuple[Answer, ...]
    written: tuple[Rule, ...]
    prefixes: Mapping[str, str]

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Answer, ...]: ...
    def __getitem__(self, index: int | slice) -> Answer | tuple[Answer, ...]:
        return self.answers[index]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    @property
    def holds(self) -> bool:
        """Whether any of the answers holds."""
        return any(answer.holds for answer in self.answers)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """All proofs, fact by fact."""
        return tuple(proof for answer in self.answers for proof in answer.proofs)

    @property
    def used(self) -> tuple[int, ...]:
        """The positions of the rules that the proofs and reasons refer to."""
        proofs = {rule for proof in self.proofs for rule in proof.rules}
        return tuple(sorted(proofs | {reason.rule for answer in self.answers for reason in answer.reasons}))

    def shown(self, fact: Atom) -> str:
        """The text of a fact, or of the query that it answers."""
        return self.query if fact.predicate.name == ANSWER else print_atom(fact, self.prefixes)

    def rule(self, number: int) -> str:
        """The text of a rule."""
        return print_rule(self.written[number], self.prefixes)

    def label(self, number: int) -> str:
        """The name of a rule, or of the query, whose rule comes after the others."""
        return f"rule {number + 1}" if number < len(self.written) else "query"

    def place(self, number: int) -> str | None:
        """The place of a rule, if it was read from a file or a text of the user."""
        span = self.written[number].span
        if span is None or span.source.name.endswith(")"):  # the rules of a store
            return None
        return f"line {span.line}" if span.source.name == "<program>" else f"{span.source.name}:{span.line}"
