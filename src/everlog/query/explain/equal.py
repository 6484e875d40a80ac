"""Proofs where equal terms have one representative: what is asked for and what was given may have other terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.engine.keys import Column
from everlog.lang.syntax import Atom, Constant, Predicate
from everlog.query.explain.proof import Proof, Step
from everlog.query.explain.subject import Subject

EQUALITY = (
    "Terms that are owl:sameAs each other have one representative: rules are applied to representatives, and a fact "
    "is the same for all terms of a class. Why terms are equal is not shown."
)


@dataclass(frozen=True)
class WithEqual:
    """Facts that are asked for, and the same over representatives."""

    subject: Subject
    predicate: Predicate
    asked: Sequence[Column]
    columns: Sequence[Column]

    @classmethod
    def of(cls, subject: Subject, predicate: Predicate, asked: Sequence[Column]) -> WithEqual:
        partition = subject.partition
        columns = asked if partition is None else [partition.of[column] for column in asked]
        return cls(subject, predicate, asked, columns)

    def shown(self, proofs: Sequence[Proof]) -> list[Proof]:
        """The proofs, which are over representatives, of what was asked for, from what was given."""
        if self.subject.partition is None:
            return list(proofs)
        return [self.shown_one(row, proof) for row, proof in enumerate(proofs)]

    def shown_one(self, row: int, proof: Proof) -> Proof:
        """The same for one of the facts."""
        if self.subject.partition is None:
            return proof
        steps: list[Step] = []
        moved: list[int] = []
        for step in proof.steps:
            if step.kind == "given":
                given = self._given(step.fact)
                if given != step.fact:
                    steps.append(Step(given, "given"))
                    steps.append(Step(step.fact, "equal", premises=(len(steps) - 1,), equal=_pairs(step.fact, given)))
                else:
                    steps.append(step)
            else:
                premises = tuple(moved[p] for p in step.premises)
                steps.append(Step(step.fact, step.kind, step.rules, step.bindings, premises, step.absent))
            moved.append(len(steps) - 1)
        texts = [self.subject.dictionary.decode(column[row : row + 1])[0].as_py() for column in self.asked]
        asked = Atom(self.predicate, tuple(map(Constant, texts)))
        return Proof(_ended(steps, asked))

    def _given(self, fact: Atom) -> Atom:
        """A given fact that is the same but for equal terms."""
        subject = self.subject
        assert subject.partition is not None
        assert subject.given is not None
        relation = subject.given.relation(fact.predicate)
        ids = [subject.dictionary.find(c.text) for c in fact.terms if isinstance(c, Constant)]
        mask = None
        columns = relation.columns()
        for column, wanted in zip(columns, ids, strict=True):
            same = subject.partition.of[column] == wanted
            mask = same if mask is None else mask & same
        if mask is None or not mask.any():
            return fact
        own = mask.copy()
        for column, wanted in zip(columns, ids, strict=True):
            own &= column == wanted
        at = int((own if own.any() else mask).argmax())
        terms = [subject.dictionary.decode(column[at : at + 1])[0].as_py() for column in columns]
        return Atom(fact.predicate, tuple(map(Constant, terms)))


def _ended(steps: list[Step], asked: Atom) -> tuple[Step, ...]:
    """The steps with what was asked for as the last one."""
    goal = steps[-1]
    if goal.fact == asked:
        return tuple(steps)
    if goal.kind == "equal" and steps[goal.premises[0]].fact == asked:
        return tuple(steps[:-1])
    return (*steps, Step(asked, "equal", premises=(len(steps) - 1,), equal=_pairs(asked, goal.fact)))


def _pairs(one: Atom, other: Atom) -> tuple[tuple[Constant, Constant], ...]:
    """The terms in which two facts differ."""
    pairs = dict.fromkeys(zip(one.terms, other.terms, strict=True))
    return tuple((a, b) for a, b in pairs if isinstance(a, Constant) and isinstance(b, Constant) and a != b)
