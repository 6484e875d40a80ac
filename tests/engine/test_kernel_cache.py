"""Kernels are compiled and cached even if neither the package nor the home directory can be written to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import everlog
from everlog.engine.kernels import cache

PROGRAM = """
import logging
logging.basicConfig(level=logging.INFO)
import numpy as np
from everlog.engine.kernels.bounds import is_ascending
assert is_ascending(np.array([0, 1, 3]), 3)
"""


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """An environment with a copy of the package and a home directory that no user, not even root, can write to."""
    source, target = Path(everlog.__file__).parent, tmp_path / "src" / "everlog"
    for package in ("lang", "engine"):
        shutil.copytree(source / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "__init__.py", target)
    (tmp_path / "src/everlog/engine/kernels/__pycache__").write_text("a file in the place of the directory")
    (tmp_path / "home").write_text("a file in the place of the directory")
    (tmp_path / "tmp").mkdir()
    cleared = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    home = str(tmp_path / "home")
    return {
        **cleared,
        "PYTHONPATH": str(tmp_path / "src"),
        "HOME": home,
        "XDG_CACHE_HOME": home,
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(environment: dict[str, str], program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.long
def test_a_temporary_directory_of_the_user_is_the_last_resort(nowhere: dict[str, str]) -> None:
    done = run(nowhere, PROGRAM)
    assert done.returncode == 0, done.stderr
    place = Path(nowhere["TMPDIR"], f"everlog-kernels-{os.geteuid()}")
    assert done.stderr.count(f"kernels are compiled into {place}") == 1
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    kept = {path: path.stat().st_mtime_ns for path in place.rglob("*.nbc")}
    assert kept
    assert run(nowhere, PROGRAM).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*.nbc")} == kept, "the kernel was compiled again"


def test_a_package_in_a_zip_file_keeps_its_kernels_there_too(nowhere: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "src/everlog/engine/kernels/__pycache__").unlink()
    shutil.make_archive(str(tmp_path / "everlog"), "zip", tmp_path / "src")
    done = run({**nowhere, "PYTHONPATH": str(tmp_path / "everlog.zip")}, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert list(Path(nowhere["TMPDIR"]).rglob("*.nbc"))


@pytest.mark.parametrize("there", ["open to others", "a link", "a file"])
def test_what_others_may_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"everlog-kernels-{os.geteuid()}"
    if there == "open to others":
        place.mkdir()
        place.chmod(0o777)
    elif there == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.touch()
    own = cache._own_directory()
    assert own != place
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    place.rename(tmp_path / "gone")
    assert cache._own_directory() == cache._own_directory() == place


def test_no_place_at_all_is_an_error_with_a_remedy(nowhere: dict[str, str]) -> None:
    program = f"""
import tempfile
tempfile.gettempdir = tempfile.mkdtemp = lambda **options: (_ for _ in ()).throw(FileNotFoundError("no directory"))
{PROGRAM}"""
    done = run(nowhere, program)
    assert done.returncode == 1
    assert "error[no-kernel-cache]: compiled kernels can be kept nowhere: no directory" in done.stderr
    assert "help: set NUMBA_CACHE_DIR" in done.stderr


def test_a_place_that_the_user_names_is_used(nowhere: dict[str, str], tmp_path: Path) -> None:
    done = run({**nowhere, "NUMBA_CACHE_DIR": str(tmp_path / "named")}, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "kernels are compiled into" not in done.stderr
    assert list((tmp_path / "named").rglob("*.nbc"))
