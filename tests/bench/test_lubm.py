"""The generated universities have the published profile."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path

import pytest

from bench import lubm
from bench.lubm import NAMESPACE, TYPE, Triple
from everlog.owl import program_of
from tests.owl.ontologies import loaded


@pytest.fixture(scope="module")
def triples() -> list[Triple]:
    return list(dict.fromkeys([*lubm.university(0, seed=3), *lubm.university(1, seed=3)]))


def local(term: str) -> str:
    return term.removeprefix(f"<{NAMESPACE}").removesuffix(">")


def host(term: str) -> str:
    """The department that something belongs to."""
    return term.removeprefix("<http://www.").rstrip(">").partition("/")[0]


def test_universities_depend_on_number_and_seed_alone(triples: list[Triple]) -> None:
    first = list(dict.fromkeys(lubm.university(0, seed=3)))
    assert list(islice(triples, len(first))) == first
    assert list(lubm.university(1, seed=3)) != list(lubm.university(1, seed=4))


def test_departments(triples: list[Triple]) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for subject, predicate, value in triples:
        if predicate == TYPE:
            counts[host(subject)][local(value)] += 1
    departments = [count for count in counts.values() if count["Department"]]
    assert 2 * lubm.DEPARTMENTS[0] <= len(departments) <= 2 * lubm.DEPARTMENTS[1]
    for count in departments:
        for rank, (fewest, most) in lubm.RANKS.items():
            assert fewest <= count[rank] <= most
        faculty = sum(count[rank] for rank in lubm.RANKS)
        for kind, (fewest, most) in {
            "UndergraduateStudent": lubm.UNDERGRADUATES_PER_FACULTY,
            "GraduateStudent": lubm.GRADUATES_PER_FACULTY,
        }.items():
            assert fewest * faculty <= count[kind] <= most * faculty
        assert 1 / 5.2 <= count["TeachingAssistant"] / count["GraduateStudent"] <= 1 / 4
        assert 1 / 4.2 <= count["ResearchAssistant"] / count["GraduateStudent"] <= 1 / 3
        assert lubm.RESEARCH_GROUPS[0] <= count["ResearchGroup"] <= lubm.RESEARCH_GROUPS[1]


def test_people(triples: list[Triple]) -> None:
    types = {(subject, local(value)) for subject, predicate, value in triples if predicate == TYPE}
    number = Counter((subject, local(predicate)) for subject, predicate, _ in triples)
    authors = Counter(value for _, predicate, value in triples if local(predicate) == "publicationAuthor")
    heads = Counter(value for _, predicate, value in triples if local(predicate) == "headOf")
    assert set(heads.values()) == {1}
    for person, kind in types:
        if kind in lubm.RANKS:
            assert 2 <= number[person, "teacherOf"] <= 4
            assert number[person, "doctoralDegreeFrom"] == number[person, "worksFor"] == 1
        if kind in lubm.PUBLICATIONS:
            assert lubm.PUBLICATIONS[kind][0] <= authors[person] <= lubm.PUBLICATIONS[kind][1]
        if kind == "GraduateStudent":
            assert 1 <= number[person, "takesCourse"] <= 3
            assert number[person, "advisor"] == number[person, "undergraduateDegreeFrom"] == 1
        if kind == "UndergraduateStudent":
            assert 2 <= number[person, "takesCourse"] <= 4
            assert number[person, "advisor"] <= 1
    courses = [value for _, predicate, value in triples if local(predicate) == "teachingAssistantOf"]
    assert len(set(courses)) == len(courses)


def test_the_ontology_fits(shared_data: Path, tmp_path: Path) -> None:
    path, expected = tmp_path / "university0.nt", set(lubm.university(0))
    path.write_text("".join(f"{' '.join(triple)} .\n" for triple in sorted(expected)), encoding="utf-8")
    program = program_of(shared_data / "lubm" / "univ-bench.ttl").program
    state = loaded(program, tmp_path / "work", path).state()
    assert state.explicit.count == len(expected)
    assert 1.3 < state.facts.count / state.explicit.count < 1.45
