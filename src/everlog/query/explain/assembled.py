"""Joining proofs that use equalities with the proofs of these equalities."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.lang.syntax import Atom, Constant
from everlog.query.explain.equalities import Equalities, Pair
from everlog.query.explain.proof import Proof, ProofStep


def assembled(draft: Proof, equalities: Equalities) -> Proof:
    """The whole proof: the proofs of equalities come first, level by level.

    A fact that is proved at several levels keeps its first proof, which does not depend on later levels.
    """
    if not any(step.kind in ("equal", "same") for step in draft.steps):
        return draft
    made = _Assembly(equalities)
    for edge in _needed(draft, equalities):
        made.add(equalities.draft(edge))
    made.add(draft)
    return Proof(_reached(made.steps, made.place[draft.fact]))


def _needed(draft: Proof, equalities: Equalities) -> list[int]:
    """All edges that a proof depends on, earlier levels first."""
    found: dict[int, None] = {}
    waiting = [draft]
    while waiting:
        for pair in equalities.needed(waiting.pop()):
            for edge in equalities.path(pair):
                if edge not in found:
                    found[edge] = None
                    waiting.append(equalities.draft(edge))
    return sorted(found, key=equalities.level)


class _Assembly:
    def __init__(self, equalities: Equalities) -> None:
        self._equalities = equalities
        self.steps: list[ProofStep] = []
        self.place: dict[Atom, int] = {}

    def add(self, draft: Proof) -> None:
        """Add the steps of a proof, whose edges have been added before."""
        places: list[int] = []
        for step in draft.steps:
            premises = tuple(places[at] for at in step.premises)
            if step.kind == "same":
                one, other = self._equalities.terms.ids(step.fact)
                premises = self._along((one, other))
            elif step.kind == "equal":
                premises += tuple(self._equality(*pair) for pair in step.equal)
            places.append(self._put(step, premises))

    def _equality(self, one: Constant, other: Constant) -> int:
        """The index of the step that proves that two terms are equal."""
        pair = self._equalities.in_order(one, other)
        along = self._along(pair)
        return along[0] if len(along) == 1 else self._put(ProofStep(self._equalities.fact(pair), "same"), along)

    def _along(self, pair: Pair) -> tuple[int, ...]:
        return tuple(self.place[self._equalities.edge(edge)] for edge in self._equalities.path(pair))

    def _put(self, step: ProofStep, premises: tuple[int, ...]) -> int:
        if step.fact not in self.place:
            self.place[step.fact] = len(self.steps)
            self.steps.append(step.after(premises))
        return self.place[step.fact]


def _reached(steps: Sequence[ProofStep], goal: int) -> tuple[ProofStep, ...]:
    """The steps that a goal depends on, in their order; the last one is the goal."""
    used = {goal}
    for at in range(goal, -1, -1):
        if at in used:
            used.update(steps[at].premises)
    order = sorted(used)
    place = {at: number for number, at in enumerate(order)}
    return tuple(steps[at].after(tuple(place[p] for p in steps[at].premises)) for at in order)
