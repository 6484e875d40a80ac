"""The facts of unions: they are looked up and matched in the parts; none are stored."""

from __future__ import annotations

from everlog.analysis.modules.edges import Edge
from everlog.engine.closed import Listed
from everlog.engine.factset import NONE, FactSet
from everlog.engine.reach import Check, unlimited
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.changed import RelationChange
from everlog.reasoning.modules.implementation import Changes, ModuleImplementation, ModuleState, Relations
from everlog.reasoning.modules.union.description import VirtualUnion
from everlog.reasoning.modules.union.difference import PairDifference
from everlog.reasoning.modules.union.united import PAIRS, PairSource, United


class UnionImplementation(ModuleImplementation[VirtualUnion]):
    """Derives and repairs unions. A repair lists the changed pairs only if that costs less than the look-ups to count
    them.
    """

    def derive(self, facts: FactSet, check: Check = unlimited) -> Relations:
        return {self.module.predicate: Relation.from_base(united(self.module, facts))}

    def repaired(self, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited) -> Changes:
        """The change of the union: a pair that one part loses or gains counts unless another part has it."""
        module = self.module
        after = united(module, new)
        relation = Relation.from_base(after)
        if len(module.parts) == 1:
            lost, won = (_turned_as(module.parts[0], facts) for facts in (gone, fresh))
            return {module.predicate: RelationChange(relation, lost, won)}
        before = united(module, old)
        before.__dict__["_count"] = len(old.relation(module.predicate))
        less, more = (united(module, facts) for facts in (gone, fresh))
        gone_pairs = PairDifference(before, after, less, less.most, one_way=not more)
        new_pairs = PairDifference(after, before, more, more.most, one_way=not less)
        if less.most + more.most < after.later:
            after.__dict__["_count"] = len(before) - len(gone_pairs.pairs) + len(new_pairs.pairs)
        change = RelationChange(relation, Relation.from_base(gone_pairs), Relation.from_base(new_pairs))
        return {module.predicate: change}

    def changed(
        self, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
    ) -> tuple[FactSet, FactSet]:
        """The facts deleted and inserted. Costs the look-up of the pairs that the parts lost and gained."""
        before, after, less, more = (united(self.module, facts) for facts in (old, new, gone, fresh))
        lost, won = less.sorted_keys(), more.sorted_keys()
        lost, won = lost[~after.contains(lost)], won[~before.contains(won)]
        predicate = self.module.predicate
        deleted, inserted = (FactSet({predicate: Relation.from_run(Run.of(PAIRS, keys))}) for keys in (lost, won))
        return deleted, inserted

    def in_fixpoint(self, facts: FactSet) -> UnionState:
        return UnionState(self.module, facts.restricted(self.module.inputs))


class UnionState(ModuleState):
    """The parts of a union during a fixpoint."""

    def __init__(self, module: VirtualUnion, parts: FactSet) -> None:
        self.module = module
        self._parts = parts

    def relations(self) -> dict[Predicate, Relation]:
        return {self.module.predicate: Relation.from_base(united(self.module, self._parts))}

    def add(self, facts: FactSet) -> FactSet:
        more = facts.restricted(self.module.inputs)
        if not more:
            return NONE
        before, self._parts = FactSet(self.relations()), self._parts | more
        return self._listed(more) - before

    def delete(self, facts: FactSet) -> FactSet:
        """All pairs of the union that one of the facts gives."""
        return self._listed(facts.restricted(self.module.inputs))

    def rederive(self, overdeleted: FactSet, gone: FactSet, left: FactSet) -> FactSet:
        self._parts = self._parts - gone.restricted(self.module.inputs)
        pairs = overdeleted.relation(self.module.predicate).keys()
        held = united(self.module, self._parts)
        return FactSet({self.module.predicate: Relation.from_keys(PAIRS, pairs[held.contains(pairs)])})

    def _listed(self, parts: FactSet) -> FactSet:
        return FactSet({self.module.predicate: Relation.from_base(united(self.module, parts)).plain()})


def _turned_as(part: Edge, facts: FactSet) -> Relation:
    """The facts of a single part; a closure stays unlisted."""
    relation = facts.relation(part.predicate)
    if isinstance(relation, Listed):
        return relation.turned() if part.inverted else relation
    return Relation.from_base(United((PairSource(relation, part.inverted),))).plain()


def united(module: VirtualUnion, facts: FactSet) -> United:
    """The union of the parts, the largest first."""
    parts = [PairSource(facts.relation(edge.predicate), edge.inverted) for edge in module.parts]
    parts = [inner for part in parts if part.relation for inner in part.flattened()]
    return United(tuple(sorted(parts, key=lambda part: len(part.relation), reverse=True)))
