"""Damaged snapshots are not used: readers answer from the tables, and writers build on the tables."""

from __future__ import annotations

import json
import logging
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everlog
from everlog import KnowledgeBase
from everlog.store import Store, snapshot
from everlog.store import states as snapshots
from tests.kb.test_store_updates import check_store, everything
from tests.store.verified import verify

PAGE = 4096
RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
back(?y, ?x) :- edge(?x, ?y) .
three(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
"""
EDGES = [(f"node {i}", f"node {i + 1}") for i in range(2000)]


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A store with 2,000 explicit facts, 2,000 derived ones, and a snapshot."""
    made = KnowledgeBase("back(?y, ?x) :- edge(?x, ?y) .")
    made.insert("edge", EDGES)
    made.save(tmp_path / "kb")
    return tmp_path / "kb"


def data_of(path: Path, version: int = 0) -> Path:
    (found,) = (path / "snapshot").glob(f"v{version}-*/data.bin")
    return found


def place_of(data: Path, array: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data.parent / "manifest.json").read_text())["arrays"][array]
    return found


def overwrite(file: Path, offset: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(content)


def test_a_zeroed_page_changes_no_answer(kb: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = data_of(kb)
    overwrite(data, place_of(data, "keys")["offset"] // PAGE * PAGE + PAGE, bytes(PAGE))
    with caplog.at_level(logging.INFO, "everlog"):
        opened = everlog.open(kb)
    assert sorted(opened.query("edge(?x, ?y)").rows()) == sorted(EDGES)
    assert sorted(opened["back"].rows()) == sorted((y, x) for x, y in EDGES)
    (message,) = [record.getMessage() for record in caplog.records if "is damaged" in record.getMessage()]
    assert "'keys' in data.bin does not have the checksum" in message
    assert verify(Store.open(kb)) == [], "opening made a new snapshot"


def test_no_update_builds_on_a_damaged_snapshot(kb: Path) -> None:
    data = data_of(kb)
    overwrite(data, place_of(data, "keys")["offset"] // PAGE * PAGE + PAGE, bytes(PAGE))
    opened = everlog.open(kb)
    opened.update(insert={"edge": [("a", "b")]}, delete={"edge": EDGES[:10]})
    opened.save()
    shutil.rmtree(kb / "snapshot")
    assert sorted(everlog.open(kb)["back"].rows()) == sorted((y, x) for x, y in [*EDGES[10:], ("a", "b")])
    check_store(kb)


def test_a_flipped_bit_in_the_offsets_is_no_segmentation_fault(kb: Path) -> None:
    data = data_of(kb)
    at = place_of(data, "offsets")["offset"] + 8 * 700 + 6
    overwrite(data, at, bytes([data.read_bytes()[at] ^ 0x40]))
    assert sorted(everlog.open(kb)["edge"].rows()) == sorted(EDGES)


def test_verify_names_a_damaged_snapshot(kb: Path) -> None:
    data = data_of(kb)
    overwrite(data, 0, b"x")
    (found,) = verify(Store.open(kb))
    assert str(data.parent) in found
    assert "the snapshot is damaged" in found


def test_changes_do_not_take_terms_from_a_damaged_snapshot(kb: Path) -> None:
    opened = everlog.open(kb)
    opened.update(insert={"edge": [("a", "b")]})
    opened.save()
    for data in (kb / "snapshot").glob("v*/data.bin"):
        place = place_of(data, "data")
        overwrite(data, place["offset"], b"x" * min(PAGE, place["bytes"]))
    assert everlog.changes(kb, 0, 1).inserted["back"].rows() == [("b", "a")]


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("offsets", lambda array: array + 1),
        ("offsets", lambda array: array[::-1].copy()),
        ("keys", lambda array: array | 1 << 30),
        ("keys", lambda array: -array),
        ("places", lambda array: np.add(array, [0, 0, 1, 0, 0, 0])),
        ("places", lambda array: np.add(array, [0, 0, 0, 0, 1 << 40, 0])),
        ("places", lambda array: np.subtract(array, [0, 0, 0, 1 << 40, 0, 0])),
        ("places", lambda array: np.add(array, [0, 0, 0, 0, 0, 1 << 40])),
        ("places", lambda array: np.subtract(array, [0, 0, 0, 0, 0, 7])),
        ("places", lambda array: np.add(array, [7, 0, 0, 0, 0, 0])),
        ("places", lambda array: np.add(array, [0, 8, 0, 0, 0, 0])),
    ],
)
def test_what_points_to_nothing_is_refused_whatever_its_checksum(
    kb: Path, array: str, change: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
) -> None:
    store = Store.open(kb)
    good = store.snapshot()
    assert good is not None
    store.write_snapshot(0, {**good.arrays, array: change(good.arrays[array])}, good.manifest)
    with caplog.at_level(logging.WARNING, "everlog"):
        opened = everlog.open(kb)
    assert "is damaged and not used" in caplog.text
    assert sorted(opened["edge"].rows()) == sorted(EDGES)
    opened = everlog.open(kb)
    opened.update(insert={"edge": [("a", "b")]})
    opened.save()
    check_store(kb)


@pytest.mark.slow
def test_no_damage_changes_an_answer_or_what_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random damage to bits, pages, lengths and manifests of snapshots in several layers."""
    monkeypatch.setattr(snapshots, "WHOLE_SHARE", 0)
    monkeypatch.setattr(snapshots, "SMALL", 10)
    monkeypatch.setattr(snapshots, "GROWTH", 2)
    whole = tmp_path / "whole"
    made = KnowledgeBase(RULES)
    made.insert("edge", [(f"n{i}", f"n{(i * 7 + 3) % 60}") for i in range(60)])
    made.save(whole)
    for number in (1, 2):
        made.update(
            insert={"edge": [(f"n{number}", f"m{number}")]}, delete={"edge": [(f"n{number}", f"n{number + 7}")]}
        )
        made.save()
    layers = sorted(path.name for path in (whole / "snapshot").iterdir())
    assert len(layers) > 1, "there are layers"
    expected, after = seen(whole), updated(copied(whole, tmp_path / "after"))
    chosen, noticed = random.Random(17), 0
    for number in range(200):
        place = copied(whole, tmp_path / f"damaged {number}")
        done = damage(place / "snapshot" / chosen.choice(layers), chosen)
        noticed += bool(list(snapshot.damage(place / "snapshot")))
        assert seen(place) == expected, done
        assert updated(place) == after, done
        shutil.rmtree(place)
    assert noticed > 150


def copied(whole: Path, place: Path) -> Path:
    shutil.copytree(whole, place)
    return place


def seen(path: Path) -> tuple[Any, ...]:
    return everything(everlog.open(path).listed())


def updated(path: Path) -> tuple[Any, ...]:
    opened = everlog.open(path)
    opened.update(insert={"edge": [("n3", "new"), ("new", "n9")]}, delete={"edge": [("n5", "n38")]})
    opened.save()
    shutil.rmtree(path / "snapshot")
    check_store(path)
    return seen(path)


def damage(layer: Path, chosen: random.Random) -> str:
    """Damage a layer in a random way; return a description."""
    data, manifest = layer / "data.bin", layer / "manifest.json"
    kind = chosen.choice(["bit", "page", "cut", "longer", "noise", "text", "number", "gone", "empty"])
    file = manifest if kind in ("text", "number") else data
    content = bytearray(file.read_bytes())
    at = chosen.randrange(len(content))
    if kind == "bit":
        content[at] ^= 1 << chosen.randrange(8)
    elif kind == "page":
        content[at // PAGE * PAGE : at // PAGE * PAGE + PAGE] = bytes(min(PAGE, len(content) - at // PAGE * PAGE))
    elif kind == "cut":
        del content[at:]
    elif kind == "longer":
        content += bytes(at)
    elif kind == "noise":
        content[at : at + 64] = np.random.default_rng(at).bytes(len(content[at : at + 64]))
    elif kind == "text":
        content[at] = chosen.randrange(32, 127)
    elif kind == "number":
        digits = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
        content[chosen.choice(digits)] = chosen.randrange(48, 58)
    else:
        content.clear()
    if kind == "gone":
        file.unlink()
    else:
        file.write_bytes(content)
    return f"{kind} at {at} of {file.name} of {layer.name}"
