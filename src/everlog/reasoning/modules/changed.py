"""The change of a relation by an update."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.engine.relation import Relation


@dataclass(frozen=True)
class RelationChange:
    """A relation after an update, and the facts that it lost and gained."""

    relation: Relation
    lost: Relation
    won: Relation

    @classmethod
    def between(cls, old: Relation, new: Relation) -> RelationChange:
        """The change found by comparison, which lists the pairs unless one of the two is empty."""
        if not old:
            return cls(new, Relation(old.layout), new)
        return cls(new, old - new, new - old)
