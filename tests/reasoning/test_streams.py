"""Real histories, version by version: the repaired state equals a new materialisation, and the changes add up."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle, groupby, islice
from pathlib import Path
from urllib.parse import quote

import pytest

from everlog import KnowledgeBase
from everlog.analysis.predicates import Key
from everlog.analysis.stratify import Kind, stratify
from everlog.kb.change import ChangedRelations
from everlog.lang.syntax import Predicate
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.strata import close_strata
from tests.reasoning.test_maintenance import same

ONTOLOGY = """
isa(?x, ?y) :- is_a(?x, ?y) .
isa(?x, ?z) :- isa(?x, ?y), is_a(?y, ?z) .

part_of(?x, ?y) :- <BFO:0000050>(?x, ?y) .
has_part(?x, ?y) :- <BFO:0000051>(?x, ?y) .
within(?x, ?y) :- part_of(?x, ?y) .
within(?x, ?y) :- has_part(?y, ?x) .
within(?x, ?z) :- within(?x, ?y), within(?y, ?z) .
within(?x, ?z) :- isa(?x, ?y), within(?y, ?z) .
within(?x, ?z) :- within(?x, ?y), isa(?y, ?z) .
contains(?y, ?x) :- within(?x, ?y) .

before(?x, ?y) :- develops_from(?y, ?x) .
before(?x, ?y) :- preceded_by(?y, ?x) .
before(?x, ?z) :- before(?x, ?y), before(?y, ?z) .

term(?x), term(?y) :- is_a(?x, ?y) .
leaf(?x) :- term(?x), ~is_a(_, ?x) .
root(?x) :- term(?x), ~is_a(?x, _) .
under(?x, ?r) :- isa(?x, ?r), root(?r) .
placed(?x) :- within(?x, _) .
unplaced(?x) :- leaf(?x), ~placed(?x) .
direct(?x, ?y) :- part_of(?x, ?y), ~isa(?x, ?y) .
sibling(?x, ?y) :- part_of(?x, ?p), part_of(?y, ?p), ~isa(?x, ?y), ~isa(?y, ?x) .
odd(?x) :- sibling(?x, ?y), unplaced(?y) .
"""
"""Rules over is_a, part_of and similar predicates, by their old and new names: closures that depend on each other,
inverses, and negation of both.
"""

THESAURUS = """
broader(?x, ?y) :- narrower(?y, ?x) .
narrower(?y, ?x) :- broader(?x, ?y) .
related(?y, ?x) :- related(?x, ?y) .
above(?x, ?y) :- broader(?x, ?y) .
above(?x, ?z) :- above(?x, ?y), above(?y, ?z) .
concept(?x) :- inScheme(?x, _) .
concept(?x) :- above(?x, _) .
top(?x) :- topConceptOf(?x, _) .
top(?x) :- hasTopConcept(_, ?x) .
top(?x) :- concept(?x), ~broader(?x, _) .
bottom(?x) :- concept(?x), ~narrower(?x, _) .
lonely(?x) :- bottom(?x), ~related(?x, _), ~top(?x) .
across(?x, ?y) :- related(?x, ?y), ~above(?x, ?y), ~above(?y, ?x) .
"""
"""Rules over SKOS: broader and narrower are inverses of each other, related is symmetric."""

ALGORITHMS: list[tuple[Algorithm, Strategy]] = [
    ("dredc", "never"),
    ("bfc", "never"),
    ("auto", "never"),
    ("dred", "never"),
    ("fbf", "never"),
    ("counting", "never"),
    ("dredc", "never"),
    ("fbf", 2),
    ("auto", "never"),
    ("bfc", "never"),
]

BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

Row = tuple[str, str]
Fact = tuple[str, Row]
Version = tuple[int, set[Fact], set[Fact]]
"""(number, explicit facts that the version deletes, explicit facts that it inserts)."""


def versions(path: Path) -> Iterator[Version]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cells = (line.rstrip("\n").split("\t") for line in lines)
        for number, changes in groupby(cells, key=lambda row: int(row[0])):
            found: dict[str, set[Fact]] = {"+": set(), "-": set()}
            for _, sign, s, p, o in changes:
                found[sign].add((p, (s, o)))
            yield number, found["-"], found["+"]


@dataclass
class History:
    """A knowledge base that follows a stream, and its expected facts."""

    kb: KnowledgeBase
    explicit: set[Fact] = field(default_factory=set)
    facts: set[tuple[Predicate, tuple[object, ...]]] = field(default_factory=set)
    """The sum of the reported changes."""

    def apply(self, version: Version, algorithm: Algorithm, strategy: Strategy) -> None:
        number, delete, insert = version
        assert delete <= self.explicit, number
        change = self.kb.update(by_predicate(insert), by_predicate(delete), algorithm=algorithm, strategy=strategy)
        wanted = (self.explicit - delete) | insert
        assert sum(map(len, change.explicit_inserted.values())) == len(wanted - self.explicit), number
        assert sum(map(len, change.explicit_deleted.values())) == len(self.explicit - wanted), number
        deleted, inserted = decoded(change.deleted), decoded(change.inserted)
        assert deleted <= self.facts, number
        assert not inserted & self.facts, number
        self.explicit = wanted
        self.facts = (self.facts - deleted) | inserted

    def check(self) -> None:
        """Check that the facts equal a new materialisation."""
        state = self.kb.state()
        rules = stratify(self.kb.program.program, self.kb.program.kind)
        expected, _ = close_strata(self.kb._reasoner.engine(), rules, state.explicit)
        assert same(state.facts, expected)

    def check_end(self, rules: str) -> None:
        """Check that the changes add up to the facts of a knowledge base with only the last state."""
        other = KnowledgeBase(rules, maintain="none", modules=False)
        for predicate, rows in by_predicate(self.explicit).items():
            other.insert(predicate, rows)
        found = {(p, row) for p in other.predicates for row in other[p.name]}
        assert found == {(p, row) for p in self.kb.predicates for row in self.kb[p.name]}
        assert found == self.facts


def by_predicate(facts: set[Fact]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for predicate, row in sorted(facts):
        found.setdefault(predicate if BARE.fullmatch(predicate) else f"<{quote(predicate, safe=':')}>", []).append(row)
    return found


def decoded(changed: ChangedRelations) -> set[tuple[Predicate, tuple[object, ...]]]:
    return {(predicate, tuple(row)) for predicate in changed for row in changed[predicate]}


def follow(
    path: Path, rules: str, last: int | None, every: int, stratification: Kind, first: int = 0, modules: bool = False
) -> None:
    """Apply the versions up to ``last``, with a different algorithm for each, and check every few versions.

    ``first`` is the algorithm of the first version, so that different runs apply different algorithms to a version.
    """
    history = History(KnowledgeBase(rules, stratification=stratification, modules=modules))
    turns = islice(cycle(ALGORITHMS), first, None)
    for version, how in zip(islice(versions(path), last), turns, strict=False):
        history.apply(version, *how)
        if version[0] % every == 0:
            history.check()
    history.check()
    history.check_end(rules)


@pytest.mark.parametrize(
    ("name", "rules", "last", "every", "stratification"),
    [
        pytest.param("po", ONTOLOGY, 80, 10, "levels", marks=pytest.mark.long),
        pytest.param("po", ONTOLOGY, 30, 10, "single", marks=pytest.mark.long),
        pytest.param("envo", ONTOLOGY, 13, 4, "levels", marks=pytest.mark.long),
        ("uat", THESAURUS, 11, 1, "levels"),
        ("uat", THESAURUS, 5, 1, "single"),
    ],
)
def test_a_history_up_to_some_version(
    shared_data: Path, name: str, rules: str, last: int, every: int, stratification: Kind
) -> None:
    follow(shared_data / "streams" / f"{name}.tsv.gz", rules, last, every, stratification)


@pytest.mark.long
@pytest.mark.parametrize(("name", "rules", "last"), [("po", ONTOLOGY, 20), ("uat", THESAURUS, 8)])
@pytest.mark.parametrize("stratification", ["levels", "single"])
def test_a_history_with_modules(shared_data: Path, name: str, rules: str, last: int, stratification: Kind) -> None:
    follow(shared_data / "streams" / f"{name}.tsv.gz", rules, last, 4, stratification, modules=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(ALGORITHMS), 3))
@pytest.mark.parametrize("stratification", ["levels", "single"])
@pytest.mark.parametrize(("name", "rules"), [("po", ONTOLOGY), ("envo", ONTOLOGY), ("uat", THESAURUS)])
def test_a_whole_history(shared_data: Path, name: str, rules: str, stratification: Kind, first: int) -> None:
    follow(shared_data / "streams" / f"{name}.tsv.gz", rules, None, 10, stratification, first)
