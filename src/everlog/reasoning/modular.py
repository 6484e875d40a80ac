"""Repairing a stratum of modules and rules that depend on each other: DRed^c-MOD (thesis, Algorithm 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.rules import RuleSet
from everlog.reasoning.modules.loops import Loops, Oracle
from everlog.reasoning.rule_sets import Rules
from everlog.reasoning.statistics import UpdateStatistics


class Sets(Protocol):
    """The attributes of an update that this algorithm uses; see :mod:`everlog.reasoning.maintenance` for
    the letters.
    """

    I: AnyFactSet  # noqa: E741
    gone: AnyFactSet
    alive: AnyFactSet
    new: AnyFactSet
    C_r: AnyCounts | None
    statistics: UpdateStatistics

    def overdelete(self, rules: Rules, unsupported: Oracle, modules: Loops) -> AnyFactSet: ...

    def insert(self, rules: Rules, rederived: AnyFactSet, modules: Loops) -> None: ...

    def provable(self, rules: RuleSet, facts: AnyFactSet) -> AnyFactSet: ...

    def unsupported(self, facts: AnyFactSet) -> AnyFactSet: ...


def maintain_with_modules(m: Sets, rules: Rules, modules: Sequence[SpecialModule]) -> None:
    """Repair a stratum with modules inside (DRed^c-MOD). Without counters, DRed takes the place of DRed^c."""
    loops = Loops.of(modules, m.I)
    overdeleted = m.overdelete(rules, m.unsupported, loops)  # l. 162 to 173
    m.statistics.overdeleted += overdeleted.count
    pairs = overdeleted.restricted(loops.predicates)
    rederived = loops.rederived(pairs, m.gone, m.alive) | rederive(m, rules, overdeleted - pairs)  # l. 176
    m.statistics.rederived += rederived.count
    m.insert(rules, rederived, loops)  # l. 177 to 190
    m.new = loops.within(m.new)


def rederive(m: Sets, rules: Rules, overdeleted: AnyFactSet) -> AnyFactSet:
    """The overdeleted facts that follow by a rule from facts that survived, or are explicit."""
    return m.provable(rules.every, overdeleted) if m.C_r is None else m.C_r.counted(overdeleted)
