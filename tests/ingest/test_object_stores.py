"""Facts in an object store are read as those in files are. A moto server in a process of its own is the store."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import everlog
from everlog.host.locations import storage_options
from everlog.ingest.fetching import fetch
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.update import UpdateJob, update
from everlog.lang.errors import DataError
from everlog.owl.graph import read_document
from everlog.store import Store
from tests.cli.running import CommandLine
from tests.ingest.deletion_vectors import delete_rows

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
FILES = {
    "in/edge.csv": "a,b\nb,c\n",
    "in/deep er/edge.tsv": "c\td\n",
    "in/deep er/people.nt": "_:x <http://e.org/knows> _:y .\n",
    "in/people.nt": "_:x <http://e.org/knows> <http://e.org/z> .\n",
    "in/_temporary/edge.csv": "no,no\n",
    "in/.hidden.csv": "no,no\n",
    "in/notes.txt": "nothing of a known kind\n",
    "more/edge.csv": "d,e\n",
    "bad/edge.csv": "a,b\nc\n",
    "one.ttl": "@prefix e: <http://e.org/> . e:a e:knows e:b .\n",
}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The bucket ``data`` with fact files and a Delta table, and a local directory with equal contents."""
    here = tmp_path_factory.mktemp("data")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        try:
            await_port(port)
            fill(here, settings["AWS_ENDPOINT_URL"])
            yield here
        finally:
            server.kill()
            server.wait()


def await_port(port: int) -> None:
    for _ in range(300):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(port)


def fill(here: Path, address: str) -> None:
    import boto3

    store = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
    store.create_bucket(Bucket="data")
    for name, text in FILES.items():
        store.put_object(Bucket="data", Key=name, Body=text.encode())
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    store.put_object(Bucket="data", Key="broken/_delta_log/00000000000000000000.json", Body=b"{")
    options = {**storage_options("s3://data"), "aws_conditional_put": "etag"}
    for rows in ([("x", "y")], [("y", "z"), ("z", "x y")]):
        table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
        write_deltalake("s3://data/edge", table, mode="overwrite", partition_by=["b"], storage_options=options)
        write_deltalake(here / "edge", table, mode="overwrite", partition_by=["b"])
    write_deltalake(here / "kept", pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}))
    delete_rows(here / "kept", [1], beside=True)
    for file in (path for path in (here / "kept").rglob("*") if path.is_file()):
        store.put_object(Bucket="data", Key=file.relative_to(here).as_posix(), Body=file.read_bytes())


def names_in(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.long
@pytest.mark.parametrize(
    "argument",
    ["in", "in/edge.csv", "edge", "in/*.csv", "in/**/*.nt", "in/deep?er", "edge=in/**/edge.[ct]sv", "one.ttl"],
)
def test_an_address_is_read_as_a_path_is(bucket: Path, tmp_path: Path, argument: str) -> None:
    name, equals, place = argument.rpartition("=")
    here, there = (
        [
            (source.kind, source.predicate, source.name, Path(source.path).name)
            for source in resolve([f"{name}{equals}{root}/{place}"], ReadOptions(), tmp_path)
        ]
        for root in (bucket, "s3://data")
    )
    assert here == there
    assert here


def test_only_what_is_read_is_copied(bucket: Path, tmp_path: Path) -> None:
    copy = fetch("s3a://data/in/", tmp_path)
    assert names_in(Path(copy.root)) == {
        name for name in FILES if name.startswith("in/") and name[-3:] in (".nt", "csv", "tsv")
    } - {
        "in/_temporary/edge.csv",
        "in/.hidden.csv",
    }
    table = fetch("s3://data/edge", tmp_path)
    assert (
        sum(name.endswith(".parquet") for name in names_in(Path(table.root)))
        == 2
        < len(list(bucket.rglob("*.parquet")))
    )


def test_a_store_of_facts_in_an_object_store(spark: Any, bucket: Path, tmp_path: Path) -> None:
    """Blank nodes have equal labels, too, and the copies are removed."""
    (tmp_path / "rules.rls").write_text(RULES)
    rows = []
    for name, root in (("here", str(bucket)), ("there", "s3://data")):
        store = tmp_path / name
        facts = (f"{root}/in", f"{root}/edge", f"{root}/one.ttl")
        materialise(MaterialiseJob(str(tmp_path / "rules.rls"), facts, str(store), engine="local"))
        change: dict[str, Any] = {
            "insert": (f"{root}/more/*.csv",),
            "delete": (f"edge={root}/in/edge.csv", f"{root}/in/people.nt"),
        }
        update(UpdateJob(str(store), **change, compact=False))
        rows.append([row for batch in Store.open(store).facts() for row in batch.to_pylist()])
        assert [path.name for path in (store / "work").iterdir()] == ["guard"]
    assert rows[0] == rows[1]
    assert set(everlog.open(tmp_path / "there")["path"]) >= {("d", "e"), ("c", "e"), ("y", "x y")}


def test_a_table_with_deleted_rows_in_an_object_store(bucket: Path, tmp_path: Path) -> None:
    options = ReadOptions()
    for root in (str(bucket), "s3://data"):
        parts = splits(resolve([f"p={root}/kept[b, a]"], options, tmp_path), options)
        assert [row for part in parts for batch in read(part, options, []) for row in batch.to_pylist()] == [
            {"predicate": "p/2", "c0": "4", "c1": "1"},
            {"predicate": "p/2", "c0": "6", "c1": "3"},
        ]


def test_what_is_wrong_is_told_by_address(
    bucket: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    everlog_command = CommandLine(capfdbinary)
    everlog.KnowledgeBase(RULES).save(tmp_path / "kb")
    for place, code, told in (
        ("s3://data/bad/edge.csv", "bad-row", "s3://data/bad/edge.csv:2"),
        ("s3://data/in/notes.txt", "unknown-kind", "s3://data/in/notes.txt"),
        ("s3://data/nothing.csv", "no-such-file", "s3://data/nothing.csv"),
        ("s3://data/in/*.parquet", "nothing-to-read", "s3://data/in/*.parquet"),
        ("s3://nobody/edge.csv", "unreachable-store", "s3://nobody/edge.csv"),
        ("p=s3://data/one.ttl", "named-rdf", "s3://data/one.ttl"),
        ("s3://data/broken", "unreachable-store", "s3://data/broken"),
    ):
        done = everlog_command("update", str(tmp_path / "kb"), "--insert", place)
        assert done.status == 1
        assert code in done.err
        assert f"--> {told}" in done.err
        assert "fetched-" not in done.err
        assert "no directory" not in done.err
    assert Store.open(tmp_path / "kb").version == 0
    with pytest.raises(DataError, match=r"not-an-ontology(.|\n)*s3://data/in/edge.csv"):
        read_document(["s3://data/in/edge.csv"])
    assert sum(batch.num_rows for batch in read_document(["s3://data/one.ttl"]).batches) == 1


@pytest.mark.long
def test_secrets_are_not_told(bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(DataError, match="unreachable-store") as told:
        fetch("s3://data/in/edge.csv", tmp_path)
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(told.value)
    assert "AWS_SECRET_ACCESS_KEY" in str(told.value)
