"""Named graphs are merged, and a warning names each file that has them."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

import everlog
from everlog import KnowledgeBase
from everlog.ingest.rdf import PEEKED, merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.lang.errors import EverlogWarning
from tests.cli.running import CommandLine

A, P = "<http://e.org/a>", "<http://e.org/p>"
FILES = {
    "named.nq": (f"{A} {P} 'x' .\n{A} {P} 'y' <http://e.org/g> .\n".replace("'", '"'), "<http://e.org/g>"),
    "named.trig": (f"{A} {P} 1 . <http://e.org/g> {{ {A} {P} 2 }}", "<http://e.org/g>"),
    "blank.trig": (f"_:g {{ {A} {P} 2 }}", "_:"),
    "default.nq": (f'{A} {P} "x" .\n', None),
    "default.trig": (f"{{ {A} {P} 2 }}", None),
    "empty.nq": ("", None),
    "wrong.trig": (f"{A} {P} .", None),
    "plain.nt": (f'{A} {P} "x" .\n', None),
    "far.nq": (f'{A} {P} "x" .\n' * PEEKED + f'{A} {P} "y" <http://e.org/g> .\n', None),
}


@pytest.mark.parametrize("name", FILES)
def test_files_with_named_graphs_are_warned_of(tmp_path: Path, name: str) -> None:
    text, graph = FILES[name]
    plain, packed = tmp_path / name, tmp_path / f"packed-{name}.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for options in (ReadOptions(), ReadOptions(graphs=True)):
        parts = splits(resolve([str(plain), str(packed)], options), options)
        found = list(merged_graphs(parts, options))
        assert len(found) == (2 if graph is not None and not options.graphs else 0)
        assert all(f"such as {graph}" in each.message for each in found)


def test_loading_in_python_warns(tmp_path: Path) -> None:
    (tmp_path / "named.nq").write_text(FILES["named.nq"][0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        KnowledgeBase().load(str(tmp_path / "named.nq"))
    codes = [each.message.diagnostic.code for each in seen if isinstance(each.message, EverlogWarning)]
    assert "merged-graphs" in codes


def test_updating_a_store_warns(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    (tmp_path / "named.nq").write_text(FILES["named.nq"][0])
    everlog.KnowledgeBase("q(?x) :- <http://e.org/p>(?x, _) .").save(tmp_path / "kb")
    done = CommandLine(capfdbinary)("update", tmp_path / "kb", "--insert", tmp_path / "named.nq")
    assert done.status == 0
    assert "warning[merged-graphs]: the names of its graphs, such as <http://e.org/g>, are left out" in done.err
