"""The fixpoint loop of all algorithms: it repeats a step with the new facts until there are none.

The life of a fact is that of a tuple in datafrog (``to_add -> recent -> stable``):

- *found*: a round derives it, possibly more than once, possibly as a known fact;
- *new*: it was found and is not known yet. The new facts are the ``delta`` of the next round, and in that round alone
  rules are matched with them as the facts that changed;
- *known*: a round has added it. From then on it is matched with new facts, and is never new again.

``step`` is one round. It gets the new facts, adds them to the known ones, and returns the facts that it finds and that
are not known. So each fact is new once, each instance of a rule is matched in the one round in which the last of its
body atoms is new, and the loop ends, since there are finitely many facts.

Each algorithm defines "known": held, when facts are derived; deleted, when facts are overdeleted; proved, when facts
are saturated; checked, when proofs are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from everlog.engine.algebra import Observer


class RoundFacts(Protocol):
    """The new facts of a round, usually an :class:`~everlog.engine.algebra.AnyFactSet`."""

    @property
    def count(self) -> int:
        """The number of new facts."""

    def __bool__(self) -> bool:
        """Whether there are new facts."""


N = TypeVar("N", bound=RoundFacts)


def fixpoint(delta: N, step: Callable[[N], N], observer: Observer | None = None) -> None:
    """Repeat ``step`` with what it returns, beginning with ``delta``, until it returns nothing.

    The observer is called before each round with the number of its new facts. It keeps to limits and shows progress,
    and ends the loop by raising. A step that runs many rounds at once calls the observer itself, at least every 100 ms.
    """
    while delta:
        if observer is not None:
            observer(delta.count)
        delta = step(delta)
