"""Export of facts as files of CSV or Parquet, one for each predicate."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from everlog.cli.left_out import LeftOut
from everlog.cli.writers import write_csv
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, Place
from everlog.lang.syntax import Predicate
from everlog.query.answers import Rows

MANIFEST = "_manifest.json"
NO_COLUMNS = "a fact without arguments has no columns"


def export_files(
    parts: Mapping[Predicate, Rows], form: str, output: str, prefixes: Mapping[str, str], *, skip: bool
) -> tuple[int, LeftOut]:
    """Write one file for each predicate into a new directory; returns the number of facts written, and those left out.

    A fact without arguments is an error unless such facts are to be skipped.
    """
    left_out = LeftOut()
    for predicate, rows in parts.items():
        if predicate.arity == 0:
            left_out.add(NO_COLUMNS, predicate, len(rows))
    if not skip:
        left_out.refuse()
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        hint = "choose a new or empty directory"
        raise EverlogError.of(Code.OUTPUT_EXISTS, "there is something here already", Place(output), hint)
    making = target.with_name(f".{target.name}.{os.getpid()}")
    making.mkdir(parents=True)
    try:
        written = _write_files(parts, form, making, prefixes)
        if target.exists():
            target.rmdir()
        making.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return written, left_out


def _write_files(parts: Mapping[Predicate, Rows], form: str, target: Path, prefixes: Mapping[str, str]) -> int:
    manifest: list[dict[str, Any]] = []
    names = file_names(parts)
    for predicate, rows in parts.items():
        file = f"{names[predicate]}.{form}" if predicate.arity > 0 else None
        if file is not None:
            _write_file(rows, target / file, form, prefixes)
        manifest.append({"predicate": predicate.name, "arity": predicate.arity, "facts": len(rows), "file": file})
    (target / MANIFEST).write_text(json.dumps({"format": form, "relations": manifest}, indent=2), encoding="utf-8")
    return sum(entry["facts"] for entry in manifest if entry["file"] is not None)


def _write_file(rows: Rows, path: Path, form: str, prefixes: Mapping[str, str]) -> None:
    if form == "csv":
        with path.open("wb") as file:
            write_csv(rows, len(rows), file, prefixes, header=False)
        return
    with pq.ParquetWriter(path, rows.schema) as writer:
        for batch in rows.batches():
            writer.write_batch(batch)


def file_names(predicates: Mapping[Predicate, Any]) -> dict[Predicate, str]:
    """A file name for each predicate: its name, or the end of its IRI; repeated names get numbers.

    >>> names = file_names({Predicate("p", 1): 0, Predicate("<http://e.org/x#p>", 2): 0})
    >>> list(names.values())
    ['p', 'p-2']
    """
    found: dict[Predicate, str] = {}
    taken: set[str] = set()
    for predicate in sorted(predicates, key=lambda p: (p.name.startswith("<"), p)):
        stem = name = _file_name(predicate.name)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        found[predicate] = name
    return found


def _file_name(name: str) -> str:
    """A name of letters, digits, ``_`` and ``-``, that does not begin with a character that readers ignore."""
    if not name.startswith("<"):
        return name
    end = re.split(r"[/#:]", name.strip("<>").rstrip("/#:"))[-1]
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", end).strip("_")
    return safe[:100] if re.match("[A-Za-z]", safe) else f"p{safe[:100]}"
