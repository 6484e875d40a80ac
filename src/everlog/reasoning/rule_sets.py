"""The rules of a stratum, prepared for matching once: plans that were made for them serve the next update, too."""

from __future__ import annotations

from functools import cached_property

from everlog.analysis.modules.module import OrdinaryRules
from everlog.analysis.stratify import Stratum
from everlog.engine.rules import RuleSet


class RuleSets:
    """The ordinary rules of a stratum for matching. Each set is made when it is asked for, and keeps its plans."""

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
    """The rules of a stratum for matching; they are made at the first call for the stratum."""
    return stratum.ordinary.once(RuleSets)
