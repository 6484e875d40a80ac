"""The facts of a workload, written once to files that every measured process reads.

Each relation is written as ``NAME.arrow`` (for systems that take columns), ``NAME.tsv`` (for systems that read text)
and ``NAME.lp`` (for clingo). Columns are ``x`` and ``y``, int64 or string.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from bench.generators import Edges
from bench.progress import log_progress

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
"""The directory of real graphs and hierarchies beside the repository; it may be missing."""


class SharedWorkload(Protocol):
    """A workload that needs files of the shared data."""

    @property
    def name(self) -> str: ...
    @property
    def shared(self) -> tuple[str, ...]: ...


def is_here(workload: SharedWorkload) -> bool:
    """Whether the files that a workload needs are on this machine; a progress line says if not."""
    if all((SHARED / path).exists() for path in workload.shared):
        return True
    log_progress(f"{workload.name} skipped: its data is not here")
    return False


@dataclass(frozen=True)
class Inputs:
    """Relations as Arrow tables, and the directory that holds them as text."""

    directory: Path
    tables: Mapping[str, Any]

    @property
    def textual(self) -> bool:
        """Whether the constants are strings rather than integers."""
        return any(table.schema.field("x").type == pa.string() for table in self.tables.values())

    def head(self, rows: int) -> Inputs:
        """The first rows of every relation, for a warm-up run."""
        return Inputs(self.directory, {name: table.slice(0, rows) for name, table in self.tables.items()})


def table_of(edges: Edges) -> Any:
    x, y = (pa.array(np.ascontiguousarray(edges[:, column])) for column in (0, 1))
    return pa.table({"x": x, "y": y})


def read_shared(path: str) -> Any:
    """Read a tab-separated graph of the shared data without duplicates; columns are integers if all cells are."""
    names = pyarrow.csv.ReadOptions(column_names=["x", "y"])
    parse = pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False)
    table = pyarrow.csv.read_csv(SHARED / path, read_options=names, parse_options=parse)
    if table.schema.types != [pa.int64(), pa.int64()]:
        table = table.cast(pa.schema([("x", pa.string()), ("y", pa.string())]))
    return table.group_by(["x", "y"]).aggregate([]).combine_chunks()


def write(tables: Mapping[str, Any], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        with pa.OSFile(str(directory / f"{name}.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        write_tsv(table, directory / f"{name}.tsv")
        (directory / f"{name}.lp").write_text("\n".join(_ground_atoms(name, table).to_pylist()) + "\n")


def write_tsv(table: Any, path: Path) -> Path:
    """Write a table as tab-separated values without a header; return the path."""
    plain = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    pyarrow.csv.write_csv(table, path, plain)
    return path


def read(directory: Path) -> Inputs:
    """Read the relations of a directory that :func:`write` has filled."""
    tables = {}
    for path in sorted(directory.glob("*.arrow")):
        with pa.OSFile(str(path), "rb") as source:
            tables[path.stem] = pa.ipc.open_file(source).read_all()
    return Inputs(directory, tables)


def _ground_atoms(name: str, table: Any) -> Any:
    quote = "" if table.schema.field("x").type == pa.int64() else '"'
    x, y = (pc.cast(table.column(column).combine_chunks(), pa.string()) for column in ("x", "y"))
    return pc.binary_join_element_wise(f"{name}({quote}", x, f"{quote},{quote}", y, f"{quote}).", "")
