"""Repairing a stratum of modules and rules that depend on each other: DRed^c-MOD (thesis, Algorithm 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import as_local
from everlog.reasoning.modules.loops import Loops

if TYPE_CHECKING:
    from everlog.reasoning.maintenance import Maintenance, Rules


def maintain_together(m: Maintenance, rules: Rules, modules: Sequence[SpecialModule]) -> None:
    """Repair a stratum with modules inside (DRed^c-MOD). Without counters, DRed takes the place of DRed^c."""
    loops = Loops.of(modules, m.I)
    overdeleted = m.overdelete(rules, m.unsupported, loops)  # l. 162 to 173
    m.statistics.overdeleted += overdeleted.count
    pairs = overdeleted.restricted(loops.predicates)
    rederived = loops.rederived(pairs, m.gone, m.alive) | rederive(m, rules, overdeleted - pairs)  # l. 176
    m.statistics.rederived += rederived.count
    m.insert(rules, rederived, loops)  # l. 177 to 190
    m.new = loops.within(as_local(m.new))


def rederive(m: Maintenance, rules: Rules, overdeleted: AnyFactSet) -> AnyFactSet:
    """The overdeleted facts that follow by a rule from facts that survived, or are explicit."""
    return m.provable(rules.every, overdeleted) if m.C_r is None else m.C_r.counted(overdeleted)
