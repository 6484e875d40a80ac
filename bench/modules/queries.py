"""The queries Q0 to Q10 on a closure and on a union (storage paper, appendix, tables 4 and 5).

Q0 asks for all pairs; Q1 for those whose first node is a concept, Q2 to Q5 for those whose first node has one of four
topics; Q6 and Q7 to Q10 say the same of the second node. The paper counts answers; here they are found, too.
Compact relations are asked beside the same pairs listed, by turns, since only what is measured together can be
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from bench.modules.setting import Setting
from bench.modules.workloads import CONCEPT, SUBJECT, TOPICS
from everlog.analysis.check import CheckedQuery
from everlog.engine.factset import FactSet
from everlog.engine.match import Engine, RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.query.counting import count

MOST_ROWS = 40_000_000
"""Queries with more answers are only counted."""

REPEATS = 25
SECONDS = 1.0
"""So often a query is asked after the first time, less often if that takes longer, but twice, or once if even that
takes longer."""

SHORTEST = 0.001
"""What takes less is done so often at a time that it takes as long."""


@dataclass(frozen=True)
class Query:
    """All pairs of a predicate, or those with a node of another one in a column."""

    name: str
    predicate: str
    column: int | None = None
    topic: int | None = None

    @property
    def is_bound(self) -> bool:
        """Whether only a few nodes may be in one of the columns."""
        return self.topic is not None

    def rule(self) -> str:
        """As a rule."""
        pairs = f"{self.predicate}(?x, ?y)"
        if self.column is None:
            return f"answer(?x, ?y) :- {pairs} ."
        node = "?x" if self.column == 0 else "?y"
        narrowing = f"{CONCEPT}({node})" if self.topic is None else f"{SUBJECT}({node}, {self.topic})"
        return f"answer(?x, ?y) :- {narrowing}, {pairs} ."

    def checked(self) -> CheckedQuery:
        """As a query for counting."""
        (rule,) = parse_program(self.rule()).rules
        return CheckedQuery(rule.positive, (), tuple(rule.head.variables()))


def queries(predicate: str, first_topic: int) -> list[Query]:
    """Q0 to Q10."""
    found = [Query("Q0", predicate)]
    for column, number in ((0, 1), (1, 6)):
        found.append(Query(f"Q{number}", predicate, column))
        found += [
            Query(f"Q{number + 1 + topic}", predicate, column, first_topic + topic) for topic in range(len(TOPICS))
        ]
    return found


def asked(setting: Setting, facts: FactSet, predicate: str) -> list[dict[str, Any]]:
    """Every query: the number of its answers, and the seconds of counting them and of finding them, the first time,
    when a sort order or the reversed graph may have to be made, and in the middle of later ones.

    For a compact relation these are followed by the ratios to the same in plain pairs."""
    first_topic = int(facts[Predicate(SUBJECT, 2)].columns()[1].min())
    constants = {str(first_topic + topic): first_topic + topic for topic in range(len(TOPICS))}
    asked_in = [facts, *_listed(facts, Predicate(predicate, 2))]
    records = []
    for query in queries(predicate, first_topic):
        engine = setting.engine(constants=constants)
        record: dict[str, Any] = {"query": query.name, "bound": query.is_bound}
        counting = [partial(counted, engine, query.checked(), each) for each in asked_in]
        record["answers"] = _timed(record, "count", counting)
        if record["answers"] <= MOST_ROWS:
            rules = RuleSet(parse_program(query.rule()).rules)
            found = _timed(record, "rows", [partial(answered, engine, rules, each) for each in asked_in])
            if found != record["answers"]:
                raise RuntimeError(f"{query.rule()} has {found} answers, counted {record['answers']}")
        records.append(record)
    return records


def _listed(facts: FactSet, predicate: Predicate) -> list[FactSet]:
    """The facts with the pairs of a compact relation listed, if they are not too many."""
    relation = facts.relation(predicate)
    if relation.base is None or len(relation) > MOST_ROWS:
        return []
    return [facts.replaced({predicate: relation.plain()})]


def answered(engine: Engine, rules: RuleSet, facts: FactSet) -> int:
    """Find the answers of a query."""
    return engine.match(rules, facts, facts, phase="query").facts().count


def counted(engine: Engine, query: CheckedQuery, facts: FactSet) -> int:
    """How many answers a query has, which need not be found for it."""
    found = count(query, facts, engine)
    if found is None:
        raise RuntimeError(f"{query} is not counted")
    return found


def _timed(record: dict[str, Any], name: str, works: Sequence[Callable[[], int]]) -> int:
    """Does the same in several ways by turns. Notes the seconds of the first way, the first time and the median of
    later ones, and the median of the ratios to the second way; returns what the first way gives."""
    first = [_each(work, 1) for work in works]
    if len({found for _, found in first}) > 1:
        raise RuntimeError(f"{[found for _, found in first]} answers to the same query")
    again = [_each(work, 1)[0] for work in works]
    number = 1 + int(SHORTEST / max(again))
    seconds = [again] if number == 1 else []
    while len(seconds) < 2 or (len(seconds) < REPEATS and number * sum(map(sum, seconds)) < SECONDS):
        if seconds and sum(again) > SECONDS:
            break
        seconds.append([_each(work, number)[0] for work in works])
    record[f"{name}_first"], record[name] = first[0][0], median(turn[0] for turn in seconds)
    if len(works) > 1:
        record[f"{name}_ratio"] = median(turn[0] / turn[1] for turn in seconds)
    return first[0][1]


def _each(work: Callable[[], int], number: int) -> tuple[float, int]:
    """The seconds that a work takes if it is done so many times, and its result."""
    began = perf_counter()
    for _ in range(number):
        found = work()
    return (perf_counter() - began) / number, found
