"""Repairing a stratum of modules and rules that depend on each other: DRed^c-MOD (thesis, Algorithm 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import Stratum
from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE, as_local
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.implementation import ModuleState
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.loops import together

if TYPE_CHECKING:
    from everlog.reasoning.maintenance import Maintenance, Rules


def maintain_together(m: Maintenance, rules: Rules, modules: Sequence[SpecialModule]) -> None:
    """Repair a stratum with modules inside (DRed^c-MOD). Without counters, DRed takes the place of DRed^c."""
    loops = [implementation(module).in_fixpoint(as_local(m.I)) for module in modules]
    closed = frozenset(predicate for module in modules for predicate in module.predicates)
    overdeleted = _overdelete(m, rules, loops)
    m.statistics.overdeleted += overdeleted.count
    gone, left = as_local(m.gone), as_local(m.alive)
    rederived: AnyFactSet = together(loop.rederive(as_local(overdeleted), gone, left) for loop in loops)  # l. 176
    rederived |= _rederive(m, rules, overdeleted.restricted(p for p in overdeleted if p not in closed))
    m.statistics.rederived += rederived.count
    _insert(m, rules, loops, rederived)
    m.new = as_local(m.new).replaced({p: relation for loop in loops for p, relation in loop.relations().items()})


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
    nr = engine.once(explicit) + engine.match(rules.nonrecursive, m.new, m.new, phase="bookkeeping").counts()
    rec = engine.match(rules.recursive, m.new, m.new, phase="bookkeeping").counts()
    m.C_nr = m.C_nr - m.C_nr.restricted(rules.predicates) + nr
    m.C_r = m.C_r - m.C_r.restricted(rules.predicates) + rec
    return True


def _overdelete(m: Maintenance, rules: Rules, loops: Sequence[ModuleState]) -> AnyFactSet:
    """Lines 162 to 173, with the counters of the stratum brought up to date before the oracle is asked."""
    engine, changed = m.engine, [(m.gone, m.fresh)]
    explicit = m.E_minus.restricted(rules.predicates)
    lost = m.lose_nr(engine.match(rules.nonrecursive, m.I, m.I, changed, "delete"), explicit)
    lost |= m.lose_rec(engine.match(rules.recursive, m.I, m.I, changed, "delete"))
    doomed: AnyFactSet = together(loop.delete(as_local(m.gone)) for loop in loops)  # l. 163
    overdeleted: AnyFactSet = NONE
    while delta := _unsupported(m, lost - m.D, {}) | _unsupported(m, doomed - m.D, m.program.external):  # l. 167
        lost = m.lose_rec(engine.match(rules.recursive, m.alive, m.either, [(delta, NONE)], "delete"))  # l. 169
        doomed = together(loop.delete(as_local(delta)) for loop in loops)
        m.delete(delta)  # l. 170
        overdeleted = overdeleted.extended(delta)
    return overdeleted


def _unsupported(m: Maintenance, facts: AnyFactSet, external: Mapping[Predicate, Predicate]) -> AnyFactSet:
    """The facts of which the oracle does not know that they hold."""
    if m.C_nr is None:
        return facts
    inside = {hidden: predicate for predicate, hidden in external.items()}
    return facts - m.C_nr.counted(facts.renamed(external)).renamed(inside)


def _rederive(m: Maintenance, rules: Rules, overdeleted: AnyFactSet) -> AnyFactSet:
    if m.C_r is not None:
        return m.C_r.counted(overdeleted)
    explicit = overdeleted & m.kept
    return explicit | m.engine.prove(rules.every, overdeleted - explicit, m.alive, m.either).facts()


def _insert(m: Maintenance, rules: Rules, loops: Sequence[ModuleState], rederived: AnyFactSet) -> None:
    """Lines 177 to 190."""
    engine, changed = m.engine, [(m.fresh, m.gone)]
    explicit = m.E_plus.restricted(rules.predicates)
    found = rederived | explicit
    found |= m.gain_nr(engine.match(rules.nonrecursive, m.new, m.new, changed), explicit)
    found |= m.gain_rec(engine.match(rules.recursive, m.new, m.new, changed))
    found |= together(loop.add(as_local(m.fresh)) for loop in loops)  # l. 182
    while delta := found - m.new:  # l. 185
        m.add(delta)  # l. 186
        found = m.gain_rec(engine.match(rules.recursive, m.new, m.new, changed=[(delta, NONE)]))  # l. 190
        found |= together(loop.add(as_local(delta)) for loop in loops)
