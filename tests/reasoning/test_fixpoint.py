"""The fixpoint loop: the sets that steps receive, and the calls of observers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from everlog.reasoning.fixpoint import fixpoint

EDGES = {1: {2, 3}, 2: {4}, 3: {4}, 4: {1}}


@dataclass(frozen=True)
class Nodes:
    names: frozenset[int]

    @property
    def count(self) -> int:
        return len(self.names)

    def __bool__(self) -> bool:
        return bool(self.names)


class Reached:
    """The known nodes, and the new nodes of each round."""

    def __init__(self) -> None:
        self.known: set[int] = set()
        self.rounds: list[set[int]] = []

    def step(self, new: Nodes) -> Nodes:
        assert self.known.isdisjoint(new.names)
        self.rounds.append(set(new.names))
        self.known |= new.names
        return Nodes(frozenset(end for each in new.names for end in EDGES[each]) - self.known)


def test_each_is_new_once() -> None:
    reached = Reached()
    fixpoint(Nodes(frozenset([1])), reached.step)
    assert reached.rounds == [{1}, {2, 3}, {4}]


def test_without_anything_new_no_step_is_made() -> None:
    reached = Reached()
    fixpoint(Nodes(frozenset()), reached.step, lambda new, rounds=1: pytest.fail("there was no round"))
    assert not reached.rounds


def test_an_observer_hears_of_a_round_before_it_and_ends_the_loop_by_raising() -> None:
    reached, sizes = Reached(), list[int]()

    def observer(new: int, rounds: int = 1) -> None:
        sizes.append(new)
        if sum(sizes) > 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fixpoint(Nodes(frozenset([1])), reached.step, observer)
    assert sizes == [1, 2]
    assert reached.known == {1}
