"""The queries Q0 to Q10 on a closure and on a union (storage paper, appendix, tables 4 and 5).

Q0 asks for all pairs; Q1 for those whose first node is a concept, Q2 to Q5 for those whose first node has one of four
topics; Q6 and Q7 to Q10 say the same of the second node. The paper counts answers; here they are found, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from bench.modules.setting import Setting
from bench.modules.workloads import CONCEPT, SUBJECT, TOPICS
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column
from everlog.engine.match import Engine, RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate

MOST_ROWS = 40_000_000
"""Queries with more answers are only counted."""

REPEATS = 7
SECONDS = 1.0
"""So often a query is asked, less often if that takes longer, but twice."""


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

    def nodes(self, facts: FactSet) -> Column:
        """The nodes that may be in the column."""
        if self.topic is None:
            return facts[Predicate(CONCEPT, 1)].columns()[0]
        first, second = facts[Predicate(SUBJECT, 2)].columns()
        return first[second == self.topic]


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
    when a sort order or the reversed graph may have to be made, and at best."""
    first_topic = int(facts[Predicate(SUBJECT, 2)].columns()[1].min())
    constants = {str(first_topic + topic): first_topic + topic for topic in range(len(TOPICS))}
    records = []
    for query in queries(predicate, first_topic):
        record: dict[str, Any] = {"query": query.name, "bound": query.is_bound}
        record["answers"], record["count_first"], record["count"] = _timed(partial(counted, facts, query))
        if record["answers"] <= MOST_ROWS:
            rules = RuleSet(parse_program(query.rule()).rules)
            engine = setting.engine(constants=constants)
            found, record["rows_first"], record["rows"] = _timed(partial(answered, engine, rules, facts))
            if found != record["answers"]:
                raise RuntimeError(f"{query.rule()} has {found} answers, counted {record['answers']}")
        records.append(record)
    return records


def answered(engine: Engine, rules: RuleSet, facts: FactSet) -> int:
    """Find the answers of a query."""
    return engine.match(rules, facts, facts, phase="query").facts().count


def counted(facts: FactSet, query: Query) -> int:
    """How many answers a query has; the pairs of compact relations are not listed for it."""
    relation = facts.relation(Predicate(query.predicate, 2))
    if query.column is None:
        return len(relation)
    return int(relation.match_counts(query.column, query.nodes(facts)).sum())


def _timed(work: Callable[[], int]) -> tuple[int, float, float]:
    """What the work gives, and its seconds the first time and at best."""
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < REPEATS and sum(seconds) < SECONDS):
        began = perf_counter()
        found = work()
        seconds.append(perf_counter() - began)
    return found, seconds[0], min(seconds)
