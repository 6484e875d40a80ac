"""The loop that every algorithm here ends with: go on with what is new until nothing is.

The life of a fact is that of a tuple in datafrog (``to_add -> recent -> stable``):

- *found*: a round derives it, possibly more than once, and possibly though it is known;
- *new*: it was found and is not known yet. The new facts are the ``delta`` of the next round, and in that round alone
  rules are matched with them as the facts that changed;
- *known*: a round has taken it in. From then on it is matched with what is new, and is never new again.

``step`` is one round. It is given what is new, takes it in, and returns what is found by it and is not known. So each
fact is new once, each instance of a rule is matched in the one round in which the last of its body atoms is new, and
the loop ends, since there are finitely many facts.

What "known" means is the algorithm's: held, when facts are derived; deleted, when facts are overdeleted; proved, when
facts are saturated; checked, when proofs are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from everlog.engine.algebra import Observer


class New(Protocol):
    """What is new in a round: most often an :class:`~everlog.engine.algebra.AnyFactSet`."""

    @property
    def count(self) -> int:
        """The number of new facts."""

    def __bool__(self) -> bool:
        """Whether there are new facts."""


N = TypeVar("N", bound=New)


def fixpoint(delta: N, step: Callable[[N], N], observer: Observer | None = None) -> None:
    """Repeat ``step`` with what it returns, beginning with ``delta``, until it returns nothing.

    The observer hears before each round how many facts are new in it. It keeps to limits and shows progress, and ends
    the loop by raising. A step that runs many rounds at once calls the observer itself, at least every 100 ms.
    """
    while delta:
        if observer is not None:
            observer(delta.count)
        delta = step(delta)
