"""What a module derives, and how that changes with what it reads."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.analysis.modules import Closure, Module
from everlog.engine.factset import FactSet
from everlog.engine.reach import Check, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules import closure, union
from everlog.reasoning.modules.changed import RelationChange


def derive(module: Module, facts: FactSet, check: Check = unlimited) -> Mapping[Predicate, Relation]:
    """The relations of a module, from all facts below it; ``check`` is called now and then, and may raise."""
    return closure.derive(module, facts, check) if isinstance(module, Closure) else union.derive(module, facts)


def rederive(
    module: Module, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
) -> Mapping[Predicate, RelationChange]:
    """The same after an update; ``old`` and ``new`` are all facts before and after it, the others what changed."""
    if isinstance(module, Closure):
        return closure.rederive(module, old, new, gone, fresh, check)
    return union.rederive(module, old, new, gone, fresh)


def repaired_closure(
    module: Closure, old: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
) -> Mapping[Predicate, RelationChange]:
    """What changes of a closure, given what fed it, all listed, and what changed of that."""
    before = old.replaced(derive(module, old, check))
    after = ((old - gone) | fresh).replaced(before.restricted(module.predicates))
    return rederive(module, before, after, gone, fresh, check)
