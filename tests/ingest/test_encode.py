"""Hashes equal those of the xxhash package; encoding keeps every fact and every term."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from everlog.engine.hashing import hash_text, hash_texts
from everlog.ingest import encode as encode_module
from everlog.ingest.encode import Encoder
from everlog.ingest.spill import Spill, distinct, widen
from everlog.store.schema import fact_ids

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def reference(text: str, seed: int = 42) -> int:
    digest = xxhash.xxh64_intdigest(text.encode(), seed)
    return digest - (1 << 64) if digest >> 63 else digest


@given(st.lists(unicode_text, max_size=20), st.sampled_from([pa.string(), pa.large_string()]), st.data())
def test_hashes_equal_the_xxhash_package_for_any_slice(
    texts: list[str], kind: pa.DataType, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(texts)))
    array = pa.array(texts, kind).slice(start)
    assert hash_texts(array).tolist() == [reference(text) for text in texts[start:]]


@pytest.mark.parametrize("size", [*range(0, 70), 127, 128, 1000])
def test_hashes_of_every_length_class(size: int) -> None:
    text = ("äbc\u20ac" * (size + 1))[:size]
    assert hash_texts(pa.array([text])).tolist() == [reference(text)]


@given(unicode_text, st.integers(-(1 << 63), (1 << 63) - 1))
def test_a_salt_is_the_hash_of_a_long_before_the_text(text: str, salt: int) -> None:
    seed = xxhash.xxh64_intdigest(salt.to_bytes(8, "little", signed=True), 42) if salt else 42
    assert hash_text(text, salt=salt) == reference(text, seed)
    assert hash_texts(pa.array([text]), salt=salt).tolist() == [reference(text, seed)]


def test_chunked_arrays() -> None:
    chunked = pa.chunked_array([["a"], [], ["b", "c"]], pa.string())
    assert hash_texts(chunked).tolist() == [reference(text) for text in "abc"]
    assert hash_texts(pa.chunked_array([], pa.string())).tolist() == []


def test_other_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="int64"):
        hash_texts(pa.array([1]))


rows = st.lists(st.tuples(st.sampled_from(["p/2", "q/1", "r/0"]), unicode_text, unicode_text), min_size=1, max_size=30)


def text_batch(facts: list[tuple[str, str, str]]) -> pa.RecordBatch:
    arity = {"p/2": 2, "q/1": 1, "r/0": 0}
    return pa.record_batch(
        {
            "predicate": pa.array([p for p, _, _ in facts]),
            "c0": pa.array([a if arity[p] > 0 else None for p, a, _ in facts], pa.large_string()),
            "c1": pa.array([b if arity[p] > 1 else None for p, _, b in facts], pa.large_string()),
        }
    )


@given(rows, rows)
def test_encoding_can_be_decoded_and_gives_each_term_once(
    first: list[tuple[str, str, str]], second: list[tuple[str, str, str]]
) -> None:
    encoder = Encoder()
    batches = [text_batch(first), text_batch(second)]
    encoded = [encoder.encode(batch) for batch in batches]
    pairs = [
        pair for part in encoded for pair in zip(*(column.to_pylist() for column in part.terms.columns), strict=True)
    ]
    texts = dict(pairs)
    assert len(texts) == len(pairs)
    assert all(id == reference(text) for id, text in pairs)
    for batch, part in zip(batches, encoded, strict=True):
        for name in batch.schema.names:
            ids = part.facts.column(name).to_pylist()
            assert [None if id is None else texts[id] for id in ids] == batch.column(name).to_pylist()


def test_texts_with_the_same_id_both_come_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of three bits collide for most texts; the salted check hashes differ."""

    def narrow(texts: pa.Array, salt: int = 0) -> NDArray[np.int64]:
        return hash_texts(texts, salt) & (-1 if salt else 7)

    monkeypatch.setattr(encode_module, "hash_texts", narrow)
    texts = [str(number) for number in range(64)]
    batch = pa.record_batch({"predicate": ["p/1"] * 64, "c0": texts})
    terms = Encoder().encode(batch).terms
    assert sorted(terms.column("text").to_pylist()) == sorted([*texts, "p/1"])
    assert len(set(terms.column("id").to_pylist())) <= 8


def test_the_encoder_remembers_through_growth_and_forgets_when_full(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.record_batch({"predicate": ["p/1"] * 100_000, "c0": [str(number) for number in range(100_000)]})
    encoder = Encoder()
    assert [encoder.encode(batch).terms.num_rows for _ in range(3)] == [100_001, 0, 0]
    monkeypatch.setattr(encode_module, "_MOST_REMEMBERED", 1000)
    assert encoder.encode(batch).terms.num_rows >= 100_000


def test_distinct_agrees_with_sets() -> None:
    random = np.random.default_rng(1)
    columns = {
        "predicate": random.integers(-2, 2, 500),
        "c0": random.integers(-3, 3, 500),
        "c1": random.integers(0, 3, 500),
    }
    table = pa.table(columns).append_column("c2", pa.nulls(500, pa.int64()))
    found = list(zip(*(column.to_pylist() for column in distinct(table).columns), strict=True))
    expected = {(*map(int, row), None) for row in zip(*columns.values(), strict=True)}
    assert len(found) == len(expected)
    assert set(found) == expected


def test_distinct_leaves_distinct_facts_as_they_are() -> None:
    table = pa.table({"predicate": [1, 1, 1], "c0": [3, 1, 2]})
    assert distinct(table) is table
    assert distinct(table.slice(0, 0)).num_rows == 0


def test_facts_wider_than_announced_are_refused() -> None:
    batch = pa.record_batch({"predicate": [1], "c0": [1], "c1": [1], "c2": [1]})
    with pytest.raises(ValueError, match="at most 2"):
        widen(batch, fact_ids(2))


def test_a_spill_writes_several_files_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.ingest.spill.FLUSH_ROWS", 10)
    spill = Spill(tmp_path, width=3)
    for start in range(0, 30, 5):
        spill.add(pa.record_batch({"predicate": ["p/1"] * 5, "c0": [str(start + i) for i in range(5)]}))
    spill.flush()
    assert (len(spill.fact_files), spill.rows) == (3, 30)
    facts = pa.concat_tables(pq.read_table(file) for file in spill.fact_files)
    assert facts.schema.names == ["predicate", "c0", "c1", "c2"]
    terms = pa.concat_tables(pq.read_table(file) for file in spill.term_files)
    assert set(terms.column("text").to_pylist()) == {"p/1", *map(str, range(30))}
    assert terms.num_rows == 31
