"""Plans: in which order the atoms of a rule are matched, and by which sort order of each relation.

A plan is data. Its first step scans a relation, each further one extends every binding found so
far: a *join* binds new variables by a range of sorted keys, a *check* looks up a fact whose terms
are all bound, *absent* does so for a negated atom. The changed atom, if there is one, comes
first, unless another atom can lead so that the heads come grouped by their leading columns:
then duplicates are removed group by group, without sorting, as they appear.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from everlog.engine.keys import Order
from everlog.lang.printer import print_atom
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable, Wildcard

Measure = Callable[["PlanStep", "PlanStep"], float | None]
"""Average number of facts that join with a binding of the scan; None if it is not known."""

GROUPING_FACTOR = 4
"""Maximum number of facts per expected instance with which an atom may lead for the sake of grouping."""

COMPARED_ATOMS = 256
"""Maximum number of atoms, in all arrangements together, that are tried to find the best plan: a body of 16 atoms is
arranged in up to 16 ways."""


class Lead(Enum):
    """The atom that a plan begins with."""

    PIVOT = auto()
    """The pivot."""
    GROUPING = auto()
    """The pivot, or another atom if then the heads come in groups."""
    CHEAPEST = auto()
    """The pivot or another atom, whichever takes the fewest bindings."""


class Leads(NamedTuple):
    """The atoms that the plans of an engine begin with, for matching and for proving."""

    match: Lead
    prove: Lead


BY_COST = Leads(Lead.GROUPING, Lead.CHEAPEST)
"""Begin with the atom that makes matching quickest."""

GIVEN_FIRST = Leads(Lead.PIVOT, Lead.PIVOT)
"""Begin with the changed facts, or the facts to prove, even if it is quicker to begin with others."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One atom of a plan.

    ``order`` is the sort order used: first the columns of ``bound``, whose terms are known, then
    those of ``binds``, then wildcards. ``same`` are positions of the order whose values must agree.
    """

    kind: str
    body: int
    atom: Atom
    order: Order
    bound: tuple[Variable | Constant, ...]
    binds: tuple[tuple[int, Variable], ...] = ()
    same: tuple[tuple[int, int], ...] = ()
    keep: tuple[Variable, ...] = ()

    def __str__(self) -> str:
        sign = "~" if self.kind == "absent" else ""
        by = f" by {self.order}" if self.order != tuple(sorted(self.order)) else ""
        return f"{self.kind:6} {sign}{print_atom(self.atom)}{by}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps for a rule, with body atom ``pivot`` matched in the changes (none if ``None``)."""

    rule: Rule
    pivot: int | None
    steps: tuple[PlanStep, ...]
    grouped: bool

    def __str__(self) -> str:
        lines = [f"{step}{' (changed)' if step.body == self.pivot else ''}" for step in self.steps]
        return "\n".join([*lines, f"head   {print_atom(self.rule.head)}{' (grouped)' if self.grouped else ''}"])


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidate plans of a rule for relations of some sizes, and a grouped alternative."""

    plans: tuple[Plan, ...]
    lead: int = 0
    """The atom that leads in all of them, if there is a rival."""
    rival: Plan | None = None


class PlannedRule:
    """A rule with the plans made for it so far."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._plans: dict[tuple[int | None, tuple[int, ...], bool], Plan] = {}
        self._candidates: dict[tuple[int | None, tuple[int, ...], bool, Lead], _Candidates] = {}

    @cached_property
    def positive(self) -> tuple[Atom, ...]:
        """The positive body atoms with a variable of its own for each wildcard."""
        return tuple(
            Atom(
                atom.predicate,
                tuple(Variable(f"_{i}.{j}") if isinstance(t, Wildcard) else t for j, t in enumerate(atom.terms)),
            )
            for i, atom in enumerate(self.rule.positive)
        )

    @cached_property
    def negative(self) -> tuple[Atom, ...]:
        return self.rule.negative

    @cached_property
    def shadows(self) -> tuple[Atom, ...]:
        """The negated atoms without their wildcards: how they are matched when something in them changed."""
        return tuple(_without_wildcards(atom) for atom in self.negative)

    def atom(self, body: int) -> Atom:
        count = len(self.positive)
        return self.positive[body] if body < count else self.negative[body - count]

    @cached_property
    def backwards(self) -> PlannedRule:
        """The rule with its head as first atom of its body, to be matched in the facts to prove."""
        return PlannedRule(Rule(self.rule.head, (self.rule.head, *self.positive), self.negative))

    def plan(
        self,
        pivot: int | None,
        sizes: Sequence[int],
        keep_all: bool = False,
        lead: Lead = Lead.GROUPING,
        measure: Measure = lambda scan, join: None,
    ) -> Plan:
        """A plan for relations of these sizes (one a body atom; the pivot's is that of the change).

        With ``keep_all`` every variable is still bound at the end, for a condition on whole instances.
        Without a pivot the smallest relation takes its place. ``measure`` looks at the facts. The plans to choose from
        are made once for all sizes that have as many digits in binary; the choice is made each time.
        """
        found = self._choices(pivot, sizes, keep_all, lead)
        plans, rival = found.plans, found.rival
        plan = plans[0] if len(plans) == 1 else min(plans, key=lambda one: sum(_rows(one, sizes, measure)))
        if plan.grouped or rival is None:
            return plan
        scanned = sizes[rival.steps[0].body]
        quick = GROUPING_FACTOR * sizes[found.lead] >= scanned
        return rival if quick or GROUPING_FACTOR * _rows(plan, sizes, measure)[-1] >= scanned else plan

    def by_first_join(self, sizes: Sequence[int]) -> tuple[Plan, ...]:
        """Plans that begin with the first atom, one for each atom that may come second. See :meth:`plan` for sizes."""
        return self._choices(0, sizes, True, Lead.PIVOT).plans

    def _choices(self, pivot: int | None, sizes: Sequence[int], keep_all: bool, lead: Lead) -> _Candidates:
        key = (pivot, tuple(map(int.bit_length, sizes)), keep_all, lead)
        found = self._candidates.get(key)
        if found is None:
            found = self._candidates[key] = self._to_choose_from(pivot, sizes, keep_all, lead)
        return found

    def _to_choose_from(self, pivot: int | None, sizes: Sequence[int], keep_all: bool, lead: Lead) -> _Candidates:
        """The plans that may be best for relations of about these sizes."""
        first = pivot if pivot is not None else _smallest(self.positive, sizes)
        if first is None:
            return _Candidates((self._plan(pivot, self._arranged((), pivot, sizes), keep_all),))
        others = sorted((i for i in range(len(self.positive)) if i != first), key=lambda i: sizes[i])
        leads = [first, *others][: self._ways] if lead is Lead.CHEAPEST else [first]
        plans = [self._plan(pivot, a, keep_all) for i in leads for a in self._arrangements(i, pivot, sizes)]
        if lead is not Lead.GROUPING or keep_all or all(plan.grouped for plan in plans):
            return _Candidates(tuple(plans))
        groups = set(_group_variables(self.rule.head))
        leads = [i for i in others if groups <= set(self.positive[i].variables())][: self._ways]
        rivals = (self._plan(pivot, self._arranged((i,), pivot, sizes), keep_all) for i in leads)
        return _Candidates(tuple(plans), first, next((rival for rival in rivals if rival.grouped), None))

    @cached_property
    def _ways(self) -> int:
        """Maximum number of arrangements of the atoms that are tried, so that planning a long body stays quick."""
        return max(1, COMPARED_ATOMS // max(1, len(self.positive)))

    def _arrangements(self, lead: int, pivot: int | None, sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Orders of matching that begin with the lead, one for each atom that may come second and shares a variable."""
        known = set(self._pattern(lead, pivot).variables())
        seconds = [i for i in range(len(self.positive)) if i != lead and known & set(self.positive[i].variables())]
        if len(seconds) < 2:
            return [self._arranged((lead,), pivot, sizes)]
        if len(seconds) > self._ways:
            shared = {i: sum(isinstance(t, Constant) or t in known for t in self.positive[i].terms) for i in seconds}
            seconds.sort(key=lambda i: (_fanout(sizes[i], shared[i], len(self.positive[i].terms)), i))
        return [self._arranged((lead, second), pivot, sizes) for second in seconds[: self._ways]]

    def _arranged(self, start: tuple[int, ...], pivot: int | None, sizes: Sequence[int]) -> tuple[int, ...]:
        """All positive atoms (and a negated pivot) in the order of matching, chosen greedily after the given ones.

        The next atom is the one that agrees with the fewest facts, given the variables bound so far; one without bound
        variables comes last. The heap has an entry for each atom and number of its bound columns. An entry is out of
        date once more columns are bound.
        """
        waiting = dict.fromkeys(i for i in range(len(self.positive)) if i not in start)
        if pivot is not None and pivot >= len(self.positive) and pivot not in start:
            waiting[pivot] = None
        if len(waiting) < 2:
            return (*start, *waiting)
        bound = dict.fromkeys(waiting, 0)
        columns: dict[Variable, list[int]] = {}
        for i in waiting:
            for term in self._pattern(i, pivot).terms:
                if isinstance(term, Variable):
                    columns.setdefault(term, []).append(i)
                else:
                    bound[i] += 1

        def bind(i: int) -> set[int]:
            """Mark the variables of an atom as bound, and return the waiting atoms with more bound columns."""
            touched = [other for term in self._pattern(i, pivot).variables() for other in columns.pop(term, ())]
            for other in touched:
                bound[other] += 1
            return {other for other in touched if other in waiting}

        def entry(i: int) -> tuple[bool, float, int, int]:
            arity = len(self._pattern(i, pivot).terms)
            return not bound[i] and bool(arity), _fanout(sizes[i], bound[i], arity), i, bound[i]

        order = list(start)
        for i in start:
            bind(i)
        heap = [entry(i) for i in waiting]
        heapq.heapify(heap)
        while waiting:
            *_, best, when = heapq.heappop(heap)
            if best not in waiting or when != bound[best]:
                continue
            del waiting[best]
            order.append(best)
            for i in bind(best):
                heapq.heappush(heap, entry(i))
        return tuple(order)

    def _pattern(self, body: int, pivot: int | None) -> Atom:
        if body == pivot and body >= len(self.positive):
            return self.shadows[body - len(self.positive)]
        return self.atom(body)

    def _plan(self, pivot: int | None, arrangement: tuple[int, ...], keep_all: bool) -> Plan:
        if (pivot, arrangement, keep_all) not in self._plans:
            self._plans[pivot, arrangement, keep_all] = self._make(pivot, arrangement, keep_all)
        return self._plans[pivot, arrangement, keep_all]

    def _make(self, pivot: int | None, arrangement: tuple[int, ...], keep_all: bool) -> Plan:
        groups = _group_variables(self.rule.head)
        last_first = tuple(dict.fromkeys(self.rule.head.variables()))
        negations = _Waiting(
            {
                body: self.atom(body).variables()
                for body in range(len(self.positive), len(self.rule.body))
                if body != pivot or self._has_wildcard(body)
            }
        )
        known: set[Variable] = set()
        steps: list[PlanStep] = []

        def place_negations(bound: Iterable[Variable]) -> None:
            for body in negations.ready(bound):
                steps.append(_step("absent", body, self.atom(body), known, ()))

        place_negations(())
        for body in arrangement:
            atom = self._pattern(body, pivot)
            step = _step("join" if known else "scan", body, atom, known, last_first if known else groups)
            steps.append(step)
            known.update(atom.variables())
            place_negations(variable for _, variable in step.binds)
        grouped = not keep_all and _is_grouped(self.rule.head, steps, groups)
        needed = known if keep_all else known & set(self.rule.head.variables())
        return Plan(self.rule, pivot, _with_keep(steps, needed), grouped)

    def _has_wildcard(self, body: int) -> bool:
        return any(isinstance(term, Wildcard) for term in self.atom(body).terms)


def _rows(plan: Plan, sizes: Sequence[int], measure: Measure) -> list[float]:
    """Expected number of bindings after each scan and join."""
    rows: list[float] = []
    found, scan = 1.0, next((step for step in plan.steps if step.kind == "scan"), None)
    for step in plan.steps:
        if step.kind in ("scan", "join") and step.order:
            fanout = measure(scan, step) if scan and len(rows) == 1 and step.kind == "join" else None
            found *= max(1.0, _fanout(sizes[step.body], len(step.bound), len(step.order))) if fanout is None else fanout
            rows.append(found)
    return rows or [1.0]


def _with_keep(steps: Sequence[PlanStep], needed: set[Variable]) -> tuple[PlanStep, ...]:
    """The steps, each with the variables to keep: the bound ones that a later step or the end needs."""
    kept: list[PlanStep] = []
    live = set(needed)
    for step in reversed(steps):
        keep = tuple(sorted(live, key=lambda v: v.name))
        kept.append(PlanStep(step.kind, step.body, step.atom, step.order, step.bound, step.binds, step.same, keep))
        live.difference_update(variable for _, variable in step.binds)
        live.update(term for term in step.bound if isinstance(term, Variable))
    return tuple(reversed(kept))


class _Waiting:
    """Atoms that wait for all their variables to be bound."""

    def __init__(self, variables: Mapping[int, Iterable[Variable]]) -> None:
        self._missing = {body: set(found) for body, found in variables.items()}
        self._by_variable: dict[Variable, list[int]] = {}
        for body, missing in self._missing.items():
            for variable in missing:
                self._by_variable.setdefault(variable, []).append(body)
        self._without = [body for body, missing in self._missing.items() if not missing]

    def ready(self, bound: Iterable[Variable]) -> list[int]:
        """The atoms that can be placed once these variables are bound, too; each is returned once, in the order of the
        body.
        """
        found, self._without = self._without, []
        for variable in bound:
            for body in self._by_variable.pop(variable, ()):
                self._missing[body].discard(variable)
                if not self._missing[body]:
                    found.append(body)
        return sorted(found)


def _without_wildcards(atom: Atom) -> Atom:
    terms = tuple(term for term in atom.terms if not isinstance(term, Wildcard))
    return Atom(Predicate(atom.predicate.name, len(terms)), terms)


def _smallest(atoms: Sequence[Atom], sizes: Sequence[int]) -> int | None:
    def cost(i: int) -> tuple[float, int]:
        constants = sum(isinstance(term, Constant) for term in atoms[i].terms)
        return _fanout(sizes[i], constants, atoms[i].predicate.arity), i

    return min(range(len(atoms)), key=cost, default=None)


def _fanout(size: int, bound: int, arity: int) -> float:
    """Estimated number of facts, of ``size``, that agree with ``bound`` given columns."""
    return float(size) ** ((arity - bound) / arity) if arity else 1.0


def _step(kind: str, body: int, atom: Atom, known: set[Variable], preferred: Sequence[Variable]) -> PlanStep:
    """Make the step of an atom. Its columns are ordered: bound terms, preferred variables, other new ones, wildcards. A
    scan or join that binds nothing is a check.
    """
    bound: list[int] = []
    terms: list[Variable | Constant] = []
    wild: list[int] = []
    fresh: dict[Variable, list[int]] = {}
    for c, term in enumerate(atom.terms):
        if isinstance(term, Wildcard):
            wild.append(c)
        elif isinstance(term, Constant) or term in known:
            bound.append(c)
            terms.append(term)
        else:
            fresh.setdefault(term, []).append(c)
    if kind != "absent" and not fresh:
        return PlanStep("check", body, atom, (*bound, *wild), tuple(terms))
    ranked = list(fresh)
    if len(ranked) > 1:
        ranked.sort(key=lambda v: preferred.index(v) if v in preferred else len(preferred))
    order = [*bound, *(c for variable in ranked for c in fresh[variable]), *wild]
    binds = tuple((order.index(fresh[variable][0]), variable) for variable in ranked)
    same = tuple((order.index(c[0]), order.index(other)) for c in fresh.values() for other in c[1:])
    return PlanStep(kind, body, atom, tuple(order), tuple(terms), binds, same)


def _group_variables(head: Atom) -> tuple[Variable, ...]:
    """The variables of the head in order, except those that occur in its last column only."""
    return tuple(dict.fromkeys(t for t in head.terms[:-1] if isinstance(t, Variable)))


def _is_grouped(head: Atom, steps: Sequence[PlanStep], groups: Sequence[Variable]) -> bool:
    """Whether heads that agree in all columns but the last are found one after the other, and the last atom alone gives
    the last column.
    """
    if len(steps) < 2 or not head.terms:
        return False
    first, last, free = steps[0], steps[-1], head.terms[-1]
    if first.kind != "scan" or last.kind != "join" or last.same or free in groups:
        return False
    if [variable for _, variable in last.binds] != [free] or len(last.order) != len(last.bound) + 1:
        return False
    leading = [variable for _, variable in first.binds][: len(groups)]
    return leading == list(groups)
