"""Engines that report what they do to a recorder."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from everlog.engine.algebra import AnyChange, AnyEngine, AnyFactSet, Way
from everlog.engine.match import Engine, Matches, Proofs
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Rule

if TYPE_CHECKING:
    from everlog.analysis.modules.module import SpecialModule
    from everlog.analysis.stratify import Stratum


class PassRecorder(Protocol):
    """The events that a watched engine reports."""

    def began(self, engine: AnyEngine, rules: RuleSet, phase: str) -> None:
        """An engine begins a pass over rules."""

    def began_module(self, engine: AnyEngine, stratum: Stratum, module: SpecialModule) -> None:
        """A module begins to derive its facts."""

    def matched(self, rule: Rule, phase: str, instances: int) -> None:
        """A rule has been matched."""


class WatchedEngine(Engine):
    """The local engine, which reports to a recorder when it begins with rules and when it has matched one."""

    watch: PassRecorder

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

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        if stratum.alone is not None:
            self.watch.began_module(self, stratum, stratum.alone)
        return super().way(stratum, facts, explicit, without)

    def note(self, rule: Rule, phase: str, instances: int) -> None:
        self.watch.matched(rule, phase, instances)
        super().note(rule, phase, instances)
