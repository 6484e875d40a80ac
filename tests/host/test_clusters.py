"""Masters other than the embedded one, Everlog's code in executors, and addresses of object stores."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import site
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import everlog
from everlog.host.locations import delta_uri, kind_of, spark_options, spark_uri, storage_options
from everlog.ingest.sources import ReadOptions, resolve
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.lang.errors import DataError, StoreError
from everlog.store import Store, begin, exists

# addresses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "kind", "on_spark", "on_delta"),
    [
        ("s3://bucket/a/b", "s3", "s3a://bucket/a/b", "s3://bucket/a/b"),
        ("s3a://bucket/a b%", "s3", "s3a://bucket/a b%", "s3://bucket/a b%"),
        ("gs://bucket", "gs", "gs://bucket", "gs://bucket"),
        ("abfss://c@acc.dfs.core.windows.net/t", "abfss", *["abfss://c@acc.dfs.core.windows.net/t"] * 2),
        ("hdfs://host:9000/t", "hdfs", "hdfs://host:9000/t", "hdfs://host:9000/t"),
        ("/data/a b", None, "file:///data/a b", "/data/a b"),
        ("file:///data/x", None, "file:///data/x", "/data/x"),
        ("file:/data/x", None, "file:///data/x", "/data/x"),
    ],
)
def test_one_address_for_spark_and_delta(place: str, kind: str | None, on_spark: str, on_delta: str) -> None:
    assert (kind_of(place), spark_uri(place), delta_uri(place)) == (kind, on_spark, on_delta)


def test_relative_paths_are_files_for_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert spark_uri("here") == f"file://{tmp_path}/here"
    assert delta_uri("here") == "here"


def test_credentials_come_from_the_environment() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_DEFAULT_REGION": "eu"}
    assert spark_options(keys) == {
        "spark.hadoop.fs.s3a.access.key": "k",
        "spark.hadoop.fs.s3a.secret.key": "s",
        "spark.hadoop.fs.s3a.endpoint.region": "eu",
    }
    assert storage_options("s3a://b/t", keys) == {
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
        "aws_region": "eu",
    }
    assert storage_options("gs://b/t", keys) == storage_options("/data", keys) == spark_options({}) == {}

    own = {**keys, "AWS_SESSION_TOKEN": "t", "AWS_REGION": "us", "AWS_ENDPOINT_URL": "http://minio:9000"}
    options = spark_options(own)
    assert options["spark.hadoop.fs.s3a.session.token"] == "t"
    assert options["spark.hadoop.fs.s3a.aws.credentials.provider"].endswith("TemporaryAWSCredentialsProvider")
    assert options["spark.hadoop.fs.s3a.endpoint.region"] == "us"
    assert options["spark.hadoop.fs.s3a.endpoint"] == "http://minio:9000"
    assert options["spark.hadoop.fs.s3a.path.style.access"] == "true"
    assert options["spark.hadoop.fs.s3a.connection.ssl.enabled"] == "false"
    assert storage_options("s3://b/t", own)["aws_allow_http"] == "true"
    assert "aws_allow_http" not in storage_options("s3://b/t", {"AWS_ENDPOINT_URL": "https://minio"})

    google = {"GOOGLE_APPLICATION_CREDENTIALS": "key.json"}
    assert spark_options(google)["spark.hadoop.fs.gs.auth.service.account.json.keyfile"] == "key.json"
    assert storage_options("gs://b/t", google) == {"google_application_credentials": "key.json"}

    azure = {"AZURE_CLIENT_ID": "i", "AZURE_CLIENT_SECRET": "s", "AZURE_TENANT_ID": "t"}
    assert spark_options(azure)["spark.hadoop.fs.azure.account.auth.type"] == "OAuth"
    assert "/t/oauth2/token" in spark_options(azure)["spark.hadoop.fs.azure.account.oauth2.client.endpoint"]
    place = "abfss://c@acc.dfs.core.windows.net/t"
    assert set(storage_options(place, azure)) == {
        f"azure_storage_{name}" for name in ("client_id", "client_secret", "tenant_id")
    }
    assert spark_options({"AZURE_STORAGE_ACCOUNT_KEY": "k"}) == {"spark.hadoop.fs.azure.account.key": "k"}


def test_what_must_be_a_file_system_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for use in (Store.open, begin, exists, everlog.open, everlog.KnowledgeBase("p(a) .").save):
        with pytest.raises(StoreError, match=r"not-posix(.|\n)*s3:/(.|\n)*locks"):
            use("s3://bucket/kb")
    Path("r.rls").write_text("p(a) .")
    with pytest.raises(StoreError, match="not-posix"):
        materialise(MaterialiseJob("r.rls", (), "gs://bucket/kb"))
    assert {path.name for path in tmp_path.iterdir()} == {"r.rls"}, "no directory s3:"
    with pytest.raises(DataError, match="unknown-scheme"):
        resolve(["ftp://host/edge.csv"], ReadOptions())


def test_a_file_address_is_a_path(tmp_path: Path) -> None:
    everlog.KnowledgeBase("p(a) .").save(f"file://{tmp_path}/kb")
    assert everlog.open(tmp_path / "kb")["p"].rows() == [("a",)]
    (tmp_path / "edge.tsv").write_text("a\tb\n")
    assert resolve([f"file://{tmp_path}/edge.tsv"], ReadOptions())[0].path == str(tmp_path / "edge.tsv")


# masters ------------------------------------------------------------------------------------------

JOB = """
import sys
from pathlib import Path
import everlog
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.host.session import session

def where(batches):
    import everlog, os, pyarrow as pa
    from everlog.engine.hashing import hash_texts
    for _ in batches:
        hash_texts(pa.array(["a kernel"]))
        yield pa.record_batch({"at": [everlog.__file__], "pid": [os.getpid()]})

def shows_secret(command):
    try:
        return b"hidden-key" in command.read_bytes()
    except OSError:
        return False

options = dict(option.split("=", 1) for option in sys.argv[2:])
spark = session(sys.argv[1] or None, **options)
rows = spark.range(0, 4, 1, 4).mapInArrow(where, "at string, pid long").collect()
print("master", spark.sparkContext.master, "app", spark.sparkContext.appName)
secrets = spark.sparkContext.getConf().get("spark.hadoop.fs.s3a.secret.key", "none")
print("secret", secrets, "on command lines", sum(map(shows_secret, Path("/proc").glob("[0-9]*/cmdline"))))
print("timezone", spark.conf.get("spark.sql.session.timeZone"))
print("workers", sorted({row["at"] for row in rows}))
Path("r.rls").write_text("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
Path("edge.tsv").write_text("a\\tb\\nb\\tc\\n")
materialise(MaterialiseJob("r.rls", ("edge.tsv",), "kb", overwrite=True))
print("path", sorted(everlog.open("kb")["path"]))
"""
PATHS = "path [('a', 'b'), ('a', 'c'), ('b', 'c')]"


def run(directory: Path, *command: str, **environment: str) -> str:
    script = directory / "job.py"
    script.write_text(JOB)
    done = subprocess.run(
        [part.replace("JOB", str(script)) for part in command],
        cwd=directory,
        env={**os.environ, "EVERLOG_SPARK_MEMORY": "600m", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def archive(directory: Path) -> Path:
    """The package as a zip file."""
    package = Path(everlog.__file__).parent
    path = directory / "everlog.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(package.rglob("*")):
            if source.suffix != ".pyc" and source.is_file() and "__pycache__" not in source.parts:
                file.write(source, source.relative_to(package.parent))
    return path


def python_without_everlog(directory: Path) -> Path:
    """An interpreter with all dependencies of everlog, but without everlog."""
    path = directory / "python"
    packages = ":".join(site.getsitepackages())
    base = getattr(sys, "_base_executable", sys.executable)
    path.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {base} "$@"\n')
    path.chmod(0o755)
    code = "import numba, pyarrow; import everlog"
    found = subprocess.run([path, "-c", code], cwd=directory, capture_output=True, check=False)
    assert b"No module named 'everlog'" in found.stderr, found.stderr
    return path


@pytest.mark.slow
def test_executors_get_the_package_as_an_archive(tmp_path: Path) -> None:
    package = archive(tmp_path)
    printed = run(
        tmp_path,
        *(sys.executable, "JOB", "local-cluster[1,1,1024]", f"spark.submit.pyFiles={package}"),
        f"spark.executorEnv.XDG_CACHE_HOME={tmp_path}/kernels",
        PYSPARK_PYTHON=str(python_without_everlog(tmp_path)),
        PYSPARK_DRIVER_PYTHON=sys.executable,
    )
    assert PATHS in printed
    workers = re.search(r"workers \['(.*)'\]", printed)
    assert workers is not None
    assert workers[1].endswith("everlog.zip/everlog/__init__.py")
    assert list((tmp_path / "kernels").rglob("*.nbi")), "kernels are kept"


@pytest.mark.slow
def test_spark_submit_says_what_counts(tmp_path: Path) -> None:
    submit = Path(shutil.which("spark-submit", path=str(Path(sys.executable).parent)) or "")
    assert submit.name
    printed = run(
        tmp_path,
        *(str(submit), "--master", "local[1,4]", "--name", "mine", "--driver-memory", "700m"),
        *("--conf", "spark.sql.session.timeZone=Europe/Berlin", "JOB", ""),
        PYSPARK_PYTHON=sys.executable,
    )
    assert "master local[1,4] app mine" in printed
    assert "timezone Europe/Berlin" in printed
    assert PATHS in printed


@pytest.mark.slow
def test_a_standalone_cluster(tmp_path: Path) -> None:
    with standalone(tmp_path) as master:
        options = ["spark.driver.host=127.0.0.1", "spark.executor.memory=700m"]
        printed = run(tmp_path, sys.executable, "JOB", master, *options, AWS_SECRET_ACCESS_KEY="hidden-key")
    assert f"master {master}" in printed
    assert "secret hidden-key on command lines 0" in printed
    assert PATHS in printed


@contextlib.contextmanager
def standalone(directory: Path) -> Iterator[str]:
    """A standalone Spark master and a worker, as processes of this machine."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    where = ["--host", "127.0.0.1"]
    commands = [
        ["org.apache.spark.deploy.master.Master", *where, "--port", str(port), "--webui-port", "0"],
        ["org.apache.spark.deploy.worker.Worker", *where, "--webui-port", "0", "-c", "1", "-m", "1g", master],
    ]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(directory / "worker")}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "300m"}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(commands):
            with (directory / f"daemon{number}.log").open("wb") as log:
                full = [str(home / "bin" / "spark-class"), *command]
                started.append(subprocess.Popen(full, env=environment, stdout=log, stderr=log, start_new_session=True))
            wait_for("registered with master" if number else "I have been elected leader", directory, number)
        yield master
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=60)


def wait_for(line: str, directory: Path, number: int) -> None:
    """Wait until a daemon has written a line to its log."""
    log = directory / f"daemon{number}.log"
    deadline = time.monotonic() + 120
    while line not in log.read_text(errors="replace"):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
