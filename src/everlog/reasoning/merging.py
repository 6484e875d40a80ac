"""Finding the classes of equal terms, and updating them.

Equal terms follow from facts, and facts follow from equal terms: with a functional property p, p(x, a) and p(x, b)
make a and b equal, which may make other pairs equal. So the classes are found in *levels*.

    partition 0     every term is equal to itself only
    level k         what the rules that lead to owl:sameAs derive from the explicit facts, normalised by partition k
    partition k+1   partition k, joined by the pairs of owl:sameAs at level k

The last level is the one whose pairs join nothing. Partitions grow from level to level, because the rules have no
negation, and the last is the least one that equality allows: the terms that the axioms of equality make the same. The
one negation that they may have is that of ``everlog:literal``, in programs in which no literal is the same as another
term, so that equalities do not change it.

A level is an ordinary materialisation of ordinary explicit facts. An update therefore goes through the levels in
order: the new partition k gives the explicit facts of level k, their change is an ordinary update of the level, by any
algorithm, and its result gives partition k+1. No equality can support itself, whatever is deleted, because a
level knows the equalities of those before it only. There are as many levels as equalities lead to equalities, most
often two; their states share memory. Levels after the first ``MOST_LEVELS`` are not kept; each update computes them
from the level before.

If two constants of the rules become equal or cease to be, rules change, and the level is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.dependencies import dependencies
from everlog.analysis.places import atom_place
from everlog.analysis.stratify import stratify
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column
from everlog.engine.match import Engine
from everlog.lang.codes import Code
from everlog.lang.errors import RuleError
from everlog.lang.internal import LITERAL, SAME_NODES
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.change import ExplicitChange, SignedChange
from everlog.reasoning.equality.expansion import expanded, expanded_count, mentioning, normalised
from everlog.reasoning.equality.partition import Partition
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.names import Algorithm
from everlog.reasoning.update import repair

SAME = Predicate("<http://www.w3.org/2002/07/owl#sameAs>", 2)
"""The predicate of equality, except in programs over triples, which have ``SAME_NODES``."""

MOST_LEVELS = 8
"""Maximum number of levels that are kept between updates."""

Engines = Callable[[Partition], Engine]
"""An engine for facts and constants that are normalised by a partition."""


@dataclass(frozen=True)
class Level:
    """The facts that lead to equalities, normalised by a partition.

    ``constants`` are the ids that the rules have.
    """

    partition: Partition
    constants: Column
    materialisation: Materialisation


@dataclass(frozen=True)
class Merged:
    """The explicit facts, their normal form, and its partition."""

    explicit: FactSet = field(default_factory=FactSet)
    normal: FactSet = field(default_factory=FactSet)
    partition: Partition = field(default_factory=lambda: Partition.trivial(0))
    constants: Column = field(default_factory=lambda: np.empty(0, np.int64))
    levels: tuple[Level, ...] = ()

    _last: list[tuple[FactSet, FactSet]] = field(default_factory=list, compare=False, repr=False)
    """The normalised facts that were expanded last, and the expanded facts."""

    @property
    def nbytes(self) -> int:
        """The bytes of the levels and of the expanded facts; shared memory counts for each of them."""
        levels = sum(
            level.materialisation.facts.nbytes + level.materialisation.nbytes + level.partition.of.nbytes
            for level in self.levels
        )
        return levels + sum(found.nbytes for _, found in self._last)

    def seen(self, materialisation: Materialisation, universe: int) -> Materialisation:
        """The materialisation that users see for one of normalised facts; it has no counters of the facts it lists."""
        if not self._last or self._last[0][0] is not materialisation.facts:
            facts, partition = materialisation.facts.fitted(universe), self.partition.fitted(universe)
            self._last[:] = [(materialisation.facts, expanded(facts, partition))]
        return Materialisation(self.explicit.fitted(universe), self._last[0][1], instances=materialisation.instances)

    def listed(self, materialisation: Materialisation, explicit: FactSet, facts: FactSet) -> Merged:
        """The merged facts with the expanded facts set to ``facts``, which are known already and are shared in this
        form.
        """
        return replace(self, explicit=explicit, _last=[(materialisation.facts, facts)])

    def count(self, materialisation: Materialisation) -> int:
        """The number of facts that users see, computed without listing them."""
        return expanded_count(materialisation.facts, self.partition)

    def seen_change(
        self, done: SignedChange, before: Merged, materialisation: Materialisation, explicit: tuple[FactSet, FactSet]
    ) -> SignedChange:
        """An update of normalised facts as users see it; ``before`` are the merged facts before it.

        ``explicit`` are the given facts that became explicit, and those that ceased to be explicit.

        Facts that users lose or gain are among the changed normalised facts and the facts with a term of a changed
        class.

        """
        universe, new = len(self.partition.of), done.materialisation.facts
        old = before.partition.fitted(universe)
        changed = self.partition.changed_since(old)
        lost = done.deleted | mentioning(materialisation.facts.fitted(universe), changed)
        won = done.inserted | mentioning(new, changed)
        lost, won = expanded(lost, old), expanded(won, self.partition)
        deleted, inserted = lost - won, won - lost
        seen = before.seen(materialisation, universe).facts.fitted(universe)
        self._last[:] = [(new, (seen - deleted).extended(inserted))]
        more, less = explicit
        seen_change = replace(done, inserted=inserted, deleted=deleted, explicit_inserted=more, explicit_deleted=less)
        return seen_change.without_counters()

    def has_rules_of(self, other: Merged) -> bool:
        """Whether the constants of the rules have the same representatives."""
        return np.array_equal(self.constants, other.constants)


class Merging:
    """The part of a program that leads to equalities.

    >>> from everlog.lang.parser import parse_program
    >>> text = "@prefix owl: <http://www.w3.org/2002/07/owl#> . owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) . "
    >>> merging = Merging(check(parse_program(text + "q(?x) :- p(?x, _) .")))
    >>> len(merging.program.program.rules), sorted(map(str, merging.predicates))[1]
    (1, 'p/2')
    """

    def __init__(self, program: CheckedProgram) -> None:
        self.same = SAME_NODES if SAME_NODES in program.predicates else SAME
        """The predicate of equality."""
        self.predicates = _leading_to(self.same, program)
        rules = tuple(rule for rule in program.rules if rule.head.predicate in self.predicates)
        negated = [atom for rule in rules for atom in rule.negative if atom.predicate != LITERAL]
        if negated:
            raise RuleError.of(
                Code.EQUALITY_THROUGH_NEGATION,
                f"equalities follow from `~{negated[0].predicate.name}`, which equalities change",
                atom_place(negated[0]),
                "rules that lead to owl:sameAs cannot have negation",
            )
        self.program = stratify(check(Program(rules)))

    def merged(
        self, engines: Engines, explicit: ExplicitChange, constants: Column, old: Merged, algorithm: Algorithm
    ) -> tuple[Merged, ExplicitChange]:
        """The classes of terms that changed explicit facts make equal, updated from the classes ``old`` of the facts
        before the change, and the change of the normalised facts.

        ``constants`` are the ids of the constants of all rules.
        """
        found = self.levels(engines, explicit, constants, old, algorithm)
        partition = found[-1].partition
        explicit, ids = explicit.fitted(len(partition.of)), partition.of[constants]
        normal = _normalised(explicit, old.normal.fitted(len(partition.of)), old.partition, partition)
        return Merged(explicit.explicit, normal.explicit, partition, ids, tuple(found[:MOST_LEVELS])), normal

    def levels(
        self, engines: Engines, explicit: ExplicitChange, constants: Column, old: Merged, algorithm: Algorithm
    ) -> list[Level]:
        """All levels, updated from those that are kept of the facts before a change; the pairs of the last level join
        nothing.
        """
        universe = engines(Partition.trivial(0)).universe
        source = explicit.restricted(self.predicates).fitted(universe)
        partition, levels = Partition.trivial(universe), [_fitted(level, universe) for level in old.levels]
        found: list[Level] = []
        while True:
            known = levels[len(found)] if len(found) < len(levels) else None
            before = known or (found[-1] if found else None)
            change = source if known is not None else ExplicitChange.of(source.explicit)
            level = self._level(engines(partition), change, partition, constants, before, algorithm)
            found.append(level)
            left, right = level.materialisation.facts.relation(self.same).columns()
            joined = partition.joined(left, right, constants)
            if joined is partition:
                return found
            partition = joined

    def _level(
        self,
        engine: Engine,
        source: ExplicitChange,
        partition: Partition,
        constants: Column,
        before: Level | None,
        algorithm: Algorithm,
    ) -> Level:
        """A level, from the state that it had before the change ``source``, or from the level below, which has the
        explicit facts of the level.
        """
        ids = partition.of[constants]
        if before is None:
            made = ExplicitChange.of(NONE, NONE, source.explicit)
            done = repair(engine, self.program, Materialisation(NONE, NONE), made, "rematerialise")
            return Level(partition, ids, done.materialisation)
        change = _normalised(source, before.materialisation.explicit, before.partition, partition)
        same_rules = np.array_equal(ids, before.constants)
        materialisation = before.materialisation
        if change.deleted or change.inserted or not same_rules:
            how = algorithm if same_rules else "rematerialise"
            materialisation = repair(engine, self.program, materialisation, change, how).materialisation
        return Level(partition, ids, materialisation)


def _leading_to(predicate: Predicate, program: CheckedProgram) -> frozenset[Predicate]:
    """A predicate and all predicates that it depends on."""
    graph, found, waiting = dependencies(program.rules), {predicate}, [predicate]
    while waiting:
        fresh = [each for each in graph.of(waiting.pop()) if each not in found]
        found.update(fresh)
        waiting += fresh
    return frozenset(found)


def _fitted(level: Level, universe: int) -> Level:
    return Level(
        level.partition.fitted(universe),
        level.constants,
        level.materialisation.fitted(universe),
    )


def _normalised(change: ExplicitChange, normal: FactSet, old: Partition, new: Partition) -> ExplicitChange:
    """The change of the normalised facts ``normal``, for a change of the given facts and of the partition.

    Costs the change and the members of its classes, and, if terms have another representative, looking through the
    facts for those terms.
    """
    old = old.fitted(len(new.of))
    renamed = mentioning(change.left, new.of != old.of)
    lost = normalised(change.deleted, old) | normalised(renamed, old)
    won = normalised(change.inserted, new) | normalised(renamed, new)
    return ExplicitChange(normal, lost - _standing_for(lost, change.explicit, new), won - normal)


def _standing_for(wanted: FactSet, facts: FactSet, partition: Partition) -> FactSet:
    """Normalised facts among which are those of ``wanted`` that stand for some of the facts.

    Their members are looked up, or, if the facts are fewer than these, all facts of their predicates are normalised.
    """
    given = facts.restricted(wanted)
    few = expanded_count(wanted, partition) <= given.count
    return normalised(expanded(wanted, partition) & given if few else given, partition)
