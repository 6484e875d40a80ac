"""Updates of stores by look-ups, run in this process."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.backends.asked import ChangeOptions
from everlog.backends.lookup.update import LOOKED_UP, LookUpTask
from everlog.backends.too_much import GivenUp
from everlog.backends.written import WrittenChange
from everlog.engine.hashing import hash_text
from everlog.ingest.dictionary import new_terms
from everlog.ingest.tasks import IN_PROCESS
from everlog.kb.saving import NewVersion, bookkeeping_of
from everlog.lang.parser import parse_program
from everlog.store import Store, VersionInfo, begin
from tests.oracle.naive import Fact

MANY = 1 << 40


def program_in(info: VersionInfo) -> StratifiedProgram:
    return stratify(check(parse_program(info.rules)), info.statistics.get("stratification", "levels"))


def staged(facts: Iterable[Fact], work: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write files of facts and of their terms, as the pipeline stages them."""
    found = sorted(facts)
    if not found:
        return (), ()
    width = max(2, *(len(row) for _, row in found), 2)
    rows = [[hash_text(str(p)), *map(hash_text, row), *[None] * (width - len(row))] for p, row in found]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(["predicate", *(f"c{i}" for i in range(width))])}
    texts = sorted({str(p) for p, _ in found} | {text for _, row in found for text in row}, key=hash_text)
    paths = [work / f"{uuid.uuid4().hex}.parquet" for _ in range(2)]
    pq.write_table(pa.table({name: pa.array(column, pa.int64()) for name, column in columns.items()}), paths[0])
    pq.write_table(pa.table({"id": pa.array(list(map(hash_text, texts)), pa.int64()), "text": texts}), paths[1])
    return (str(paths[0]),), (str(paths[1]),)


def looked_up(store: Path, delete: Iterable[Fact], insert: Iterable[Fact], **how: Any) -> WrittenChange | GivenUp:
    """Update a store by look-ups, and commit the change."""
    with begin(store) as transaction:
        info = transaction.base
        assert info is not None
        work = transaction.work
        work.mkdir(parents=True, exist_ok=True)
        (deleted, more), (inserted, terms) = staged(delete, work), staged(insert, work)
        most = how.pop("facts", MANY)
        options = ChangeOptions(look_up_rows=how.pop("rows", MANY), **how)
        files = (deleted, inserted, (*more, *terms))
        task = LookUpTask(str(store), info.version, program_in(info), *files, str(work), most, options)
        found = task.run()
        if isinstance(found, GivenUp) or not found:
            return found
        existing = Store.open(store)
        known = [str(existing.layout.terms / file.name) for file in existing.term_files(info.version)]
        new = new_terms(IN_PROCESS, terms, known, work)
        said = info.rules, found.figures, bookkeeping_of("none", is_counted=found.counted), info.closures, info.modules
        NewVersion("update", *said, info.salt, fact_files=found.files, term_files=new.files).commit(transaction)
    return found


def read(found: WrittenChange) -> int:
    """The number of rows that an update has read."""
    rows: int = found.figures["update"][LOOKED_UP]
    return rows


def rows_in(store: Path, version: int | None = None) -> list[dict[str, Any]]:
    """The facts of a store with their weights."""
    return [row for batch in Store.open(store).facts(version) for row in batch.to_pylist()]
