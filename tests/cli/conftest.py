"""Fixtures for the tests of commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import CommandLine, saved


@pytest.fixture
def everlog_command(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """The command line, in an empty directory without settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("EVERLOG_FORMAT", "EVERLOG_LIMIT", "EVERLOG_QUIET", "EVERLOG_JSON_LOGS", "EVERLOG_MASTER"):
        monkeypatch.delenv(name, raising=False)
    return CommandLine(capfdbinary)


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store that tests only read."""
    return saved(tmp_path_factory.mktemp("family") / "kb")
