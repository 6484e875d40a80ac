"""Bloom filters find all written values and few others; only files that profit from filters have them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.engine.hashing import hash_numbers
from everlog.lang.errors import StoreError
from everlog.store import begin, parquet, schema
from everlog.store.blooms import FORM, SIZE_FIELD, Bloom, read_bloom
from everlog.store.files import checks_of, open_file
from everlog.store.layout import StoreLayout
from everlog.store.parquet import FACT_GROUP_ROWS, write_facts
from tests.store.small import fact, finish, rows_of, write

INTS = st.integers(-(2**63), 2**63 - 1)
MANY = 5 * FACT_GROUP_ROWS


def filters_of(path: Path) -> dict[str, list[Bloom]]:
    """The filters of each column that has some, by row group."""
    metadata = pq.read_metadata(path)
    chunks = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(8)]
    found: dict[str, list[Bloom]] = {}
    for chunk in chunks:
        if chunk.bloom_filter_offset is not None:
            bloom = read_bloom(str(path), chunk.bloom_filter_offset, chunk.bloom_filter_length)
            found.setdefault(chunk.path_in_schema, []).append(bloom)
    return found


def many_facts(ternary: float = 0.0, rows: int = MANY) -> pa.Table:
    """Sorted facts with random ids, a share of them of a predicate with three arguments."""
    ids = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, (3, rows))
    predicate = (np.arange(rows) < ternary * rows).astype(np.int64)
    columns = {"predicate": predicate, "c0": ids[0], "c1": ids[1], "c2": pa.array(ids[2], mask=predicate == 0)}
    table = schema.conform(pa.table(columns), 3)
    return table.take(np.lexsort((ids[1], ids[0], predicate)))


@given(st.lists(INTS))
def test_hashes_are_those_of_xxhash(values: list[int]) -> None:
    expected = [xxhash.xxh64_intdigest(value.to_bytes(8, "little", signed=True)) for value in values]
    assert hash_numbers(np.array(values, np.int64)).tolist() == expected


@settings(max_examples=30)
@given(st.lists(st.none() | INTS, min_size=1, max_size=60), st.integers(1, 60), st.integers(1, 200))
def test_what_was_written_is_found(values: list[int | None], group_rows: int, ndv: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path, rows = Path(name) / "a.parquet", pa.table({"c1": pa.array(values, pa.int64())})
        options = {"c1": {"ndv": ndv, "fpp": 0.1}}
        pq.write_table(rows, path, row_group_size=group_rows, bloom_filter_options=options)
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            chunk = metadata.row_group(group).column(0)
            part = [v for v in values[group * group_rows :][:group_rows] if v is not None]
            bloom = read_bloom(str(path), chunk.bloom_filter_offset, chunk.bloom_filter_length)
            assert bloom.may_have(hash_numbers(np.array(part, np.int64))).all()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with just enough row groups to have filters."""
    path = tmp_path_factory.mktemp("many") / "facts.parquet"
    write_facts(many_facts(0.5), path)
    return path


def test_few_other_values_are_found(many: Path) -> None:
    others = hash_numbers(np.random.default_rng(2).integers(-(2**63), 2**63 - 1, 200_000))
    written = pq.ParquetFile(many)
    for group, bloom in enumerate(filters_of(many)["c1"]):
        assert bloom.may_have(others).mean() == pytest.approx(parquet.FALSE_HITS, rel=0.25)
        assert bloom.may_have(hash_numbers(written.read_row_group(group).column("c1").to_numpy())).all()


def test_duckdb_leaves_out_the_same_row_groups(many: Path) -> None:
    written = pq.read_table(many, columns=["c1"]).column(0)[::9973].to_pylist()
    values = [*written, *np.random.default_rng(3).integers(-(2**63), 2**63 - 1, 20).tolist()]
    mine = [bloom.may_have(hash_numbers(np.array(values))) for bloom in filters_of(many)["c1"]]
    for place, value in enumerate(values):
        probed = duckdb.sql(f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{many}', 'c1', {value})")
        assert probed is not None
        assert [excluded for (excluded,) in probed.fetchall()] == [not each[place] for each in mine]


def test_a_filter_has_two_bytes_for_each_value(many: Path) -> None:
    sizes = {name: [bloom.words.nbytes for bloom in blooms] for name, blooms in filters_of(many).items()}
    full, half, none = 2 * FACT_GROUP_ROWS, FACT_GROUP_ROWS, 32
    assert sizes == {"c1": [full] * 5, "c2": [none, none, half, full, full]}


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (lambda: many_facts(0.09), ["c1"]),
        (lambda: many_facts(0.5, parquet.GROUPS_WITHOUT_FILTERS * FACT_GROUP_ROWS), []),
        (lambda: rows_of([fact("edge", "a", "b")]), []),
    ],
    ids=["few rows have c2", "four row groups", "one row"],
)
def test_files_without_filters(tmp_path: Path, rows: Callable[[], pa.Table], columns: list[str]) -> None:
    write_facts(schema.conform(rows(), 3), tmp_path / "facts.parquet")
    assert sorted(filters_of(tmp_path / "facts.parquet")) == columns


def all_ids(path: Path) -> pa.Table:
    """Terms for all ids in a file."""
    rows = pq.read_table(path)
    ids = np.unique(np.concatenate([rows.column(name).drop_null().to_numpy() for name in rows.schema.names]))
    return pa.table({"id": ids, "text": pa.array(map(str, ids.tolist()), pa.string())})


def test_other_tools_read_files_with_filters(many: Path, tmp_path: Path) -> None:
    write(tmp_path, [fact("edge", "a", "b")])
    with begin(tmp_path) as transaction:
        path = transaction.work / "facts.parquet"
        path.write_bytes(many.read_bytes())
        transaction.add_fact_files([path])
        transaction.add_terms([all_ids(path)])
        finish(transaction)
    files = DeltaTable(str(tmp_path / "facts")).file_uris()
    wanted = pq.read_table(many, columns=["c1"]).column(0)[777].as_py()
    found = duckdb.read_parquet(files, union_by_name=True).filter(f"c1 = {wanted}").fetchall()
    assert [row[2] for row in found] == [wanted]


def test_damaged_filters_are_an_error(many: Path, tmp_path: Path) -> None:
    path = tmp_path / StoreLayout.file_name(0, "0" * 32, checks_of(many))
    content = bytearray(many.read_bytes())
    path.write_bytes(content)
    assert open_file(path, filters=True).read().num_rows == pq.read_metadata(many).num_rows
    content[pq.read_metadata(path).row_group(0).column(2).bloom_filter_offset + 40] ^= 1
    path.write_bytes(content)
    assert open_file(path).read().num_rows == pq.read_metadata(many).num_rows
    with pytest.raises(StoreError, match="Bloom filters that are not as they were written"):
        open_file(path, filters=True)


HEADER = bytes([SIZE_FIELD, 64]) + FORM


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        (b"", "no header"),
        (b"PAR1" + bytes(60), "no header"),
        (bytes([SIZE_FIELD]), "no size"),
        (bytes([SIZE_FIELD]) + b"\xff" * 60, "no size"),
        (HEADER[:6] + b"\x2c" + HEADER[7:] + bytes(32), "another kind"),
        (HEADER[:10], "another kind"),
        (HEADER + bytes(31), "of 32 bytes, of which there are 31"),
        (HEADER + bytes(33), "of 32 bytes, of which there are 33"),
        (bytes([SIZE_FIELD, 0]) + FORM, "of 0 bytes"),
        (bytes([SIZE_FIELD, 63]) + FORM + bytes(32), "of -32 bytes"),
        (bytes([SIZE_FIELD, 66]) + FORM + bytes(33), "of 33 bytes"),
    ],
)
def test_what_is_no_filter_is_refused(buffer: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bloom.of(buffer)
