"""Back ends are tried one after the other: one that finds that a change is too much for it leaves it to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

R = TypeVar("R")


class TooMuchError(Exception):
    """A change is more than a back end takes on."""


@dataclass(frozen=True)
class GivenUp:
    """Why a task did not do it; what a task returns, since it may run in another process."""

    reason: str


def attempted(work: Callable[[], R]) -> R | GivenUp:
    """What some work of a task gives, or why it was too much."""
    try:
        return work()
    except TooMuchError as error:
        return GivenUp(str(error))
    except MemoryError:
        return GivenUp("the worker's memory is used up")


def taken(result: R | GivenUp, what: str) -> R:
    """What a task has given; an error if it gave up, that says ``what`` it did not do.

    >>> taken(attempted(lambda: 3), "not in one task")
    3
    """
    if isinstance(result, GivenUp):
        raise TooMuchError(f"{what}: {result.reason}")
    return result
