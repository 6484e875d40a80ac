"""The knowledge base: rules, facts, and everything that follows from them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from everlog.analysis.check import CheckedProgram, check, check_query
from everlog.analysis.modules import with_modules
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.change import Change, ChangedRelations
from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.state import State
from everlog.equality import Equality
from everlog.equality.expansion import difference
from everlog.equality.merging import Merged, Merging
from everlog.equality.partition import NormalisedConstants, Partition
from everlog.explicit import ExplicitChange, Queued, applied, deletion, insertion, program_facts
from everlog.lang.errors import EverlogError
from everlog.lang.parser import NO_PREFIXES, parse_program, parse_query
from everlog.lang.printer import print_program
from everlog.lang.syntax import Constant, Predicate, Program
from everlog.memory import bytes_of
from everlog.modules.boundary import Opened, outward, stored, visible
from everlog.pipeline.program import is_path, load_program
from everlog.pipeline.values import text_columns
from everlog.predicates import Key, Names
from everlog.profiling.watch import UNWATCHED, Watch, watching
from everlog.query.answers import RelationRows, Rows
from everlog.query.conjunctive import answer
from everlog.reasoning.maintenance import Update, UpdateStatistics
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.rule_changes import RuleChange, change_rules
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics
from everlog.reasoning.update import Algorithm, Strategy, update
from everlog.rule_edits import Edit, RulesChanged, edited
from everlog.settings import EXPAND_BELOW

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile
    from everlog.query.explain import Explanation
    from everlog.query.sparql.results import Result
    from everlog.stores import Saved

Rows_ = Any
"""Rows in any form that ``everlog.pipeline.values.text_columns`` takes."""

log = logging.getLogger(__name__)


class KnowledgeBase:
    """Rules with facts, in memory; no Spark and no Java are needed.

    ``rules`` is the path of a rule file or an ontology, the text of a program, or a parsed program.
    ``insert`` and ``delete`` queue changes of the explicit facts; whatever reads brings the knowledge
    base up to date first. With ``equality="representatives"`` terms that are ``owl:sameAs`` each other
    are the same; otherwise that is a predicate like others, and what rules make of it; those of an
    ontology make something of it with ``equality="rules"``.

    >>> kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> kb.insert("edge", [("a", "b"), ("b", "c")])
    >>> kb.materialise().derived
    3
    >>> kb.query("path(a, ?x)").rows()
    [('b',), ('c',)]
    >>> ("a", "c") in kb["path"], len(kb["edge"].explicit)
    (True, 2)
    """

    def __init__(
        self,
        rules: str | Path | Program = "",
        *,
        modules: bool = True,
        stratification: Kind = "levels",
        maintain: Maintain = "dredc",
        engine: Literal["local"] = "local",
        equality: Equality = "off",
        max_facts: int | None = None,
        timeout: float | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        _require("stratification", stratification, get_args(Kind))
        _require("maintain", maintain, get_args(Maintain))
        _require("engine", engine, ("local",))
        _require("equality", equality, get_args(Equality))
        self.equality = equality
        self.modules = modules = modules and equality != "representatives"
        self.maintain = maintain
        self.program: StratifiedProgram = arranged(check(_program(rules, equality)), stratification, modules)
        self._merging = Merging(self.program.program) if equality == "representatives" else None
        self._merged = Merged()
        self.max_facts = max_facts
        self.timeout = timeout
        self.max_memory = bytes_of(max_memory) if isinstance(max_memory, str) else max_memory
        self.profile: Profile | None = None
        """What reasoning took that was asked to be profiled last."""
        self._watch: Watch = UNWATCHED
        self._names = Names(self.program.program.predicates, self.program.program.prefixes)
        self._dictionary = Dictionary()
        self._opened: Opened | None = None
        """A materialisation as users see it, as long as nothing needed more."""
        self._kept = Materialisation(NONE, NONE)
        self._pairs: FactSet = NONE
        """The facts of modules' predicates one by one, if they were asked for since all was computed."""
        self._statistics: Statistics | None = None
        self.saved: Saved | None = None
        self.modules_open = False
        """Whether nobody said what ``modules`` should be once there are rules for which it matters."""
        self._queue: list[Queued] = list(program_facts(self.program.program, self._dictionary))
        self._encode_constants()

    # changing -----------------------------------------------------------------------------------

    def insert(self, predicate: Key, data: Rows_) -> None:
        """Queue explicit facts: rows, a mapping of columns, pandas, Polars, Arrow, NumPy or a Spark DataFrame.

        >>> kb = KnowledgeBase()
        >>> kb.insert("age", {"who": ["alice", "bob"], "years": [42, 7]})
        >>> kb["age"].rows()
        [('alice', 42), ('bob', 7)]
        """
        queued = self._queued(True, predicate, data, self._names)
        for change in queued:
            self._names.add(change.predicate)
        self._queue += queued

    def delete(self, predicate: Key, data: Rows_) -> None:
        """Queue the removal of explicit facts; facts that are not explicit are left alone."""
        self._queue += self._queued(False, predicate, data, self._names)

    def materialise(
        self, *, fresh: bool = False, progress: Listener | None = None, profile: Profile | bool = False
    ) -> Statistics:
        """Derive everything that follows, if that is not done already; ``fresh`` starts over.

        The first time everything is computed, later the materialisation is repaired. With ``profile`` the time
        that strata, rules and rounds take is recorded, in the profile given or in a new one, which is
        ``kb.profile`` then.
        """
        with self._watched(profile):
            if fresh or self._statistics is None:
                self._compute(self._applied(self._queue).explicit, progress)
            elif self._queue:
                changed = self._applied(self._queue)
                self._repair(changed, "auto", "never")
        assert self._statistics is not None
        return self._statistics

    materialize = materialise

    def update(
        self,
        insert: Mapping[Key, Rows_] | None = None,
        delete: Mapping[Key, Rows_] | None = None,
        *,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
        profile: Profile | bool = False,
    ) -> Change:
        """Change the explicit facts to (E \\ delete) ∪ insert and say exactly what that changed.

        ``algorithm`` is one of dredc, bfc, fbf, dred, counting, rematerialise; auto chooses, and says
        what and why in ``change.stats``. All give the same result. ``strategy`` is when fbf and bfc give up
        looking for other proofs: never, always, or after so many steps back. ``profile`` is as for
        :meth:`materialise`. All or nothing: after an error the knowledge base is as before.
        """
        _require_algorithm(algorithm, strategy)
        names, queue = self._names.copy(), []
        for key, data in (delete or {}).items():
            queue += self._queued(False, key, data, names)
        for key, data in (insert or {}).items():
            queued = self._queued(True, key, data, names)
            for change in queued:
                names.add(change.predicate)
            queue += queued
        with self._watched(profile):
            return self._update(queue, names, algorithm, strategy)

    def update_facts(
        self,
        insert: FactSet,
        delete: FactSet,
        *,
        unknown: int = 0,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
        profile: Profile | bool = False,
    ) -> Change:
        """The same with facts over the dictionary of :meth:`state`.

        ``unknown`` is how many deletions were left out because no fact has such terms.
        """
        names = self._names.copy()
        queue = [Queued(False, predicate, relation) for predicate, relation in delete.items()]
        for predicate, relation in insert.items():
            names.add(names.for_data(predicate, predicate.arity))
            queue.append(Queued(True, predicate, relation))
        with self._watched(profile):
            change = self._update(queue, names, algorithm, strategy)
        return replace(change, not_explicit=change.not_explicit + unknown)

    def _update(self, queue: list[Queued], names: Names, algorithm: Algorithm, strategy: Strategy) -> Change:
        self._up_to_date()
        changed = self._applied(queue)
        done = self._repair(changed, algorithm, strategy)
        self._names = names
        return Change(
            inserted=self._changed(visible(self.program, done.inserted)),
            deleted=self._changed(visible(self.program, done.deleted)),
            explicit_inserted=self._changed(changed.inserted),
            explicit_deleted=self._changed(changed.deleted),
            not_explicit=changed.idle,
            stats=done.statistics,
        )

    def change_rules(
        self,
        add: str | Path | Program | None = None,
        remove: str | Path | Program | None = None,
        *,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
        profile: Profile | bool = False,
    ) -> RulesChanged:
        """Remove rules and add others, repair what follows from them, and say exactly what that changed.

        Both are texts of programs, paths, or programs; the prefixes of the knowledge base hold in texts.
        Names of variables and the order of a body do not matter. Facts in what is added become explicit, those
        in what is removed cease to be. To remove a rule that is not there is an error, to add one that is changes
        nothing; ``rules_known`` of the result has those. The other arguments are as for :meth:`update`. All
        or nothing: after an error the knowledge base is as before.

        >>> kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) . edge(b, c) .")
        >>> kb.change_rules(add="path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .").inserted["path"].rows()
        [('a', 'c')]
        >>> kb.change_rules(remove="path(?u, ?v) :- edge(?u, ?v) .").deleted["path"].rows()
        [('a', 'b'), ('a', 'c'), ('b', 'c')]
        """
        _require_algorithm(algorithm, strategy)
        with self._watched(profile):
            added, removed = self._read(add, "<rules to add>"), self._read(remove, "<rules to remove>")
            return self._change_rules(added, removed, algorithm, strategy)

    def _change_rules(self, add: Program, remove: Program, algorithm: Algorithm, strategy: Strategy) -> RulesChanged:
        self._up_to_date()
        queue = list(program_facts(check(remove), self._dictionary, insert=False))
        edit = edited(self.program.program, add, remove, self._applied(queue).explicit)
        new = self._with_rules(edit.program)
        queue += program_facts(edit.facts_added, self._dictionary)
        changed = self._applied(queue)
        if new._merging is None and algorithm != "rematerialise":
            done = new._repair_rules(self, edit, changed, algorithm, strategy)
        else:
            done = new._compare_rules(self, changed)
        names = Names([*self._names.all(), *edit.program.predicates], edit.program.prefixes)
        written = {*self.program.program.predicates}.difference(changed.explicit)
        new._names = Names(
            [*edit.program.predicates, *(p for p in self._names.all() if p not in written)], edit.program.prefixes
        )
        self.__dict__ = new.__dict__
        shown = partial(ChangedRelations, names, self._dictionary)
        facts, explicit = (shown(done.inserted), shown(done.deleted)), (shown(changed.inserted), shown(changed.deleted))
        return RulesChanged(*facts, *explicit, changed.idle, done.statistics, *edit.texts)

    # reading ------------------------------------------------------------------------------------

    def query(self, text: str) -> Rows:
        """The answers to a conjunctive query such as ``"path(a, ?x), ~edge(a, ?x)"``.

        Columns are the named variables in order of appearance; without any, the answer is one empty
        row (true) or none (false).
        """
        query = check_query(parse_query(text, self.program.program.prefixes), set(self._names.all()))
        return answer(query, self.state(), self._limits)

    def explain(
        self,
        what: str | Mapping[Key, Rows_],
        *,
        all: bool = False,
        limit: int = 10,
        answers: int | None = None,
    ) -> Explanation:
        """Why each answer to a query holds, as a proof from explicit facts; or, if there is none, why not.

        Instead of a query there may be facts by predicate, as rows that ``insert`` takes. The proof is a lowest one.
        With ``all`` there are others, too, up to ``limit`` for each answer; ``answers`` is how many answers to a query
        are explained. All are explained in one pass.

        >>> kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
        >>> kb.insert("edge", [("a", "b"), ("b", "c")])
        >>> [len(answer.proof) for answer in kb.explain("path(a, ?x)")]
        [2, 3]
        """
        from everlog.query.explain import explain

        return explain(self, what, all=all, limit=limit, answers=answers)

    def sparql(self, text: str) -> Result:
        """The answer to a SPARQL query: solutions, triples, or for ASK something true or false.

        ``s rdf:type C`` is the fact C(s), ``s p o`` is p(s, o); a predicate with a bare name is everlog:name.

        >>> KnowledgeBase("edge(a, b) . edge(b, c) .").sparql("SELECT ?y { 'a' everlog:edge+ ?y }").rows()
        [('b',), ('c',)]
        """
        from everlog.query.sparql.dataset import Dataset

        return Dataset(self).sparql(text)

    def sparql_update(self, text: str) -> tuple[Change, ...]:
        """Carry out a SPARQL update of the explicit facts; returns what each of its operations changed."""
        from everlog.query.sparql.dataset import Dataset

        return Dataset(self).update(text)

    def __getitem__(self, predicate: Key) -> RelationRows:
        """The facts of a predicate: a bare name, a prefixed name, ``"<iri>"``, an IRI, or (name, arity)."""
        found = self._names.find(predicate)
        self._up_to_date()
        seen = self._seen()
        return RelationRows(self._dictionary, seen.facts.relation(found), seen.explicit.relation(found))

    def __contains__(self, predicate: object) -> bool:
        try:
            return self._names.knows(predicate)  # type: ignore[arg-type]
        except EverlogError:
            return False

    @property
    def predicates(self) -> list[Predicate]:
        """Every predicate that the rules or the facts have."""
        return self._names.all()

    @property
    def rules(self) -> str:
        """The program as text."""
        return print_program(self._written)

    @property
    def statistics(self) -> Statistics:
        """What the last materialisation took."""
        return self.materialise()

    @property
    def pending(self) -> bool:
        """Whether there is something to reason about before the facts are those that follow."""
        return self._statistics is None or bool(self._queue)

    def _repr_html_(self) -> str:
        from everlog.display import knowledge_base_html

        return knowledge_base_html(self)

    @property
    def nbytes(self) -> int:
        """The memory of everything that is held."""
        return sum(self.memory.values())

    @property
    def memory(self) -> dict[str, int]:
        """The bytes that facts (in all the orders they are kept in), bookkeeping and dictionary take."""
        kept = self._kept if self._opened is None else self._opened.seen
        facts = kept.facts.nbytes + self._merged.nbytes
        return {"facts": facts, "bookkeeping": kept.nbytes, "dictionary": self._dictionary.nbytes}

    def state(self) -> State:
        """The facts as the engine has them, up to date."""
        self._up_to_date()
        seen = self._seen()
        return State(self._dictionary, seen.explicit, seen.facts, seen.nr, seen.rec)

    def listed(self) -> State:
        """The same with every fact listed, those of modules too, which otherwise are kept in a form of their own."""
        return self.stored(frozenset())

    def stored(self, generated: frozenset[Predicate]) -> State:
        """The state as a store has it in which facts of some predicates of modules are not listed."""
        self._up_to_date()
        generated = generated.intersection(self.program.external)
        if self._opened is not None and self._opened.state.generated == generated:
            return self._opened.state
        kept = self._inner() if self._merging is None else self._seen()
        found = stored(self.program, self._dictionary, kept, generated, self._pairs)
        self._pairs = found.facts.restricted(self.program.external)
        return found

    def inner_facts(self) -> FactSet:
        """The facts as reasoning keeps them, with those that feed modules under hidden names."""
        self._up_to_date()
        return self._inner().facts

    def save(self, path: str | Path | None = None, *, overwrite: bool = False, expand_below: int = EXPAND_BELOW) -> int:
        """Write a store, or the next version of one; returns the version.

        A knowledge base that was opened from a store, or saved to it, appends what changed since to
        that store (``path`` may then be left out), at the cost of the change; if another writer was
        faster, that is an error and nothing is written. Into any other existing store it is written
        only with ``overwrite``, as a version that has nothing of those before. It is the store that
        the command line makes and reads; :func:`everlog.open` reads it back.

        In a store that is new or overwritten, the pairs of a closure with more than ``expand_below``
        facts are not listed, only what they follow from. With ``equality="representatives"`` a store
        has the facts of all members of each class.
        """
        from everlog.stores import save

        return save(self, path, overwrite=overwrite, expand_below=expand_below)

    @classmethod
    def restored(cls, program: Program, state: State, statistics: Statistics, **options: Any) -> KnowledgeBase:
        """A knowledge base whose materialisation is known already."""
        kb = cls(program, **options)
        kb._queue = []
        kb._dictionary = state.dictionary
        kb._encode_constants()
        kb._opened = Opened(state, statistics.instances)
        kb._pairs = state.facts.restricted(kb.program.external)
        kb._statistics = statistics
        for predicate in (*state.facts, *state.explicit):
            kb._names.add(predicate)
        return kb

    def adopt(self, state: State, saved: Saved | None) -> None:
        """Go on with the same facts in another form, and remember where they are saved."""
        self.saved = saved
        if self._merging is not None and self._opened is None and state.dictionary is self._dictionary:
            self._merged = self._merged.listed(self._kept, state.explicit, state.facts)
            return
        self._pairs = state.facts.restricted(self.program.external)
        if state.dictionary is self._dictionary and self.program.external and self._opened is None:
            return
        trace = self._kept.trace if state.dictionary is self._dictionary and self._opened is None else None
        instances = self.work
        if state.dictionary is not self._dictionary:
            self._dictionary = state.dictionary
            self._encode_constants()
        if self._merging is not None:
            self._kept, self._merged, trace = Materialisation(NONE, NONE), Merged(), None
        self._opened = Opened(state, instances, trace)
        if saved is not None:
            self._opened = replace(self._opened, known=saved.kept.known)

    @property
    def work(self) -> int:
        """How many instances materialising takes, as far as is known."""
        return (self._kept if self._opened is None else self._opened.seen).instances

    # inner workings -----------------------------------------------------------------------------

    @cached_property
    def _written(self) -> Program:
        written = self.program.program.written
        assert written is not None
        return written

    def _queued(self, insert: bool, key: Key, data: Rows_, names: Names) -> list[Queued]:
        """The change to be applied; none if there are no rows and nothing else tells the arity."""
        arity = names.arity_for(key)
        columns, size = text_columns(data, arity, names.name_of(key))
        if arity is None and not columns and not size:
            return []
        predicate = names.for_data(key, len(columns))
        return [(insertion if insert else deletion)(predicate, columns, size, self._dictionary)]

    def _applied(self, queue: Iterable[Queued]) -> ExplicitChange:
        return applied(queue, self._seen().explicit, len(self._dictionary))

    def _seen(self) -> Materialisation:
        """What is kept, without what only modules read, and with all that representatives stand for."""
        if self._opened is not None and not self._opened.state.generated:
            return self._opened.seen
        if self._merging is not None:
            return self._merged.seen(self._kept, len(self._dictionary))
        return outward(self.program, self._inner())

    def _inner(self) -> Materialisation:
        """What is kept, with what modules read and in their form."""
        if self._opened is not None and self._merging is not None:
            self._merge_opened(self._opened)
        elif self._opened is not None:
            self._keep(self._opened.inward(self._engine(), self.program))
        return self._kept

    def _merge_opened(self, opened: Opened) -> None:
        """Find the classes of equal terms again, and what is kept of the facts that are there."""
        log.info("reasoning again over representatives, which stores do not keep")
        seen = opened.seen
        merged, kept, _ = self._derived(seen.explicit, None)
        assert merged is not None
        self._merged = merged.listed(kept, seen.explicit, seen.facts)
        self._keep(kept)

    def _keep(self, kept: Materialisation) -> None:
        self._kept, self._opened = kept, None

    def _encode_constants(self) -> None:
        """Gives every constant of the rules an id, so that deriving facts makes no new ones."""
        rules = self.program.program.rules
        texts = {
            t.text for rule in rules for atom in (rule.head, *rule.body) for t in atom.terms if isinstance(t, Constant)
        }
        self._constant_ids = self._dictionary.encode(pa.array(sorted(texts), pa.large_string()))
        self._constants = Constants(self._dictionary)

    def _engine(self, partition: Partition | None = None) -> Engine:
        """An engine; with a partition, constants of rules stand for their representatives."""
        constants = self._constants if partition is None else NormalisedConstants(self._constants, partition)
        return self._watch.engine(len(self._dictionary), constants, limits=self._limits())

    @contextmanager
    def _watched(self, profile: Profile | bool) -> Iterator[None]:
        """Record what engines do into the profile given, or into a new one, unless that is done already."""
        if profile is False or self._watch is not UNWATCHED:
            yield
            return
        from everlog.profiling.profile import Profile

        self.profile = Profile() if profile is True else profile
        with watching(self.profile, self.program) as watch:
            self._watch = watch
            try:
                yield
            finally:
                self._watch = UNWATCHED

    def _merge(self, explicit: FactSet, old: Merged, algorithm: Algorithm) -> Merged | None:
        """Which terms explicit facts make equal, if that is asked for."""
        if self._merging is None:
            return None
        return self._merging.merged(self._engine, explicit, self._constant_ids, old, algorithm)

    def _limits(self) -> Limits:
        return Limits.from_now(self.max_facts, self.timeout, self.max_memory)

    def _compute(self, explicit: FactSet, progress: Listener | None) -> None:
        """Materialise from nothing, with the bookkeeping that ``maintain`` asks for."""
        merged, kept, statistics = self._derived(explicit, progress)
        self._keep(kept)
        self._merged = merged or Merged()
        self._pairs = NONE
        facts = self._seen().facts.count
        self._statistics = replace(statistics, facts=facts, explicit=explicit.count, equality=self.equality)
        self._queue = []

    def _derived(
        self, explicit: FactSet, progress: Listener | None
    ) -> tuple[Merged | None, Materialisation, Statistics]:
        """What follows from explicit facts, and by which classes of equal terms."""
        merged = self._merge(explicit, Merged(), "auto")
        engine = self._engine(None if merged is None else merged.partition)
        given = explicit.renamed(self.program.external) if merged is None else merged.normal
        facts, statistics = seminaive(engine, self.program, given, self._watch.listener(progress))
        fresh = Materialisation(given, facts, instances=statistics.instances)
        self._limit_seen(merged, fresh)
        return merged, booked(engine, self.program, fresh, self.maintain), statistics

    def _limit_seen(self, merged: Merged | None, kept: Materialisation) -> None:
        """An error if representatives stand for too many facts."""
        if merged is not None and self.max_facts is not None:
            self._limits().check(merged.count(kept))

    def _repair(self, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy) -> Update:
        """Bring the materialisation up to date with changed explicit facts."""
        old = self._inner().fitted(len(self._dictionary))
        deleted, inserted = (facts.renamed(self.program.external) for facts in (changed.deleted, changed.inserted))
        merged, before = self._merge(changed.explicit, self._merged, algorithm), self._merged
        if merged is not None:
            deleted, inserted = difference(old.explicit, merged.normal), difference(merged.normal, old.explicit)
            algorithm = algorithm if merged.has_rules_of(before) else "rematerialise"
        done = update(
            self._engine(None if merged is None else merged.partition),
            self.program,
            old,
            deleted,
            inserted,
            algorithm,
            strategy,
        )
        kept = done.materialisation
        self._limit_seen(merged, kept)
        if merged is not None:
            done = merged.seen_change(done, before, self._kept)
            self._merged = merged
        self._repaired(done, kept, changed.explicit)
        return done

    def _repaired(self, done: Update, kept: Materialisation, explicit: FactSet) -> None:
        """Keep what an update has made."""
        self._keep(kept)
        pairs = self._pairs.restricted(self.program.external)
        self._pairs = FactSet({p: _followed(known, p, done) for p, known in pairs.items()})
        self._statistics = Statistics(
            facts=self._seen().facts.count,
            explicit=explicit.count,
            instances=done.statistics.total_instances,
            rounds=0,
            seconds=done.statistics.seconds,
            modules=bool(self.program.external),
            stratification=self.program.kind,
            equality=self.equality,
        )
        self._queue = []

    def _read(self, rules: str | Path | Program | None, name: str) -> Program:
        """Rules to be added or removed; ``name`` is what messages call a text of them."""
        return _program("" if rules is None else rules, self.equality, name, self.program.program.prefixes)

    def _with_rules(self, program: CheckedProgram) -> KnowledgeBase:
        """The same knowledge base with other rules, by which nothing is derived yet."""
        new = copy(self)
        if program.written == self._written:
            return new
        new.__dict__.pop("_written", None)
        new.modules = self.modules or (self.modules_open and not with_modules(self.program).modules)
        new.program = arranged(program, self.program.kind, new.modules)
        new._merging = None if self._merging is None else Merging(new.program.program)
        new._encode_constants()
        return new

    def _repair_rules(
        self, old: KnowledgeBase, edit: Edit, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy
    ) -> Update:
        """Derive everything from what other rules derived."""
        arrange = partial(arranged, kind=self.program.kind, modules=self.modules)
        removed, added = frozenset(edit.removed), frozenset(edit.added)
        rules = RuleChange(old.program, self.program, removed, added, arrange)
        kept = old._inner().fitted(len(self._dictionary))
        done = change_rules(self._engine(), rules, kept, changed.deleted, changed.inserted, algorithm, strategy)
        self._repaired(done, done.materialisation, changed.explicit)
        return done

    def _compare_rules(self, old: KnowledgeBase, changed: ExplicitChange) -> Update:
        """Derive everything from nothing, and compare with what other rules derived."""
        before = old._seen().facts.fitted(len(self._dictionary))
        self._compute(changed.explicit, None)
        assert self._statistics is not None
        reason = "" if self._merging is None else "equality by representatives is computed anew for other rules"
        figures = UpdateStatistics("rematerialise", reason, {"forward": self._statistics.instances})
        after = self._seen().facts
        return Update(self._kept, after - before, before - after, replace(figures, seconds=self._statistics.seconds))

    def _up_to_date(self) -> None:
        self.materialise()
        if self._opened is not None:
            self._opened = self._opened.fitted(len(self._dictionary))
        self._kept = self._kept.fitted(len(self._dictionary))

    def _changed(self, facts: FactSet) -> ChangedRelations:
        return ChangedRelations(self._names, self._dictionary, facts)


def _followed(pairs: Relation, predicate: Predicate, done: Update) -> Relation:
    """Listed pairs after an update."""
    return pairs.shrunk(done.deleted.relation(predicate).run()).extended(done.inserted.relation(predicate).run())


def arranged(program: CheckedProgram, kind: Kind, modules: bool) -> StratifiedProgram:
    """A program in strata, and modules."""
    stratified = stratify(program, kind)
    return with_modules(stratified) if modules else stratified


def _program(
    rules: str | Path | Program,
    equality: Equality,
    name: str = "<program>",
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> Program:
    if isinstance(rules, Program):
        return rules
    if isinstance(rules, Path) or is_path(rules):
        return load_program(str(rules), equality=equality, prefixes=prefixes)
    return parse_program(rules, name, prefixes)


def _require_algorithm(algorithm: Algorithm, strategy: Strategy) -> None:
    _require("algorithm", algorithm, get_args(Algorithm))
    if not isinstance(strategy, int):
        _require("strategy", strategy, ("never", "always"))


def _require(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{option}={value!r}: choose one of {choices}")
