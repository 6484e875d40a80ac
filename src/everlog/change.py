"""What an update changed: exactly which facts came and which went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.lang.syntax import Predicate
from everlog.predicates import Key, Names
from everlog.query.answers import Rows
from everlog.reasoning.maintenance import UpdateStatistics


class ChangedRelations(Mapping[Key, Rows]):
    """The changed predicates with their rows; a key may be written as for a knowledge base."""

    def __init__(self, names: Names, dictionary: Dictionary, facts: FactSet) -> None:
        self._names = names
        self._dictionary = dictionary
        self._facts = facts

    def __getitem__(self, key: Key) -> Rows:
        predicate = self._names.find(key)
        relation = self._facts[predicate]
        return Rows(self._dictionary, relation, [f"c{i}" for i in range(predicate.arity)])

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{p}: {len(r):,}" for p, r in self._facts.items()) + "}"


@dataclass(frozen=True)
class Change:
    """The difference an update made to the materialisation, and to the explicit facts.

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
    """Deletions that did nothing because the fact was not explicit."""
    stats: UpdateStatistics

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)

    def _repr_html_(self) -> str:
        from everlog.display import change_html

        return change_html(self)
