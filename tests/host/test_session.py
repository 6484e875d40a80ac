"""Sessions are quiet, leave no files behind, and report what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from everlog.host.session import require_java, session
from everlog.lang.errors import EverlogError

START = """
from everlog.host.session import session
spark = session({master!r})
print(spark.range(5).count(), spark.sparkContext.master)
session().stop()
spark = session("local[1]", spark__sql__shuffle__partitions=3)
print(spark.conf.get("spark.sql.shuffle.partitions"))
try:
    session().stop()
    session("nonsense://host")
except Exception as error:
    print(type(error).__name__, error)
"""


def run(code: str, directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=directory,
        env=os.environ | {"TMPDIR": str(directory.parent)} | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.mark.spark
def test_a_session_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    directory = tmp_path / "here"
    directory.mkdir()
    done = run(START.format(master=None), directory, EVERLOG_SPARK_MEMORY="600m")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["5 local[*]", "3"]
    assert lines[2].startswith("EverlogError error[spark-start]: Spark did not start")
    assert "Could not parse Master URL" in done.stdout
    assert done.stderr == ""
    assert list(directory.iterdir()) == []
    assert not list(tmp_path.glob("everlog-spark-*"))


def test_an_active_session_is_used_again(spark: Any) -> None:
    assert session() is spark or session().sparkContext is spark.sparkContext
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"


def test_no_java_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EverlogError, match=r"no-java.*on the PATH(.|\n)*install a Java"):
        require_java()


def test_no_java_in_java_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EverlogError, match="JAVA_HOME"):
        require_java()


@pytest.mark.parametrize(
    ("printed", "fine"), [('1.8.0_392"', False), ('11.0.2"', False), ('17.0.15"', True), ('21"', True)]
)
def test_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str, fine: bool) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{printed}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if fine:
        require_java()
    else:
        with pytest.raises(EverlogError, match="old-java"):
            require_java()
