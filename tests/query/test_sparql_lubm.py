"""The 14 queries of LUBM over the lower bound of its ontology give the reference answers, also after updates."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest

import everlog
from everlog.engine.factset import NONE, FactSet
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.names import Algorithm
from tests.owl.university import COUNTS, FACTS, answers, query, reference, university

ALGORITHMS: tuple[Algorithm, ...] = ("auto", "dredc", "bfc", "fbf", "dred", "counting")
QUERIES = range(1, 15)
ROUNDS = 10


@pytest.fixture(scope="module")
def lubm(shared_data: Path) -> everlog.KnowledgeBase:
    return university(shared_data)


@pytest.fixture(scope="module")
def fresh(shared_data: Path) -> everlog.KnowledgeBase:
    """The knowledge base for computing all facts again after each change."""
    return university(shared_data, modules=False, maintain="none")


@pytest.mark.long
def test_the_materialisation_is_that_of_the_reference(lubm: everlog.KnowledgeBase) -> None:
    assert lubm.materialise().facts == FACTS
    assert lubm.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").rows() == [(FACTS,)]


@pytest.mark.parametrize("number", QUERIES)
def test_query(lubm: everlog.KnowledgeBase, shared_data: Path, number: int) -> None:
    assert len(lubm.sparql(query(shared_data, number))) == COUNTS[number - 1]
    assert answers(shared_data, lubm, number) == reference(shared_data, number)


@pytest.mark.long
def test_rounds(lubm: everlog.KnowledgeBase, fresh: everlog.KnowledgeBase, shared_data: Path) -> None:
    """Ten rounds, each by the next of the algorithms."""
    _rounds(lubm, fresh, shared_data, list(islice(cycle(ALGORITHMS), ROUNDS)), asked=(0, 5))


@pytest.mark.slow
@pytest.mark.parametrize("modules", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rounds_by_each_algorithm(
    fresh: everlog.KnowledgeBase, shared_data: Path, algorithm: Algorithm, modules: bool
) -> None:
    kb = university(shared_data, modules=modules)
    _rounds(kb, fresh, shared_data, [algorithm] * ROUNDS, asked=range(ROUNDS))


def _rounds(
    kb: everlog.KnowledgeBase,
    fresh: everlog.KnowledgeBase,
    shared_data: Path,
    algorithms: list[Algorithm],
    asked: range | tuple[int, ...],
) -> None:
    """Delete one fact in a hundred and insert it again: in between, all facts are as if computed again, and afterwards
    as before.

    In the rounds with ``asked`` the queries are compared, too.
    """
    before = kb.listed()
    ours, theirs = before.dictionary.hashes(), fresh.state().dictionary.hashes()
    assert np.array_equal(ours, theirs)
    for number, algorithm in enumerate(algorithms):
        sample = _sample(before.explicit, 100, seed=number)
        assert sample.count == before.explicit.count // 100
        deleted = kb.update_facts(NONE, sample, algorithm=algorithm)
        fresh.update_facts(NONE, sample, algorithm="rematerialise")
        assert sum(map(len, deleted.deleted.values())) == FACTS - kb.statistics.facts
        assert kb.listed().facts == fresh.state().facts, (number, algorithm)
        if number in asked:
            some = {each: answers(shared_data, kb, each) for each in QUERIES}
            assert some == {each: answers(shared_data, fresh, each) for each in QUERIES}
            assert some != {each: reference(shared_data, each) for each in QUERIES}
        kb.update_facts(sample, NONE, algorithm=algorithm)
        fresh.update_facts(sample, NONE, algorithm="rematerialise")
        after = kb.listed()
        assert after.explicit == before.explicit
        assert after.facts == before.facts, (number, algorithm)
    assert kb.statistics.facts == FACTS
    for number in QUERIES:
        assert answers(shared_data, kb, number) == reference(shared_data, number)


def _sample(facts: FactSet, one_in: int, seed: int) -> FactSet:
    """One in a number of facts, drawn uniformly."""
    random = np.random.default_rng(seed)
    chosen = np.sort(random.choice(facts.count, facts.count // one_in, replace=False))
    found: dict[Predicate, Relation] = {}
    start = 0
    for predicate, relation in facts.items():
        end = start + len(relation)
        mine = chosen[(chosen >= start) & (chosen < end)] - start
        found[predicate] = Relation.from_keys(relation.layout, relation.keys()[mine])
        start = end
    return FactSet(found)
