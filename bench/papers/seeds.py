"""The papers' programs and facts as they were published, and LUBM's facts in the vocabulary of its program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from bench import lubm
from bench.inputs import SHARED
from bench.maintenance.workloads import Facts
from bench.modules.data import numbered

SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"


def rules(path: str) -> str:
    """The rules of a file of the shared data."""
    return (SHARED / path).read_text()


def without_equality(path: str) -> str:
    """The rules of a file without those that read ``owl:sameAs``, which the journal treats as an ordinary property.

    This leaves 306 recursive rules of Claros-LE in 11 strata, as the journal's table 2 has them."""
    lines = rules(path).splitlines()
    return "\n".join(line for line in lines if SAME_AS not in line.partition(":-")[2])


def facts(folder: str, most: int) -> Facts:
    """The facts of a directory of the shared data with a file for each predicate, at most ``most`` of each."""
    paths = sorted((SHARED / folder).glob("*.csv.gz"))
    return numbered({path.name.removesuffix(".csv.gz"): _read(path).slice(0, most) for path in paths})


def _read(path: Path) -> Any:
    """A table without headings; its cells stay texts."""
    read = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
    types = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(("f0", "f1"), pa.string()))
    return pyarrow.csv.read_csv(path, read_options=read, convert_options=types)


def universities(count: int, most: int) -> Facts:
    """The facts of LUBM about a number of universities, at most ``most`` of each predicate; classes are unary."""
    columns: dict[str, list[Any]] = {}
    for subject, property, value in _triples(count):
        name, row = (value, (subject,)) if property == lubm.TYPE else (property, (subject, value))
        columns.setdefault(name, []).append(row)
    tables = {name: pa.table(list(zip(*rows[:most], strict=True)), ["x", "y"][: len(rows[0])])
              for name, rows in columns.items()}  # fmt: skip
    return numbered(tables)


def _triples(count: int) -> Iterable[lubm.Triple]:
    for number in range(count):
        yield from lubm.university(number)
