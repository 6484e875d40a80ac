"""Facts with blank nodes that are to be removed from a store."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.ingest.rdf import blank_prefix
from everlog.jobs.update import UpdateJob, UpdateResult, update
from everlog.lang.errors import DataError

DATA = "<x:a> <x:p> _:b .\n_:b <x:q> _:c .\n<x:a> <x:p> _:c .\n"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store into which data.nt was loaded."""
    place = str(tmp_path / "kb")
    everlog.KnowledgeBase("seen(?x) :- <x:p>(?y, ?x) .").save(place)
    (tmp_path / "data.nt").write_text(DATA)
    update(UpdateJob(place, (str(tmp_path / "data.nt"),)))
    assert len(everlog.open(place)["seen"]) == 2
    return place


def delete(store: str, path: Path, text: str, source: str | None = None, on_error: str = "stop") -> UpdateResult:
    path.write_text(text)
    return update(UpdateJob(store, (), (str(path),), source=source, on_error=on_error))


def seen(store: str) -> list[str]:
    return [str(row[0]) for row in everlog.open(store)["seen"].rows()]


def test_a_file_of_the_same_name_names_the_same_nodes(store: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    delete(store, tmp_path / "other" / "data.nt", "<x:a> <x:p> _:b .\n")
    assert seen(store) == [f"{blank_prefix('data.nt')}c"]


def test_the_source_can_be_named(store: str, tmp_path: Path) -> None:
    delete(store, tmp_path / "gone.nt", "<x:a> <x:p> _:b .\n", source="data.nt")
    assert seen(store) == [f"{blank_prefix('data.nt')}c"]


@pytest.mark.parametrize("name", ["gone.nt", "gone.nq", "gone.ttl"])
def test_stored_labels_are_found(store: str, tmp_path: Path, name: str) -> None:
    label = f"{blank_prefix('data.nt')}b"
    result = delete(store, tmp_path / name, f"<x:a> <x:p> {label} .\n{label} <x:q> {label} .\n")
    assert seen(store) == [f"{blank_prefix('data.nt')}c"]
    assert result.change.not_explicit == 1


def test_other_blank_nodes_are_an_error(store: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        delete(store, tmp_path / "gone.nt", "<x:a> <x:p> _:b .\n<x:a> <x:p> _:z .\n")
    (wrong,) = caught.value.diagnostics
    assert (wrong.code, str(wrong.place)) == ("unknown-blank-nodes", str(tmp_path / "gone.nt"))
    assert wrong.message.endswith("the store does not know: _:b, _:z")
    assert "--source NAME" in str(wrong.hint)
    assert len(seen(store)) == 2


def test_unlabelled_nodes_are_told_by_number(store: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"an unlabelled node \(1\)"):
        delete(store, tmp_path / "gone.ttl", "<x:a> <x:p> [] .\n")


def test_unknown_blank_nodes_can_be_skipped(store: str, tmp_path: Path) -> None:
    result = delete(store, tmp_path / "gone.nt", "<x:a> <x:p> _:z .\n", on_error="skip")
    assert (result.change.not_explicit, len(seen(store))) == (1, 2)
