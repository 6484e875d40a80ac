"""Matching basic graph patterns by rules: the engine's joins find the solutions.

A pattern is one rule whose head has the needed variables and whose body has an atom for each triple. A triple pattern
that several predicates may match (its predicate is a variable) gives a rule for each. If some variables are not needed,
the instances of the rules are counted by head instead of being listed, and if no variable is needed, only their number
is computed; a single pattern without constants needs no matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, columns_of
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.codes import Code
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable
from everlog.query.sparql.algebra import Basic, Names
from everlog.query.sparql.degrees import Dangling, dangling
from everlog.query.sparql.graphs import MERGED, Option, TripleGraph
from everlog.query.sparql.pool import TermPool
from everlog.query.sparql.table import SolutionTable
from everlog.reasoning.seminaive import close_under

ROW = ".row"
"""The column that ties solutions of a pattern under EXISTS to their row."""

ANSWER = ".answer"
"""The head of every rule. No predicate of a knowledge base has a name that begins with a dot."""

PHASE = "query"

FIRST = 1 << 14
"""Maximum number of matches in a block if not all are needed."""

MOST = np.iinfo(np.int32).max
"""Maximum number of instances of one head that the engine can count."""


@dataclass(frozen=True)
class RequiredColumns:
    """The variables of a pattern that are used above it, and whether solutions are needed as a multiset or as a set.

    ``enough`` is the number of solutions that suffice, if not all are needed: any of them, but the solutions for a
    smaller number are the first of those for a larger one.
    """

    names: Names
    distinct: bool = False
    enough: int | None = None

    def also(self, names: Iterable[str]) -> RequiredColumns:
        return RequiredColumns(self.names.union(names), self.distinct)

    def without(self, name: str) -> RequiredColumns:
        return RequiredColumns(self.names - {name}, self.distinct)


class Matcher:
    """Runs rules over facts and given tables."""

    def __init__(self, terms: TermPool, limits: Limits | None = None) -> None:
        self.terms = terms
        self.limits = limits or Limits()
        self._engine: Engine | None = None

    def first_engine(self, least: int = 0) -> Engine:
        """An engine for patterns of which ``enough`` solutions are required: it matches in small blocks of constant
        size.
        """
        return Engine(self.engine(least).universe, self.terms, limits=self.limits, block=FIRST)

    def engine(self, least: int = 0) -> Engine:
        """An engine for all ids so far, and for numbers below ``least``."""
        universe = max(len(self.terms), least) + 1
        if self._engine is None or self._engine.universe < universe:
            self._engine = Engine(universe + len(self.terms) // 8 + 1024, self.terms, limits=self.limits)
        return self._engine

    def basic(
        self,
        graph: TripleGraph,
        pattern: Basic,
        need: RequiredColumns,
        given: SolutionTable | None,
        hint: SolutionTable | None,
    ) -> SolutionTable:
        """The solutions of a basic graph pattern.

        Each is joined with a row of ``given``, if given. ``hint`` is a table that the solutions will be joined with
        later, so that others may be left out.
        """
        options = [graph.options(triple) for triple in pattern.triples]
        names = need.names & (pattern.variables | frozenset(given.columns if given is not None else ()))
        if not all(options):
            return SolutionTable.empty(names)
        if given is None and hint is None and len(options) == 1 and need.enough is None:
            scanned = self._scan(graph, options[0], pattern.variables, RequiredColumns(names, need.distinct))
            if scanned is not None:
                return scanned
        known = frozenset(given.columns if given is not None else ())
        if need.enough is None and (counted := dangling(graph, options, names, known)):
            return self._by_degrees(graph, pattern, counted, RequiredColumns(names, need.distinct), given, hint)
        tables = [table for table in (given, _useful(hint, pattern.variables, graph, options)) if table is not None]
        options = [graph.fewer(choice, triple) for choice, triple in zip(options, pattern.triples, strict=True)]
        plain = [choice[0] for choice in options if len(choice) == 1]
        several = sorted((choice for choice in options if len(choice) > 1), key=len)
        while len(several) > 1:
            everything = frozenset(v for o in (*plain, *several[0]) for v in _names(o)).union(
                *(table.columns for table in tables)
            )
            found = self._match(graph, plain, several.pop(0), tables, everything)
            plain, tables = [], [found]
        last = several[0] if several else []
        names_kept = names if given is None else names.union(given.columns)
        if need.distinct or pattern.variables <= names_kept:
            return self._match(graph, plain, last, tables, names, enough=need.enough)
        if graph.is_mixed or need.enough is not None:
            return self._match(graph, plain, last, tables, pattern.variables | names, enough=need.enough).only(names)
        return self._match(graph, plain, last, tables, names, counted=True)

    def _scan(
        self, graph: TripleGraph, options: Sequence[Option], variables: Names, need: RequiredColumns
    ) -> SolutionTable | None:
        """The solutions of a single triple pattern without constants: whole relations, or their sizes."""
        free = all(
            len({v for v in option.atom.variables() if v not in option.fixed}) == len(option.atom.terms)
            for option in options
        )
        if not free or (graph.is_mixed and len(options) > 1):
            return None
        relations = [graph.facts.relation(option.atom.predicate) for option in options]
        if all(need.names <= {variable.name for variable in option.fixed} for option in options):
            return self._sizes(options, relations, need)
        if need.names != variables:
            return None
        columns: dict[str, list[Column]] = {name: [] for name in variables}
        for option, relation in zip(options, relations, strict=True):
            for term, column in zip(option.atom.variables(), relation.columns(), strict=True):
                columns[term.name].append(column)
            for variable, constant in option.fixed.items():
                columns[variable.name].append(np.full(len(relation), self.terms.add(constant.text), np.int64))
        return SolutionTable(
            {name: np.concatenate(pieces) for name, pieces in columns.items()}, sum(map(len, relations))
        )

    def _by_degrees(
        self,
        graph: TripleGraph,
        pattern: Basic,
        counted: Sequence[Dangling],
        need: RequiredColumns,
        given: SolutionTable | None,
        hint: SolutionTable | None,
    ) -> SolutionTable:
        """The solutions of the other patterns, weighted by the numbers of matches of the counted ones."""
        left = {each.number for each in counted}
        rest = Basic(tuple(triple for i, triple in enumerate(pattern.triples) if i not in left))
        terms = {each.term.name for each in counted if isinstance(each.term, Variable)}
        if rest.triples:
            found = self.basic(graph, rest, need.also(terms), given, hint)
        else:
            found = SolutionTable.unit() if given is None else given
        weights = np.ones(found.size, np.int64) if found.weights is None else found.weights
        for each in counted:
            ids = (
                found.columns[each.term.name]
                if isinstance(each.term, Variable)
                else np.full(found.size, self.terms[each.term.text], np.int64)
            )
            weights = weights * np.where(ids < 0, 0, each.relation.match_counts(each.column, np.maximum(ids, 0)))
        found = (
            SolutionTable(found.columns, found.size, None if need.distinct else weights)
            .where(weights > 0)
            .only(need.names)
        )
        return found.distinct() if need.distinct else found

    def _sizes(self, options: Sequence[Option], relations: Sequence[Relation], need: RequiredColumns) -> SolutionTable:
        """A row for each option of a pattern, with its number of facts; no variable of the facts is needed."""
        fixed = [{variable.name: constant.text for variable, constant in option.fixed.items()} for option in options]
        columns = {name: self.terms.add_all([each[name] for each in fixed]) for name in need.names}
        weights = np.array([len(relation) for relation in relations], np.int64)
        found = SolutionTable(columns, len(relations), weights).where(weights > 0)
        return found.distinct() if need.distinct else found

    def _match(
        self,
        graph: TripleGraph,
        plain: Sequence[Option],
        several: Sequence[Option],
        tables: Sequence[SolutionTable],
        wanted: Names,
        *,
        counted: bool = False,
        enough: int | None = None,
    ) -> SolutionTable:
        """Solutions of patterns of which only the last may have several options, as a set or counted."""
        least = max((int(t.columns[ROW].max()) + 1 for t in tables if ROW in t.columns and t.size), default=0)
        names = sorted(wanted)
        head = Predicate(ANSWER, len(names))
        bodies = [(*plain, option) for option in several] or [tuple(plain)]
        atoms = [
            Atom(Predicate(f".given{i}", len(table.columns)), tuple(map(Variable, table.columns)))
            for i, table in enumerate(tables)
        ]
        rules = [rule for body in bodies if (rule := self._rule(head, names, body, atoms)) is not None]
        merged = any(atom.predicate == MERGED for rule in rules for atom in rule.positive)
        relations = {MERGED: graph.merged(self.terms)} if merged else {}
        engine = self.engine(least)
        relations = {predicate: relation.fitted(engine.universe) for predicate, relation in relations.items()}
        for atom, table in zip(atoms, tables, strict=True):
            columns = list(table.columns.values())
            relations[atom.predicate] = Relation.from_columns(columns, engine.universe, table.size)
        facts = graph.facts.extended(FactSet(relations)) if relations else graph.facts
        if counted:
            return self._counted(rules, facts, engine, head, names)
        engine = engine if enough is None else self.first_engine(least)
        return self._listed(rules, facts, engine, head, names, enough)

    def _rule(
        self, head: Predicate, names: Sequence[str], body: Sequence[Option], atoms: Sequence[Atom]
    ) -> Rule | None:
        """The rule for one option of each pattern, None if they give different values to a variable."""
        fixed: dict[Variable, Constant] = {}
        for option in body:
            for variable, constant in option.fixed.items():
                if fixed.setdefault(variable, constant) != constant:
                    return None
                self.terms.add(constant.text)
        positive = [atom.put(fixed) for atom in (*(option.atom for option in body), *atoms)]
        return Rule(Atom(head, tuple(map(Variable, names))).put(fixed), tuple(positive))

    def _listed(
        self,
        rules: Sequence[Rule],
        facts: FactSet,
        engine: Engine,
        head: Predicate,
        names: Sequence[str],
        enough: int | None,
    ) -> SolutionTable:
        """The distinct heads of rules; no comparison is needed if all instances have distinct heads."""
        exact = len(rules) == 1 and _is_exact(rules[0])
        if not exact and enough is None:
            found = engine.match(RuleSet(rules), facts, facts, phase=PHASE).facts()
            self.limits.check(found.count)
            relation = found.relation(head)
            return SolutionTable(dict(zip(names, relation.columns(), strict=True)), len(relation))
        matches = engine.match(RuleSet(rules), facts, facts, phase=PHASE)
        columns, size = matches.listed(head, enough, repeated=not exact)
        self.limits.check(size)
        return SolutionTable(dict(zip(names, columns, strict=True)), size)

    def closed(self, rules: Sequence[Rule], facts: FactSet) -> FactSet:
        """The facts of the predicates that rules derive; no rule negates one of these."""
        read = facts.restricted({atom.predicate for rule in rules for atom in rule.body})
        closed = close_under(self.engine(), RuleSet(rules), read, PHASE)
        return closed.restricted({rule.head.predicate for rule in rules})

    def _counted(
        self, rules: Sequence[Rule], facts: FactSet, engine: Engine, head: Predicate, names: Sequence[str]
    ) -> SolutionTable:
        """The heads of rules, each with the number of its instances."""
        before = engine.work.instances[PHASE]
        if not names:
            engine.match(RuleSet(rules), facts, facts, phase=PHASE).facts()
            count = engine.work.instances[PHASE] - before
            return SolutionTable({}, 1, np.array([count], np.int64)) if count else SolutionTable.empty()
        counts = engine.match(RuleSet(rules), facts, facts, phase=PHASE).counts().get(head)
        if counts is None:
            return SolutionTable.empty(names)
        keys, weights = counts.whole()
        total = int(weights.sum(dtype=np.int64))
        if total != engine.work.instances[PHASE] - before:
            raise LimitError.of(Code.TOO_MANY_SOLUTIONS, f"one answer has more than {MOST:,} solutions")
        columns = columns_of(counts.layout, keys)
        return SolutionTable(dict(zip(names, columns, strict=True)), len(keys), weights.astype(np.int64))


def _is_exact(rule: Rule) -> bool:
    """Whether all variables of the body are in the head, so that every instance has a head of its own."""
    return {v for atom in rule.positive for v in atom.variables()} <= {*rule.head.variables()}


def _names(option: Option) -> set[str]:
    return {v.name for v in option.atom.variables()} | {v.name for v in option.fixed}


def _useful(
    hint: SolutionTable | None, variables: Names, graph: TripleGraph, options: Sequence[Sequence[Option]]
) -> SolutionTable | None:
    """The distinct values that a hint has for variables of a pattern, if they are fewer than its matches."""
    if hint is None:
        return None
    shared = [name for name in hint.bound_columns() if name in variables]
    if not shared:
        return None
    largest = max(sum(len(graph.facts.relation(o.atom.predicate)) for o in choice) for choice in options)
    if hint.size > max(largest, 64):
        return None
    return SolutionTable(hint.columns, hint.size).only(shared).distinct()
