"""The rules of a stratum, prepared for matching once, so that their plans are used by later updates, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from everlog.analysis.modules.module import OrdinaryRules
from everlog.analysis.stratify import Stratum
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate


class RuleSets:
    """The ordinary rules of a stratum for matching. Each set is made at its first use, and keeps its plans."""

    def __init__(self, rules: OrdinaryRules) -> None:
        self._rules = rules

    @cached_property
    def every(self) -> RuleSet:
        return RuleSet(self._rules.rules)

    @cached_property
    def recursive(self) -> RuleSet:
        return RuleSet(self._rules.recursive)

    @cached_property
    def nonrecursive(self) -> RuleSet:
        return RuleSet(self._rules.nonrecursive)


def rule_sets(stratum: Stratum) -> RuleSets:
    """The rules of a stratum for matching; they are made once for each stratum."""
    return stratum.ordinary.once(RuleSets)


@dataclass(frozen=True)
class Rules:
    """The rules of a stratum, prepared for matching."""

    number: int
    """The position of the stratum among all, from 0."""
    stratum: Stratum
    sets: RuleSets
    predicates: frozenset[Predicate]

    @classmethod
    def of(cls, number: int, stratum: Stratum) -> Rules:
        return cls(number, stratum, rule_sets(stratum), frozenset(stratum.predicates))

    @property
    def every(self) -> RuleSet:
        return self.sets.every

    @property
    def recursive(self) -> RuleSet:
        return self.sets.recursive

    @property
    def nonrecursive(self) -> RuleSet:
        return self.sets.nonrecursive
