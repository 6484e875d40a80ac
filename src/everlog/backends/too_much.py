"""How a back end gives up a change that is too large for it: back ends are tried in turn, so the next one does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

R = TypeVar("R")


class TooMuchError(Exception):
    """A change is larger than the back end allows; ``hint`` is the remedy if no back end can do it."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True)
class GivenUp:
    """The reason why a task gave up. Tasks return it instead of raising, since they may run in another process."""

    reason: str


def attempted(work: Callable[[], R]) -> R | GivenUp:
    """The result of a function that a task runs, or the reason why it gave up."""
    try:
        return work()
    except TooMuchError as error:
        return GivenUp(str(error))
    except MemoryError:
        return GivenUp("the worker's memory is used up")


def taken(result: R | GivenUp, what: str) -> R:
    """The result of a task; if it gave up, an error whose message begins with ``what``.

    >>> taken(attempted(lambda: 3), "not in one task")
    3
    """
    if isinstance(result, GivenUp):
        raise TooMuchError(f"{what}: {result.reason}")
    return result
