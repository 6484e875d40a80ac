"""The algebra that the algorithms of :mod:`everlog.reasoning` are written in, as protocols.

A protocol has the operations that the algorithms use, and no others. There are three implementations:

- *local*: :class:`~everlog.engine.factset.FactSet`, :class:`~everlog.engine.multiset.Counts` and
  :class:`~everlog.engine.match.Engine`, sorted columns in this process;
- *look-up*: the local sets over relations whose facts are fetched from a store when they are asked for
  (:mod:`everlog.engine.lazy`), and an engine that begins with what changed;
- *Spark*: :class:`~everlog.backends.spark.factset.FrameSet`, :class:`~everlog.backends.spark.multiset.FrameCounts` and
  :class:`~everlog.backends.spark.engine.SparkEngine`, DataFrames in executors.

Sets and counts are immutable values: an operation leaves its operands as they are. Both operands of an operation, and
all sets given to an engine, are of one implementation; anything else is a TypeError that names both. The exceptions
are :data:`~everlog.engine.factset.NONE` and :data:`~everlog.engine.multiset.NO_COUNTS`, which an algorithm starts
from before it has seen a set of its engine. They are the empty local values, and the other
implementations take them for empty values of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from everlog.analysis.stratify import Stratum
    from everlog.engine.accounts import Work
    from everlog.engine.limits import Limits
    from everlog.engine.rules import RuleSet


class AnyFactSet(Protocol):
    """A set of facts of many predicates. It iterates over the predicates that have facts.

    Invariants: no fact is there twice, and a set does not change when another is made of it. Views count as sets: an
    implementation may defer the work of an operation until the number of facts is read, or rules are matched in them.
    Iterating over a view may give predicates that have no facts left.
    """

    @property
    def count(self) -> int:
        """The number of facts, an upper bound where facts are fetched when they are asked for. Runs deferred work."""

    def __bool__(self) -> bool:
        """Whether :attr:`count` is above zero. Runs deferred work, unless the answer is known without it."""

    def __iter__(self) -> Iterator[Predicate]:
        """The predicates that have facts."""

    def __contains__(self, predicate: object) -> bool:
        """Whether a predicate has facts."""

    def __or__(self, other: Self) -> Self:
        """The union. Costs the search for the facts of ``other`` in this set."""

    def __sub__(self, other: Self) -> Self:
        """The facts that are not in ``other``. Costs the smaller of the two; nothing if they share no predicate."""

    def __and__(self, other: Self) -> Self:
        """The facts that are in both. Costs the smaller of the two."""

    def extended(self, new: Self) -> Self:
        """The union with facts none of which are in the set, which is not checked. Costs the new facts only."""

    def restricted(self, predicates: Iterable[Predicate]) -> Self:
        """The facts of some predicates. Costs nothing per fact."""

    def renamed(self, names: Mapping[Predicate, Predicate]) -> Self:
        """The facts, with some predicates replaced by others that have no facts here. Costs nothing per fact."""

    def settled(self) -> Self:
        """The facts in the form that is quickest to read, for a set that will be read often."""


class AnyCounts(Protocol):
    """A number for each fact: how often it is derived. A fact without a number has zero.

    Numbers may be negative on the way, as in a difference. It iterates over the predicates whose facts may have a
    number.
    """

    def __iter__(self) -> Iterator[Predicate]:
        """The predicates of which facts may have a number."""

    def __add__(self, other: Self) -> Self:
        """The sums of the numbers. Costs the facts of ``other``."""

    def __sub__(self, other: Self) -> Self:
        """The differences of the numbers. Costs the facts of ``other``."""

    def restricted(self, predicates: Collection[Predicate]) -> Self:
        """The numbers of the facts of some predicates. Costs nothing per fact."""

    def renamed(self, names: Mapping[Predicate, Predicate]) -> Self:
        """The numbers, with some predicates replaced by others that have no numbers here."""

    def facts(self) -> AnyFactSet:
        """The facts whose number is not zero."""

    def counted(self, facts: AnyFactSet) -> AnyFactSet:
        """The given facts whose number is above zero. Costs a look-up of each given fact."""


AnyChange = tuple[AnyFactSet, AnyFactSet]
"""A condition (P, N): an instance must have a positive body atom in P or a negated one in N; see
:meth:`AnyEngine.match`.
"""


class AnyMatches(Protocol):
    """Instances of rules. They are found when their heads are read, each time anew."""

    def facts(self, without: AnyFactSet = ...) -> AnyFactSet:
        """The heads that are not in ``without``."""

    def counts(self) -> AnyCounts:
        """The heads, each with the number of its instances."""


class AnyProofs(Protocol):
    """Instances of rules that derive given facts, over sets of facts that do not change. They are found when they are
    read, a few at a time: a fact has a cursor over its instances, which is moved on when more are asked for. An
    implementation may find all instances of a fact at once, whose cursor is then at its end.
    """

    def facts(self, facts: AnyFactSet) -> AnyFactSet:
        """The given facts that have an instance. The first one of each is enough."""

    def bodies(self, facts: AnyFactSet, without: AnyFactSet) -> AnyFactSet:
        """The chained body atoms of the next few instances of each of the facts, except instances with a body atom in
        ``without``, a set that only grows from call to call.
        """

    def unfinished(self, facts: AnyFactSet, proved: AnyFactSet, waiting: AnyFactSet) -> AnyFactSet:
        """The facts whose next instances may prove one of the given facts.

        These are facts that are not proved and may have further instances, or are ``waiting``: :meth:`bodies` was not
        called for them. The given facts need them: they are chained body atoms of instances found so far of the given
        facts, or of such body atoms, and so on, not beyond proved ones. An implementation may return some of them, if
        there are any, and one that finds all instances at once may return all that are waiting.
        """


class Observer(Protocol):
    """Observes the rounds of a fixpoint: limits, progress and profiles are observers, and no part of an algorithm."""

    def __call__(self, new: int, rounds: int = 1) -> None:
        """Observe that ``rounds`` rounds found ``new`` facts, which are known afterwards. Raising ends the fixpoint.

        It is called at least every 100 ms, not necessarily in each round.
        """


class Repairing(Protocol):
    """An update in progress: every stratum below the one to be repaired is up to date.

    Implemented by :class:`everlog.reasoning.maintenance.Maintenance`.
    """

    gone: AnyFactSet
    """The facts that were deleted so far."""
    fresh: AnyFactSet
    """The facts that were inserted so far."""

    @property
    def before(self) -> AnyFactSet:
        """All facts before the update."""

    @property
    def after(self) -> AnyFactSet:
        """All facts so far: below the stratum those after the update, from the stratum on those before it."""

    def by_algorithm(self) -> None:
        """Repair the stratum by the algorithm of the update: rules by matching, a module by its own functions."""

    def replace(self, deleted: AnyFactSet, inserted: AnyFactSet) -> None:
        """Record that the stratum lost some facts and gained others."""

    def close_again(self, predicates: Collection[Predicate] | None = None) -> None:
        """Close the stratum from the facts below it, compare with the old facts, and compute the counters anew.

        Only facts of the given predicates are compared, by default of all that the stratum derives.
        """


class Way(Protocol):
    """A way to close a stratum, and to repair it. An engine chooses it before the stratum is evaluated."""

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        """All facts below the stratum with all facts of the stratum, its explicit facts included.

        ``facts`` are complete below the stratum and have none of its predicates; of ``explicit`` only facts
        of these are used. The observer counts each fact once. A way that turns out to be too large raises
        :class:`TooLargeError` before it calls the observer; the engine then chooses another way. Where every way
        exceeds a limit of the engine, the error is that of the limit.
        """

    def repair(self, update: Repairing) -> None:
        """Bring the facts of the stratum up to date with the changes below it and of its explicit facts."""


class TooLargeError(Exception):
    """A way to close a stratum has more facts than it can take. ``way`` is its name."""

    def __init__(self, way: str) -> None:
        super().__init__(way)
        self.way = way


class AnyEngine(Protocol):
    """Matches rules in facts, counts the work, and enforces limits."""

    limits: Limits
    work: Work
    """Instances considered so far, by phase; each counts once it is found."""
    held: int
    """The number of facts that reasoning holds; algorithms keep it up to date for the limits."""
    budget: int | None
    """Maximum number of instances that may be considered in all; more raise
    :class:`~everlog.engine.accounts.OverBudgetError`.
    """
    plans: dict[int, str]
    """The plans by which strata were evaluated, by number, for strata with a choice of plans."""

    def check(self, collected: int, instances: int = 0, rows: int = 0) -> None:
        """Raise an error if a limit or the budget is reached, given facts and instances that are not counted yet, and
        the number of rows collected, known facts among them.
        """

    def once(self, facts: AnyFactSet) -> AnyCounts:
        """Counts in which each of the facts has the number one."""

    def match(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        changed: Sequence[AnyChange] = (),
        phase: str = "forward",
    ) -> AnyMatches:
        """The instances of the rules with positive body atoms in ``pos``, negated ones outside ``neg``, and for each
        (P, N) of ``changed`` a positive atom in P or a negated one in N; see :mod:`everlog.engine.match`.

        Only Counting gives more than one (P, N).
        """

    def prove(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        chained: Collection[Predicate] = (),
        phase: str = "backward",
    ) -> AnyProofs:
        """The instances of the rules that derive facts to be given later, with positive body atoms in ``pos`` and
        negated ones outside ``neg``. Body atoms of the ``chained`` predicates are to be proved, too.
        """

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        """The way to close a stratum, or repair it, given the arguments of :meth:`Way.close`; none of the ways
        ``without``, which turned out to be too large. None is the plain way, which all engines have in common: rounds
        of matching, and modules in this process (:mod:`everlog.reasoning.ways`).
        """


def foreign(mine: type, other: object) -> TypeError:
    """The error of an operation on values of two implementations.

    >>> foreign(dict, [1])
    TypeError('dict and list are of different engines and cannot be combined')
    """
    return TypeError(f"{mine.__name__} and {type(other).__name__} are of different engines and cannot be combined")
