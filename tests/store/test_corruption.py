"""Changed bytes in tables and logs: every operation gives the right answer or an error that reports the damage."""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import everlog
from everlog.lang.errors import EverlogError, EverlogWarning, StoreError
from everlog.store import Store, begin
from everlog.store.layout import StoreLayout
from tests.store.small import EDGES, MORE, write
from tests.store.verified import verify

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
VERSIONS = 12
"""Number of versions, enough for a checkpoint."""

EACH = 8
"""Number of bits that are flipped in each file."""

Answers = dict[str, list[Any]]


def data_files(kb: Path, table: str) -> list[Path]:
    return sorted((kb / table).glob("*.parquet"))


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    write(tmp_path / "kb", EDGES)
    return tmp_path / "kb"


@pytest.mark.parametrize("table", ["facts", "terms"])
def test_a_changed_byte_in_a_page_is_an_error_that_names_the_file(kb: Path, table: str) -> None:
    (path,) = data_files(kb, table)
    column = pq.read_metadata(path).row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start + column.total_compressed_size - 2] ^= 1
    path.write_bytes(content)
    store = Store.open(kb)
    with pytest.raises(StoreError, match=path.name) as caught:
        assert list(store.facts()) if table == "facts" else store.terms()
    assert caught.value.diagnostics[0].code == "damaged-file"
    assert any(path.name in found for found in verify(store))


@pytest.mark.parametrize("table", ["facts", "terms"])
def test_a_changed_byte_in_a_footer_is_an_error_that_names_the_file(kb: Path, table: str) -> None:
    (path,) = data_files(kb, table)
    content = bytearray(path.read_bytes())
    content[-30] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match=f"{path.name} has a footer that is not as it was written"):
        assert list(Store.open(kb).facts()) if table == "facts" else Store.open(kb).terms()


@pytest.mark.parametrize("table", ["facts", "terms"])
def test_a_file_of_another_size_is_an_error(kb: Path, table: str) -> None:
    (path,) = data_files(kb, table)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(StoreError, match=f"{path.name} has {size + 4} bytes, the log says {size}"):
        assert list(Store.open(kb).facts()) if table == "facts" else Store.open(kb).terms()


@pytest.mark.parametrize("table", ["facts", "terms"])
@pytest.mark.parametrize("lost", [True, False])
def test_nothing_is_written_on_top_of_files_that_are_gone_or_cut_off(kb: Path, table: str, lost: bool) -> None:
    (path,) = data_files(kb, table)
    if lost:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match=path.name):
        write(kb, MORE)
    assert Store.open(kb).version == 0
    with begin(kb, overwrite=True):
        pass


def test_a_snapshot_does_not_hide_that_data_files_are_gone(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(RULES)
    kb.insert("edge", [("a", "b")])
    kb.save(tmp_path / "kb")
    data_files(tmp_path / "kb", "facts")[0].unlink()
    kb = everlog.open(tmp_path / "kb")
    kb.insert("edge", [("b", "c")])
    with pytest.raises(StoreError, match="is gone"):
        kb.save()


# A sweep ----------------------------------------------------------------------------------------


def made(place: Path) -> list[Answers]:
    """Make a store of some versions, without snapshots; return the answers of each version."""
    kb = everlog.KnowledgeBase(RULES)
    kb.insert("edge", [(f"n{number}", f"n{number + 1}") for number in range(6)])
    kb.save(place)
    found = [answers(kb)]
    for number in range(1, VERSIONS):
        new: dict[Any, Any] = {
            "edge": [(f"new{number}", "n0")],
            **({"wide": [("a", "b", "c")]} if number == VERSIONS - 1 else {}),
        }
        kb.update(insert=new, delete={"edge": [("n5", "n6")]})
        kb.save()
        found += [*found[-1:] * ("wide" in new), answers(kb)]  # a version of its own makes room for the larger arity
    shutil.rmtree(place / "snapshot")
    return found


def answers(kb: everlog.KnowledgeBase) -> Answers:
    return {name: sorted(kb[name].rows(), key=str) if name in kb else [] for name in ("edge", "path", "wide")}


def damages(content: bytes, draw: random.Random, count: int) -> Iterator[bytes]:
    """The content with a bit flipped, some bytes zeroed, or cut off, at random positions."""
    for _ in range(count):
        place = draw.randrange(len(content))
        yield content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
    for _ in range(count // 4):
        place = draw.randrange(len(content))
        yield (content[:place] + bytes(min(16, len(content) - place)) + content[place + 16 :])[: len(content)]
        yield content[:place]


@pytest.mark.slow
def test_damage_anywhere_gives_the_right_answer_or_an_error(tmp_path: Path) -> None:
    whole, kb, draw = tmp_path / "whole", tmp_path / "kb", random.Random(7)
    expected = made(whole)
    picked = [
        path
        for table in (whole / "facts", whole / "terms")
        for path in (
            *data_files(whole, table.name)[:: VERSIONS // 2],
            *(StoreLayout.commit_file(table, version) for version in (0, 5, VERSIONS - 1)),
            *sorted(StoreLayout.log(table).glob("*check*")),
        )
    ]
    wrong = []
    for path in picked:
        content = path.read_bytes()
        for number, damage in enumerate(damages(content, draw, EACH)):
            shutil.rmtree(kb, ignore_errors=True)
            shutil.copytree(whole, kb)
            (kb / path.relative_to(whole)).write_bytes(damage)
            for does in (reads, reads_an_old_version, verifies, updates):
                if (problem := outcome(does, kb, expected)) is not None:
                    wrong.append(f"{path.relative_to(whole)} {number}: {does.__name__}: {problem}")
    assert not wrong, "\n".join(wrong)


Doing = Callable[[Path, list[Answers]], None]


def outcome(does: Doing, kb: Path, expected: list[Answers]) -> str | None:
    """The problem of an operation; None for a right answer or a reported error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EverlogWarning)
        try:
            does(kb, expected)
        except EverlogError:
            return None
        except BaseException as error:
            return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def reads(kb: Path, expected: list[Answers]) -> None:
    opened = everlog.open(kb)
    assert opened.saved is not None
    assert answers(opened) == expected[opened.saved.version]
    shutil.rmtree(kb / "snapshot", ignore_errors=True)


def reads_an_old_version(kb: Path, expected: list[Answers]) -> None:
    assert answers(everlog.open(kb, 5)) == expected[5]
    changed = everlog.changes(kb, 4, 5)
    assert sorted(changed.inserted["edge"].rows()) == sorted({*expected[5]["edge"]} - {*expected[4]["edge"]})


def verifies(kb: Path, expected: list[Answers]) -> None:
    assert isinstance(verify(Store.open(kb)), list)


def updates(kb: Path, expected: list[Answers]) -> None:
    opened = everlog.open(kb)
    assert opened.saved is not None
    opened.update(insert={"edge": [("x", "y")]})
    before = opened.saved.version
    opened.save()
    shutil.rmtree(kb / "snapshot", ignore_errors=True)
    found = answers(everlog.open(kb))
    old = expected[before]
    assert found == {
        **old,
        "edge": sorted([*old["edge"], ("x", "y")], key=str),
        "path": sorted([*old["path"], ("x", "y")], key=str),
    }
