"""FBF with the sequential search of the oracle, which considers the instances of a fact in the order of the engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from everlog.engine.algebra import AnyFactSet
from everlog.engine.cursors import Cursors, ProofSearch
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.keys import Column, layout_for
from everlog.engine.match import Engine
from everlog.engine.plan import PlannedRule
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.fbf import FBF
from everlog.reasoning.rule_sets import Rules
from tests.oracle.backward_forward import BackwardForward

Fact = tuple[Predicate, int]
"""A predicate and a key."""


class OneByOne(ProofSearch):
    """Finds one instance of a fact at a time."""

    found = 0
    """Number of instances found so far."""

    def quotas(self, cursors: Cursors, rows: Column) -> Column:
        return np.ones(len(rows), np.int64)

    def instances(self, single: FactSet) -> Iterator[tuple[Fact, ...]]:
        """The chained body atoms of each instance of a fact."""
        while True:
            begin, before = self._edges, self.found
            self.bodies(single, NONE)
            if self.found == before:
                return
            children = self._children[begin : self._edges].tolist()
            yield tuple((self._predicates[self._owners[n]], int(self._keys[n])) for n in children)


class EngineMatching:
    """Matches the rules of a stratum with the local engine, for one fact at a time; facts must be packed."""

    def __init__(self, fbf: FBF, rules: Rules) -> None:
        assert isinstance(fbf.engine, Engine)
        self.fbf, self.rules, self.universe = fbf, rules, fbf.engine.universe
        proofs = fbf.engine.prove(rules.recursive, fbf.alive, fbf.either, rules.predicates)
        self.search = OneByOne(proofs.chained, proofs._backward_rules, self.universe, self._note)
        self.lower = fbf.alive.restricted(p for p in fbf.alive if p not in rules.predicates)
        self.proved: AnyFactSet = NONE
        self.in_one_step = 0
        """Number of facts that a nonrecursive rule derives, one instance of each of which was considered."""

    def _note(self, rule: PlannedRule, instances: int) -> None:
        self.search.found += instances

    def facts(self, facts: Iterable[Fact]) -> FactSet:
        keys: dict[Predicate, list[int]] = defaultdict(list)
        for predicate, key in facts:
            keys[predicate].append(key)
        layouts = {p: layout_for(p.arity, self.universe) for p in keys}
        return FactSet({p: Relation.from_keys(layouts[p], np.array(found, np.int64)) for p, found in keys.items()})

    def is_proved_at_once(self, fact: Fact) -> bool:
        single = self.facts([fact])
        if single & as_local(self.fbf.explicit_left):
            return True
        derived = bool(self.fbf.provable(self.rules.nonrecursive, single))
        self.in_one_step += derived
        return derived

    def instances(self, fact: Fact) -> Iterator[tuple[Fact, ...]]:
        return self.search.instances(self.facts([fact]))

    def follows(self, proved: Iterable[Fact]) -> Iterable[Fact]:
        delta = self.facts(proved)
        self.proved = self.proved.extended(delta)
        known = self.lower.extended(self.proved)
        return listed(self.fbf.engine.match(self.rules.recursive, known, self.fbf.either, [(delta, NONE)]).facts())


def listed(facts: AnyFactSet) -> list[Fact]:
    """The facts one by one, in the order of their predicates and keys."""
    return [(p, key) for p, relation in sorted(as_local(facts).items()) for key in relation.keys().tolist()]


class Sequential(FBF):
    """FBF whose search for proofs is CHECK as it is printed."""

    considered = 0
    """Number of instances that were considered backwards, without those of one-step rederivation."""
    asked = 0
    """Number of facts in question."""

    def maintain(self, rules: Rules) -> None:
        self.matching = EngineMatching(self, rules)
        self.oracle = BackwardForward(self.matching, self.max_depth)
        super().maintain(rules)
        self.considered += self.oracle.considered + self.matching.in_one_step

    def unproved(self, rules: Rules, asked: AnyFactSet) -> AnyFactSet:
        facts = listed(asked)
        self.asked += len(facts)
        left = self.oracle.unproved(facts)
        oracle, encoded = self.oracle, self.matching.facts
        self.B, self.C, self.P, self.Y = (encoded(each) for each in (oracle.B, oracle.C, oracle.P, oracle.Y))
        return encoded(left)
