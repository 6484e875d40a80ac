"""Rules prepared for matching."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.engine.plan import PlannedRule
from everlog.lang.syntax import Predicate, Rule


class RuleSet:
    """Rules prepared for matching. ``occurrences`` finds them by the predicates of their bodies, ``by_head`` by those
    of their heads.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = [PlannedRule(rule) for rule in rules]
        self.occurrences: dict[Predicate, list[tuple[int, int]]] = {}
        self.by_head: dict[Predicate, list[PlannedRule]] = {}
        for number, rule in enumerate(self.rules):
            self.by_head.setdefault(rule.rule.head.predicate, []).append(rule)
            for body, atom in enumerate((*rule.positive, *rule.negative)):
                self.occurrences.setdefault(atom.predicate, []).append((number, body))

    def __len__(self) -> int:
        return len(self.rules)
