"""Several proofs of one fact, lowest first, then smallest.

Proofs are made level by level: those of height h from lower ones of the facts in the body of a step, one of which has
height h - 1. In a proof each fact has one step, and no fact is needed for itself: a step whose head is in a proof of
its body is left out. Of the goal the requested number of proofs is kept, of other facts more, since some of these
cannot be combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice, product
from math import prod

import numpy as np

from everlog.query.explain.search import Search

MOST_STEPS = 20_000
"""Maximum number of steps in the search for other proofs."""

MOST_COMBINED = 10_000
"""Maximum number of combinations of proofs of the body of one step that are considered at each height."""

SPARE = 20
"""Number of proofs kept of a fact other than the goal, as a multiple of the number requested of the goal."""

MORE = "there are more; a higher limit shows them"


@dataclass(frozen=True)
class Choice:
    """A proof: for each of its derived facts, the step that proves it."""

    height: int
    steps: Mapping[int, int]
    size: int
    """The number of facts, including given ones."""

    @property
    def key(self) -> frozenset[tuple[int, int]]:
        return frozenset(self.steps.items())


def several(search: Search, goal: int, limit: int) -> tuple[list[Choice], tuple[str, ...]]:
    """At most ``limit`` proofs of a goal by steps, not counting that it was given, and sentences that say why there may
    be others."""
    ended = _explore(search, goal)
    found = _Levels(search, goal, limit)
    proofs = found.proofs()
    left_out = {
        f"the search for other proofs was ended after {MOST_STEPS:,} steps, so there may be more": not ended,
        "some facts have so many proofs that not all were put together, so there may be more": found.full,
        "not all paths of closures were followed, so there may be more": found.has_other_paths(search),
        MORE: len(proofs) > limit,
    }
    return proofs[:limit], tuple(reason for reason, applies in left_out.items() if applies)


def _explore(search: Search, goal: int) -> bool:
    """Expand every fact that a proof of the goal may need; returns False if the search was given up."""
    search.prepare()
    frontier, layer = np.array([goal]), 0
    while len(frontier):
        if len(search.steps) > MOST_STEPS:
            return False
        search.expand(frontier, every_path=layer < 2)
        layer += 1
        frontier = search.unexpanded()
    return True


class _Levels:
    def __init__(self, search: Search, goal: int, limit: int) -> None:
        steps = search.steps
        self.goal, self.limit = goal, limit
        self.leaf = search.leaf.copy()
        self.leaf[goal] = False
        self.head = steps.head.tolist()
        self.body = [steps.body[a:b].tolist() for a, b in zip(steps.offsets, steps.offsets[1:], strict=False)]
        order = steps.ordered(search.subject, np.arange(len(steps)), np.zeros(len(steps), np.int64))
        self.rank = np.empty(len(order), np.int64)
        self.rank[order] = np.arange(len(order))
        self.path_of = {
            step: id(part.by)
            for part, first in zip(steps.found, steps.starts.tolist(), strict=False)
            if not isinstance(part.by, int)
            for step in range(first, first + len(part))
        }
        self.full = False
        """Whether proofs of a fact were dropped that may be part of a requested proof."""
        self.known: dict[int, list[Choice]] = {}
        self.uses: dict[int, list[int]] = {}
        for step, body in enumerate(self.body):
            for fact in set(body) if goal not in body else ():
                self.uses.setdefault(fact, []).append(step)

    def proofs(self) -> list[Choice]:
        """Proofs of the goal: up to one more than requested."""
        height = 0
        changed = {fact for fact in {f for body in self.body for f in body} if self.leaf[fact]}
        for fact in changed:
            self.known[fact] = [Choice(0, {}, 1)]
        ready = {step for fact in changed for step in self.uses.get(fact, ())}
        ready |= {step for step, body in enumerate(self.body) if not body}
        while ready and len(self.known.get(self.goal, ())) <= self.limit:
            height += 1
            new: dict[int, list[tuple[int, Choice]]] = {}
            for step in sorted(ready):
                if not self.leaf[self.head[step]]:
                    new.setdefault(self.head[step], []).extend((step, c) for c in self._combined(step, height))
            changed = {fact for fact, found in new.items() if self._keep(fact, found)}
            ready = {step for fact in changed for step in self.uses.get(fact, ())}
        return self.known.get(self.goal, [])

    def has_other_paths(self, search: Search) -> bool:
        """Whether a proof needs a fact of a closure of which not all paths were found, outside paths of that
        closure."""
        closure = {fact: self._closure(search, fact) for fact in search.shortest_only}
        return any(
            fact == self.goal or any(self.path_of.get(step) != mine for step in self.uses.get(fact, ()))
            for fact, mine in closure.items()
            if not self.leaf[fact]
        )

    def _closure(self, search: Search, fact: int) -> int:
        predicate = search.facts.predicates[int(search.facts.predicates_of(np.array([fact]))[0])]
        return id(search.subject.paths_of[predicate].module)

    def _combined(self, step: int, height: int) -> Iterator[Choice]:
        """The proofs by a step with a given height."""
        lists = [self.known.get(fact, []) for fact in self.body[step]]
        self.full |= prod(map(len, lists)) > MOST_COMBINED
        for below in islice(product(*lists), MOST_COMBINED):
            if max((choice.height for choice in below), default=0) == height - 1:
                joined = self._joined(step, below)
                if joined is not None:
                    given = {f for s in joined.values() for f in self.body[s] if self.leaf[f]}
                    yield Choice(height, joined, len(joined) + len(given))

    def _joined(self, step: int, below: tuple[Choice, ...]) -> dict[int, int] | None:
        """Several proofs joined into one, None if they prove a fact in two ways or need the head of the step."""
        joined: dict[int, int] = {}
        for choice in below:
            for fact, other in choice.steps.items():
                if joined.setdefault(fact, other) != other:
                    return None
        if self._is_path(step) and any(self._is_path(joined.get(fact, -1), step) for fact in self.body[step]):
            return None
        if self.head[step] in joined:
            return None
        joined[self.head[step]] = step
        return joined

    def _is_path(self, step: int, other: int | None = None) -> bool:
        """Whether a step is a path, of the closure of another step if given; paths are not composed of paths."""
        by = self.path_of.get(step)
        return by is not None and (other is None or by == self.path_of[other])

    def _keep(self, fact: int, found: list[tuple[int, Choice]]) -> bool:
        """Keep new proofs of a fact, up to the limit; returns whether there were any."""
        known = self.known.setdefault(fact, [])
        room = (self.limit + 1) * (1 if fact == self.goal else SPARE) - len(known)
        seen = {choice.key for choice in known}
        fresh = {c.key: (c.size, int(self.rank[s]), n, c) for n, (s, c) in enumerate(found) if c.key not in seen}
        self.full |= len(fresh) > room and fact != self.goal
        known += [each[-1] for each in nsmallest(room, fresh.values(), key=lambda each: each[:3])]
        return room > 0 and bool(fresh)
