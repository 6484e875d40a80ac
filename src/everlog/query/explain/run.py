"""Explain what is asked for: proofs of all that holds in one pass, and reasons for what does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from everlog.engine.match import Work
from everlog.lang.printer import print_text
from everlog.lang.syntax import Atom, Constant
from everlog.predicates import Key
from everlog.query.explain.alternatives import several
from everlog.query.explain.asked import Asked, Goals, by_query, by_rows
from everlog.query.explain.build import Builder
from everlog.query.explain.equal import EQUALITY, WithEqual
from everlog.query.explain.explanation import Answer, Explanation
from everlog.query.explain.missing import reasons
from everlog.query.explain.paths import Paths
from everlog.query.explain.proof import Proof
from everlog.query.explain.search import Search
from everlog.query.explain.subject import Subject

if TYPE_CHECKING:
    from everlog.knowledge_base import KnowledgeBase

CLOSEST = 3
"""So many bindings are shown for a rule that does not derive a fact."""


@dataclass
class Prepared:
    """What explanations of one materialisation share."""

    subject: Subject
    kept: object
    program: object
    paths: dict[int, Paths] = field(default_factory=dict)


_prepared: WeakKeyDictionary[KnowledgeBase, Prepared] = WeakKeyDictionary()


def explain(
    kb: KnowledgeBase,
    what: str | Mapping[Key, Any],
    *,
    all: bool = False,
    limit: int = 10,
    answers: int | None = None,
) -> Explanation:
    """The proofs of what is asked for, or why it does not hold; see :meth:`KnowledgeBase.explain`."""
    if limit < 1:
        raise ValueError(f"limit={limit}: at least 1")
    asked = by_query(kb, what, answers) if isinstance(what, str) else by_rows(kb, what)
    prepared = _prepare(kb)
    explainer = _Explainer(prepared, asked, limit if all else 0)
    return Explanation(
        asked.text,
        tuple(explainer.answers()),
        prepared.subject.written,
        prepared.subject.prefixes,
        () if prepared.subject.partition is None else (EQUALITY,),
    )


def _prepare(kb: KnowledgeBase) -> Prepared:
    kept, known = kb._inner(), _prepared.get(kb)
    if known is None or known.kept is not kept or known.program is not kb.program:
        known = _prepared[kb] = Prepared(Subject.of(kb), kept, kb.program)
    known.subject.engine.limits, known.subject.engine.work = kb._limits(), Work()
    return known


class _Explainer:
    """Explains what is asked for; ``several`` is how many proofs of each fact there may be, 0 for the best one."""

    def __init__(self, prepared: Prepared, asked: Asked, several: int) -> None:
        self.rules = len(prepared.subject.rules)
        self.prepared, self.asked, self.limit = prepared, asked, several
        self.subject = prepared.subject if asked.rule is None else prepared.subject.with_rule(*asked.rule)

    def answers(self) -> list[Answer]:
        """All answers, in the order asked for."""
        found = {place: self._missing(atom) for place, atom in self.asked.missing}
        search = Search(self.subject, self.prepared.paths)
        equal = [WithEqual.of(self.subject, each.predicate, each.columns) for each in self.asked.goals]
        numbers = [
            search.facts.numbers(each.predicate, same.columns, len(each))
            for each, same in zip(self.asked.goals, equal, strict=True)
        ]
        if numbers:
            search.run(np.unique(np.concatenate(numbers)))
        builder = Builder(search, self.rules)
        for goals, same, mine in zip(self.asked.goals, equal, numbers, strict=True):
            proofs = same.shown(builder.proofs(mine.tolist()))
            answered = self._several(goals, same, proofs) if self.limit else (Answer(p.fact, (p,)) for p in proofs)
            found.update(zip(goals.places.tolist(), answered, strict=True))
        return [found[place] for place in sorted(found)]

    def _several(self, goals: Goals, equal: WithEqual, best: list[Proof]) -> Iterator[Answer]:
        """The best proof of each goal, and others."""
        for row, first in enumerate(best):
            search = Search(self.subject, self.prepared.paths)
            goal = int(search.facts.numbers(goals.predicate, [c[row : row + 1] for c in equal.columns], 1)[0])
            found = several(search, goal, self.limit)
            builder = Builder(search, self.rules)
            made = (builder.proof(goal, _chosen(choice.steps)) for choice in found.choices)
            proofs = [first, *(each for p in made if (each := equal.shown_one(row, p)).steps != first.steps)]
            complete = found.complete and len(proofs) <= self.limit
            yield Answer(first.fact, tuple(proofs[: self.limit]), (), complete)

    def _missing(self, atom: Atom) -> Answer:
        unknown = [
            f"no fact has the term {print_text(t.text, self.subject.prefixes)}"
            for t in dict.fromkeys(atom.terms)
            if isinstance(t, Constant) and self.subject.dictionary.find(t.text) < 0
        ]
        return Answer(atom, (), tuple(reasons(self.subject, atom, CLOSEST)), True, tuple(unknown))


def _chosen(steps: Mapping[int, int]) -> Any:
    return lambda fact: steps.get(fact, -1)
