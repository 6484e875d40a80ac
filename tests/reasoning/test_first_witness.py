"""Backward chaining a few instances at a time considers little more than the sequential algorithm of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import csv

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.keys import layout_for
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Constant, Predicate
from everlog.reasoning.bfc import BFC
from everlog.reasoning.change import ExplicitChange
from everlog.reasoning.dred import DRed
from everlog.reasoning.dredc import DRedC
from everlog.reasoning.fbf import FBF
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import Materialisation, with_counters
from everlog.reasoning.strata import close_strata
from tests.conftest import few
from tests.reasoning.horn import horn
from tests.reasoning.sequential import Sequential
from tests.reasoning.test_bounds import Situation, situations
from tests.reasoning.test_maintenance import UNIVERSE, same

FOR_EACH_ASKED = 4
"""Number of instances that may be considered for each fact in question, beyond twice those of the paper's algorithm."""


@dataclass(frozen=True)
class World:
    """A materialised program over ids."""

    program: StratifiedProgram
    old: Materialisation
    universe: int
    constants: Mapping[str, int]

    def run(
        self, algorithm: type[Maintenance], delete: FactSet, insert: FactSet = NONE, depth: int | None = None
    ) -> tuple[Maintenance, FactSet]:
        """Run an update; returns the algorithm and all facts after the update."""
        engine = Engine(self.universe, self.constants)
        explicit = ExplicitChange.of(self.old.explicit, delete, insert)
        running = algorithm(engine, self.program, self.old, explicit, depth=depth)
        return running, as_local(running.run().materialisation.facts)

    def compare(self, delete: FactSet, insert: FactSet = NONE) -> tuple[int, int]:
        """Numbers of backward instances of B/F and of the sequential B/F, which are checked to be close."""
        ours, facts = self.run(FBF, delete, insert)
        theirs, expected = self.run(Sequential, delete, insert)
        assert isinstance(theirs, Sequential)
        assert same(facts, expected)
        considered = ours.statistics.instances.get("backward", 0)
        assert considered <= 2 * theirs.considered + FOR_EACH_ASKED * theirs.asked
        return considered, theirs.considered


def world_of(situation: Situation) -> World:
    return World(situation.program, situation.old, UNIVERSE, situation.ids.ids)


def packed(situation: Situation) -> bool:
    """Whether all facts are single words, as the sequential search needs."""
    predicates = {p for stratum in situation.program.strata for p in stratum.predicates} | {*situation.old.facts}
    return all(layout_for(p.arity, UNIVERSE).is_packed for p in predicates)


@given(situations())
def test_few_instances_are_considered(situation: Situation) -> None:
    assume(packed(situation))
    world_of(situation).compare(situation.delete, situation.insert)


@pytest.mark.parametrize(
    "seeds", [range(few(60)), pytest.param(range(60, 5000), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_few_instances_of_cyclic_proofs_are_considered(seeds: range) -> None:
    found = []
    for seed in seeds:
        case = horn(seed)
        found.append(World(case.program, case.old, UNIVERSE, case.ids.ids).compare(case.delete, case.insert))
    ours, theirs = map(sum, zip(*found, strict=True))
    assert ours <= 1.5 * theirs


@given(situations(), st.sampled_from([None, 0, 1, 2]))
def test_the_sequential_algorithm_is_right(situation: Situation, depth: int | None) -> None:
    assume(packed(situation))
    world = world_of(situation)
    _, facts = world.run(Sequential, situation.delete, situation.insert, depth)
    explicit = (situation.old.explicit - situation.delete) | situation.insert
    assert same(facts, close_strata(Engine(UNIVERSE, situation.ids.ids), situation.program, explicit)[0])


GRAPHS = {
    "reach": "reach(?x) :- mark(?x) . reach(?y) :- reach(?x), edge(?x, ?y) .",
    "path": "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
    "path, nonlinear": "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .",
    "same generation": "sg(?x, ?y) :- edge(?z, ?x), edge(?z, ?y) . "
    "sg(?x, ?y) :- edge(?v, ?x), sg(?v, ?w), edge(?w, ?y) .",
    "equivalence": "s(?x, ?y) :- edge(?x, ?y) . s(?y, ?x) :- s(?x, ?y) . s(?x, ?z) :- s(?x, ?y), s(?y, ?z) .",
}


@pytest.mark.parametrize("program", GRAPHS)
@pytest.mark.parametrize("seed", range(3))
def test_few_instances_over_graphs_are_considered(program: str, seed: int) -> None:
    """Facts have many instances here, most of which depend on each other."""
    random = np.random.default_rng(seed)
    edges = np.unique(random.integers(0, 24, (40, 2)), axis=0)
    gone = edges[random.choice(len(edges), 2, replace=False)]
    edge, mark = Predicate("edge", 2), Predicate("mark", 1)
    explicit = FactSet({edge: relation(edges, 24), mark: relation(random.integers(0, 24, (2, 1)), 24)})
    stratified = stratify(check(parse_program(GRAPHS[program])), "levels")
    facts, _ = close_strata(Engine(24, {}), stratified, explicit)
    world = World(stratified, Materialisation(explicit, facts), 24, {})
    world.compare(FactSet({edge: relation(gone, 24)}))


def relation(rows: np.ndarray, universe: int) -> Relation:
    return Relation.from_columns([np.ascontiguousarray(column, np.int64) for column in rows.T], universe, len(rows))


# The data of the papers ---------------------------------------------------------------------------

TEXT = csv.ConvertOptions(column_types={"f0": pa.string(), "f1": pa.string()})
NO_NAMES = csv.ReadOptions(autogenerate_column_names=True)


def papers_world(directory: Path, program: str) -> World:
    """A program of the papers with its data, materialised."""
    tables = {
        file.name.split(".")[0]: csv.read_csv(file, read_options=NO_NAMES, convert_options=TEXT)
        for file in sorted((directory / "facts").glob("*.csv.gz"))
    }
    chunks = [chunk for table in tables.values() for column in table.columns for chunk in column.chunks]
    texts = pa.chunked_array(chunks).unique()
    parsed = parse_program((directory / f"{program}.rls").read_text())
    atoms = (atom for rule in parsed.rules for atom in (rule.head, *rule.body))
    wanted = dict.fromkeys(term.text for atom in atoms for term in atom.terms if isinstance(term, Constant))
    known = pa.compute.index_in(pa.array([text.strip('<>"') for text in wanted], pa.string()), texts).to_pylist()
    constants = {
        text: len(texts) + n if found is None else found
        for n, (text, found) in enumerate(zip(wanted, known, strict=True))
    }
    universe = len(texts) + len(wanted) + 1
    explicit = FactSet(
        {
            Predicate(name, table.num_columns): Relation.from_columns(
                [pa.compute.index_in(column, texts).to_numpy().astype(np.int64) for column in table.columns],
                universe,
                len(table),
            )
            for name, table in tables.items()
        }
    )
    stratified = stratify(check(parsed), "levels")
    facts, _ = close_strata(Engine(universe, constants), stratified, explicit)
    return World(stratified, Materialisation(explicit, facts), universe, constants)


def sample(facts: FactSet, number: int, universe: int) -> FactSet:
    """Random facts."""
    chosen = np.sort(np.random.default_rng(1).choice(facts.count, number, replace=False))
    found, begin = {}, 0
    for predicate, relation in facts.items():
        mine = chosen[(chosen >= begin) & (chosen < begin + len(relation))] - begin
        begin += len(relation)
        if len(mine):
            found[predicate] = Relation.from_columns([c[mine] for c in relation.columns()], universe, len(mine))
    return FactSet(found)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["lower", "upper"])
@pytest.mark.parametrize("name", ["uobm-010", "reactome-040"])
def test_few_instances_of_the_papers_data_are_considered(shared_data: Path, name: str, program: str) -> None:
    """Deleting 1,000 facts: at most twice as many backward instances as the sequential algorithms."""
    directory = shared_data / "seeds" / name
    if not directory.is_dir():
        pytest.skip(f"{directory} is not there")
    world = papers_world(directory, program)
    delete = sample(world.old.explicit, 1000, world.universe)
    considered, sequential = world.compare(delete)
    assert considered <= 2 * sequential
    dred, facts = world.run(DRed, delete)
    derived = dred.statistics.rederived
    assert dred.statistics.instances["backward"] <= derived, "one instance for each fact that has one"
    counted = World(
        world.program,
        with_counters(Engine(world.universe, world.constants), world.program, world.old),
        world.universe,
        world.constants,
    )
    bfc, found = counted.run(BFC, delete)
    assert same(found, facts)
    assert bfc.statistics.instances["backward"] <= considered
    if (name, program) == ("uobm-010", "upper"):
        dredc, _ = counted.run(DRedC, delete)
        assert bfc.statistics.total_instances * 100 < dredc.statistics.total_instances
