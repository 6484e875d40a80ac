"""Every message equals the transcripts in ``cases/``. ``EVERLOG_GOLDEN=write`` writes the current messages."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import everlog.kb.stores
from tests.errors.transcript import Section, played, sections

CASES = Path(__file__).parent / "cases"
WRITE = os.environ.get("EVERLOG_GOLDEN") == "write"


def all_sections() -> list[pytest.param]:  # type: ignore[valid-type]
    return [
        pytest.param(
            path,
            section,
            id=f"{path.stem}: {section.title}",
            marks=[pytest.mark.spark] if path.stem == "spark" else [],
        )
        for path in sorted(CASES.glob("*.txt"))
        for section in sections(path)
    ]


@pytest.mark.parametrize(("path", "section"), all_sections())
def test_message(
    path: Path,
    section: Section,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    given: dict[str, Any] = {"spark": request.getfixturevalue("spark")} if path.stem == "spark" else {}
    stdout = sys.stdout
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EVERLOG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVERLOG_QUIET", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def next_open_raises(error: BaseException) -> None:
        """Let the machine fail where a command opens its store."""

        def fail(*arguments: object, **options: object) -> None:
            raise error

        monkeypatch.setattr(everlog.kb.stores, "open", fail)

    given["next_open_raises"] = next_open_raises
    given["on_a_terminal"] = lambda: monkeypatch.setattr(stdout, "isatty", lambda: True)
    said = played(section, tmp_path, lambda: capfd.readouterr().err, **given)
    if WRITE:
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace(section.text, said.text), encoding="utf-8")
    else:
        assert said.text == section.text
