"""The ingest benchmark: its data, and its report of measurements."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bench.ingest import TRIPLES, iterate, report, runs_text, targets, tree_seconds, triples, write


def test_triples_are_different_and_the_same_every_time() -> None:
    first = list(islice(triples(), 250_000))
    assert len(set(first)) == len(first)
    assert first[:20_000] == list(islice(triples(), 20_000))


def test_written_triples_are_what_another_parser_reads(tmp_path: Path) -> None:
    write(5_000, tmp_path / "x.nt")
    assert iterate(str(tmp_path / "x.nt"))["facts"] == 5_000


def results_of(triples: int, read: float) -> dict[str, Any]:
    seconds = {"check": 0.1, "start Spark": 100.0, "read": read, "load": 1.0, "reason": 0.0, "commit": 0.9}
    run = {"facts": triples, "seconds": seconds, "cpu": 2 * read, "bytes": 1, "load": 0.0}
    iterated = {"facts": triples, "seconds": 10.0, "load": 0.0}
    return {
        "triples": triples, "bytes": 1_000_000, "runs": [run], "iterated": [iterated]
    }  # fmt: skip


@pytest.mark.parametrize(("read", "met"), [(20.0, [True, True]), (40.0, [True, False]), (60.0, [False, False])])
def test_the_start_of_the_session_does_not_count(read: float, met: list[bool]) -> None:
    measured = results_of(TRIPLES, read)
    assert [target.met for target in targets(measured)] == met
    assert f"| {(read + 2) / 10:.2f} " in runs_text(measured)


def test_fewer_triples_say_nothing_about_the_target() -> None:
    assert [target.met for target in targets(results_of(1000, 0.001))] == [None, None]


def test_a_run_that_fails_or_loses_triples_is_wrong() -> None:
    good = results_of(1000, 1.0)
    assert report(good, 2).wrong == []
    assert report(good, 3).wrong == ["a run failed"]
    assert report({**good, "iterated": [{**good["iterated"][0], "facts": 999}]}, 2).wrong == ["999 triples, not 1,000"]


def test_processor_seconds_grow() -> None:
    before = tree_seconds()
    assert sum(number * number for number in range(3_000_000)) > 0
    assert tree_seconds() > before > 0
