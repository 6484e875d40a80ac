"""The ids that stand for predicates and constants in DataFrames: those of the store."""

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
        """Learn predicates."""
        for predicate in predicates:
            self.id(predicate)

    def id(self, predicate: Predicate) -> int:
        """The id of a predicate, known before or not."""
        if predicate not in self._ids:
            self._ids[predicate] = hash_text(str(predicate), salt=self.salt)
            self._predicates[self._ids[predicate]] = predicate
        return self._ids[predicate]

    def predicate(self, number: int) -> Predicate:
        """The predicate of an id; it was added before."""
        return self._predicates[number]

    @property
    def predicates(self) -> list[Predicate]:
        """All predicates that are known."""
        return list(self._ids)

    def knows(self, number: int) -> bool:
        """Whether it was."""
        return number in self._predicates

    def constant(self, constant: Constant) -> int:
        """The id of a constant."""
        return hash_text(constant.text, salt=self.salt)


def namesakes(fresh: Iterable[Predicate], width: int) -> list[Predicate]:
    """What a store may have under the bare names of predicates that no rule knows, with other arities."""
    bare = [predicate for predicate in fresh if not predicate.name.startswith("<")]
    return [Predicate(p.name, arity) for p in bare for arity in range(width + 1) if arity != p.arity]
