"""The inputs of a job, which are data files and the facts of its program, as files of ids and terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa

from everlog.analysis.check import CheckedProgram
from everlog.engine.hashing import hash_texts
from everlog.engine.kinds import merged_kinds
from everlog.engine.literals import literals_of
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.dictionary import new_terms
from everlog.ingest.programs import facts_in_program, program_columns
from everlog.ingest.sources import ReadOptions
from everlog.ingest.spill import Spill, write_parquet
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged, stage, staged_as, widest
from everlog.ingest.tasks import Runner
from everlog.ingest.values import fact_batch
from everlog.lang.internal import LITERAL
from everlog.lang.syntax import constants_of
from everlog.store.schema import TERMS

BATCH_ROWS = 1 << 18
"""Maximum number of a program's facts that are encoded at once."""


def encoded(
    runner: Runner,
    parts: Sequence[Split],
    program: CheckedProgram,
    options: ReadOptions,
    work: Path,
    *,
    on_error: str,
    salt: int,
    progress: AmountProgress | None = None,
) -> Staged:
    """Write data and program into files of ids and terms in ``work``; terms are sorted and distinct.

    ``progress`` is called with the amount that is read so far.
    """
    width = max([widest(parts, options), *(p.arity for p in program.predicates)])
    literals = LITERAL in program.predicates
    staged = stage(
        runner, parts, options, work, width=width, on_error=on_error, salt=salt, progress=progress, literals=literals
    )
    own = staged_program(program, program, work, width=width, salt=salt, literals=literals)
    terms = new_terms(runner, [*staged.term_files, *own.term_files], (), work, salt=salt)
    facts, kinds = (*staged.fact_files, *own.fact_files), merged_kinds([staged.kinds, own.kinds])
    return replace(staged, fact_files=facts, term_files=terms.files, rows=staged.rows + own.rows, kinds=kinds)


def staged_program(
    program: CheckedProgram, given: CheckedProgram, work: Path | None, *, width: int, salt: int, literals: bool
) -> Staged:
    """Write the facts of the program ``given`` into files in ``work``, with the terms of the rules of ``program`` and
    the names of its predicates; without ``work`` this process holds them.

    With ``literals`` there is a fact for each literal in facts and rules; see :mod:`everlog.engine.literals`.
    """
    own = Spill(work, width, salt=salt, literals=literals)
    for batch in chain(_batches(given), _literals(program) if literals else ()):
        own.add(batch)
    own.flush()
    names = _named(program, salt)
    files = [] if work is None else [write_parquet(names, work, "program-terms")]
    held = [names] if work is None else []
    kinds = {p: kinds for p, kinds in own.kinds.items() if p != LITERAL}
    parts = (own.fact_files, [*own.term_files, *files]), (own.held_facts, [*own.held_terms, *held])
    return Staged(width, rows=facts_in_program(given), kinds=kinds, **staged_as(*parts))


def _batches(program: CheckedProgram) -> Iterator[pa.RecordBatch]:
    """The facts of a program as batches of texts."""
    for predicate, columns, size in program_columns(program):
        batch = fact_batch(predicate, columns, size)
        yield from (batch.slice(start, BATCH_ROWS) for start in range(0, size, BATCH_ROWS))


def _literals(program: CheckedProgram) -> Iterator[pa.RecordBatch]:
    """The facts for the literals in the rules of a program, as a batch of texts."""
    texts = literals_of(program.rules)
    if len(texts):
        yield fact_batch(LITERAL, [texts], len(texts))


def _named(program: CheckedProgram, salt: int) -> pa.Table:
    """The predicates of a program and the constants of its rules, as terms sorted by id."""
    texts = {*map(str, program.predicates), *(constant.text for constant in constants_of(program.rules))}
    column = pa.array(sorted(texts), pa.string())
    return pa.table({"id": hash_texts(column, salt=salt), "text": column}, schema=TERMS).sort_by("id")
