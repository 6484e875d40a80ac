"""The queries Q0 to Q10 on a closure and on a union (storage paper, appendix, tables 4 and 5).

Q0 asks for all pairs; Q1 for those whose first node is a concept, Q2 to Q5 for those whose first node has one of four
topics; Q6 to Q10 put these conditions on the second node. The paper counts answers; here they are also listed. Queries
run alternately on compact relations and on their listed pairs, since only times of one run can be compared.
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
from everlog.engine.match import Engine
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.query.counting import count

MOST_ROWS = 40_000_000
"""Maximum number of answers that are listed; above it, answers are only counted."""

REPEATS = 25
"""Maximum number of timed repetitions of a query after the first run."""

SECONDS = 1.0
"""Maximum total seconds of the repetitions. There are at least two, or one if that exceeds the maximum."""

SHORTEST = 0.001
"""Minimum seconds of a timed repetition: shorter queries are run several times in one."""


@dataclass(frozen=True)
class Query:
    """A query for all pairs of a predicate, or for those whose node in ``column`` is a concept or has a topic."""

    name: str
    predicate: str
    column: int | None = None
    topic: int | None = None

    @property
    def is_bound(self) -> bool:
        """Whether one of the columns is restricted to a few nodes."""
        return self.topic is not None

    def rule(self) -> str:
        pairs = f"{self.predicate}(?x, ?y)"
        if self.column is None:
            return f"answer(?x, ?y) :- {pairs} ."
        node = "?x" if self.column == 0 else "?y"
        narrowing = f"{CONCEPT}({node})" if self.topic is None else f"{SUBJECT}({node}, {self.topic})"
        return f"answer(?x, ?y) :- {narrowing}, {pairs} ."

    def checked(self) -> CheckedQuery:
        """The query in the form that is counted."""
        (rule,) = parse_program(self.rule()).rules
        return CheckedQuery(rule.positive, (), tuple(rule.head.variables()))


def queries(predicate: str, first_topic: int) -> list[Query]:
    results = [Query("Q0", predicate)]
    for column, number in ((0, 1), (1, 6)):
        results.append(Query(f"Q{number}", predicate, column))
        results += [
            Query(f"Q{number + 1 + topic}", predicate, column, first_topic + topic) for topic in range(len(TOPICS))
        ]
    return results


def time_queries(setting: Setting, facts: FactSet, predicate: str) -> list[dict[str, Any]]:
    """Time every query: the number of its answers, and the seconds to count and to list them.

    There are the seconds of the first run, which may build a sort order or the reversed graph, and the median of later
    runs. For a compact relation, the ratios to the times on listed pairs are added."""
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
            results = _timed(record, "rows", [partial(answered, engine, rules, each) for each in asked_in])
            if results != record["answers"]:
                raise RuntimeError(f"{query.rule()} has {results} answers, counted {record['answers']}")
        records.append(record)
    return records


def _listed(facts: FactSet, predicate: Predicate) -> list[FactSet]:
    """The facts with the pairs of a compact relation listed, unless there are too many."""
    relation = facts.relation(predicate)
    if relation.base is None or len(relation) > MOST_ROWS:
        return []
    return [facts.replaced({predicate: relation.plain()})]


def answered(engine: Engine, rules: RuleSet, facts: FactSet) -> int:
    """The number of answers of a query, found by listing them."""
    return engine.match(rules, facts, facts, phase="query").facts().count


def counted(engine: Engine, query: CheckedQuery, facts: FactSet) -> int:
    """The number of answers of a query, counted without listing them."""
    results = count(query, facts, engine)
    if results is None:
        raise RuntimeError(f"{query} is not counted")
    return results


def _timed(record: dict[str, Any], name: str, works: Sequence[Callable[[], int]]) -> int:
    """Run equivalent functions alternately, and return the result of the first.

    Records the first function's seconds, those of the first run and the median of later ones, and the median of the
    ratios to the second function's seconds."""
    first = [_seconds_per_call(work, 1) for work in works]
    if len({results for _, results in first}) > 1:
        raise RuntimeError(f"{[results for _, results in first]} answers to the same query")
    again = [_seconds_per_call(work, 1)[0] for work in works]
    number = 1 + int(SHORTEST / max(again))
    seconds = [again] if number == 1 else []
    while len(seconds) < 2 or (len(seconds) < REPEATS and number * sum(map(sum, seconds)) < SECONDS):
        if seconds and sum(again) > SECONDS:
            break
        seconds.append([_seconds_per_call(work, number)[0] for work in works])
    record[f"{name}_first"], record[name] = first[0][0], median(turn[0] for turn in seconds)
    if len(works) > 1:
        record[f"{name}_ratio"] = median(turn[0] / turn[1] for turn in seconds)
    return first[0][1]


def _seconds_per_call(work: Callable[[], int], number: int) -> tuple[float, int]:
    """The mean seconds of ``number`` calls, and the result."""
    began = perf_counter()
    for _ in range(number):
        results = work()
    return (perf_counter() - began) / number, results
