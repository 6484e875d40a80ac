"""Explaining requested facts: proofs of all that hold in one pass, and reasons for those that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from everlog.engine.accounts import Work
from everlog.engine.keys import Column
from everlog.lang.printer import print_term
from everlog.lang.syntax import Atom, Constant
from everlog.query.explain.alternatives import MORE, several
from everlog.query.explain.assembled import assembled
from everlog.query.explain.build import ProofBuilder
from everlog.query.explain.classes import Classes
from everlog.query.explain.content import Answer
from everlog.query.explain.equalities import Equalities
from everlog.query.explain.explanation import Explanation
from everlog.query.explain.missing import reasons
from everlog.query.explain.paths import Paths
from everlog.query.explain.proof import Proof
from everlog.query.explain.requested import ExplainedBase, FactTexts, Goals, Requested, by_query, by_rows
from everlog.query.explain.search import Search
from everlog.query.explain.subject import ReasonedProgram, Subject

ONE_WAY = "that terms are equal is proved in one way only, so there may be more"

CLOSEST = 3
"""Maximum number of bindings shown for a rule that does not derive a fact."""


@dataclass
class Prepared:
    """Data shared by the explanations of one materialisation."""

    subject: Subject
    kept: object
    program: object
    equalities: Equalities | None = None
    paths: dict[int, Paths] = field(default_factory=dict)

    @classmethod
    def of(cls, reasoner: ReasonedProgram) -> Prepared:
        subject = Subject.of(reasoner)
        equalities = None if subject.partition is None else Equalities(reasoner, subject)
        return cls(subject, reasoner.with_hidden(), reasoner.program, equalities)

    @property
    def subjects(self) -> Sequence[Subject]:
        return [self.subject] if self.equalities is None else self.equalities.subjects


_prepared: WeakKeyDictionary[ExplainedBase, Prepared] = WeakKeyDictionary()


def explain(
    kb: ExplainedBase,
    what: str | Sequence[FactTexts],
    *,
    all: bool = False,
    limit: int = 10,
    answers: int | None = None,
) -> Explanation:
    """The proofs of requested facts, or reasons why they do not hold; see :meth:`KnowledgeBase.explain`."""
    if limit < 1:
        raise ValueError(f"limit={limit}: at least 1")
    requested = by_query(kb, what, answers) if isinstance(what, str) else by_rows(kb, what)
    prepared = _prepare(kb)
    explainer = _Explainer(prepared, requested, kb.prefixes, limit if all else 0)
    return Explanation(requested.text, tuple(explainer.answers()), prepared.subject.written, kb.prefixes)


def _prepare(kb: ExplainedBase) -> Prepared:
    reasoner, known = kb.up_to_date(), _prepared.get(kb)
    if known is None or known.kept is not reasoner.with_hidden() or known.program is not reasoner.program:
        known = _prepared[kb] = Prepared.of(reasoner)
    for subject in known.subjects:
        subject.engine.limits, subject.engine.work = reasoner.limits(), Work()
    return known


class _Explainer:
    """Explains requested facts; ``several`` is the maximum number of proofs of each fact, 0 for the best one only."""

    def __init__(self, prepared: Prepared, requested: Requested, prefixes: Mapping[str, str], several: int) -> None:
        self.rules = len(prepared.subject.rules)
        self.prepared, self.requested, self.prefixes, self.limit = prepared, requested, prefixes, several
        self.subject = prepared.subject if requested.rule is None else prepared.subject.with_rule(*requested.rule)

    def answers(self) -> list[Answer]:
        """All answers, in the order of the request."""
        found = {place: self._missing(atom) for place, atom in self.requested.missing}
        search = Search(self.subject, self.prepared.paths)
        numbers = [search.facts.numbers(each.predicate, self._merged(each), len(each)) for each in self.requested.goals]
        if numbers:
            search.run(np.unique(np.concatenate(numbers)))
        builder = ProofBuilder(search, self.rules)
        for goals, mine in zip(self.requested.goals, numbers, strict=True):
            proofs = self._shown(goals, builder.proofs(mine.tolist()))
            answered = self._several(goals, proofs) if self.limit else (Answer(p.fact, (p,)) for p in proofs)
            found.update(zip(goals.places.tolist(), answered, strict=True))
        return [found[place] for place in sorted(found)]

    def _merged(self, goals: Goals) -> Sequence[Column]:
        """The columns of goals over representatives, for which proofs are searched."""
        partition = self.subject.partition
        return goals.columns if partition is None else [partition.of[column] for column in goals.columns]

    def _shown(self, goals: Goals, proofs: list[Proof]) -> list[Proof]:
        """The proofs with the requested terms, and with proofs of the equalities they use."""
        equalities = self.prepared.equalities
        if equalities is None:
            return proofs
        return [assembled(draft, equalities) for draft in equalities.drafts(self.subject, goals, proofs)]

    def _several(self, goals: Goals, best: list[Proof]) -> Iterator[Answer]:
        """An answer for each goal: its best proof, and other proofs."""
        for row, first in enumerate(best):
            goal = goals.row(row)
            search = Search(self.subject, self.prepared.paths)
            number = int(search.facts.numbers(goal.predicate, self._merged(goal), 1)[0])
            choices, left_out = several(search, number, self.limit)
            builder = ProofBuilder(search, self.rules)
            made = (builder.proof(number, _chosen(choice.steps)) for choice in choices)
            others = (self._shown(goal, [proof])[0] for proof in made)
            proofs = list({proof.steps: proof for proof in (first, *others)}.values())
            if len(proofs) > self.limit and MORE not in left_out:
                left_out = (*left_out, MORE)
            if any(step.kind in ("equal", "same") for proof in proofs for step in proof.steps):
                left_out = (*left_out, ONE_WAY)
            yield Answer(first.fact, tuple(proofs[: self.limit]), (), not left_out, left_out)

    def _missing(self, atom: Atom) -> Answer:
        classes = None if self.prepared.equalities is None else self.prepared.equalities.top
        found = reasons(self.subject, atom, CLOSEST, classes)
        return Answer(atom, (), tuple(found), True, tuple(self._notes(atom, classes)))

    def _notes(self, atom: Atom, classes: Classes | None) -> Iterator[str]:
        """Notes on the terms of an atom that does not hold."""
        prefixes = self.prefixes
        for term in dict.fromkeys(atom.terms):
            if not isinstance(term, Constant):
                continue
            if self.subject.dictionary.find(term.text) < 0:
                yield f"no fact has the term {print_term(term, prefixes)}"
            elif classes is not None and classes.is_shared(term):
                others = [print_term(other, prefixes) for other in classes.members(term, CLOSEST + 1)]
                shown = [*sorted(others[:CLOSEST]), *(["others"] if len(others) > CLOSEST else [])]
                yield f"{print_term(term, prefixes)} is the same as {', '.join(shown)}"


def _chosen(steps: Mapping[int, int]) -> Any:
    return lambda fact: steps.get(fact, -1)
