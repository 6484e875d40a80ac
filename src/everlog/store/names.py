"""The ids of predicates and constants in a store, and in the DataFrames and look-ups of back ends."""

from __future__ import annotations

from collections.abc import Iterable

from everlog.engine.hashing import hash_text
from everlog.lang.syntax import Constant, Predicate


class HashedNames:
    """Predicates by id and ids by predicate; constants by their text.

    >>> p = Predicate("p", 1)
    >>> names = HashedNames([p])
    >>> names.predicate(names.id(p)) == p, names.constant(Constant("1"))
    (True, -928762887014768240)
    """

    def __init__(self, predicates: Iterable[Predicate] = (), salt: int = 0) -> None:
        self.salt = salt
        self._ids: dict[Predicate, int] = {}
        self._predicates: dict[int, Predicate] = {}
        self.add(predicates)

    def add(self, predicates: Iterable[Predicate]) -> None:
        """Add predicates with their ids."""
        for predicate in predicates:
            self.id(predicate)

    def id(self, predicate: Predicate) -> int:
        """The id of a predicate, which is added if it is not known."""
        if predicate not in self._ids:
            self._ids[predicate] = hash_text(str(predicate), salt=self.salt)
            self._predicates[self._ids[predicate]] = predicate
        return self._ids[predicate]

    def predicate(self, number: int) -> Predicate:
        """The predicate with an id, which has to be known."""
        return self._predicates[number]

    @property
    def predicates(self) -> list[Predicate]:
        """All predicates that are known."""
        return list(self._ids)

    def knows(self, number: int) -> bool:
        """Whether the predicate with an id is known."""
        return number in self._predicates

    def constant(self, constant: Constant) -> int:
        """The id of a constant."""
        return hash_text(constant.text, salt=self.salt)


def namesakes(fresh: Iterable[Predicate], width: int) -> list[Predicate]:
    """The predicates with the bare names of given ones and other arities, up to the width of a store."""
    bare = [predicate for predicate in fresh if not predicate.name.startswith("<")]
    return [Predicate(p.name, arity) for p in bare for arity in range(width + 1) if arity != p.arity]
