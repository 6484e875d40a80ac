"""Matching on DataFrames, as in :mod:`everlog.engine.match`: all rules of one shape are matched by one join."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from everlog.backends.spark.accounts import SparkAccounts
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.known import store_new
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.shapes import RuleGroup, Variant, alike
from everlog.backends.spark.workspace import WEIGHT, Stored, Workspace
from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE
from everlog.engine.rules import RuleSet
from everlog.engine.tables import argument_name, argument_names
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable, Wildcard
from everlog.store.groups import MOST_VALUES, Mask

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


FrameChange = tuple[FrameSet, FrameSet]


@dataclass(frozen=True)
class Sources:
    """The sets in which body atoms are matched; see :mod:`everlog.engine.match`."""

    pos: FrameSet
    neg: FrameSet
    inside: FrameSet
    outside: FrameSet
    others: tuple[FrameChange, ...] = ()
    """Further changes: an instance must have an atom in each of them, which is tested once the instance is found."""

    @cached_property
    def before(self) -> FrameSet:
        """The facts without the changed ones, for positive atoms before the changed one."""
        return self.pos - self.inside

    def positive(self, body: int, pivot: int | None) -> FrameSet:
        """The set in which a positive body atom is matched if ``pivot`` is the changed one."""
        if pivot is None or body > pivot:
            return self.pos
        return self.inside if body == pivot else self.before

    def is_possible(self, variant: Variant) -> bool:
        """Whether there may be facts for each positive atom and for the changed one."""
        positive, pivot = variant.rule.positive, variant.pivot
        if (
            pivot is not None
            and pivot >= len(positive)
            and variant.rule.atom(pivot).predicate not in self.outside.possible
        ):
            return False
        return all(atom.predicate in self.positive(i, pivot).possible for i, atom in enumerate(positive))


@dataclass(frozen=True)
class FrameMatches:
    """Instances of rules that joins find when their heads are asked for; the heads are stored then."""

    engine: SparkAccounts
    rules: RuleSet
    pos: FrameSet
    neg: FrameSet
    changed: tuple[FrameChange, ...]
    phase: str

    def facts(self, without: AnyFactSet = NONE) -> FrameSet:
        """The heads that are not in ``without``."""
        known = framed(self.engine.space, without)
        if self.engine.counts_known is not None and not self.changed:
            counts = self._counted()
            self.engine.counts_known[self._all] = counts
            return counts.facts() - known
        groups = self._groups()
        frames = [(rows.heads(), group.heads) for group, rows in groups]
        return new_facts(self.engine, frames, known, self.phase, again=bool(self.changed))

    def counts(self) -> FrameCounts:
        """The heads, each with the number of its instances."""
        known = None if self.changed else (self.engine.counts_known or {}).get(self._all)
        return self._counted() if known is None else known

    def _counted(self) -> FrameCounts:
        frames = [rows.heads() for _, rows in self._groups()]
        return counted(self.engine, frames, self.phase) if frames else FrameCounts(self.engine.space)

    @property
    def _all(self) -> tuple[Rule, ...]:
        return tuple(planned.rule for planned in self.rules.rules)

    def _groups(self) -> list[tuple[RuleGroup, Instances]]:
        if not self.changed:
            nothing = FrameSet(self.engine.space)
            sources = Sources(self.pos, self.neg, nothing, nothing)
            variants = [Variant(rule) for rule in self.rules.rules]
        else:
            (inside, outside), *others = self.changed
            sources = Sources(self.pos, self.neg, inside, outside, tuple(others))
            variants = changed_variants(self.rules, self.changed[0])
        groups = alike([variant for variant in variants if sources.is_possible(variant)])
        return [(group, Instances(self.engine, group, sources)) for group in groups]


def changed_variants(rules: RuleSet, changed: FrameChange) -> list[Variant]:
    """A variant for each rule and each of its body atoms that may match a changed fact."""
    inside, outside = (facts.possible for facts in changed)
    found = []
    for number, body in sorted({o for p in (*inside, *outside) for o in rules.occurrences.get(p, ())}):
        rule = rules.rules[number]
        if rule.atom(body).predicate in (inside if body < len(rule.positive) else outside):
            found.append(Variant(rule, body))
    return found


@dataclass(frozen=True)
class FrameProofs:
    """Instances that derive given facts, found by joins that begin with these facts, all of a fact at once."""

    engine: SparkAccounts
    rules: RuleSet
    pos: FrameSet
    neg: FrameSet
    chained: frozenset[Predicate]
    phase: str

    def facts(self, facts: AnyFactSet) -> FrameSet:
        """The given facts that some instance derives."""
        frames = [(rows.heads(), group.heads) for group, rows in self._groups(facts, self.pos)]
        return new_facts(self.engine, frames, FrameSet(self.engine.space), self.phase)

    def bodies(self, facts: AnyFactSet, without: AnyFactSet) -> FrameSet:
        """The chained body atoms of all instances of the facts that have no body atom in ``without``."""
        groups = self._groups(facts, self.pos - framed(self.engine.space, without).restricted(self.chained))
        frames = [found for _, rows in groups if (found := rows.bodies(self.chained)) is not None]
        return new_facts(self.engine, frames, FrameSet(self.engine.space), self.phase)

    def unfinished(self, facts: AnyFactSet, proved: AnyFactSet, waiting: AnyFactSet) -> AnyFactSet:
        """The facts that are ``waiting`` and not proved. All instances of other facts have been found."""
        return waiting - proved

    def _groups(self, facts: AnyFactSet, pos: FrameSet) -> list[tuple[RuleGroup, Instances]]:
        self.engine.began(self.rules, self.phase, counted=False)
        wanted = framed(self.engine.space, facts)
        sources = Sources(pos, self.neg, wanted, FrameSet(self.engine.space))
        rules = [rule for p in wanted.possible for rule in self.rules.by_head.get(p, ())]
        variants = [Variant(rule.backwards, 0) for rule in rules]
        groups = alike([variant for variant in variants if sources.is_possible(variant)])
        return [(group, Instances(self.engine, group, sources)) for group in groups]


def new_facts(
    engine: SparkAccounts,
    frames: Sequence[tuple[DataFrame, Iterable[Predicate]]],
    without: FrameSet,
    phase: str,
    *,
    again: bool = False,
) -> FrameSet:
    """Store the different rows that are not in ``without``; their weights are added up as instances of the phase.

    With ``again``, which is for loops, the new facts and those of ``without`` are stored in slices, so that the next
    comparison moves only the facts that are new.
    """
    from pyspark.sql import functions as F

    space, keys = engine.space, engine.space.keys
    if not frames:
        return FrameSet(space)
    heads = frozenset(p for _, predicates in frames for p in predicates)
    if engine.probes(without, heads):
        return new_facts(engine, frames, FrameSet(space), phase) - without
    rows = _summed(space, [frame for frame, _ in frames])
    is_new: Column = F.lit(True)
    known: list[Stored] = []
    in_slices = again and bool(without.possible) and not (without.is_view or without.removed)
    if in_slices:
        known, without = without.in_slices(heads)
    if shared := heads & without.possible:
        others = without.frame(shared).withColumn("known", F.lit(True))
        rows, is_new = rows.join(others, keys, "left"), F.col("known").isNull()
    observed, rows = engine.observed(rows)
    stored = store_new(space, rows.where(is_new), known) if in_slices else space.store(rows.where(is_new))
    engine.noted(phase, observed)
    return FrameSet.of(space, stored)


def counted(engine: SparkAccounts, frames: Sequence[DataFrame], phase: str) -> FrameCounts:
    """Store the different rows, each with the number of its instances."""
    observed, rows = engine.observed(_summed(engine.space, frames))
    stored = engine.space.store(rows, weighted=True)
    engine.noted(phase, observed)
    return FrameCounts.stored(engine.space, stored)


def _summed(space: Workspace, frames: Sequence[DataFrame]) -> DataFrame:
    from pyspark.sql import functions as F

    joined = functools.reduce(lambda a, b: a.unionAll(b), frames)
    return joined.groupBy(*space.keys).agg(F.sum(WEIGHT).alias(WEIGHT))


class Instances:
    """The instances of rules of one shape, as a join.

    The join has a column ``v<n>`` for each variable. With several rules the columns ``p<body>`` and
    ``k<body>_<position>`` have the predicates and constants of body atoms, ``h`` and ``h_<position>`` those of heads.
    """

    def __init__(self, engine: SparkAccounts, group: RuleGroup, sources: Sources) -> None:
        self.engine = engine
        self.space = engine.space
        self.group = group
        self.sources = sources
        self.several = len(group.variants) > 1
        self.variant = group.first
        self.pivot = self.variant.pivot
        self.positive = self.variant.rule.positive
        self.negative = self.variant.rule.negative
        self._columns: dict[Variable, str] = {}

    # Results of the join ---------------------------------------------------------------------------

    def heads(self) -> DataFrame:
        """The head of each instance, with weight 1."""
        from pyspark.sql import functions as F

        head = self.variant.rule.rule.head
        bindings = self._bindings()
        columns = self._fact(head, "h", "h")
        return bindings.select(*columns, F.lit(1).cast("long").alias(WEIGHT))

    def bodies(self, predicates: frozenset[Predicate]) -> tuple[DataFrame, list[Predicate]] | None:
        """The body atoms of each instance, without the first, that have one of the given predicates.

        The first of them has weight 1 and the others weight 0, so that each instance counts once.
        """
        from pyspark.sql import functions as F

        numbers = [i for i in range(1, len(self.positive)) if not predicates.isdisjoint(self.group.predicates(i))]
        if not numbers:
            return None
        bindings = self._bindings()
        ids = [self.space.names.id(p) for p in predicates]
        structs = [
            F.struct(*self._fact(self.positive[i], f"p{i}", f"k{i}"), F.lit(int(i == numbers[0])).alias(WEIGHT))
            for i in numbers
        ]
        facts = bindings.select(F.explode(F.array(*structs)).alias("fact")).select("fact.*")
        facts = facts.withColumn(WEIGHT, F.col(WEIGHT).cast("long"))
        if self.several:
            facts = facts.where(F.col("predicate").isin(ids))
        return facts, [p for i in numbers for p in self.group.predicates(i) if p in predicates]

    def _fact(self, atom: Atom, predicate: str, constants: str) -> list[Column]:
        """The columns of a fact, with the values that an atom has in each instance."""
        from pyspark.sql import functions as F

        first = F.col(predicate) if self.several else F.lit(self.space.names.id(atom.predicate))
        columns = [first.cast("long").alias("predicate")]
        for i, name in enumerate(self.space.keys[1:]):
            term = atom.terms[i] if i < len(atom.terms) else None
            columns.append(self._value(term, f"{constants}_{i}").cast("long").alias(name))
        return columns

    def _value(self, term: Term | None, column: str) -> Column:
        from pyspark.sql import functions as F

        if isinstance(term, Variable):
            return F.col(self._columns[term])
        if isinstance(term, Constant):
            return F.col(column) if self.several else F.lit(self.space.names.constant(term))
        return F.lit(0)

    # The join ------------------------------------------------------------------------------------

    def _bindings(self) -> DataFrame:
        """A row for each instance, with the values of all variables."""
        found: DataFrame | None = self._table() if self.several or not self.positive else None
        waiting = list(range(len(self.positive), len(self.positive) + len(self.negative)))
        if self.pivot in waiting and not self._has_wildcard(self.pivot):
            waiting.remove(self.pivot)
        for body in self._order():
            found = self._joined(found, body)
            for negated in [n for n in waiting if set(self._atom(n).variables()) <= self._columns.keys()]:
                waiting.remove(negated)
                found = self._without(found, negated)
        assert found is not None
        for negated in waiting:
            found = self._without(found, negated)
        for number, change in enumerate(self.sources.others):
            found = self._among(found, number, change)
        return found

    def _among(self, found: DataFrame, number: int, change: FrameChange) -> DataFrame:
        """The bindings with a positive atom in P or a negated one in N, where (P, N) is a further change.

        The bindings are joined once for each atom that may have changed; a binding has at most one match in each join.
        """
        from pyspark.sql import functions as F

        kept, flags = found.columns, list[str]()
        for body in range(len(self.positive) + len(self.negative)):
            source = change[0] if body < len(self.positive) else change[1]
            there = [p for p in self.group.predicates(body) if p in source.possible]
            if there:
                rows = source.frame(there)
                atom = self._atom(body)
                if body >= len(self.positive) and self._has_wildcard(body):
                    rows, atom = self._projected(body, rows), self.variant.rule.shadows[body - len(self.positive)]
                facts, conditions = self._matched(body, atom, rows)
                condition = functools.reduce(lambda a, b: a & b, conditions) if conditions else F.lit(True)
                flag = f"changed{number}_{body}"
                found = found.join(facts.withColumn(flag, F.lit(True)), condition, "left")
                found = found.select(*kept, *flags, flag)
                flags.append(flag)
        if not flags:
            return found.where(F.lit(False))
        return found.where(functools.reduce(lambda a, b: a | b, (F.col(flag).isNotNull() for flag in flags))).select(
            *kept
        )

    def _order(self) -> list[int]:
        """The order in which positive atoms are joined.

        The changed atom is first. Each next atom has the most bound arguments, and of those the fewest facts; atoms
        without a bound variable are last.
        """
        waiting = list(range(len(self.positive)))
        order: list[int] = []
        known: set[Variable] = set()
        if self.pivot is not None:
            order, waiting = [self.pivot], [body for body in waiting if body != self.pivot]
            known.update(self.variant.atom(self.pivot).variables())
        sizes = {body: self._size(body) for body in waiting}
        while waiting:

            def cost(body: int, known: frozenset[Variable] = frozenset(known)) -> tuple[bool, int, int]:
                atom = self.positive[body]
                bound = sum(isinstance(term, Constant) or term in known for term in atom.terms)
                return known.isdisjoint(atom.variables()) and bool(known), -bound, sizes[body]

            best = min(waiting, key=cost)
            waiting.remove(best)
            order.append(best)
            known.update(self.positive[best].variables())
        return order

    def _size(self, body: int) -> int:
        return self.sources.positive(body, self.pivot)._most_of(frozenset(self.group.predicates(body)))

    def _joined(self, found: DataFrame | None, body: int) -> DataFrame:
        """The bindings so far joined with the matches of another atom."""
        from pyspark.sql import functions as F

        atom = self.variant.atom(body)
        found, rows = self._source(found, body)
        facts, conditions = self._matched(body, atom, rows)
        fresh = {t: f"a{body}_{i}" for i, t in reversed([*enumerate(atom.terms)]) if isinstance(t, Variable)}
        fresh = {variable: column for variable, column in fresh.items() if variable not in self._columns}
        if found is None:
            joined = facts
        elif conditions:
            joined = found.join(facts, functools.reduce(lambda a, b: a & b, conditions))
        else:
            joined = found.crossJoin(facts)
        kept = [] if found is None else found.columns
        names = {variable: f"v{len(self._columns) + i}" for i, variable in enumerate(fresh)}
        self._columns.update(names)
        return joined.select(*kept, *(F.col(fresh[variable]).alias(name) for variable, name in names.items()))

    def _source(self, found: DataFrame | None, body: int) -> tuple[DataFrame | None, DataFrame]:
        """The bindings so far, and the facts in which a positive atom, or the changed negated one, is matched."""
        positive = len(self.positive)
        source = self.sources.positive(body, self.pivot) if body < positive else self.sources.outside
        found, rows = self._looked_up(found, body, source, self.group.predicates(body))
        return found, rows if body < positive else self._projected(body, rows)

    def _looked_up(
        self, found: DataFrame | None, body: int, source: FrameSet, predicates: Collection[Predicate]
    ) -> tuple[DataFrame | None, DataFrame]:
        """The bindings so far, and the facts in which an atom is matched.

        If both are many, the facts are in partitions by the bound arguments. Otherwise, of the facts of a store only
        those are read that are in row groups that can match the bindings.
        """
        rows = None if found is None or body == self.pivot else self._spread(body, source, predicates)
        if rows is not None:
            return found, rows
        mask = self._mask(body)
        if found is not None and mask is None:
            found, mask = self._probed(found, body, source, predicates)
        return found, source.frame(predicates, mask)

    def _spread(self, body: int, source: FrameSet, predicates: Collection[Predicate]) -> DataFrame | None:
        """The facts of an atom in partitions that stay between joins.

        None unless the change and the facts are many, and the same join was made before, as in a loop.
        """
        most, changed = self.engine.settings.plans.spread_facts, self._changed
        if changed is None or min(changed.most, source._most_of(frozenset(predicates))) <= most:
            return None
        columns = {column: argument_name(i) for i, column in reversed(self._bound(body).items())}
        bound = sorted(columns.values())
        if not bound or not self.engine.comes_again((frozenset(predicates), *bound)):
            return None
        return source.spread(predicates, ["predicate", *bound] if self.several else bound)

    def _mask(self, body: int) -> Mask | None:
        """The row groups of a store in which an atom can match; None, which is all, if that is not known.

        It is known if the first argument of the atom is a variable of the changed atom.
        """
        source = self._changed
        if self.pivot is None or source is None:
            return None
        terms, changed = self._atom(body).terms, self.variant.atom(self.pivot)
        if not terms or not isinstance(terms[0], Variable) or terms[0] not in changed.terms:
            return None
        place = self._places(self.pivot, changed)[changed.terms.index(terms[0])]
        return source.touched(self.group.predicates(self.pivot), place)

    def _probed(
        self, found: DataFrame, body: int, source: FrameSet, predicates: Collection[Predicate]
    ) -> tuple[DataFrame, Mask | None]:
        """The bindings, stored, and the row groups in which an atom can match by its first bound argument.

        A job of its own finds them. It is run only where the change is small and the atom is matched in many rows of a
        store; otherwise the bindings stay as they are, and there is no mask.
        """
        changed, bound = self._changed, self._bound(body)
        if not bound or changed is None or changed.most > MOST_VALUES:
            return found, None
        if not self.engine.probes(source, predicates):
            return found, None
        argument = min(bound)
        places = source.places(predicates, argument)
        narrowed, mask = self.space.probed(found, bound[argument], places)
        self.engine.note_probe(predicates, argument, places, mask)
        return narrowed, mask

    def _bound(self, body: int) -> dict[int, str]:
        """Maps each argument of an atom that is bound by now to the column of the bindings that has its value."""
        found = {}
        for i, term in enumerate(self._atom(body).terms):
            if isinstance(term, Variable) and term in self._columns:
                found[i] = self._columns[term]
            elif isinstance(term, Constant) and self.several:
                found[i] = f"k{body}_{i}"
        return found

    @property
    def _changed(self) -> FrameSet | None:
        """The facts in which the changed atom is matched; None if no atom is."""
        if self.pivot is None:
            return None
        return self.sources.inside if self.pivot < len(self.positive) else self.sources.outside

    def _projected(self, body: int, rows: DataFrame) -> DataFrame:
        """The changes of a negated atom without the columns of its wildcards."""
        if not self._has_wildcard(body):
            return rows
        terms = self._atom(body).terms
        kept = [argument_name(i) for i, term in enumerate(terms) if not isinstance(term, Wildcard)]
        return rows.select("predicate", *kept).distinct().toDF("predicate", *argument_names(len(kept)))

    def _without(self, found: DataFrame, body: int) -> DataFrame:
        """The bindings for which a negated atom has no match."""
        from pyspark.sql import functions as F

        atom = self._atom(body)
        sources = [self.sources.neg]
        if self.pivot is not None and body < self.pivot:
            sources.append(self.sources.outside)
        for source in sources:
            there = [p for p in self.group.predicates(body) if p in source.possible]
            if there:
                narrowed, rows = self._looked_up(found, body, source, there)
                assert narrowed is not None
                found = narrowed
                facts, conditions = self._matched(body, atom, rows)
                condition = functools.reduce(lambda a, b: a & b, conditions) if conditions else F.lit(True)
                found = found.join(facts, condition, "left_anti")
        return found

    def _matched(self, body: int, atom: Atom, rows: DataFrame) -> tuple[DataFrame, list[Column]]:
        """The facts that match an atom on its own, and the conditions on which they agree with the bindings."""
        from pyspark.sql import functions as F

        seen: dict[Variable, str] = {}
        filters: list[Column] = []
        conditions: list[Column] = []
        columns = []
        places = self._places(body, atom)
        if self.several:
            columns.append(F.col("predicate").alias(f"a{body}"))
            conditions.append(F.col(f"a{body}") == F.col(f"p{body}"))
        for i, term in enumerate(atom.terms):
            column = f"a{body}_{i}"
            if isinstance(term, Constant):
                if self.several:
                    columns.append(F.col(argument_name(i)).alias(column))
                    conditions.append(F.col(column) == F.col(f"k{body}_{places[i]}"))
                else:
                    filters.append(F.col(argument_name(i)) == F.lit(self.space.names.constant(term)))
            elif isinstance(term, Variable) and term in seen:
                filters.append(F.col(argument_name(i)) == F.col(seen[term]))
            elif isinstance(term, Variable):
                seen[term] = argument_name(i)
                columns.append(F.col(argument_name(i)).alias(column))
                if term in self._columns:
                    conditions.append(F.col(column) == F.col(self._columns[term]))
        for condition in filters:
            rows = rows.where(condition)
        return rows.select(*(columns or [F.lit(0).alias(f"a{body}")])), conditions

    def _places(self, body: int, atom: Atom) -> list[int]:
        """The positions of an atom's terms in the atom as it is written, which may have wildcards as well."""
        written = self._atom(body).terms
        kept = [i for i, term in enumerate(written) if not isinstance(term, Wildcard)]
        return kept if len(atom.terms) < len(written) else list(range(len(written)))

    # The rules of the shape ------------------------------------------------------------------------

    def _table(self) -> DataFrame:
        """A row for each rule with the ids of its predicates and constants; one row if there is one rule."""
        from pyspark.sql import functions as F

        if not self.several:
            return self.space.spark.range(1).select(F.lit(0).alias("one"))
        return F.broadcast(self.space.table([self._row(variant) for variant in self.group.variants]))

    def _row(self, variant: Variant) -> Mapping[str, int]:
        names, row = self.space.names, {}
        atoms = [(f"p{i}", f"k{i}", variant.rule.atom(i)) for i in range(len(self.positive) + len(self.negative))]
        for predicate, constants, atom in [*atoms, ("h", "h", variant.rule.rule.head)]:
            row[predicate] = names.id(atom.predicate)
            for i, term in enumerate(atom.terms):
                if isinstance(term, Constant):
                    row[f"{constants}_{i}"] = names.constant(term)
        return row

    def _atom(self, body: int) -> Atom:
        return self.variant.rule.atom(body)

    def _has_wildcard(self, body: int) -> bool:
        return any(isinstance(term, Wildcard) for term in self._atom(body).terms)
