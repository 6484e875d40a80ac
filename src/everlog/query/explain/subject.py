"""The subject of explanations: rules as written, the facts that hold and those that were given, and modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from everlog.analysis.modules.hidden import INTERMEDIATE, is_intermediate
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, Mask, pack
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.equality.partition import Partition
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.merging import Merged, Merging
from everlog.reasoning.modules.boundary import visible
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.paths import PathGraph


class ReasonedProgram(Protocol):
    """A program with its derived facts: the part of a reasoner that explanations use."""

    program: StratifiedProgram
    dictionary: Dictionary
    merging: Merging | None
    merged: Merged
    constant_ids: Column

    def inner(self) -> Materialisation:
        """The materialisation, with the hidden predicates that modules read."""

    def engine(self, partition: Partition | None = None) -> Engine:
        """An engine; with a partition, constants of rules are replaced by their representatives."""

    def limits(self) -> Limits:
        """The limits for work that begins now."""


@dataclass(frozen=True)
class ModulePaths:
    """A module whose facts are paths in a graph."""

    module: SpecialModule
    graph: PathGraph


@dataclass(frozen=True)
class Subject:
    """The rules and facts of a knowledge base; hidden predicates of modules are in ``inner`` only.

    With equality by representatives, facts and explicit facts are those over representatives.
    """

    rules: tuple[Rule, ...]
    written: tuple[Rule, ...]
    facts: FactSet
    explicit: FactSet
    inner: FactSet
    modules: tuple[SpecialModule, ...]
    dictionary: Dictionary
    engine: Engine
    partition: Partition | None = None

    @classmethod
    def of(cls, reasoner: ReasonedProgram) -> Subject:
        """The subject for a reasoner that is up to date."""
        kept, program = reasoner.inner(), reasoner.program
        names = {hidden: predicate for predicate, hidden in program.external.items() if not is_intermediate(predicate)}
        merged = reasoner.merged if reasoner.merging is not None else None
        partition = None if merged is None else merged.partition.fitted(len(reasoner.dictionary))
        written = program.program.written
        assert written is not None
        return cls(
            program.program.rules,
            written.rules,
            visible(program, kept.facts),
            kept.explicit.renamed(names),
            kept.facts,
            program.special,
            reasoner.dictionary,
            reasoner.engine(partition),
            partition,
        )

    def with_rule(self, rule: Rule, written: Rule) -> Subject:
        return replace(self, rules=(*self.rules, rule), written=(*self.written, written))

    @cached_property
    def by_head(self) -> Mapping[Predicate, Sequence[int]]:
        """The rules by the predicates that they derive."""
        found: dict[Predicate, list[int]] = {}
        for number, rule in enumerate(self.rules):
            found.setdefault(rule.head.predicate, []).append(number)
        return found

    @cached_property
    def paths_of(self) -> Mapping[Predicate, ModulePaths]:
        """The module and graph of each predicate whose facts are paths, such as one of a closure."""
        found = ((module, implementation(module).paths(self.inner)) for module in self.modules)
        each = [ModulePaths(module, graph) for module, graph in found if graph is not None]
        return {predicate: paths for paths in each for predicate in paths.module.predicates}

    @cached_property
    def module_of(self) -> Mapping[Predicate, SpecialModule]:
        """The special module of each predicate that belongs to one."""
        return {predicate: module for module in self.modules for predicate in module.predicates}

    @cached_property
    def hashes(self) -> Column:
        """The hash of each term: an order of terms that depends neither on their ids nor on representatives."""
        return self.own_hashes if self.partition is None else self.own_hashes[self.usual]

    @cached_property
    def own_hashes(self) -> Column:
        return self.dictionary.hashes()

    @cached_property
    def usual(self) -> Column:
        """For each term, the term that is shown for all equal terms."""
        found = np.arange(len(self.own_hashes))
        if self.partition is None:
            return found
        shared = np.flatnonzero(self.partition.shared)
        shared = shared[np.argsort(self.own_hashes[shared])[::-1]]
        of = self.partition.of
        found[of[shared]] = shared
        return found[of]

    def shown(self, predicate: Predicate) -> Predicate:
        """The user's predicate for a hidden predicate that a module reads."""
        return self._shown.get(predicate, predicate)

    @cached_property
    def _shown(self) -> Mapping[Predicate, Predicate]:
        pairs = ((hidden, p) for module in self.modules for p, hidden in module.external.items())
        return {hidden: Predicate(p.name.removesuffix(INTERMEDIATE), p.arity) for hidden, p in pairs}

    def numbers_of(self, rules: Sequence[Rule]) -> tuple[int, ...]:
        """The positions of rules in the program."""
        return tuple(dict.fromkeys(self._number[rule] for rule in rules if rule in self._number))

    @cached_property
    def _number(self) -> Mapping[Rule, int]:
        return {rule: number for number, rule in reversed(list(enumerate(self.rules)))}

    def direct(self, predicate: Predicate) -> tuple[int, ...]:
        """The rules for a predicate except those that paths of its module replace: rules with several atoms, and those
        that read only the module."""
        if predicate not in self._direct:
            self._direct[predicate] = self._without_paths(predicate)
        return self._direct[predicate]

    @cached_property
    def _direct(self) -> dict[Predicate, tuple[int, ...]]:
        return {}

    def _without_paths(self, predicate: Predicate) -> tuple[int, ...]:
        paths = self.paths_of.get(predicate)
        rules = tuple(self.by_head.get(predicate, ()))
        if paths is None:
            return rules
        module, inside = paths.module, set(paths.module.predicates)
        read = [(rule, {atom.predicate for atom in rule.positive}) for rule in module.rules]
        taken = set(self.numbers_of([rule for rule, of in read if len(rule.positive) > 1 or of <= inside]))
        return tuple(number for number in rules if number not in taken)

    def along(self, module: SpecialModule) -> tuple[int, ...]:
        """The rules that a path of a module stands for, in their order.

        They include rules of other modules if the edges of the paths generate the predicates of these, and rules that
        make another predicate equal to one of the module.
        """
        rules, used = list(module.rules), {module.predicates}
        while True:
            read = {atom.predicate for rule in rules for atom in rule.positive}
            below = [self.module_of[p] for p in sorted(read) if p in self.module_of and p not in module.inputs]
            more = [other for other in below if other.predicates not in used]
            if not more:
                return tuple(sorted(self.numbers_of(rules)))
            used.update(other.predicates for other in more)
            rules += [rule for other in more for rule in other.rules]

    def is_explicit(self, predicate: Predicate, columns: Sequence[Column], size: int) -> Mask:
        relation = self.explicit.relation(predicate)
        if not relation:
            return np.zeros(size, np.bool_)
        return relation.contains(pack(relation.layout, columns, size))
