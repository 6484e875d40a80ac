"""Which rule instances the algorithms consider: Theorems 12, 19 and 25 and section 8, instance by instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.engine.factset import NONE, FactSet
from everlog.lang.syntax import Program
from everlog.reasoning.materialisation import Materialisation, with_counters, with_trace
from everlog.reasoning.names import Algorithm, Strategy
from tests.conftest import few
from tests.oracle import naive
from tests.reasoning.horn import horn
from tests.reasoning.recording import Instance, Recorded, recorded
from tests.reasoning.test_maintenance import Ids, same, start
from tests.strategies import Case, cases, fact_sets, facts, graph_cases, lists

DELETING: list[tuple[Algorithm, Strategy]] = [
    ("dred", "never"),
    ("dredc", "never"),
    ("bfc", "never"),
    ("fbf", "never"),
    ("fbf", "always"),
    ("fbf", 1),
    ("fbf", 2),
]
SEEKING = [how for how in DELETING if how[0] in ("bfc", "fbf")]
EVERY: list[tuple[Algorithm, Strategy]] = [*DELETING, ("counting", "never")]
STRATIFICATIONS = st.sampled_from(["levels", "single"])


def name(how: tuple[Algorithm, Strategy]) -> str:
    return how[0] if how[1] == "never" else f"{how[0]}-{how[1]}"


class Situation:
    """A materialised program with both kinds of bookkeeping, and an update of it."""

    def __init__(self, program: StratifiedProgram, ids: Ids, old: Materialisation, delete: FactSet, insert: FactSet):
        self.program, self.ids, self.delete, self.insert = program, ids, delete, insert
        self.old = with_trace(ids.engine(), program, with_counters(ids.engine(), program, old))

    def by(self, algorithm: Algorithm, strategy: Strategy = "never") -> Recorded:
        return recorded(self.program, self.ids, self.old, self.delete, self.insert, algorithm, strategy)


def programs() -> st.SearchStrategy[Case]:
    return graph_cases(max_nodes=6) | cases(max_rules=6)


@st.composite
def situations(draw: st.DrawFn, *, some: str = "deletions and insertions", acyclic: bool = False) -> Situation:
    """Updates of any size, from nothing to everything."""
    case = draw(programs())
    if acyclic:
        case = without_recursion(case)
    program, ids, old = start(case, "levels" if acyclic else draw(STRATIFICATIONS))
    explicit = sorted({*case.facts, *naive.explicit(case.program)})
    delete, insert = [], set()
    if "deletions" in some:
        bits = draw(st.integers(0, 2 ** len(explicit) - 1) | st.sampled_from([2 ** len(explicit) - 1, 0]))
        few = draw(st.booleans())
        delete = [fact for i, fact in enumerate(explicit) if bits >> i & 1][: 3 if few else None]
    if "insertions" in some:
        insert = set(draw(lists(facts(case.predicates, case.domain), max_size=4)))
        insert |= draw(fact_sets(case.predicates, case.domain)) if draw(st.integers(0, 9)) == 9 else set()
    return Situation(program, ids, old, ids.facts(delete), ids.facts(insert))


def without_recursion(case: Case) -> Case:
    """The case without rules whose heads depend on themselves."""
    strata = stratify(check(Program(case.program.rules))).strata
    rules = {rule for stratum in strata for rule in stratum.nonrecursive}
    kept = tuple(rule for rule in case.program.rules if rule in rules)
    return Case(Program(kept, case.program.facts), case.facts, case.predicates, case.domain)


def once(seen: Counter[Instance], among: Iterable[Instance]) -> bool:
    """Whether the instances are considered without repetition and are all in ``among``."""
    return all(n == 1 for n in seen.values()) and seen.keys() <= set(among)


@given(situations())
def test_counting_considers_old_and_new_instances_once(situation: Situation) -> None:
    """Theorem 12 (b) and (c)."""
    found = situation.by("counting")
    assert found.engine.seen.keys() <= {"deleted", "added"}
    assert once(found.engine.seen["deleted"], found.old)
    assert once(found.engine.seen["added"], found.new)
    deleted, inserted = found.engine.seen["deleted"].keys(), found.engine.seen["added"].keys()
    assert found.old - found.new <= deleted
    assert found.new - found.old <= inserted
    assert deleted - (found.old - found.new) == inserted - (found.new - found.old), "the others move to another round"


@pytest.mark.parametrize("how", DELETING, ids=name)
@given(situation=situations())
def test_theorems_19_and_25(how: Any, situation: Situation) -> None:
    check_theorem_25(situation, situation.by(*how))


def check_theorem_25(situation: Situation, found: Recorded) -> None:
    """Check Theorem 25 (b), (c) and (d), of which Theorem 19 is a special case, and that no instance is missed."""
    seen = found.engine.seen
    recursive = {rule for stratum in situation.program.strata for rule in stratum.recursive}
    assert once(seen["delete"], found.old)
    assert once(found.engine.seen_in("one step", "forward"), found.new)
    assert once(seen["backward"], (i for i in found.old if i[0] in recursive))
    assert seen["one step"].keys() <= found.old
    assert found.old - found.new <= seen["delete"].keys()
    assert found.new - found.old <= seen["forward"].keys()


@pytest.mark.parametrize(
    "seeds", [range(few(40)), pytest.param(range(40, 2000), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_theorem_25_with_cyclic_proofs(seeds: range) -> None:
    """Programs that need deep and repeated backward chaining."""
    for seed in seeds:
        case = horn(seed)
        situation = Situation(case.program, case.ids, case.old, case.delete, case.insert)
        for how in SEEKING:
            check_theorem_25(situation, situation.by(*how))


@given(situations(some="deletions"))
def test_unlimited_backward_chaining_is_exact(situation: Situation) -> None:
    """Theorem 25 (e): nothing is rederived; if no instance is new, B/F and B/F^c delete exactly the lost facts.

    Otherwise a deleted fact may be restored, but only by a new instance or as a new explicit fact.
    """
    derived = [p for stratum in situation.program.strata for p in stratum.predicates]
    for algorithm in ("fbf", "bfc"):
        found = situation.by(algorithm)
        statistics = found.done.statistics
        assert statistics.rederived == statistics.blocked == 0
        if found.new <= found.old:
            assert statistics.overdeleted == found.done.deleted.restricted(derived).count
            assert found.engine.seen["delete"].keys() == found.old - found.new


@given(situations())
def test_always_aborting_is_dred(situation: Situation) -> None:
    """Theorem 25 (f): the instances are equal in each phase, and so are the facts."""
    dred, fbf = situation.by("dred"), situation.by("fbf", "always")
    for phase in ("delete", "one step", "backward", "forward"):
        assert dred.engine.seen[phase] == fbf.engine.seen[phase]
    for figure in ("overdeleted", "rederived", "checked", "proved"):
        assert getattr(dred.done.statistics, figure) == getattr(fbf.done.statistics, figure)
    assert same(dred.done.materialisation.facts, fbf.done.materialisation.facts)


@given(situations())
def test_counters_only_save_work(situation: Situation) -> None:
    """In every phase DRed^c considers a subset of DRed's instances, none backwards, and B/F^c a subset of B/F's."""
    dred, dredc = situation.by("dred"), situation.by("dredc")
    for phase in ("delete", "forward"):
        assert dredc.engine.seen[phase].keys() <= dred.engine.seen[phase].keys()
    assert not dredc.engine.seen_in("one step", "backward")
    assert dredc.done.statistics.overdeleted <= dred.done.statistics.overdeleted
    fbf, bfc = situation.by("fbf"), situation.by("bfc")
    for phase in ("delete", "backward", "forward"):
        assert fbf.engine.seen[phase] == bfc.engine.seen[phase]
    assert not bfc.engine.seen["one step"]


@given(situations(acyclic=True))
def test_without_recursion_counters_see_just_the_difference(situation: Situation) -> None:
    """Proposition 27: DRed^c and B/F^c become Counting, and DRed and FBF only add one-step proofs."""
    for algorithm, gone, come in (
        ("counting", "deleted", "added"),
        ("dredc", "delete", "forward"),
        ("bfc", "delete", "forward"),
        ("dred", "delete", "forward"),
        ("fbf", "delete", "forward"),
    ):
        found = situation.by(algorithm)  # type: ignore[arg-type]
        assert found.engine.seen[gone].keys() == found.old - found.new
        assert found.engine.seen[come].keys() == found.new - found.old
        if algorithm in ("counting", "dredc", "bfc"):
            assert found.engine.seen_in("one step", "backward").total() == 0


@given(situations(some="insertions"))
def test_instances_that_only_come_are_all_that_is_considered(situation: Situation) -> None:
    """Proposition 32, for insertions; Counting may move others to another round (Proposition 33).

    As printed, the proposition covers any update that loses no instance. But deleting an explicit fact that
    is also derived loses no instance, and is not optimal (Proposition 29).
    """
    for how in DELETING:
        found = situation.by(*how)
        if found.old <= found.new:
            assert found.engine.seen_in(*found.engine.seen) == Counter(found.new - found.old)


def monotone(situation: Situation) -> bool:
    """Whether the program derives nothing from no facts."""
    return all(rule.positive for stratum in situation.program.strata for rule in stratum.rules)


@given(situations(some=""))
def test_deleting_everything_considers_every_instance(situation: Situation) -> None:
    situation.delete = situation.old.explicit
    if not monotone(situation):
        return
    for how in EVERY:
        found = situation.by(*how)
        assert found.done.materialisation.facts.count == 0
        assert found.engine.seen_in("delete", "deleted") == Counter(found.old)
        assert not found.engine.seen_in("forward", "added", "one step")


@given(situations(some=""))
def test_inserting_into_nothing_is_materialising(situation: Situation) -> None:
    if not monotone(situation):
        return
    fresh = Situation(situation.program, situation.ids, Materialisation(NONE, NONE), NONE, situation.old.explicit)
    for how in EVERY:
        found = fresh.by(*how)
        assert same(found.done.materialisation.facts, situation.old.facts)
        assert found.engine.seen_in(*found.engine.seen) == Counter(found.new)
