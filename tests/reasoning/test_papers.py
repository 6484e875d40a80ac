"""The worked examples of the papers, and the propositions that compare the algorithms, with their counts.

An instance is one match of a rule's body. The papers' figures sometimes count explicit facts, too. Where a figure
differs for that reason, the test says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from everlog.analysis.stratify import Kind, StratifiedProgram
from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.factset import NONE, as_local
from everlog.engine.keys import columns_of
from everlog.engine.multiset import NO_COUNTS, counts_as_local
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.backward import BackwardChaining
from everlog.reasoning.bfc import BFC
from everlog.reasoning.change import ExplicitChange
from everlog.reasoning.counting import Counting
from everlog.reasoning.dred import DRed
from everlog.reasoning.dredc import DRedC
from everlog.reasoning.fbf import FBF
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import AnyMaterialisation, Materialisation, with_counters, with_trace
from everlog.reasoning.modules.loops import NO_MODULES, Loops
from everlog.reasoning.rule_sets import Rules
from tests.oracle.naive import Fact
from tests.reasoning.recording import Recorder, rows
from tests.reasoning.test_maintenance import Ids, start
from tests.strategies import Case


def facts(text: str) -> set[Fact]:
    """``B(a) T(a,b)`` as facts."""
    found = re.findall(r"(\w+)\(([^)]*)\)", text)
    lists = [(name, tuple(f'"{c.strip()}"' for c in cells.split(",") if c.strip())) for name, cells in found]
    return {(Predicate(name, len(row)), row) for name, row in lists}


@dataclass(frozen=True)
class World:
    """A materialised program with counters and trace."""

    program: StratifiedProgram
    ids: Ids
    old: Materialisation

    @classmethod
    def of(cls, rules: str, explicit: str, stratification: Kind = "levels", others: str = "") -> World:
        """Materialise a program. The facts of ``others`` are not explicit; updates may insert them."""
        case_facts, known = facts(explicit), facts(explicit) | facts(others)
        domain = tuple(sorted({text for _, row in known for text in row}))
        case = Case(parse_program(rules), frozenset(case_facts), tuple(sorted({p for p, _ in known})), domain)
        program, ids, old = start(case, stratification)
        return cls(program, ids, with_trace(ids.engine(), program, with_counters(ids.engine(), program, old)))

    def shown(self, facts: AnyFactSet) -> set[str]:
        found = as_local(facts)
        return {self.text(p, row) for p, relation in found.items() for row in rows(relation.columns(), len(relation))}

    def counted(self, counts: AnyCounts) -> Counter[str]:
        found: Counter[str] = Counter()
        for predicate, multiset in counts_as_local(counts).items():
            keys, weights = multiset.whole()
            for row, n in zip(rows(columns_of(multiset.layout, keys), len(keys)), weights, strict=True):
                found[self.text(predicate, row)] = int(n)
        return found

    def text(self, predicate: Predicate, row: tuple[int, ...]) -> str:
        named = {number: text for text, number in self.ids.ids.items()}
        return f"{predicate.name}({','.join(named[i].strip(chr(34)) for i in row)})"

    def trace(self, stratum: int, state: AnyMaterialisation | None = None) -> list[Counter[str]]:
        found = (state or self.old).trace
        assert found is not None
        return [self.counted(counts) for counts in found[stratum - 1]]

    def run(self, algorithm: Making, delete: str = "", insert: str = "", **options: int | None) -> Run:
        engine = Recorder(self.ids)
        deleted, inserted = self.ids.facts(facts(delete)), self.ids.facts(facts(insert))
        explicit = ExplicitChange.of(self.old.explicit, deleted, inserted)
        running = algorithm(engine, self.program, self.old, explicit, **options)
        done = running.run()
        return Run(self, engine, running, done.materialisation, self.shown(done.inserted), self.shown(done.deleted))


@dataclass(frozen=True)
class Run:
    """A finished update, with all instances that it considered."""

    world: World
    engine: Recorder
    algorithm: Maintenance
    state: AnyMaterialisation
    inserted: set[str]
    deleted: set[str]

    def count(self, *phases: str) -> int:
        """The number of instances considered in some phases, or in all."""
        return self.engine.seen_in(*(phases or self.engine.seen)).total()

    @property
    def overdeleted(self) -> set[str]:
        return self.world.shown(self.algorithm.D)

    @property
    def backward(self) -> BackwardChaining:
        assert isinstance(self.algorithm, BackwardChaining)
        return self.algorithm


Making = Callable[..., Maintenance]

ALGORITHMS: list[Making] = [Counting, DRed, FBF, DRedC, BFC]

# Journal paper, the running example ---------------------------------------------------------------

RUNNING = """
T(?x, ?y) :- R(?x, ?y), ~A(?x) .
T(?x, ?y) :- S(?x, ?y), A(?x) .
B(?y) :- T(?x, ?y), B(?x) .
"""
FIGURE_1 = "B(a) T(a,b) T(b,c) T(c,d) T(d,c) T(e,c) T(f,g) T(g,c) R(b,e) S(b,f)"
"""The facts that rule instances (11) to (19), (63), (79) and the text need; the paper's figure is not available."""


def running(stratification: Kind = "levels") -> World:
    return World.of(RUNNING, FIGURE_1, stratification, others="A(b)")


def test_example_1_materialisation() -> None:
    world = running()
    derived = world.shown(world.old.facts - world.old.explicit)
    assert derived == {"T(b,e)", "B(b)", "B(c)", "B(d)", "B(e)"}
    assert [len(stratum.recursive) for stratum in world.program.strata] == [0, 1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("stratification", ["levels", "single"])
def test_example_2_update(algorithm: Making, stratification: Kind) -> None:
    """Adding A(b) deletes two facts, because it is negated, and adds four, including itself."""
    found = running(stratification).run(algorithm, insert="A(b)")
    assert found.inserted == {"A(b)", "T(b,f)", "B(f)", "B(g)"}
    assert found.deleted == {"T(b,e)", "B(e)"}


def test_example_7_trace() -> None:
    """B(c) is derived in three rounds, by the instances (18), (17) and (19)."""
    assert running().trace(2) == [
        {"B(a)": 1},
        {"B(b)": 1},
        {"B(c)": 1, "B(e)": 1},
        {"B(c)": 1, "B(d)": 1},
        {"B(c)": 1},
    ]


def test_example_8_counting() -> None:
    """Instances (15) to (17) are undone, (11) to (14) applied; in round 5 the number of B(c) becomes 2."""
    world = running()
    found = world.run(Counting, insert="A(b)")
    assert (found.count("deleted"), found.count("added")) == (3, 4)
    assert found.count() == 7
    assert world.trace(1, found.state)[0]["T(b,f)"] == 1
    assert "T(b,e)" not in world.trace(1, found.state)[0]
    assert world.trace(2, found.state) == [
        {"B(a)": 1},
        {"B(b)": 1},
        {"B(c)": 1, "B(f)": 1},
        {"B(d)": 1, "B(g)": 1},
        {"B(c)": 2},
    ]


def test_example_9_a_fact_that_derives_itself() -> None:
    world = World.of("R(?y, ?x) :- R(?x, ?y) .", "R(a,b)")
    assert world.trace(1) == [{"R(a,b)": 1}, {"R(b,a)": 1}, {"R(a,b)": 1}]
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, delete="R(a,b)")
        assert found.deleted == {"R(a,b)", "R(b,a)"}
        assert found.count("delete", "deleted") == 2
        if algorithm is Counting:
            assert found.state.trace == ((),)


COPIED = """
T(?x, ?y) :- R(?x, ?y), An(?x) .
T(?x, ?y) :- S(?x, ?y), A(?x) .
B(?y) :- T(?x, ?y), B(?x) .
T(?x, ?y) :- Te(?x, ?y) .
B(?x) :- Be(?x) .
"""
FIGURE_1_COPIED = re.sub(r"([TB])\(", r"\1e(", FIGURE_1) + " An(b)"


@pytest.mark.parametrize("stratification", ["levels", "single"])
def test_example_13_dred(stratification: Kind) -> None:
    """Instances (76) to (80) delete four facts, (81) rederives B(c), (79) and (80) follow, (82) to (85) insert."""
    world = World.of(COPIED, FIGURE_1_COPIED, stratification, others="A(b)")
    found = world.run(DRed, delete="An(b)", insert="A(b)")
    assert found.overdeleted == {"An(b)", "T(b,e)", "B(e)", "B(c)", "B(d)"}
    assert found.algorithm.statistics.overdeleted == 4
    assert found.algorithm.statistics.rederived == 1
    assert found.count("delete") == 5
    assert found.count("one step") == 1
    assert found.count("forward") == 2 + 4
    assert found.deleted == {"An(b)", "T(b,e)", "B(e)"}
    assert found.inserted == {"A(b)", "T(b,f)", "B(f)", "B(g)"}


def test_example_14_two_deleted_atoms_of_one_instance() -> None:
    world = World.of(COPIED, FIGURE_1_COPIED)
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, delete="R(b,e) An(b)")
        first = world.program.program.rules[0]
        assert sum(n for (rule, _), n in found.engine.seen_in("delete", "deleted").items() if rule == first) == 1


def test_example_15_two_inserted_atoms_of_one_instance() -> None:
    world = World.of(COPIED, FIGURE_1_COPIED, others="A(b) S(b,h)")
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, insert="A(b) S(b,h)")
        second = world.program.program.rules[1]
        new = [n for (rule, _), n in found.engine.seen_in("forward", "added").items() if rule == second]
        assert new == [1, 1], "T(b,f) and T(b,h)"


@pytest.mark.parametrize("k", [2, 5])
def test_example_16_one_step_rederivation(k: int) -> None:
    """B(b) has k - 1 proofs left, of which one is considered. B(c) is left to insertion.

    With a counter no proof is considered.
    """
    explicit = " ".join(f"T(a{i},b) Be(a{i})" for i in range(1, k + 1)) + " T(b,c)"
    world = World.of("B(?x) :- Be(?x) . B(?y) :- T(?x, ?y), B(?x) .", explicit)
    found = world.run(DRed, delete="Be(a1)")
    assert found.overdeleted == {"Be(a1)", "B(a1)", "B(b)", "B(c)"}
    assert (found.count("one step"), found.count("forward")) == (1, 1)
    assert world.run(DRedC, delete="Be(a1)").count("one step") == 0


def test_example_17_strata_stop_deletion() -> None:
    k = 6
    explicit = " ".join(f"Te(a{i},a{i + 1})" for i in range(1, k)) + " Be(a1) R(a1,a2) An(a1)"
    single, levels = (World.of(COPIED, explicit, kind).run(DRed, delete="An(a1)") for kind in ("single", "levels"))
    assert single.overdeleted == {"An(a1)", "T(a1,a2)"} | {f"B(a{i})" for i in range(2, k + 1)}
    assert levels.overdeleted == {"An(a1)", "T(a1,a2)"}
    assert levels.count() == 2
    assert single.deleted == levels.deleted == {"An(a1)"}


def test_examples_20_and_21_backward_chaining_keeps_what_dred_deletes() -> None:
    """B(c) is proved by (81) and (136), so neither it nor B(d) is deleted, and B(d) need not be checked."""
    world = running()
    assert world.run(DRed, insert="A(b)").overdeleted >= {"B(c)", "B(d)"}
    for algorithm in (FBF, BFC):
        found = world.run(algorithm, insert="A(b)")
        assert found.overdeleted == {"T(b,e)", "B(e)"}
        assert found.count("delete") == 3
        assert world.shown(found.backward.P) == {"B(a)", "B(b)", "B(c)"}
        assert world.shown(found.backward.C) == {"B(a)", "B(b)", "B(c)", "B(e)"}
        assert world.shown(found.backward.Y) == {"B(d)"}


CHAIN = "B(?y) :- T(?x, ?y), B(?x) ."


def test_example_22() -> None:
    """DRed deletes four facts and rederives them; FBF checks B(b), then B(a), and deletes nothing.

    The instance (141) is found before (142). It proves B(b), so B(c) is not checked.
    """
    world = World.of(CHAIN, "B(a) B(b) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)")
    dred = world.run(DRed, delete="B(b)")
    assert dred.overdeleted == {"B(b)", "B(c)", "B(d)", "B(e)"}
    assert (dred.count("delete"), dred.count("one step"), dred.count("forward")) == (4, 1, 4)
    for algorithm in (FBF, BFC):
        found = world.run(algorithm, delete="B(b)")
        assert (found.deleted, found.overdeleted) == (set(), set())
        assert world.shown(found.backward.C) == world.shown(found.backward.P) == {"B(a)", "B(b)"}
        assert world.shown(found.backward.Y) == {"B(c)"}
        assert (found.count("delete"), found.count("backward"), found.count("forward")) == (0, 1, 2)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_example_23(n: int) -> None:
    """Each of the n facts is checked once, by its n instances, instead of (n - 1)! attempts."""
    nodes = range(1, n + 1)
    world = World.of(CHAIN, "B(a1) " + " ".join(f"T(a{i},a{j})" for i in nodes for j in nodes))
    for algorithm in (FBF, BFC):
        found = world.run(algorithm, delete="B(a1)")
        assert found.deleted == {f"B(a{i})" for i in nodes}
        assert found.count("backward") == n * n
        assert found.count("delete") == n * n
        assert found.count("forward") == 0


def test_example_24() -> None:
    """B(b) and B(c) depend on each other; B(a) proves both, and what was not checked is delayed, not proved."""
    world = World.of(CHAIN, "B(a) B(b) B(c) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)")
    for algorithm in (FBF, BFC):
        found = world.run(algorithm, delete="B(b) B(c)")
        assert found.overdeleted == set()
        assert world.shown(found.backward.C) == world.shown(found.backward.P) == {"B(a)", "B(b)", "B(c)"}
        assert world.shown(found.backward.Y) == {"B(d)"}
        assert (found.count("delete"), found.count("backward"), found.count("forward")) == (0, 2, 4)


# Journal paper, section 8 -------------------------------------------------------------------------


def test_proposition_28_without_recursion_only_counters_are_optimal() -> None:
    world = World.of("C(?x) :- A(?x) . C(?x) :- B(?x) .", "A(a) B(a)")
    considered = {algorithm: world.run(algorithm, delete="A(a)").count() for algorithm in ALGORITHMS}
    assert considered == {Counting: 1, DRed: 2, FBF: 2, DRedC: 1, BFC: 1}


def chain(n: int, *explicit: int) -> World:
    edges = " ".join(f"T(a{i},a{i + 1})" for i in range(1, n))
    marks = " ".join(f"B(a{i})" for i in explicit)
    return World.of(CHAIN, f"{edges} {marks}", others=f"B(a{n})")


@pytest.mark.parametrize("n", [2, 5, 8])
def test_proposition_29(n: int) -> None:
    """Nothing changes, but no algorithm is optimal: Counting 2(n - i), DRed 2(n - i) + 1, FBF 2i - 1 instances.

    The printed figures of DRed and FBF also count the explicit fact. FBF has one less for i = n,
    where nothing follows that would be delayed. The recursive counter saves DRed^c the proof.
    """
    for i in range(2, n + 1):
        added = chain(n, 1).run(Counting, insert=f"B(a{i})")
        assert (added.count("deleted"), added.count("added")) == (n - i, n - i)
        world = chain(n, 1, i)
        runs = {algorithm: world.run(algorithm, delete=f"B(a{i})") for algorithm in ALGORITHMS}
        assert all(run.deleted == run.inserted == set() for run in runs.values())
        fbf = 2 * i - 1 - (i == n)
        considered = {algorithm: run.count() for algorithm, run in runs.items()}
        assert considered == {Counting: 2 * (n - i), DRed: 2 * (n - i) + 1, FBF: fbf, DRedC: 2 * (n - i), BFC: fbf}
        assert runs[FBF].count("backward") == i - 1


def test_proposition_29_figure_5() -> None:
    n, i = 6, 4
    world = chain(n, 1)
    found = world.run(Counting, insert=f"B(a{i})")
    assert world.trace(1) == [{f"B(a{j})": 1} for j in range(1, n + 1)]
    expected = [Counter({f"B(a{j})": 1}) for j in range(1, i + 1)]
    for j in range(i, n + 1):
        expected[j - i] += Counter({f"B(a{j})": 1})
    assert world.trace(1, found.state) == expected


def test_proposition_30_every_instance_may_be_followed_back() -> None:
    """All facts are checked at once, so this does not depend on their order."""
    n = 7
    world = chain(n, 1, n)
    for algorithm in (FBF, BFC):
        found = world.run(algorithm, delete=f"B(a1) B(a{n})")
        assert found.deleted == {f"B(a{i})" for i in range(1, n + 1)}
        assert (found.count("backward"), found.count("delete")) == (n - 1, n - 1)


def test_propositions_32_and_33_insertions() -> None:
    """Only Counting considers instances that existed before: those that move to an earlier round."""
    n, i = 8, 3
    for algorithm in ALGORITHMS:
        found = chain(n, 1).run(algorithm, insert=f"B(a{i})")
        assert found.count() == (2 * (n - i) if algorithm is Counting else 0)
    edge = "T(a5,a6)"
    world = World.of(CHAIN, " ".join(f"T(a{i},a{i + 1})" for i in (1, 2, 3, 4, 6, 7)) + " B(a1)", others=edge)
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, insert=edge)
        assert (found.count(), len(found.inserted)) == (3, 4)


def layers(n: int) -> str:
    """Rules (150). The first keeps B1 in the stratum of the others if there is only one stratum."""
    return "B1(?x) :- B0(?x) ." + " ".join(f"B{i + 1}(?x) :- B{i}(?x) ." for i in range(1, n))


@pytest.mark.parametrize("n", [3, 6])
def test_proposition_34_strata_save_work(n: int) -> None:
    """Body matches: Counting 2(n - i) against 0, DRed 2n - 3 against 1, FBF 2n - 2 against 1.

    The printed figures are 2(n - i) and 1, 2n - 2 and 2, 2n - 2 and 2: they count the explicit fact,
    and for Counting an instance that existed before.
    """

    def considered(algorithm: Making, explicit: str, delete: str = "", insert: str = "") -> tuple[int, int]:
        worlds = (World.of(layers(n), explicit, kind, others="B0(b) B2(a)") for kind in ("single", "levels"))
        single, levels = (world.run(algorithm, delete, insert).count() for world in worlds)
        return single, levels

    for i in range(2, n):
        assert considered(Counting, "B1(a)", insert=f"B{i}(a)") == (2 * (n - i), 0)
    assert considered(DRed, "B1(a) B2(a)", delete="B1(a)") == (2 * n - 3, 1)
    assert considered(FBF, f"B1(a) B{n}(a)", delete=f"B{n}(a)") == (2 * n - 2, 1)


def test_proposition_35_strata_cost_counting_work() -> None:
    """With one stratum both derivations of B(a2) are in one round, and one instance is undone.

    With two strata they are not, and the n - 2 later ones move by a round. With the lost one these are
    2n - 3 instances; the printed 2n - 5 leaves out one of the moves.
    """
    n = 7
    rules = "B(?x) :- A(?x) . B(?y) :- T(?x, ?y), B(?x) . A(?x) :- A0(?x) . T(?x, ?y) :- T0(?x, ?y) ."
    explicit = "A(a2) B(a1) " + " ".join(f"T(a{i},a{i + 1})" for i in range(1, n))
    single, levels = (World.of(rules, explicit, kind, others="A0(b) T0(b,b)") for kind in ("single", "levels"))
    assert single.trace(1)[1] == {"B(a2)": 2}
    assert single.run(Counting, delete="A(a2)").count() == 1
    assert levels.trace(2)[:2] == [{"B(a1)": 1, "B(a2)": 1}, {"B(a2)": 1, "B(a3)": 1}]
    assert levels.run(Counting, delete="A(a2)").count() == 2 * n - 3


@pytest.mark.parametrize("n", [2, 5])
def test_proposition_36_strata_cost_backward_chaining_work(n: int) -> None:
    """One of n instances is searched backwards, and proves B(a). With one stratum only this one fires in saturation,
    since no other R(a, b) is checked; with two strata all n fire. Then B(a) derives A(a).
    """
    rules = "B(?x) :- A(?x), R(?x, ?y) . A(?x) :- B(?x) . R(?x, ?y) :- R0(?x, ?y) ."
    explicit = "A(a) B(a) " + " ".join(f"R(a,b{i})" for i in range(1, n + 1))
    kinds: tuple[tuple[Kind, int], ...] = (("single", 1), ("levels", n))
    for stratification, fired in kinds:
        found = World.of(rules, explicit, stratification, others="R0(b,b)").run(FBF, delete="B(a)")
        assert (found.deleted, found.count("backward"), found.count("forward")) == (set(), 1, fired + 1)


# Thesis, chapter 4 --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 4])
def test_thesis_example_1(n: int) -> None:
    """Without recursion, the counters make DRed^c equal to Counting, and nothing is matched backwards."""
    explicit = " ".join(f"R(a{i},b) R(a{i},c{i})" for i in range(n))
    world = World.of("S(?y, ?z) :- R(?x, ?y), R(?x, ?z) .", explicit)
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, delete=" ".join(f"R(a{i},c{i})" for i in range(n)))
        assert found.count("delete", "deleted") == found.count() == 3 * n
        assert len(found.deleted) == n + 3 * n
        assert world.shown(found.state.facts) == {f"R(a{i},b)" for i in range(n)} | {"S(b,b)"}


@pytest.mark.parametrize("n", [1, 4])
def test_thesis_example_2(n: int) -> None:
    """Searching for proofs is expensive, and there are none: nothing is proved backwards."""
    rules = "D(?y, ?z) :- B(a, ?y, ?z) . D(?y, ?z) :- D(?x, ?u), B(?x, ?y, ?v), C(?u, ?v, ?z) ."
    span = range(1, n + 1)
    explicit = " ".join(
        ["B(a,b1,e1)", *(f"B(a,c{i},e{i}) C(e1,e{i},e1)" for i in span)]
        + [f"B(b{i},d{j},e{i})" for i in span for j in span]
    )
    world = World.of(rules, explicit)
    assert {"D(b1,e1)", *(f"D(d{j},e1)" for j in span)} <= world.shown(world.old.facts)
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, delete="B(a,b1,e1)")
        assert found.deleted == {"B(a,b1,e1)", "D(b1,e1)", *(f"D(d{j},e1)" for j in span)}
        assert found.count("delete", "deleted") == found.count() == 1 + n


class Snapshot(DRedC):
    """DRed^c that stores a copy of its counters between deletion and insertion."""

    after_deletion: tuple[AnyCounts, AnyCounts] = (NO_COUNTS, NO_COUNTS)

    def insert(self, rules: Rules, rederived: AnyFactSet, modules: Loops = NO_MODULES) -> None:
        assert self.C_nr is not None
        assert self.C_r is not None
        self.after_deletion = self.C_nr, self.C_r
        super().insert(rules, rederived, modules)


def test_thesis_example_3() -> None:
    """The counters of figure 4.1: before the update (T1), after overdeletion (T2), after the update (T3)."""
    world = World.of("A(?y) :- A(?x), B(?x, ?y) .", "A(a) A(b) A(d) B(a,c) B(b,c) B(c,d) B(d,e)")

    def pairs(nr: AnyCounts | None, rec: AnyCounts | None) -> dict[str, tuple[int, int]]:
        left, right = world.counted(nr or NO_COUNTS), world.counted(rec or NO_COUNTS)
        return {x: (left[f"A({x})"], right[f"A({x})"]) for x in "abcde"}

    assert pairs(world.old.nr, world.old.rec) == {"a": (1, 0), "b": (1, 0), "c": (0, 2), "d": (1, 1), "e": (0, 1)}
    found = world.run(Snapshot, delete="A(a)")
    assert isinstance(found.algorithm, Snapshot)
    assert pairs(*found.algorithm.after_deletion) == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (0, 1),
        "d": (1, 0),
        "e": (0, 1),
    }
    assert pairs(found.state.nr, found.state.rec) == {"a": (0, 0), "b": (1, 0), "c": (0, 1), "d": (1, 1), "e": (0, 1)}
    assert found.overdeleted == {"A(a)", "A(c)"}
    assert (found.count("delete"), found.count("one step"), found.count("forward")) == (2, 0, 1)
    assert found.deleted == {"A(a)"}
    dred = world.run(DRed, delete="A(a)")
    assert dred.overdeleted == {"A(a)", "A(c)", "A(d)", "A(e)"}
    assert (dred.count("delete"), dred.count("one step"), dred.count("forward")) == (3, 1, 2)


def test_nothing_to_do_is_nothing_done() -> None:
    world = running()
    for algorithm in ALGORITHMS:
        found = world.run(algorithm, delete="B(c) T(b,e) A(b)", insert="B(a)")
        assert (found.count(), found.inserted, found.deleted) == (0, set(), set())
        assert not found.algorithm.D - NONE
