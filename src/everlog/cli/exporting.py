"""Facts as files: CSV and Parquet, one file a predicate, or N-Triples."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.cli.cells import data_of, joined, ntriples_terms
from everlog.cli.writers import sink, text_batches, write_csv
from everlog.lang.errors import EverlogError, Place
from everlog.lang.printer import print_text
from everlog.lang.syntax import Predicate
from everlog.lang.terms import RDF_TYPE
from everlog.query.answers import Rows

MANIFEST = "_manifest.json"
NO_TRIPLE = {
    "bare": "the predicate is not an IRI",
    "arity": "triples are facts with one or two arguments",
    "subject": "the first argument is neither an IRI nor a blank node",
}
NO_COLUMNS = "a fact without arguments has no columns"


def export_files(
    parts: Mapping[Predicate, Rows], form: str, output: str, prefixes: Mapping[str, str]
) -> tuple[int, Mapping[str, int]]:
    """Write a file a predicate into a new directory; returns facts written, and left out by reason."""
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        hint = "choose a new or empty directory"
        raise EverlogError.of("output-exists", "there is something here already", Place(output), hint)
    making = target.with_name(f".{target.name}.{os.getpid()}")
    making.mkdir(parents=True)
    try:
        found = _write_files(parts, form, making, prefixes)
        if target.exists():
            target.rmdir()
        making.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return found


def _write_files(
    parts: Mapping[Predicate, Rows], form: str, target: Path, prefixes: Mapping[str, str]
) -> tuple[int, Mapping[str, int]]:
    manifest: list[dict[str, Any]] = []
    skipped: Counter[str] = Counter()
    names = file_names(parts)
    for predicate, rows in parts.items():
        said: dict[str, Any] = {"predicate": predicate.name, "arity": predicate.arity, "facts": len(rows), "file": None}
        if predicate.arity == 0:
            skipped[NO_COLUMNS] += len(rows)
        else:
            said["file"] = f"{names[predicate]}.{form}"
            _write_file(rows, target / said["file"], form, prefixes)
        manifest.append(said)
    (target / MANIFEST).write_text(json.dumps({"format": form, "relations": manifest}, indent=2), encoding="utf-8")
    written = sum(said["facts"] for said in manifest if said["file"] is not None)
    return written, +skipped


def _write_file(rows: Rows, path: Path, form: str, prefixes: Mapping[str, str]) -> None:
    if form == "csv":
        with path.open("wb") as file:
            write_csv(rows, len(rows), file, prefixes, header=False)
        return
    with pq.ParquetWriter(path, rows.schema) as writer:
        for batch in rows.batches():
            writer.write_batch(batch)


def file_names(predicates: Mapping[Predicate, Any]) -> dict[Predicate, str]:
    """A file name for each predicate: its own, or the end of its IRI; a number tells equal ones apart.

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
    """A name made of letters, digits, ``_`` and ``-`` only, that no reader of directories ignores."""
    if not name.startswith("<"):
        return name
    end = re.split(r"[/#:]", name.strip("<>").rstrip("/#:"))[-1]
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", end).strip("_")
    return safe[:100] if re.match("[A-Za-z]", safe) else f"p{safe[:100]}"


def export_ntriples(parts: Mapping[Predicate, Rows], output: str | None) -> tuple[int, Mapping[str, int]]:
    """Write facts as triples; returns how many, and how many were left out by reason."""
    written = 0
    skipped: Counter[str] = Counter()
    with sink(output) as file:
        for predicate, rows in parts.items():
            if not predicate.name.startswith("<"):
                skipped[NO_TRIPLE["bare"]] += len(rows)
            elif predicate.arity not in (1, 2):
                skipped[NO_TRIPLE["arity"]] += len(rows)
            else:
                count = _write_triples(predicate, rows, file)
                written += count
                skipped[NO_TRIPLE["subject"]] += len(rows) - count
    return written, +skipped


def _write_triples(predicate: Predicate, rows: Rows, file: IO[bytes]) -> int:
    name, written = print_text(predicate.name), 0
    for texts in text_batches(rows, len(rows)):
        node = pc.match_substring_regex(texts[0], "^[<_]")
        columns: list[pa.LargeStringArray] = [ntriples_terms(column.filter(node)) for column in texts]
        end: list[Any] = [f" {name} ", columns[1], " .\n"] if predicate.arity == 2 else [f" {RDF_TYPE} {name} .\n"]
        file.write(data_of(joined([columns[0], *end])))
        written += len(columns[0])
    return written
