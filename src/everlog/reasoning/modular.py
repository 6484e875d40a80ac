"""Repairing a stratum of modules and rules that depend on each other: DRed^c-MOD (thesis, Algorithm 7)."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.algebra import AnyFactSet
from everlog.reasoning.modules.loops import Loops
from everlog.reasoning.rule_sets import Rules
from everlog.reasoning.update_sets import UpdateSets


def maintain_with_modules(m: UpdateSets, rules: Rules, modules: Sequence[SpecialModule]) -> None:
    """Repair a stratum with modules inside (DRed^c-MOD). Without counters, DRed takes the place of DRed^c."""
    loops = Loops.of(modules, m.I)
    overdeleted = m.overdelete(rules, m.unsupported, loops)  # l. 158: 162 to 173
    m.statistics.overdeleted += overdeleted.count
    rederived = rederive(m, rules, loops, overdeleted)  # l. 159: 175 to 177
    m.statistics.rederived += rederived.count
    m.insert(rules, rederived, loops)  # l. 159: 177 to 190
    m.new = loops.within(m.new)


def rederive(m: UpdateSets, rules: Rules, loops: Loops, overdeleted: AnyFactSet) -> AnyFactSet:
    """The overdeleted facts that still follow by a module, or by a rule from facts that survived, or are explicit."""
    pairs = overdeleted.restricted(loops.predicates)
    return loops.rederived(pairs, m.gone, m.alive) | rederive_by_rules(m, rules, overdeleted - pairs)  # l. 176, 177


def rederive_by_rules(m: UpdateSets, rules: Rules, overdeleted: AnyFactSet) -> AnyFactSet:
    """The overdeleted facts that follow by a rule from facts that survived, or are explicit."""
    return m.provable(rules.every, overdeleted) if m.C_r is None else m.C_r.counted(overdeleted)
