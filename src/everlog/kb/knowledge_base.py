"""The knowledge base: rules, facts, and all facts that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from everlog.analysis.check import CheckedProgram, check, check_query
from everlog.analysis.fact_warnings import about_deletions
from everlog.analysis.given import GivenFacts, any_kinds
from everlog.analysis.predicates import Key, Names
from everlog.analysis.stratify import Kind, StratifiedProgram
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.kinds import kinds_of
from everlog.engine.limits import Limits
from everlog.engine.state import State
from everlog.host.memory import bytes_of
from everlog.ingest.columns import Headers
from everlog.ingest.triples import refuse_graphs
from everlog.ingest.values import argument_columns
from everlog.kb.change import Change, ChangedRelations
from everlog.kb.explicit import ByPredicate, Queued, asked, program_facts
from everlog.kb.reasoner import Reasoner, arranged
from everlog.kb.rule_edits import RulesChanged, edited, warnings_about
from everlog.kb.since import ChangesSince
from everlog.lang.errors import Diagnostic, EverlogError, Place, abridged, warn
from everlog.lang.internal import VIOLATION
from everlog.lang.kinds import Kinds
from everlog.lang.parser import parse_query
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate, Program
from everlog.owl.reading import Profile as OntologyProfile
from everlog.owl.reading import Schema, given_program, refuse_ontology
from everlog.profiling.recorder import watching
from everlog.profiling.watch import UNWATCHED
from everlog.query.answers import RelationRows, Rows
from everlog.query.conjunctive import answer
from everlog.query.explain.requested import FactTexts
from everlog.reasoning.change import SignedChange
from everlog.reasoning.equality import Equality
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.statistics import Listener, Statistics, UpdateStatistics
from everlog.settings import EXPAND_BELOW, WAIT

if TYPE_CHECKING:
    from everlog.kb.saving import StoreHandle
    from everlog.profiling.profile import Profile
    from everlog.query.explain import Explanation
    from everlog.query.sparql.results import Result

Rows_ = Any
"""Rows in any form that ``everlog.ingest.values.argument_columns`` takes."""


DECODED = 100_000
"""Maximum number of facts that are decoded to find the kinds of their terms; those of more facts count as any kind."""


class KnowledgeBase:
    """Rules with facts, in memory; no Spark and no Java are needed.

    ``rules`` is the path of a rule file or an ontology, the text of a program, or a parsed program. Probable mistakes
    in it are reported by Python's ``warnings``; those of a checked program have been reported already. ``insert`` and
    ``delete`` queue changes of the explicit facts; methods that read apply them first. With
    ``equality="representatives"`` terms that are ``owl:sameAs`` each other are equal; otherwise ``owl:sameAs`` is an
    ordinary predicate, for which the rules of an ontology have the axioms of equality with ``equality="rules"``.
    ``profile`` and ``schema`` say how an ontology becomes rules and which of its triples are facts; see
    :func:`everlog.owl.program_of`.

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
        rules: str | Path | Program | CheckedProgram = "",
        *,
        modules: bool = True,
        stratification: Kind = "levels",
        maintain: Maintain = "dredc",
        engine: Literal["local"] = "local",
        profile: OntologyProfile = "lower",
        schema: Schema = "drop",
        equality: Equality = "off",
        max_facts: int | None = None,
        timeout: float | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        _require("stratification", stratification, get_args(Kind))
        _require("maintain", maintain, get_args(Maintain))
        _require("engine", engine, ("local",))
        _require("equality", equality, get_args(Equality))
        _require("profile", profile, get_args(OntologyProfile))
        _require("schema", schema, get_args(Schema))
        if isinstance(rules, CheckedProgram):
            checked = rules
        else:
            checked = check(given_program(rules, equality, profile=profile, schema=schema))
        options = {"modules": modules, "stratification": stratification, "maintain": maintain, "equality": equality}
        limits = {"max_facts": max_facts, "timeout": timeout, "max_memory": max_memory}
        self._begin(checked, Dictionary(), **options, **limits)  # type: ignore[arg-type]
        self._queue += program_facts(checked, self._reasoner.dictionary)
        if not isinstance(rules, CheckedProgram):
            self._warn(checked.warnings)

    def _begin(
        self,
        checked: CheckedProgram,
        dictionary: Dictionary,
        *,
        modules: bool = True,
        stratification: Kind = "levels",
        maintain: Maintain = "dredc",
        equality: Equality = "off",
        max_facts: int | None = None,
        timeout: float | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        """Set up the rules, without facts, over the terms of a dictionary."""
        modules = modules and equality != "representatives"
        self._names = Names(checked.predicates, checked.prefixes)
        self._headers: Headers = {}
        self._queue: list[Queued] = []
        self._reasoner = Reasoner(
            arranged(checked, stratification, modules),
            dictionary,
            modules=modules,
            maintain=maintain,
            equality=equality,
            max_facts=max_facts,
            timeout=timeout,
            max_memory=bytes_of(max_memory) if isinstance(max_memory, str) else max_memory,
        )
        self.profile: Profile | None = None
        """The profile of the reasoning that was profiled last; None before the first."""
        self.saved: StoreHandle | None = None
        self.since: ChangesSince | None = None
        """The changes since the version ``saved``; None if they are not known."""
        self.data_prefixes: Mapping[str, str] = {}
        """Prefixes that files of facts declare."""
        self.modules_open = False
        """Whether modules will take rules that they fit; no rule fits yet."""
        self.warning: Callable[[Diagnostic], None] = warn
        """Called with each warning; Python's ``warnings``, unless a job sets its own."""
        self.given = GivenFacts(known=checked.predicates, merged=equality == "representatives")
        """The known properties of the explicit facts, to warn of facts that no rule can match."""
        self._inserted = False
        """Whether facts other than those of the program were queued."""
        self._warned_of_empty = False
        """Whether predicates without facts were warned of, which happens only once, since facts may be
        added in parts.
        """
        self.warnings: tuple[Diagnostic, ...] = ()
        """All warnings since the knowledge base was made."""

    def __copy__(self) -> KnowledgeBase:
        """A copy; changes of one of the two do not affect the other."""
        other = object.__new__(type(self))
        own = {
            "_names": self._names.copy(),
            "_headers": {**self._headers},
            "_queue": [*self._queue],
            "_reasoner": copy(self._reasoner),
            "given": self.given.copy(),
        }
        other.__dict__ = {**self.__dict__, **own}
        return other

    # settings -----------------------------------------------------------------------------

    @property
    def program(self) -> StratifiedProgram:
        """The rules in strata, with modules."""
        return self._reasoner.program

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that the rules declare, and those that files of facts declare under other names.

        They hold in queries, and explanations use them. Rules and cells of tables know those of the rules only.
        """
        declared = self.program.program.prefixes
        return {**declared, **{name: iri for name, iri in self.data_prefixes.items() if name not in declared}}

    def declare(self, prefixes: Mapping[str, str]) -> None:
        """Use prefixes that come with facts; names that are declared already keep what they stand for.

        >>> kb = KnowledgeBase("p(<http://e.org/a>) .")
        >>> kb.declare({"ex": "http://e.org/"})
        >>> kb.query("p(ex:a)").rows()
        [()]
        """
        self.data_prefixes = {**prefixes, **self.data_prefixes}
        self._names = Names(self._names.all(), self.prefixes)

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary of terms and their ids."""
        return self._reasoner.dictionary

    @property
    def modules(self) -> bool:
        """Whether modules take rules that they fit."""
        return self._reasoner.modules

    @property
    def maintain(self) -> Maintain:
        """The algorithm for which bookkeeping is kept."""
        return self._reasoner.maintain

    @property
    def equality(self) -> Equality:
        """The meaning of ``owl:sameAs``: off, rules or representatives."""
        return self._reasoner.equality

    @property
    def max_facts(self) -> int | None:
        """Maximum number of facts; None is no maximum. All limits may be changed, and hold for operations that begin
        afterwards.
        """
        return self._reasoner.max_facts

    @max_facts.setter
    def max_facts(self, most: int | None) -> None:
        self._reasoner.max_facts = most

    @property
    def timeout(self) -> float | None:
        """Maximum seconds of reasoning; None is no maximum."""
        return self._reasoner.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._reasoner.timeout = seconds

    @property
    def max_memory(self) -> int | None:
        """Maximum bytes that the process may hold while it reasons; None is no maximum."""
        return self._reasoner.max_memory

    @max_memory.setter
    def max_memory(self, most: int | None) -> None:
        self._reasoner.max_memory = most

    # changing -----------------------------------------------------------------------------------

    def insert(self, predicate: Key, data: Rows_, *, columns: Sequence[str] | None = None) -> None:
        """Queue explicit facts: rows, a mapping of columns, pandas, Polars, Arrow, NumPy or a Spark DataFrame.

        ``columns`` are the names of the columns that become arguments, in this order; by default all do. Columns
        with names that data of the predicate had before become the same arguments, whatever their order; data
        with other names is an error.

        >>> kb = KnowledgeBase()
        >>> kb.insert("age", {"who": ["alice", "bob"], "years": [42, 7]})
        >>> kb.insert("age", {"years": [12], "town": ["Rome"], "who": ["carl"]}, columns=["who", "years"])
        >>> kb["age"].rows()
        [('alice', 42), ('bob', 7), ('carl', 12)]
        """
        self._queue += self._asked([(predicate, data)], (), columns)
        self._inserted = True

    def load(
        self,
        path: str | Path,
        predicate: str | None = None,
        *,
        header: bool = False,
        types: Literal["auto", "string"] = "auto",
        base: str | None = None,
        source: str | None = None,
        graphs: bool = False,
        on_error: Literal["stop", "skip"] = "stop",
    ) -> int:
        """Queue the facts of a file, directory or glob, as ``--facts`` reads them; returns how many rows they are.

        The predicate is that of RDF, or the name of the file if none is given; ``path`` may name columns:
        ``"trips.csv[src, dst]"``. Bad rows are an error, or with ``on_error="skip"`` left out with a warning.

        >>> import pathlib, tempfile
        >>> place = pathlib.Path(tempfile.mkdtemp(), "edge.csv")
        >>> _ = place.write_text("a,b\\nb,c\\n")
        >>> kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .")
        >>> kb.load(place)
        2
        >>> kb["path"].rows()
        [('a', 'b'), ('b', 'c')]
        """
        from everlog.ingest.into_memory import read_files
        from everlog.ingest.sources import ReadOptions

        _require("types", types, ("auto", "string"))
        _require("on_error", on_error, ("stop", "skip"))
        arities = {p.name: p.arity for p in self.predicates if not p.name.startswith("<")}
        prefixes = dict(self.program.program.prefixes)
        options = ReadOptions(header, types, prefixes, base, source, arities, graphs)
        refuse_graphs(options)
        argument = str(path) if predicate is None else f"{predicate}={path}"
        read = read_files(argument, options, self._reasoner.dictionary, self._headers, on_error)
        self.declare(read.prefixes)
        self.insert_facts(read.facts, read.kinds, read.named)
        return read.rows

    def insert_facts(
        self,
        facts: FactSet,
        kinds: Mapping[Predicate, Kinds],
        named: Mapping[Predicate, Place | None],
        *,
        whole: bool = True,
    ) -> None:
        """Queue facts over :attr:`dictionary`.

        ``kinds`` are those of the columns, ``named`` the predicates whose names a user has written, and where. Without
        ``whole`` the facts belong to the rules, and predicates may be empty for now.
        """
        for predicate in facts:
            self._names.add(self._names.for_data(predicate, predicate.arity))
        self.given.add(kinds, named)
        self._queue += [Queued(True, p, relation, kinds=kinds[p]) for p, relation in facts.items()]
        self._inserted |= whole

    def delete(self, predicate: Key, data: Rows_, *, columns: Sequence[str] | None = None) -> None:
        """Queue the removal of explicit facts; facts that are not explicit are left alone.

        ``columns`` is as for :meth:`insert`.
        """
        queue = self._asked((), [(predicate, data)], columns)
        self.warn_of_deletions({change.predicate: None for change in queue})
        self._queue += queue

    def _asked(self, insert: ByPredicate, delete: ByPredicate, columns: Sequence[str] | None) -> list[Queued]:
        picked = None if columns is None else tuple(map(str, columns))
        return asked(insert, delete, self._names, self._reasoner.dictionary, self._headers, picked)

    def materialise(
        self, *, fresh: bool = False, progress: Listener | None = None, profile: Profile | bool = False
    ) -> Statistics:
        """Derive everything that follows, if that is not done already; ``fresh`` starts over.

        The first time everything is computed, later the materialisation is repaired. With ``profile`` the time
        of strata, rules and rounds is recorded, in the profile given or in a new one, which is
        ``kb.profile`` then.
        """
        with self._watched(profile):
            reasoner = self._reasoner
            self.warn_of_queued()
            if fresh or reasoner.statistics is None:
                reasoner.compute(reasoner.applied(self._queue).explicit, progress)
                self.since = None
                self._queue = []
            elif self._queue:
                self._note(reasoner.repair(reasoner.applied(self._queue), "auto", "never"))
                self._queue = []
        assert reasoner.statistics is not None
        return reasoner.statistics

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
        """Change the explicit facts to (E \\ delete) ∪ insert, and return the exact change.

        ``algorithm`` is one of dredc, bfc, fbf, dred, counting, rematerialise; auto chooses one, and ``change.stats``
        has the choice and its reason. All give the same result. ``strategy`` is when fbf and bfc give up looking for
        other proofs: never, always, or after a number of steps back. ``profile`` is as for :meth:`materialise`. All or
        nothing: after an error the knowledge base is as before.
        """
        _require_algorithm(algorithm, strategy)
        names, headers = self._names.copy(), {**self._headers}
        queue = asked((insert or {}).items(), (delete or {}).items(), names, self._reasoner.dictionary, headers)
        with self._watched(profile):
            if self._queue:
                self.materialise()
            self.warn_of_deletions({change.predicate: None for change in queue if not change.insert})
            self._warn_of(queue, whole=False)
            change = self._update(queue, names, algorithm, strategy)
        self._headers = headers
        return change

    def update_facts(
        self,
        insert: FactSet,
        delete: FactSet,
        *,
        kinds: Mapping[Predicate, Kinds] | None = None,
        unknown: int = 0,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
        profile: Profile | bool = False,
    ) -> Change:
        """Update the explicit facts as :meth:`update` does, by facts over the dictionary of :meth:`state`.

        ``kinds`` are those of the columns of inserted facts, found in the facts if they are not given. ``unknown`` is
        the number of deletions that were left out because no fact has their terms.
        """
        self.warn_of_facts(self._kinds_in(insert) if kinds is None else kinds, {})
        names = self._names.copy()
        queue = [Queued(False, predicate, relation) for predicate, relation in delete.items()]
        for predicate, relation in insert.items():
            names.add(names.for_data(predicate, predicate.arity))
            queue.append(Queued(True, predicate, relation))
        with self._watched(profile):
            change = self._update(queue, names, algorithm, strategy)
        return replace(change, not_explicit=change.not_explicit + unknown)

    def _update(self, queue: list[Queued], names: Names, algorithm: Algorithm, strategy: Strategy) -> Change:
        reasoner = self.up_to_date()
        changed = reasoner.applied(queue)
        done = reasoner.repair(changed, algorithm, strategy)
        self._note(done)
        self._names = names
        return self._shown(SeenChange(done, reasoner.program.external), changed.idle)

    def _note(self, done: SignedChange) -> None:
        """Add a change to those since the knowledge base was saved."""
        if self.since is not None:
            reasoner = self._reasoner
            self.since = self.since.then(reasoner.program.external, done, len(reasoner.dictionary))

    def _shown(self, seen: SeenChange, idle: int) -> Change:
        """A change as users see it; ``idle`` is the number of deletions without effect."""
        sides = seen.inserted, seen.deleted, seen.explicit_inserted, seen.explicit_deleted
        shown = partial(ChangedRelations, self._names, self._reasoner.dictionary)
        inserted, deleted, more, less = (shown(as_local(side)) for side in sides)
        return Change(inserted, deleted, more, less, idle, seen.change.statistics)

    def change_rules(
        self,
        add: str | Path | Program | None = None,
        remove: str | Path | Program | None = None,
        *,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
        profile: Profile | bool = False,
    ) -> RulesChanged:
        """Remove rules and add others, repair the facts that follow, and return the exact change.

        Both are texts of programs, paths, or programs; the prefixes of the knowledge base hold in texts.
        Names of variables and the order of a body do not matter. Facts of added programs become explicit, those of
        removed ones cease to be explicit. To remove a rule that is not there is an error, to add one that is changes
        nothing; ``rules_known`` of the result has those. The other arguments are as for :meth:`update`. All or nothing:
        after an error the knowledge base is as before.

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
        old = self.up_to_date()
        queue = list(program_facts(check(remove), old.dictionary, insert=False))
        edit = edited(old.program.program, add, remove, old.applied(queue).explicit)
        new = old.with_rules(edit.program, self.modules_open)
        self._warn(warnings_about(edit, old.program.program, self.given, whole=self.saved is not None))
        queue += program_facts(edit.facts_added, old.dictionary)
        changed = old.applied(queue, edit.program)
        done = new.derive_from(old, edit, changed, algorithm, strategy)
        there = [*edit.program.predicates, *edit.facts_added.predicates]
        self._reasoner = new
        self._names = self._names.with_program(there, self.prefixes)
        if self.since is not None and new is not old:
            self.since = self.since.then_rules(done)
        return RulesChanged.of(self._shown(SeenChange(done), changed.idle), edit.texts)

    # reading ------------------------------------------------------------------------------------

    def query(self, text: str) -> Rows:
        """The answers to a conjunctive query such as ``"path(a, ?x), ~edge(a, ?x)"``.

        Columns are the named variables in order of appearance; without any, the answer is one empty
        row (true) or none (false).
        """
        prefixes = self.prefixes
        query = check_query(parse_query(text, prefixes), set(self._names.all()), prefixes)
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

        asked = what if isinstance(what, str) else [self._texts(key, data) for key, data in what.items()]
        return explain(self, asked, all=all, limit=limit, answers=answers)

    def _texts(self, key: Key, data: Rows_) -> FactTexts:
        """Facts given as rows, as texts of their arguments."""
        predicate = self._names.find(key)
        texts, size, _ = argument_columns(data, predicate.arity, predicate.name, headers=self._headers)
        return FactTexts(predicate, texts, size)

    def sparql(self, text: str, *, base: str = "") -> Result:
        """The answer to a SPARQL query: solutions, triples, or for ASK something true or false.

        ``s rdf:type C`` is the fact C(s), ``s p o`` is p(s, o); a predicate with a bare name is everlog:name.
        Relative IRIs are resolved with ``base``, unless the query has a BASE of its own.

        >>> KnowledgeBase("edge(a, b) . edge(b, c) .").sparql("SELECT ?y { 'a' everlog:edge+ ?y }").rows()
        [('b',), ('c',)]
        """
        from everlog.query.sparql.dataset import GraphSet
        from everlog.query.sparql.run import query

        return query(GraphSet(self), text, base=base)

    def sparql_update(self, text: str, *, base: str = "") -> tuple[Change, ...]:
        """Carry out a SPARQL update of the explicit facts; returns the change of each of its operations.

        >>> kb = KnowledgeBase()
        >>> _ = kb.sparql_update("INSERT DATA { <ann> <knows> <bob> }", base="http://e.org/")
        >>> kb.sparql("SELECT ?x { <ann> <knows> ?x }", base="http://e.org/").rows()
        [(IRI(value='http://e.org/bob'),)]
        """
        from everlog.query.sparql.dataset import GraphSet
        from everlog.query.sparql.update import update

        return update(GraphSet(self), text, base=base)

    def __getitem__(self, predicate: Key) -> RelationRows:
        """The facts of a predicate: a bare name, a prefixed name, ``"<iri>"``, an IRI, or (name, arity)."""
        found = self._names.find(predicate)
        reasoner = self.up_to_date()
        seen = reasoner.seen()
        return RelationRows(reasoner.dictionary, seen.facts.relation(found), seen.explicit.relation(found))

    def __contains__(self, predicate: object) -> bool:
        try:
            return self._names.knows(predicate)  # type: ignore[arg-type]
        except EverlogError:
            return False

    @property
    def predicates(self) -> list[Predicate]:
        """All predicates of the rules and the facts."""
        return self._names.all()

    @property
    def violations(self) -> Rows:
        """The contradictions of the ontology: rows of an individual and the axiom or rule that it contradicts.

        >>> kb = KnowledgeBase("@prefix e: <http://e.org/> . @prefix everlog: <urn:everlog:> . e:Cat(e:tom) . "
        ...     'e:Dog(e:tom) . everlog:violation(?x, "DisjointClasses(e:Cat e:Dog)") :- e:Cat(?x), e:Dog(?x) .')
        >>> kb.violations.columns, kb.violations.rows()
        (('what', 'axiom'), [(IRI(value='http://e.org/tom'), 'DisjointClasses(e:Cat e:Dog)')])
        """
        reasoner = self.up_to_date()
        return Rows(reasoner.dictionary, reasoner.seen().facts.relation(VIOLATION), ("what", "axiom"))

    @property
    def rules(self) -> str:
        """The program as text."""
        return print_program(self._written)

    @property
    def statistics(self) -> Statistics:
        """The figures of the last materialisation."""
        return self.materialise()

    @property
    def pending(self) -> bool:
        """Whether changes wait that have not been reasoned about."""
        return self._reasoner.statistics is None or bool(self._queue)

    def __repr__(self) -> str:
        from everlog.kb.display import knowledge_base_text

        return knowledge_base_text(self)

    def _repr_html_(self) -> str:
        from everlog.kb.display import knowledge_base_html

        return knowledge_base_html(self)

    @property
    def nbytes(self) -> int:
        """The bytes of facts, bookkeeping and dictionary."""
        return sum(self.memory.values())

    @property
    def memory(self) -> dict[str, int]:
        """The bytes that facts (in all the orders they are kept in), bookkeeping and dictionary take."""
        return self._reasoner.memory

    def state(self) -> State:
        """The facts as the engine has them, after all queued changes."""
        return self.up_to_date().state()

    def listed(self) -> State:
        """The facts as in :meth:`state`, with the facts of modules listed instead of in a form of their own."""
        return self.stored(frozenset())

    def from_nothing(self) -> Change:
        """All facts, as a change of a knowledge base without facts."""
        seen, statistics = self.up_to_date().seen(), self.statistics
        shown = partial(ChangedRelations, self._names, self.dictionary)
        figures = UpdateStatistics("seminaive", "", {"forward": statistics.instances}, seconds=statistics.seconds)
        return Change(shown(seen.facts), shown(NONE), shown(seen.explicit), shown(NONE), 0, figures)

    def stored(self, generated: frozenset[Predicate]) -> State:
        """The state as a store has it in which facts of some predicates of modules are not listed."""
        return self.up_to_date().stored(generated)

    def inner_facts(self) -> FactSet:
        """The facts as reasoning keeps them, with those that feed modules under hidden names."""
        return self.up_to_date().inner().facts

    def save(
        self,
        path: str | Path | None = None,
        *,
        overwrite: bool = False,
        expand_below: int = EXPAND_BELOW,
        wait: float = WAIT,
    ) -> int:
        """Write a store, or the next version of one; returns the version.

        A knowledge base that was opened from a store, or saved to it, appends the changes since to that store
        (``path`` may then be left out), at the cost of the change; if another writer was faster, that is an error and
        nothing is written. A writer that is at work is waited for, ``wait`` seconds at most. Into any other existing
        store it is written only with ``overwrite``, as a version that is independent of those before. It is the store
        that the command line makes and reads; :func:`everlog.open` reads it back.

        In a store that is new or overwritten, the pairs of a closure with more than ``expand_below``
        facts are not listed, only the facts that they follow from. With ``equality="representatives"`` a store
        has the facts of all members of each class.
        """
        from everlog.kb.saving import save

        return save(self, path, overwrite=overwrite, expand_below=expand_below, wait=wait)

    @classmethod
    def over(cls, dictionary: Dictionary, program: CheckedProgram, **options: Any) -> KnowledgeBase:
        """A knowledge base of a program and its facts, whose terms are numbered by a dictionary."""
        kb = object.__new__(cls)
        kb._begin(program, dictionary, **options)
        kb._queue += program_facts(program, dictionary)
        return kb

    @classmethod
    def restored(
        cls,
        program: Program,
        state: State,
        statistics: Statistics,
        figures: Mapping[str, Any] = MappingProxyType({}),
        **options: Any,
    ) -> KnowledgeBase:
        """A knowledge base whose materialisation is known already.

        ``figures`` are what :meth:`GivenFacts.from_store` takes.
        """
        kb = object.__new__(cls)
        kb._begin(check(program), state.dictionary, **options)
        kb._reasoner.restore(state, statistics)
        for predicate in (*state.facts, *state.explicit):
            kb._names.add(predicate)
        merged = kb.equality == "representatives"
        kb.given = GivenFacts.from_store(figures, state.explicit, kb.predicates, merged=merged)
        return kb

    def adopt(self, state: State, saved: StoreHandle | None) -> None:
        """Replace the facts by equal ones in another form, and record where they are saved."""
        self.is_saved(saved)
        self._reasoner.adopt(state, None if saved is None else saved.snapshot.known)

    def is_saved(self, saved: StoreHandle | None) -> None:
        """Record the version of a store that has the facts."""
        self.saved = saved
        self.since = None if saved is None else ChangesSince()

    @property
    def work(self) -> int:
        """The number of instances that materialising considers, as far as it is known."""
        return self._reasoner.instances

    # helpers ------------------------------------------------------------------------------------

    @property
    def _written(self) -> Program:
        written = self.program.program.written
        assert written is not None
        return written

    @contextmanager
    def _watched(self, profile: Profile | bool) -> Iterator[None]:
        """Record the work of engines in the given profile, or in a new one, unless it is recorded already."""
        if profile is False or self._reasoner.watch is not UNWATCHED:
            yield
            return
        from everlog.profiling.profile import Profile

        self.profile = Profile() if profile is True else profile
        with watching(self.profile, self.program) as watch:
            self._reasoner.watch = watch
            try:
                yield
            finally:
                self._reasoner.watch = UNWATCHED

    def _warn(self, found: Sequence[Diagnostic]) -> None:
        """Give the warnings that were not given before."""
        if not found:
            return
        given_before = {(each.code, each.message) for each in self.warnings}
        new = [each for each in abridged(found) if (each.code, each.message) not in given_before]
        self.warnings += tuple(new)
        for each in new:
            self.warning(each)

    def warn_of_facts(self, kinds: Mapping[Predicate, Kinds], named: Mapping[Predicate, Place | None]) -> None:
        """Warn of facts that are about to be inserted and that no rule can match.

        ``kinds`` are those of their columns, ``named`` the predicates whose names a user has written, and where.
        """
        self.given.add(kinds, named)
        self._warn(self.given.news(self.program.program, whole=False))

    def warn_of_deletions(self, named: Mapping[Predicate, Place | None]) -> None:
        """Warn of predicates whose facts are about to be deleted and that are not known."""
        unknown = {predicate: place for predicate, place in named.items() if not self._names.knows(predicate)}
        if unknown:
            self._warn(list(about_deletions(unknown, self.predicates)))

    def _kinds_in(self, facts: FactSet) -> dict[Predicate, Kinds]:
        """The kinds of the columns of facts; those of many facts count as any."""
        if facts.count > DECODED:
            return {predicate: any_kinds(predicate) for predicate in facts}
        decode = self._reasoner.dictionary.decode
        return {p: kinds_of([decode(column) for column in relation.columns()]) for p, relation in facts.items()}

    def warn_of_queued(self) -> None:
        """Warn of queued facts that no rule can match, and the first time of predicates without facts."""
        self._warn_of(self._queue, whole=self._inserted and not self._warned_of_empty)
        self._warned_of_empty |= self._inserted

    def _warn_of(self, queue: Iterable[Queued], *, whole: bool) -> None:
        """Warn of facts to be inserted that no rule can match, and with ``whole`` of predicates without facts."""
        for change in queue:
            if change.insert:
                self.given.add({change.predicate: change.kinds})
        self._warn(self.given.news(self.program.program, whole=whole))

    def _limits(self) -> Limits:
        """The limits of an operation that begins now, by the current reasoner."""
        return self._reasoner.limits()

    def _read(self, rules: str | Path | Program | None, name: str) -> Program:
        """Rules to be added or removed; ``name`` is what messages call a text of them."""
        refuse_ontology(rules, self.predicates)
        return given_program("" if rules is None else rules, self.equality, name, self.program.program.prefixes)

    def up_to_date(self) -> Reasoner:
        """The reasoner, after all queued changes."""
        self.materialise()
        self._reasoner.fit()
        return self._reasoner


def _require_algorithm(algorithm: Algorithm, strategy: Strategy) -> None:
    _require("algorithm", algorithm, get_args(Algorithm))
    if not isinstance(strategy, int):
        _require("strategy", strategy, ("never", "always"))


def _require(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{option}={value!r}: choose one of {choices}")
