"""The reasoner of a knowledge base: a program, terms, and a materialisation with its maintenance."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from everlog.analysis.check import CheckedProgram
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column
from everlog.engine.limits import Limits
from everlog.engine.literals import literals_in, literals_of
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.state import State
from everlog.kb.explicit import Queued, applied
from everlog.kb.rule_edits import Edit
from everlog.lang.internal import LITERAL, VIOLATION
from everlog.lang.syntax import Predicate, constants_of
from everlog.profiling.watch import UNWATCHED, Watch
from everlog.reasoning.change import ExplicitChange, SignedChange, compared
from everlog.reasoning.equality import Equality
from everlog.reasoning.equality.partition import NormalisedConstants, Partition
from everlog.reasoning.materialisation import Maintain, Materialisation
from everlog.reasoning.merging import Merged, Merging
from everlog.reasoning.modules.boundary import UserView, outward, stored
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.rule_changes import RuleChange, change_rules
from everlog.reasoning.statistics import Listener, Statistics
from everlog.reasoning.update import materialise, repair

log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Reasoner:
    """A program with the facts that follow by it from explicit facts.

    The materialisation has two forms. One that comes from a store is *opened*: it is as users see it. The
    other form is *with hidden* predicates: it has the facts that feed modules under their hidden names, and
    representatives of equal terms. It is made at its first use, and *kept* from then on. A copy changes independently;
    facts and terms are shared. The limits may be changed, and then hold for operations that begin afterwards.

    >>> from everlog.analysis.check import check
    >>> from everlog.kb.explicit import program_facts
    >>> from everlog.lang.parser import parse_program
    >>> program = check(parse_program("p(?x) :- q(?x) . q(a) . q(b) ."))
    >>> reasoner = Reasoner(arranged(program, "levels", modules=True), Dictionary())
    >>> given = reasoner.applied(program_facts(program, reasoner.dictionary))
    >>> reasoner.compute(given.explicit).derived, reasoner.state().facts.count
    (2, 4)
    """

    program: StratifiedProgram
    dictionary: Dictionary
    modules: bool = True
    maintain: Maintain = "dredc"
    equality: Equality = "off"
    max_facts: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    watch: Watch = UNWATCHED

    def __post_init__(self) -> None:
        self.merging = Merging(self.program.program) if self.equality == "representatives" else None
        self.merged = Merged()
        self.statistics: Statistics | None = None
        """The figures of the last reasoning; None before the first."""
        self._materialisation = Materialisation(NONE, NONE)
        self._opened: UserView | None = None
        """The opened materialisation, until the form with hidden predicates is used; None afterwards."""
        self._pairs: FactSet = NONE
        """The listed facts of modules' predicates, if they were used since the last full computation."""
        self._encode_constants()

    # reading ------------------------------------------------------------------------------------

    def seen(self) -> Materialisation:
        """The materialisation as users see it: without facts that only modules read, with the facts of all
        equal terms.
        """
        if self._opened is not None and not self._opened.state.generated:
            return self._opened.seen
        if self.merging is not None:
            return self.merged.seen(self._materialisation, len(self.dictionary))
        return outward(self.program, self.with_hidden())

    def with_hidden(self) -> Materialisation:
        """The materialisation with the facts that feed modules, over representatives."""
        if self._opened is not None and self.merging is not None:
            self._merge_opened(self._opened)
        elif self._opened is not None:
            self._set_with_hidden(self._opened.inward(self.engine(), self.program))
        return self._materialisation

    def state(self) -> State:
        """The facts that users see, as the engine has them."""
        seen = self.seen()
        return State(self.dictionary, seen.explicit, seen.facts, seen.nr, seen.rec)

    def stored(self, generated: frozenset[Predicate]) -> State:
        """The state as a store has it in which facts of some predicates of modules are not listed."""
        generated = generated.intersection(self.program.external)
        if self._opened is not None and self._opened.state.generated == generated:
            return self._opened.state
        materialisation = self.with_hidden() if self.merging is None else self.seen()
        found = stored(self.program, self.dictionary, materialisation, generated, self._pairs)
        self._pairs = found.facts.restricted(self.program.external)
        return found

    def applied(
        self,
        queue: Iterable[Queued],
        program: CheckedProgram | None = None,
        before: ExplicitChange | None = None,
    ) -> ExplicitChange:
        """The effect on the explicit facts of changes, which are not made; with a program, as its rules
        need the facts. ``before`` is a change that the changes continue.
        """
        changes, program = list(queue), program or self.program.program
        if LITERAL in program.predicates:
            ids = self.dictionary.encode(literals_of(program.rules))
            brought = Relation.from_columns([ids], len(self.dictionary))
            given = literals_in([brought, *(each.relation for each in changes if each.insert)], self.dictionary)
            changes.append(Queued(True, LITERAL, given))
        return applied(changes, before or ExplicitChange.of(self.seen().explicit), len(self.dictionary))

    @property
    def instances(self) -> int:
        """The number of instances that materialising considers, as far as it is known."""
        return self._held.instances

    @property
    def memory(self) -> dict[str, int]:
        """The bytes that facts (in all the orders they are kept in), bookkeeping and dictionary take."""
        facts = self._held.facts.nbytes + self.merged.nbytes
        return {"facts": facts, "bookkeeping": self._held.nbytes, "dictionary": self.dictionary.nbytes}

    @property
    def _held(self) -> Materialisation:
        return self._materialisation if self._opened is None else self._opened.seen

    # going on with a state ----------------------------------------------------------------------

    def restore(self, state: State, statistics: Statistics) -> None:
        """Begin with a materialisation that is known already."""
        assert self.dictionary is state.dictionary
        self._opened = UserView(state, statistics.instances)
        self._pairs = state.facts.restricted(self.program.external)
        self.statistics = statistics

    def adopt(self, state: State, known: Callable[[], State | None] | None = None) -> None:
        """Replace the facts by equal ones in another form; ``known`` is as in :class:`UserView`."""
        same_terms = state.dictionary is self.dictionary
        if self.merging is not None and self._opened is None and same_terms:
            self.merged = self.merged.listed(self._materialisation, state.explicit, state.facts)
            return
        self._pairs = state.facts.restricted(self.program.external)
        if same_terms and self.program.external and self._opened is None:
            return
        trace = self._materialisation.trace if same_terms and self._opened is None else None
        instances = self.instances
        if not same_terms:
            self.dictionary = state.dictionary
            self._encode_constants()
        if self.merging is not None:
            self._materialisation, self.merged, trace = Materialisation(NONE, NONE), Merged(), None
        opened = UserView(state, instances, trace)
        self._opened = opened if known is None else replace(opened, known=known)

    def fit(self) -> None:
        """Bring the facts into layouts that have room for new terms of the dictionary."""
        if self._opened is not None:
            self._opened = self._opened.fitted(len(self.dictionary))
        self._materialisation = self._materialisation.fitted(len(self.dictionary))

    # other facts --------------------------------------------------------------------------------

    def compute(self, explicit: FactSet, progress: Listener | None = None) -> Statistics:
        """Materialise from explicit facts alone, with the bookkeeping for ``maintain``."""
        merged, materialisation, statistics = self._derived(explicit, progress)
        self._set_with_hidden(materialisation)
        self.merged = merged or Merged()
        self._pairs = NONE
        facts = self.seen().facts
        self.statistics = replace(
            statistics,
            facts=facts.count,
            explicit=explicit.count,
            equality=self.equality,
            violations=len(facts.relation(VIOLATION)),
        )
        return self.statistics

    def repair(self, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy) -> SignedChange:
        """Bring the materialisation up to date with changed explicit facts."""
        old = self.with_hidden().fitted(len(self.dictionary))
        before = self.merged
        merged, explicit = self._merge(changed, before, algorithm)
        if merged is not None and not merged.has_rules_of(before):
            algorithm = "rematerialise"
        done = repair(
            self.engine(None if merged is None else merged.partition),
            self.program,
            old,
            explicit,
            algorithm,
            strategy,
        )
        materialisation = done.materialisation
        self._limit_seen(merged, materialisation)
        if merged is not None:
            done = merged.seen_change(done, before, self._materialisation, (changed.inserted, changed.deleted))
            self.merged = merged
        self._repaired(done, materialisation)
        return done

    # other rules --------------------------------------------------------------------------------

    def with_rules(self, program: CheckedProgram, modules_open: bool) -> Reasoner:
        """A copy with other rules, whose facts are not derived yet.

        ``modules_open`` is whether modules may take rules of the copy if they take none of this reasoner's.
        """
        new = copy(self)
        if program.written == self.program.program.written:
            return new
        new.modules = self.modules or (modules_open and not with_modules(self.program).special)
        new.program = arranged(program, self.program.kind, new.modules).reusing(self.program)
        new.merging = None if self.merging is None else Merging(new.program.program)
        new._encode_constants()
        return new

    def derive_from(
        self, old: Reasoner, edit: Edit, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy
    ) -> SignedChange:
        """Derive all facts after an edit of the rules, and return the change from the facts of the old reasoner."""
        if self.merging is None and algorithm != "rematerialise":
            return self._repair_rules(old, edit, changed, algorithm, strategy)
        return self._compare_rules(old, changed)

    def _repair_rules(
        self, old: Reasoner, edit: Edit, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy
    ) -> SignedChange:
        """Derive all facts by repairing those that other rules derived."""
        arrange = partial(arranged, kind=self.program.kind, modules=self.modules)
        removed, added = frozenset(edit.removed), frozenset(edit.added)
        rules = RuleChange(old.program, self.program, removed, added, arrange)
        materialisation = old.with_hidden().fitted(len(self.dictionary))
        done = change_rules(self.engine(), rules, materialisation, changed, algorithm, strategy)
        self._repaired(done, done.materialisation)
        return done

    def _compare_rules(self, old: Reasoner, changed: ExplicitChange) -> SignedChange:
        """Derive all facts from the explicit ones, and compare them with those that other rules derived."""
        before, statistics = old.seen().fitted(len(self.dictionary)), self.compute(changed.explicit)
        done = compared(before, self.seen(), changed, statistics)
        if self.merging is not None:
            done.statistics.reason = "equality by representatives is computed anew for other rules"
        return replace(done, materialisation=self._materialisation)

    # helpers ------------------------------------------------------------------------------------

    def engine(self, partition: Partition | None = None) -> Engine:
        """An engine; with a partition, constants of rules stand for their representatives."""
        constants = self._constants if partition is None else NormalisedConstants(self._constants, partition)
        return self.watch.engine(len(self.dictionary), constants, limits=self.limits())

    def limits(self) -> Limits:
        """The limits of an operation that begins now."""
        return Limits.from_now(self.max_facts, self.timeout, self.max_memory)

    def _encode_constants(self) -> None:
        """Give every constant of the rules an id, so that deriving facts makes no new ids."""
        texts = sorted(constant.text for constant in constants_of(self.program.program.rules))
        self.constant_ids: Column = self.dictionary.encode(pa.array(texts, pa.large_string()))
        self._constants = Constants(self.dictionary)

    def _derived(
        self, explicit: FactSet, progress: Listener | None
    ) -> tuple[Merged | None, Materialisation, Statistics]:
        """The facts that follow from explicit facts, with the classes of equal terms, and the statistics."""
        merged, given = self._merge(ExplicitChange.of(NONE, NONE, explicit), Merged(), "auto")
        engine = self.engine(None if merged is None else merged.partition)
        listener = self.watch.listener(progress)
        found, statistics = materialise(engine, self.program, given.explicit, self.maintain, listener)
        self._limit_seen(merged, found)
        return merged, found, statistics

    def _merge(
        self, changed: ExplicitChange, old: Merged, algorithm: Algorithm
    ) -> tuple[Merged | None, ExplicitChange]:
        """The classes of terms that changed explicit facts make equal, and the change of the facts that are reasoned
        about. Without representatives there are no classes.
        """
        if self.merging is None:
            return None, changed.renamed(self.program.external)
        return self.merging.merged(self.engine, changed, self.constant_ids, old, algorithm)

    def _merge_opened(self, opened: UserView) -> None:
        """Compute the classes of equal terms and the form with hidden predicates of an opened materialisation."""
        log.info("reasoning again over representatives, which stores do not keep")
        seen = opened.seen
        merged, materialisation, _ = self._derived(seen.explicit, None)
        assert merged is not None
        self.merged = merged.listed(materialisation, seen.explicit, seen.facts)
        self._set_with_hidden(materialisation)

    def _limit_seen(self, merged: Merged | None, materialisation: Materialisation) -> None:
        """Raise an error if representatives stand for too many facts."""
        if merged is not None and self.max_facts is not None:
            self.limits().check(merged.count(materialisation))

    def _set_with_hidden(self, materialisation: Materialisation) -> None:
        self._materialisation, self._opened = materialisation, None

    def _repaired(self, done: SignedChange, materialisation: Materialisation) -> None:
        """Keep the result of an update."""
        self._set_with_hidden(materialisation)
        pairs = self._pairs.restricted(self.program.external)
        self._pairs = FactSet({p: _followed(known, p, done) for p, known in pairs.items()})
        seen = self.seen()
        self.statistics = Statistics(
            facts=seen.facts.count,
            explicit=seen.explicit.count,
            instances=done.statistics.total_instances,
            rounds=0,
            seconds=done.statistics.seconds,
            modules=bool(self.program.external),
            stratification=self.program.kind,
            equality=self.equality,
            violations=len(seen.facts.relation(VIOLATION)),
        )


def _followed(pairs: Relation, predicate: Predicate, done: SignedChange) -> Relation:
    """The listed pairs of a predicate after an update."""
    return pairs.shrunk(done.deleted.relation(predicate).run()).extended(done.inserted.relation(predicate).run())


def arranged(program: CheckedProgram, kind: Kind, modules: bool) -> StratifiedProgram:
    """A program in strata, and modules."""
    stratified = stratify(program, kind)
    return with_modules(stratified) if modules else stratified
