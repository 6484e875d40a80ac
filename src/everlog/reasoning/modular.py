"""Repairing a stratum of modules and rules that depend on each other: DRed^c-MOD (thesis, Algorithm 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import Stratum
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


def evaluate_again(m: Maintenance, stratum: Stratum, rules: Rules) -> bool:
    """The same for an engine that evaluates such strata as a whole only: the facts are compared with what was there,
    and the counters of the stratum are computed anew. False, and nothing is done, for other engines.
    """
    engine = m.engine
    if not engine.evaluates_whole:
        return False
    explicit = (m.kept | m.E_plus).restricted(rules.predicates)
    found = engine.whole(stratum, m.new.restricted(p for p in m.new if p not in rules.predicates), explicit)
    assert found is not None
    closed = frozenset(predicate for module in stratum.special for predicate in module.external.values())
    shown = rules.predicates - closed
    before, after = m.I.restricted(shown), found[0].restricted(shown)
    m.change_closed(before - after, after - before)
    if m.C_nr is None or m.C_r is None:
        return True
    own = rules.predicates
    nr = engine.once(explicit) + engine.match(rules.nonrecursive, m.new, m.new, phase="bookkeeping").counts()
    rec = engine.match(rules.recursive, m.new, m.new, phase="bookkeeping").counts()
    m.recount(m.C_nr - m.C_nr.restricted(own) + nr, m.C_r - m.C_r.restricted(own) + rec, own)
    return True
