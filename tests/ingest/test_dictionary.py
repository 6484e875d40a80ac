"""New terms are found once, and two texts with one id are found always."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.backends.executors import SparkRunner
from everlog.engine.hashing import hash_texts
from everlog.ingest import dictionary
from everlog.ingest.dictionary import id_ranges, new_terms
from everlog.ingest.spill import write_parquet
from everlog.lang.errors import DataError
from everlog.store.schema import TERMS


def term_file(directory: Path, texts: list[str], bits: int | None = None) -> str:
    array = pa.array(texts, pa.string())
    ids = hash_texts(array) if bits is None else hash_texts(array) & ((1 << bits) - 1)
    terms = pa.table([pa.array(ids), array], schema=TERMS)
    return write_parquet(terms.sort_by("id"), directory, "terms")


def texts_in(files: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for file in files:
        table = pq.read_table(file)
        assert table.schema.remove_metadata() == TERMS
        ids = table.column("id").to_numpy()
        assert np.all(ids[1:] > ids[:-1])
        found += table.column("text").to_pylist()
    return found


@pytest.mark.parametrize("ranges", [1, 3])
def test_new_terms_are_those_not_known(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranges: int
) -> None:
    monkeypatch.setattr(dictionary, "_range_count", lambda *_: ranges)
    staged = [term_file(tmp_path, list("abcxyz€")), term_file(tmp_path, list("cde"))]
    existing = [term_file(tmp_path, list("aq")), term_file(tmp_path, list("er"))]
    new = new_terms(SparkRunner(spark), staged, existing, tmp_path / "out")
    assert sorted(texts_in(new.files)) == sorted("bcdxyz€")
    assert new.count == 7
    assert len(new.files) <= ranges
    ids = np.concatenate([pq.read_table(file).column("id").to_numpy() for file in new.files])
    assert np.all(ids[1:] > ids[:-1]), "the files' ranges follow each other"


def test_nothing_new_makes_no_file(spark: Any, tmp_path: Path) -> None:
    file = term_file(tmp_path, list("abc"))
    assert new_terms(SparkRunner(spark), [file], [file], tmp_path / "out") == dictionary.NewTerms()
    assert new_terms(SparkRunner(spark), [], [file], tmp_path / "out") == dictionary.NewTerms()
    assert list((tmp_path / "out").iterdir()) == []


def colliding() -> tuple[str, str]:
    """Two texts with the same low 8 bits."""
    texts = [f'"{number}"' for number in range(300)]
    ids = (hash_texts(pa.array(texts)) & 255).tolist()
    first: dict[int, str] = {}
    for text, id in zip(texts, ids, strict=True):
        if id in first:
            return first[id], text
        first[id] = text
    raise AssertionError


@pytest.mark.parametrize("where", ["one file", "two files", "existing"])
def test_a_collision_names_both_texts_and_the_remedy(spark: Any, tmp_path: Path, where: str) -> None:
    a, b = colliding()
    files = [term_file(tmp_path, texts, bits=8) for texts in ([[a, b]] if where == "one file" else [[a], [b]])]
    staged, existing = (files[:1], files[1:]) if where == "existing" else (files, [])
    with pytest.raises(DataError) as caught:
        new_terms(SparkRunner(spark), staged, existing, tmp_path / "out")
    assert [found.code for found in caught.value.diagnostics] == ["hash-collision"]
    assert a in str(caught.value)
    assert b in str(caught.value)
    assert "--salt 1" in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_another_salt_removes_the_collision() -> None:
    a, b = colliding()
    assert any(len(set((hash_texts(pa.array([a, b]), salt) & 255).tolist())) == 2 for salt in (1, 2))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_ranges_cover_all_ids_once(count: int) -> None:
    ranges = id_ranges(count)
    assert (ranges[0][0], ranges[-1][1], len(ranges)) == (-(1 << 63), (1 << 63) - 1, count)
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(ranges))


def test_an_unreadable_file_is_an_error_that_names_it(spark: Any, tmp_path: Path) -> None:
    staged = term_file(tmp_path, ["a"])
    missing = str(tmp_path / "gone.parquet")
    with pytest.raises(DataError, match=r"version-gone(.|\n)*gone\.parquet"):
        new_terms(SparkRunner(spark), [staged], [missing], tmp_path / "out")
