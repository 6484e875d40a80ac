"""A store is the same whether this process reads the inputs or Spark does, and so are messages and figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everlog.jobs.materialise import MaterialiseJob, MaterialiseResult, materialise
from everlog.jobs.reports import Report
from everlog.lang.errors import DataError
from everlog.store import Store

RULES = """
@prefix e: <http://e.org/> .
@prefix everlog: <urn:everlog:> .
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
shown(?x) :- everlog:literal(?x), e:label(_, ?x) .
named(?x, "constant") :- e:label(?x, _) .
alone(?x) :- e:label(?x, _), ~ege(?x, _) .
edge(zoe, ann) .
"""
TRIPLES = "".join(
    f'_:b{i} <http://e.org/label> "l{i % 3}"@en .\n<http://e.org/{i}> <http://e.org/p> _:b{i % 4} .\n' for i in range(9)
)


@pytest.fixture
def job(tmp_path: Path) -> MaterialiseJob:
    (tmp_path / "r.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("a,b\nb,007\n007,7\n7,a\nonly\n")
    (tmp_path / "egde.tsv").write_text("x\ty\n")
    (tmp_path / "t.nt").write_text(TRIPLES)
    (tmp_path / "more.ttl").write_text("@prefix x: <http://x.org/> .\nx:a x:b [ x:c 1.50 ] .\n")
    facts = tuple(str(tmp_path / name) for name in ("edge.csv", "egde.tsv", "t.nt", "more.ttl"))
    return MaterialiseJob(str(tmp_path / "r.rls"), facts, "", engine="local", on_error="skip", salt=3)


def stored(job: MaterialiseJob, store: Path, **options: Any) -> tuple[MaterialiseResult, list[str], Store]:
    """The result of a job, its warnings, and the store that it made."""
    warnings: list[str] = []
    done = materialise(
        replace(job, store=str(store), **options), Report(warning=lambda found: warnings.append(str(found)))
    )
    return done, warnings, Store.open(store)


@pytest.mark.parametrize("maintain", ["dredc", "counting", "none"])
def test_the_same_store(spark: Any, job: MaterialiseJob, tmp_path: Path, maintain: str) -> None:
    here, said, mine = stored(job, tmp_path / "here", maintain=maintain)
    there, told, its = stored(job, tmp_path / "there", maintain=maintain, master="local[2,4]")
    assert ("start Spark" in here.seconds, "start Spark" in there.seconds) == (False, True)
    assert [each.to_pylist() for each in mine.facts()] == [each.to_pylist() for each in its.facts()]
    assert mine.terms().to_pylist() == its.terms().to_pylist()
    assert (here.rows, here.bad, here.bad_count) == (there.rows, there.bad, there.bad_count)
    assert said == told
    assert any("egde" in warning for warning in said)
    one, other = mine.info(), its.info()
    assert (one.rules, one.bookkeeping, one.salt, one.prefixes) == (
        other.rules,
        other.bookkeeping,
        other.salt,
        other.prefixes,
    )
    figures = ({**info.statistics, "seconds": 0, "strata": ()} for info in (one, other))
    assert next(figures) == next(figures)


def test_the_same_errors(spark: Any, job: MaterialiseJob, tmp_path: Path) -> None:
    (tmp_path / "t.nt").write_text(TRIPLES + "no triple\n")
    said = []
    for name, master in (("here", None), ("there", "local[2,4]")):
        with pytest.raises(DataError) as caught:
            stored(job, tmp_path / name, on_error="stop", master=master)
        said.append([str(each) for each in caught.value.diagnostics])
        assert not (tmp_path / name).exists()
    assert said[0] == said[1]
