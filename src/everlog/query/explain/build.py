"""Building the proofs that users see from the facts and steps of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.keys import Column
from everlog.lang.syntax import Atom, Constant, Term, Variable
from everlog.query.explain.classes import TermCache
from everlog.query.explain.instances import variables_of
from everlog.query.explain.proof import Kind, Proof, ProofStep
from everlog.query.explain.search import Search

Chosen = Callable[[int], int]
"""Maps a fact to the step that proves it, negative if the fact was given."""


class ProofBuilder:
    """Builds proofs of facts that a search has found. Rules after those of the program belong to a query."""

    def __init__(self, search: Search, rules: int) -> None:
        self._search = search
        self._own = rules
        self._terms = TermCache(search.subject.dictionary)
        self._atoms: dict[int, Atom] = {}
        self._bodies: dict[int, list[int]] = {}
        self._made: dict[int, ProofStep] = {}

    def proofs(self, goals: Sequence[int]) -> list[Proof]:
        """The best proof of each goal, all of which have one."""
        best = self._search.best.tolist()
        orders = [self._order(goal, best.__getitem__) for goal in goals]
        self._decode({fact for order in orders for fact in order}, best.__getitem__)
        return [self._proof(order, best.__getitem__) for order in orders]

    def proof(self, goal: int, chosen: Chosen) -> Proof:
        """A proof by the chosen steps."""
        order = self._order(goal, chosen)
        self._decode(set(order), chosen)
        return self._proof(order, chosen)

    def _order(self, goal: int, chosen: Chosen) -> list[int]:
        """The facts of a proof. Each comes after its premises, which are in the order of the bodies."""
        order: list[int] = []
        seen = {goal}
        waiting = [(goal, iter(self._body(chosen(goal))))]
        while waiting:
            fact, rest = waiting[-1]
            below = next((other for other in rest if other not in seen), None)
            if below is None:
                order.append(fact)
                waiting.pop()
            else:
                seen.add(below)
                waiting.append((below, iter(self._body(chosen(below)))))
        return order

    def _body(self, step: int) -> list[int]:
        if step < 0:
            return []
        if step not in self._bodies:
            steps = self._search.steps
            self._bodies[step] = steps.body[steps.offsets[step] : steps.offsets[step + 1]].tolist()
        return self._bodies[step]

    def _proof(self, order: Sequence[int], chosen: Chosen) -> Proof:
        place = {fact: at for at, fact in enumerate(order)}
        steps = []
        for fact in order:
            step = chosen(fact)
            if step < 0:
                steps.append(ProofStep(self._atoms[fact], "given"))
                continue
            steps.append(self._made[step].after(tuple(place[other] for other in self._bodies[step])))
        return Proof(tuple(steps))

    # terms ------------------------------------------------------------------------------------------

    def _decode(self, facts: set[int], chosen: Chosen) -> None:
        """Create the atoms of facts and the steps that prove them, decoding all their terms at once."""
        new = np.array(sorted(facts.difference(self._atoms)), np.int64)
        table = self._search.facts
        rows = [(p, n, table.columns(p, n)) for p, n in table.by_predicate(new).items()]
        steps = sorted({step for fact in facts if (step := chosen(fact)) >= 0} - self._made.keys())
        parts = list(self._search.steps.parts(np.array(steps, np.int64)))
        columns = [column for _, _, each in rows for column in each]
        columns += [column for found, _, places in parts for column in (values[places] for values in found.values)]
        self._terms.constants(np.unique(np.concatenate([np.empty(0, np.int64), *columns])).tolist())
        for predicate, numbers, each in rows:
            for number, terms in zip(numbers.tolist(), self._rows(each, len(numbers)), strict=True):
                self._atoms[number] = Atom(predicate, terms)
        for found, numbers, places in parts:
            heads = found.head[places].tolist()
            values = self._rows([column[places] for column in found.values], len(places))
            make = self._maker(found.by)
            for step, head, bound in zip(numbers.tolist(), heads, values, strict=True):
                self._made[step] = make(self._atoms[head], bound)

    def _rows(self, columns: Sequence[Column], size: int) -> Iterable[tuple[Constant, ...]]:
        if not columns:
            return [()] * size
        known = self._terms.by_id
        return zip(*([known[term] for term in column.tolist()] for column in columns), strict=True)

    def _maker(self, by: int | SpecialModule) -> Callable[[Atom, tuple[Constant, ...]], ProofStep]:
        """A function that creates a step from a fact and the values of variables, without its premises."""
        subject = self._search.subject
        if not isinstance(by, int):
            rules = subject.along(by)
            return lambda fact, values: ProofStep(fact, "path", rules)
        rule, written = subject.rules[by], subject.written[by]
        order = variables_of(rule.positive)
        named = {v for atom in (written.head, *written.body) for v in atom.variables()}
        shown = [(at, v.name) for at, v in enumerate(order) if v in named]
        kind: Kind = "query" if by >= self._own else "rule"
        used = () if by >= self._own else (by,)

        def make(fact: Atom, values: tuple[Constant, ...]) -> ProofStep:
            bindings = tuple([(name, values[at]) for at, name in shown])
            bound: dict[Variable, Term] = dict(zip(order, values, strict=True)) if rule.negative else {}
            absent = tuple(atom.put(bound) for atom in rule.negative)
            return ProofStep(fact, kind, used, bindings, (), absent)

        return make
