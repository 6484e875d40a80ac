"""How an update changes a relation."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.engine.relation import Relation


@dataclass(frozen=True)
class RelationChange:
    """A relation after an update, and what it lost and won by it."""

    relation: Relation
    lost: Relation
    won: Relation

    @classmethod
    def between(cls, old: Relation, new: Relation) -> RelationChange:
        """By comparison, which lists the pairs unless one of the two is empty."""
        if not old:
            return cls(new, Relation(old.layout), new)
        return cls(new, old - new, new - old)
