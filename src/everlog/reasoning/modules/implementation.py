"""The interface of a kind of modules to facts: the functions of a module (thesis, Definition 11), and its
representation.

The relations of a module are a function of what it reads. They are in a form of their own (a *base* of
:class:`~everlog.engine.relation.Relation`), which contains, matches, counts and lists pairs like a plain relation.

There are two ways to maintain them, and each kind has both:

- *Alone*: nothing that the module reads is in its own stratum. :meth:`ModuleImplementation.derive` is called once, and
  :meth:`ModuleImplementation.repaired` after an update. Both are exact, so that no fact of the module is overdeleted.
- *In a fixpoint*: the module depends on its own facts through other modules of the stratum.
  :meth:`ModuleImplementation.in_fixpoint` gives a :class:`ModuleState` with Add, Del and Red (thesis, Table 5.1), which
  Algorithms 6 and 7 call.

A kind has to implement :meth:`ModuleImplementation.derive`. Everything else has a default that derives anew, and costs
as much; a kind overrides it if it has a faster way. Algorithms rely on these costs, so that a small change is cheap:

- ``derive`` costs the facts that the module reads, not the pairs that follow, unless the kind keeps these;
- ``repaired``, ``changed``, Add, Del and Red cost the given facts and the facts they change, not all facts that are
  held;
- relations and changes are not listed: the pairs of a :class:`RelationChange` are looked up where they are read.

Relations, graphs and changes are values, so an update that fails has changed nothing. A :class:`ModuleState` alone is
changed by its functions; it is made anew for each fixpoint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.factset import NONE, FactSet
from everlog.engine.reach import Check, Reach, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.changed import RelationChange
from everlog.reasoning.modules.paths import PathGraph

M = TypeVar("M", bound=SpecialModule)

Relations = Mapping[Predicate, Relation]
Changes = Mapping[Predicate, RelationChange]


class ModuleState(ABC):
    """A module during a fixpoint, given some facts that it reads.

    ``facts`` in a call may have facts of any predicates; those that the module does not read are ignored. Invariant:
    :meth:`relations` returns what the module derives from the facts it holds.
    """

    @abstractmethod
    def relations(self) -> Relations:
        """The relations that the module derives from the facts it holds."""

    @abstractmethod
    def add(self, facts: FactSet) -> FactSet:
        """Hold more facts; returns the facts that follow only now (Add). It is exact: the upper bound of Table 5.2."""

    @abstractmethod
    def delete(self, facts: FactSet) -> FactSet:
        """The facts of the module that some derivation from one of the given facts supports (Del).

        Del has to return more than the facts that are lost in the end; otherwise facts of the module and inputs that
        support only each other would stay. The facts are still held afterwards.
        """

    @abstractmethod
    def rederive(self, overdeleted: FactSet, gone: FactSet, left: FactSet) -> FactSet:
        """Stop holding the facts ``gone``, and return the overdeleted facts that still follow (Red).

        ``left`` are all facts that are left. Where one of them supports the same as one that is gone, nothing changes.
        """


class ModuleImplementation(ABC, Generic[M]):
    """Derives and repairs the facts of a module; ``check`` is called repeatedly during long work, and may raise."""

    def __init__(self, module: M) -> None:
        self.module = module

    @abstractmethod
    def derive(self, facts: FactSet, check: Check = unlimited) -> Relations:
        """The relations of the module, from all facts below it."""

    def repaired(self, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited) -> Changes:
        """The relations after an update. ``old`` and ``new`` are all facts before and after it; ``old`` has the
        relations of the module. ``gone`` and ``fresh`` are what changed.
        """
        return {p: RelationChange.between(old.relation(p), r) for p, r in self.derive(new, check).items()}

    def changed(
        self, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
    ) -> tuple[FactSet, FactSet]:
        """The facts that an update deletes and inserts; ``old`` and ``new`` need not have the relations of
        the module.
        """
        inputs = self.module.inputs
        old, gone, fresh = (facts.restricted(inputs).plain() for facts in (old, gone, fresh))
        before = old.replaced(self.derive(old, check))
        after = ((old - gone) | fresh).replaced(before.restricted(self.module.predicates))
        found = self.repaired(before, after, gone, fresh, check)
        return FactSet({p: c.lost for p, c in found.items()}), FactSet({p: c.won for p, c in found.items()})

    def in_fixpoint(self, facts: FactSet) -> ModuleState:
        """The state of the module for a fixpoint with others, given the facts that it reads."""
        return _DerivingAnew(self, facts)

    # Between processes ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the module's graph in a snapshot: everything that the graph depends on besides facts."""
        return repr(self.module.identity)

    def graph(self, facts: FactSet) -> Reach | None:
        """The graph that a snapshot has of the module; None if its relations are not kept in a graph. ``facts`` has its
        relations.
        """
        return None

    def restored(self, facts: FactSet, graph: Reach) -> Relations:
        """The relations of the module, given a graph from :meth:`graph` that is right for all facts below it."""
        return self.derive(facts)

    def listed(self, facts: FactSet, pairs: FactSet) -> Relations | None:
        """The relations of the module, given that ``pairs`` lists them; None if they are better kept otherwise."""
        return None

    # Explanations -----------------------------------------------------------------------------------

    def paths(self, facts: FactSet) -> PathGraph | None:
        """The graph in which each fact of the module is a path, by which it is explained; None if the rules that the
        module takes explain it. ``facts`` has the relations of the module, which are not read.
        """
        return None


class _DerivingAnew(ModuleState):
    """The state of a module whose relations are derived from scratch whenever its inputs change."""

    def __init__(self, implementation: ModuleImplementation[Any], facts: FactSet) -> None:
        self._implementation = implementation
        self._inputs = frozenset(implementation.module.inputs)
        self._facts = facts.restricted(self._inputs)
        self._relations = implementation.derive(self._facts)

    def relations(self) -> Relations:
        return self._relations

    def add(self, facts: FactSet) -> FactSet:
        if self._inputs.isdisjoint(facts):
            return NONE
        before = FactSet(self._relations)
        self._hold(self._facts | facts.restricted(self._inputs))
        return FactSet(self._relations) - before

    def delete(self, facts: FactSet) -> FactSet:
        """All facts of the module, since it is not known which depend on the given ones."""
        return NONE if self._inputs.isdisjoint(facts) else FactSet(self._relations)

    def rederive(self, overdeleted: FactSet, gone: FactSet, left: FactSet) -> FactSet:
        if not self._inputs.isdisjoint(gone):
            self._hold(self._facts - gone.restricted(self._inputs))
        return overdeleted.restricted(self._relations) & FactSet(self._relations)

    def _hold(self, facts: FactSet) -> None:
        self._facts, self._relations = facts, self._implementation.derive(facts)
