"""Counting for recursive rules, with traces (journal paper, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyCounts, AnyEngine, AnyFactSet
from everlog.engine.factset import NONE
from everlog.engine.multiset import NO_COUNTS
from everlog.engine.rules import RuleSet
from everlog.reasoning.change import AnyExplicitChange
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import AnyMaterialisation, AnyTrace, trace_of, trimmed
from everlog.reasoning.rule_sets import Rules


@dataclass(frozen=True)
class TwoRounds:
    """The new facts of a round in the old evaluation, and in the new one."""

    old: AnyFactSet
    new: AnyFactSet

    @property
    def count(self) -> int:
        return self.old.count + self.new.count

    def __bool__(self) -> bool:
        return bool(self.old) or bool(self.new)


class Counting(Maintenance):
    """Replay the old and the new seminaive evaluation side by side, on the instances in which they differ.

    Needs and keeps the trace: for each round of each stratum the multiset of its derivations. Each
    instance of the old and of the new materialisation is considered at most once (Theorem 12);
    without recursion just those that only one of the two has. The two counters are the first round
    and the sum of the others, and are kept right along the way if there are any.
    """

    name = "counting"
    needs = "trace"

    def __init__(
        self,
        engine: AnyEngine,
        program: StratifiedProgram,
        old: AnyMaterialisation,
        explicit: AnyExplicitChange,
        depth: int | None = None,
    ) -> None:
        super().__init__(engine, program, old, explicit, depth)
        assert self.old.trace is not None
        self.traces: list[tuple[AnyCounts, ...]] = list(self.old.trace)

    def new_trace(self) -> AnyTrace:
        return tuple(self.traces)

    def trace_again(self, number: int, stratum: Stratum, new: AnyMaterialisation) -> None:
        self.traces[number] = trace_of(self.engine, stratum, new)

    def maintain(self, rules: Rules) -> None:
        """One stratum, round by round. I_o and I_n are the old and new facts derived so far, I_on and
        I_no their differences; N_o and N_n the derivations of the round.
        """
        others = [p for p in {*self.I, *self.new} if p not in rules.predicates]
        I_o, I_n = self.I.restricted(others), self.new.restricted(others)
        I_on, I_no = self.gone, self.fresh
        old, rounds = list(self.traces[rules.number]), []
        N_o: AnyCounts = old[0] if old else NO_COUNTS
        N_n = self.change_nr(rules, N_o, I_o, I_n, I_on, I_no)  # l. 22 to 25

        def new() -> TwoRounds:
            rounds.append(N_n)
            return TwoRounds(N_o.facts() - I_o, N_n.facts() - I_n)  # l. 27

        def step(delta: TwoRounds) -> TwoRounds:
            nonlocal I_o, I_n, I_on, I_no, N_o, N_n
            I_o, I_n = I_o.extended(delta.old), I_n.extended(delta.new)  # l. 29
            I_on = (I_on - delta.new) | (delta.old - I_n)  # l. 30
            I_no = (I_no - delta.old) | (delta.new - I_o)
            if not I_on and not I_no and not delta.old - delta.new and not delta.new - delta.old:  # l. 31
                rounds.extend(old[len(rounds) :])
                return TwoRounds(NONE, NONE)
            N_o = old[len(rounds)] if len(rounds) < len(old) else NO_COUNTS  # l. 35
            lost = self.only(rules, "deleted", I_o, I_n, delta.old, delta.new, I_on, I_no)  # l. 36
            won = self.only(rules, "added", I_n, I_o, delta.new, delta.old, I_no, I_on)  # l. 37
            N_n = N_o - lost + won
            if self.C_r is not None:
                self.C_r = self.C_r - lost + won
                self.rec_changed.minus.append(lost)
                self.rec_changed.plus.append(won)
            return new()

        fixpoint(new(), step)
        self.traces[rules.number] = trimmed(rounds)
        deleted, inserted = I_on.restricted(rules.predicates), I_no.restricted(rules.predicates)
        self.observer(inserted.count - deleted.count)
        self.delete(deleted)
        self.add(inserted)

    def change_nr(
        self, rules: Rules, N: AnyCounts, I_o: AnyFactSet, I_n: AnyFactSet, I_on: AnyFactSet, I_no: AnyFactSet
    ) -> AnyCounts:
        """The derivations of the first round: explicit facts and nonrecursive rules."""
        explicit = (e.restricted(rules.predicates) for e in (self.E_minus, self.E_plus))
        explicit_lost, explicit_won = map(self.engine.once, explicit)
        lost = explicit_lost + self.matched(rules.nonrecursive, "deleted", I_o, I_o, [(I_on, I_no)])  # l. 23
        won = explicit_won + self.matched(rules.nonrecursive, "added", I_n, I_n, [(I_no, I_on)])  # l. 24
        if self.C_nr is not None:
            self.C_nr = self.C_nr - lost + won
            self.nr_changed.minus.append(lost)
            self.nr_changed.plus.append(won)
        return N - lost + won

    def only(
        self,
        rules: Rules,
        phase: str,
        I_1: AnyFactSet,
        I_2: AnyFactSet,
        delta_1: AnyFactSet,
        delta_2: AnyFactSet,
        I_12: AnyFactSet,
        I_21: AnyFactSet,
    ) -> AnyCounts:
        """The derivations of a round that one evaluation has and the other has not (equation 69).

        Either a body atom differs, or the body holds in both but was complete before in the other.
        """
        differing = self.matched(rules.recursive, phase, I_1, I_1, [(delta_1, NONE), (I_12, I_21)])
        earlier = (delta_1 & I_2) - delta_2
        both = (I_1 - I_12) - delta_2
        return differing + self.matched(rules.recursive, phase, both, I_1 | I_21, [(earlier, NONE)])

    def matched(
        self, rules: RuleSet, phase: str, pos: AnyFactSet, neg: AnyFactSet, changed: list[tuple[AnyFactSet, AnyFactSet]]
    ) -> AnyCounts:
        return self.engine.match(rules, pos, neg, changed, phase).counts()
