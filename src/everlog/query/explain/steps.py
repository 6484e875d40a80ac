"""Steps of proofs found so far, as arrays: each has a head, a body, and the rule or closure that it applies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.keys import Column
from everlog.query.explain.subject import Subject


@dataclass(frozen=True)
class FoundSteps:
    """Steps of one kind: instances of a rule with the values of its variables, or paths of a module.

    Facts are numbers; the body of step i is ``body[offsets[i] : offsets[i + 1]]``.
    """

    by: int | SpecialModule
    head: Column
    offsets: Column
    body: Column
    values: tuple[Column, ...] = ()

    def __len__(self) -> int:
        return len(self.head)


class _Growing:
    """A column that is extended often: its capacity is doubled, so that adding takes amortised linear time."""

    def __init__(self, *first: int) -> None:
        self._room = np.array([*first, *[0] * 1024], np.int64)
        self.size = len(first)

    def extend(self, more: Column) -> None:
        size = self.size + len(more)
        if size > len(self._room):
            self._room = np.append(self._room[: self.size], np.empty(2 * size - self.size, np.int64))
        self._room[self.size : size] = more
        self.size = size

    @property
    def column(self) -> Column:
        return self._room[: self.size]


class Steps:
    """All steps of a search, with numbers from 0."""

    def __init__(self) -> None:
        self.found: list[FoundSteps] = []
        self._head, self._body, self._offsets = _Growing(), _Growing(), _Growing(0)

    def __len__(self) -> int:
        return self._head.size

    def add(self, found: FoundSteps) -> None:
        if len(found):
            self.found.append(found)
            self._offsets.extend(found.offsets[1:] - found.offsets[0] + self._body.size)
            self._head.extend(found.head)
            self._body.extend(found.body)
            self.__dict__.pop("starts", None)

    @property
    def head(self) -> Column:
        return self._head.column

    @property
    def body(self) -> Column:
        return self._body.column

    @property
    def offsets(self) -> Column:
        return self._offsets.column

    @cached_property
    def starts(self) -> Column:
        """The number of the first step of each part."""
        return np.concatenate([[0], np.cumsum([len(each) for each in self.found])]).astype(np.int64)

    def parts(self, steps: Column) -> Iterator[tuple[FoundSteps, Column, Column]]:
        """The parts that have some of the steps, with the numbers of these steps and their positions in the part."""
        part_of = np.searchsorted(self.starts, steps, side="right") - 1
        for part, rows in _split(part_of):
            mine = steps[rows]
            yield self.found[part], mine, mine - self.starts[part]

    def ordered(self, subject: Subject, chosen: Column, height: Column) -> Column:
        """Steps sorted by the height of the facts they prove, then by the position of the rule, then by the terms."""
        position = np.empty(len(chosen), np.int64)
        rank = np.zeros(len(chosen), np.int64)
        part_of = np.searchsorted(self.starts, chosen, side="right") - 1
        for by, parts in self._kinds().items():
            mine = np.flatnonzero(np.isin(part_of, parts))
            if len(mine):
                position[mine] = _position(self.found[parts[0]].by, by, subject)
                rank[mine] = self._ranked(subject, chosen[mine], part_of[mine])
        return chosen[np.lexsort((rank, position, height))]

    def _kinds(self) -> dict[int, list[int]]:
        """The parts by rule, or by closure."""
        found: dict[int, list[int]] = {}
        for number, each in enumerate(self.found):
            found.setdefault(each.by if isinstance(each.by, int) else -1 - id(each.by), []).append(number)
        return found

    def _ranked(self, subject: Subject, chosen: Column, part_of: Column) -> Column:
        """The ranks of steps of one rule by the hashes of its variables' values."""
        first = self.found[int(part_of[0])]
        if not first.values or len(chosen) < 2:
            return np.zeros(len(chosen), np.int64)
        columns = [np.empty(len(chosen), np.int64) for _ in first.values]
        for part, mine in _split(part_of):
            rows = chosen[mine] - self.starts[part]
            for column, values in zip(columns, self.found[part].values, strict=True):
                column[mine] = subject.hashes[values[rows]]
        order = np.lexsort(columns[::-1])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank


def _position(by: int | SpecialModule, number: int, subject: Subject) -> int:
    if isinstance(by, int):
        return 2 * number
    return 2 * min(subject.along(by), default=len(subject.rules)) + 1


def _split(numbers: Column) -> Iterator[tuple[int, Column]]:
    """The distinct numbers, ascending, each with its positions."""
    order = np.argsort(numbers, kind="stable")
    different, first = np.unique(numbers[order], return_index=True)
    if len(different):
        yield from zip(different.tolist(), np.split(order, first[1:]), strict=True)
