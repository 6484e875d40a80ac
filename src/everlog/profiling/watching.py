"""Engines that say what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everlog.engine.algebra import AnyChange, AnyFactSet, Observer
from everlog.engine.factset import FactSet
from everlog.engine.match import Engine, Matches, Proofs, RuleSet
from everlog.lang.syntax import Rule

if TYPE_CHECKING:
    from everlog.analysis.stratify import Stratum
    from everlog.profiling.recorder import Recorder


class WatchedEngine(Engine):
    """The local engine, telling a recorder when it begins with rules and when it is done with one."""

    watch: Recorder

    def match(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        changed: Sequence[AnyChange] = (),
        phase: str = "forward",
    ) -> Matches:
        self.watch.began(self, rules, phase)
        return super().match(rules, pos, neg, changed, phase)

    def prove(
        self, rules: RuleSet, facts: AnyFactSet, pos: AnyFactSet, neg: AnyFactSet, phase: str = "backward"
    ) -> Proofs:
        self.watch.began(self, rules, phase)
        return super().prove(rules, facts, pos, neg, phase)

    def closed(
        self, stratum: Stratum, facts: AnyFactSet, delta: AnyFactSet, observer: Observer | None = None
    ) -> FactSet | None:
        if stratum.module is not None:
            self.watch.began_module(self, stratum)
        return super().closed(stratum, facts, delta, observer)

    def note(self, rule: Rule, phase: str, instances: int) -> None:
        self.watch.matched(rule, phase, instances)
        super().note(rule, phase, instances)
