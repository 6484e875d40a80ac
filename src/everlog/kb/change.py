"""The change of an update, or of versions of a store: the facts that were inserted and deleted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Any, TypeVar

from everlog.analysis.predicates import Key, Names
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.tables import argument_names
from everlog.lang.errors import UnknownPredicateError
from everlog.lang.html import SHOWN, html_table
from everlog.lang.syntax import Predicate
from everlog.query.answers import Rows
from everlog.reasoning.statistics import UpdateStatistics

Held = TypeVar("Held", bound=Sized)


class ChangedPredicates(Mapping[Key, Held]):
    """The rows, or the number of rows, of each changed predicate; a key may be written as for a knowledge base.

    Iteration, ``len`` and ``in`` know the changed predicates only. A look-up knows all predicates: one that did not
    change has no rows, and one that is not known is an :class:`UnknownPredicateError`.
    """

    def __init__(self, names: Names, changed: Mapping[Predicate, Sized]) -> None:
        self._names = names
        self._changed = changed

    @abstractmethod
    def held(self, predicate: Predicate) -> Held:
        """The rows, or the number of rows, of a predicate, changed or not."""

    def __getitem__(self, key: Key) -> Held:
        return self.held(self._names.find(key))

    def __contains__(self, key: object) -> bool:
        try:
            return self._names.find(key) in self._changed  # type: ignore[arg-type]
        except UnknownPredicateError:
            return False

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._changed)

    def __len__(self) -> int:
        return len(self._changed)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{p}: {len(r):,}" for p, r in self._changed.items()) + "}"


class ChangedRelations(ChangedPredicates[Rows]):
    """The changed predicates with their rows.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> deleted = kb.update(insert={"edge": [("b", "c")]}).deleted
    >>> deleted["path"].rows(), "path" in deleted, len(deleted)
    ([], False, 0)
    """

    def __init__(self, names: Names, dictionary: Dictionary, facts: FactSet) -> None:
        super().__init__(names, facts)
        self._dictionary = dictionary
        self._facts = facts

    def held(self, predicate: Predicate) -> Rows:
        columns = argument_names(predicate.arity)
        return Rows(self._dictionary, self._facts.relation(predicate), columns)


class ChangedNumbers(ChangedPredicates[range]):
    """The changed predicates with their numbers of rows, as ranges, for changes whose rows are in the store only.

    >>> edge = Predicate("edge", 2)
    >>> numbers = ChangedNumbers(Names([edge, Predicate("path", 2)], {}), {edge: 3})
    >>> len(numbers["edge"]), len(numbers["path"]), list(numbers)
    (3, 0, [Predicate(name='edge', arity=2)])
    """

    def __init__(self, names: Names, sizes: Mapping[Predicate, int]) -> None:
        super().__init__(names, {predicate: range(size) for predicate, size in sizes.items()})

    def held(self, predicate: Predicate) -> range:
        return range(len(self._changed.get(predicate, ())))


@dataclass(frozen=True)
class Change:
    """The difference that an update, or versions of a store, made to the materialisation, and to the explicit facts.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> change = kb.update(insert={"edge": [("b", "c")]}, delete={"edge": [("a", "b")]})
    >>> change.inserted["path"].rows(), change.deleted["path"].rows()
    ([('b', 'c')], [('a', 'b')])
    """

    inserted: ChangedRelations
    deleted: ChangedRelations
    explicit_inserted: ChangedRelations
    explicit_deleted: ChangedRelations
    not_explicit: int
    """The number of deletions without effect, because the fact was not explicit; a store does not record it."""
    stats: UpdateStatistics
    """The figures of the update; for versions of a store, those of their updates, as far as the store records them."""

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)

    def _repr_html_(self) -> str:
        """The numbers of facts inserted and deleted, by predicate, as HTML."""
        sides = (self.inserted, self.deleted, self.explicit_inserted, self.explicit_deleted)
        counted = [(p, [_size(side, p) for side in sides]) for p in dict.fromkeys(p for side in sides for p in side)]
        counted.sort(key=lambda row: (-row[1][0] - row[1][1], str(row[0])))
        rows = [
            [str(p), *(f"{sign}{n:,}" for sign, n in zip("+-+-", sizes, strict=True))] for p, sizes in counted[:SHOWN]
        ]
        inserted, deleted = (sum(sizes[side] for _, sizes in counted) for side in (0, 1))
        how = f" by {self.stats.algorithm} in {self.stats.seconds:.3f} s" if self.stats.algorithm else ""
        caption = f"+{inserted:,} -{deleted:,} facts{how}"
        columns = ("predicate", "inserted", "deleted", "explicit inserted", "explicit deleted")
        return html_table(columns, rows, len(counted), caption=caption, numbers=range(1, 5))


def _size(relations: Mapping[Any, Any], predicate: Predicate) -> int:
    return len(relations[predicate]) if predicate in relations else 0
