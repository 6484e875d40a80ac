"""CHECK and SATURATE of FBF as they are printed: one fact after the other, depth first (journal paper, Algorithm 5).

Where rules meet facts is left to a :class:`Matching`, which also says in which order the instances of a fact come. So
the instances can be counted that a search in the order of an engine considers. With ``max_depth`` None branches are
never aborted (that is B/F), with 0 always. The line numbers are the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

Fact = Any
"""A fact, as the matching identifies it."""

Call = Iterator[Any]
"""A call of CHECK in progress."""


class Matching(Protocol):
    """The rules of a stratum and the facts that they are matched in."""

    def is_proved_at_once(self, fact: Fact) -> bool:
        """Whether a fact is explicit after the deletion, or a nonrecursive rule derives it (l. 88)."""

    def instances(self, fact: Fact) -> Iterator[tuple[Fact, ...]]:
        """The body atoms in the stratum of each instance of a recursive rule that derives a fact, over the facts of the
        stratum before the update (l. 81).
        """

    def follows(self, proved: Iterable[Fact]) -> Iterable[Fact]:
        """The heads of instances over all proved facts so far, these among them, that have one of these (l. 94)."""


@dataclass
class BackwardForward:
    """The state of FBF in a stratum, and the number of instances that line 81 has considered."""

    matching: Matching
    max_depth: int | None = None
    B: set[Fact] = field(default_factory=set)
    C: set[Fact] = field(default_factory=set)
    D: set[Fact] = field(default_factory=set)
    P: set[Fact] = field(default_factory=set)
    Y: set[Fact] = field(default_factory=set)
    considered: int = 0

    def unproved(self, asked: Iterable[Fact]) -> set[Fact]:
        """The facts that are not proved (l. 70 to 73). They are deleted before the next call (l. 76)."""
        delta: set[Fact] = set()
        for fact in asked:
            calls = [self._check(fact, 0, delta)]
            while calls:
                call = next(calls[-1], None)
                if call is None:
                    calls.pop()
                else:
                    calls.append(call)
            if fact not in self.P:
                delta.add(fact)
        self.D |= delta
        return delta

    def _check(self, fact: Fact, depth: int, delta: set[Fact]) -> Iterator[Call]:
        """CHECK(F); yields the calls that it makes, which are run before it goes on."""
        if fact in self.C:  # l. 78
            return
        if self.max_depth is not None and depth >= self.max_depth:  # l. 79
            self.B.add(fact)
            return
        if self._saturate(fact):  # l. 80
            return
        for body in self.matching.instances(fact):
            if any(each in self.D | delta and each not in self.B for each in body):  # l. 81
                continue
            self.considered += 1
            for each in body:
                yield self._check(each, depth + 1, delta)  # l. 83
                if each in self.B - self.P:
                    self.B.add(fact)  # l. 84
                if fact in self.P:
                    return  # l. 85

    def _saturate(self, fact: Fact) -> bool:
        """SATURATE(F)."""
        self.C.add(fact)  # l. 87
        if fact not in self.Y and not self.matching.is_proved_at_once(fact):  # l. 88
            return False
        found = {fact}
        while True:
            delta = (found & self.C) - self.P
            self.Y |= found - self.C  # l. 91
            if not delta:
                return True
            self.P |= delta
            found = set(self.matching.follows(delta))  # l. 94
