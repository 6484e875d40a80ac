"""The job of an update that Spark reasons for: the store is read by executors, and nothing of it comes here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.change import Change
from everlog.engine.match import Limits
from everlog.lake import COUNTED
from everlog.lang.errors import EverlogError
from everlog.lang.parser import parse_program
from everlog.pipeline.dictionary import new_terms
from everlog.pipeline.jobs import Clock, Report
from everlog.pipeline.session import session
from everlog.pipeline.sources import ReadOptions, resolve
from everlog.pipeline.split import Split
from everlog.pipeline.splits import splits
from everlog.pipeline.stage import Staged, stage, widest
from everlog.pipeline.triples import refuse_graphs
from everlog.spark.update import Repaired, StagedChange, update_on_spark
from everlog.store import Store, VersionInfo, begin
from everlog.store.compaction import compact_if_worth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.pipeline.updates import UpdateJob, UpdateResult


def update(job: UpdateJob, report: Report | None = None) -> UpdateResult:
    """The same as :func:`everlog.pipeline.updates.update`, with facts in executors only."""
    from everlog.pipeline.updates import UpdateResult

    clock = Clock(report or Report())
    with clock.phase("check"):
        store = Store.open(job.store)
        info = store.info()
        _refuse(job, info)
        program = stratify(check(parse_program(info.rules, f"{job.store} (rules of version {info.version})")))
        options = _options(job, program)
        refuse_graphs(options)
        parts = [splits(resolve(paths, options), options) for paths in (job.delete, job.insert)]
    with begin(job.store) as transaction:
        assert transaction.base_version == info.version
        with clock.phase("start Spark"):
            spark = session(job.master)
        with clock.phase("read"):
            deleted, inserted = (_stage(spark, job, options, part, program, transaction.work, info) for part in parts)
            existing = [str(store.layout.terms / file.name) for file in store.term_files(info.version)]
            terms = new_terms(spark, inserted.term_files, existing, transaction.work, salt=info.salt)
        with clock.phase("reason"):
            deadline = None if job.timeout is None else time.monotonic() + job.timeout
            files = (deleted.fact_files, inserted.fact_files, (*deleted.term_files, *inserted.term_files))
            staged = StagedChange(*files, transaction.work)
            limits = Limits(job.max_facts, deadline)
            found = update_on_spark(
                spark, program, store, info.version, staged, job.algorithm, job.strategy, limits=limits
            )
        version, compacted = info.version, None
        if found and not job.dry_run:
            with clock.phase("commit"):
                transaction.add_term_files(terms.files)
                transaction.add_fact_files(found.files)
                version = transaction.commit(
                    rules=info.rules,
                    statistics=found.figures,
                    bookkeeping=COUNTED if found.counted else "none",
                    operation="update",
                    salt=info.salt,
                )
    if job.compact and version != info.version:
        with clock.phase("compact"):
            compacted = compact_if_worth(Path(job.store))
    return UpdateResult(
        version,
        _change(found),
        deleted.rows + inserted.rows,
        (*deleted.bad, *inserted.bad),
        deleted.bad_count + inserted.bad_count,
        clock.seconds,
        compacted,
    )


def _refuse(job: UpdateJob, info: VersionInfo) -> None:
    """Refuse what only this machine can do."""
    if info.closures:
        hidden = ", ".join(str(closure["predicate"]) for closure in info.closures)
        hint = "use --engine local, or materialise again with a larger --expand-below"
        raise EverlogError.of("not-listed", f"Spark cannot update closures that are not listed: {hidden}", None, hint)
    if job.algorithm == "counting":
        hint = "use --engine local, or another algorithm"
        raise EverlogError.of("no-such-algorithm", "counting is done on this machine only", None, hint)


def _options(job: UpdateJob, program: StratifiedProgram) -> ReadOptions:
    return ReadOptions(
        header=job.header,
        types=job.types,
        prefixes=dict(program.program.prefixes),
        base=job.base,
        source=job.source,
        arities=program.program.arities,
        graphs=job.graphs,
    )


def _stage(
    spark: SparkSession,
    job: UpdateJob,
    options: ReadOptions,
    parts: Sequence[Split],
    program: StratifiedProgram,
    work: Path,
    info: VersionInfo,
) -> Staged:
    if not parts:
        return Staged(2)
    width = max([widest(parts, options), *(p.arity for p in program.program.predicates)])
    return stage(spark, parts, options, work, width=width, on_error=job.on_error, salt=info.salt)


def _change(found: Repaired) -> Change:
    """What changed, as far as the driver knows: numbers, no rows."""
    sizes = (found.inserted, found.deleted, found.explicit_inserted, found.explicit_deleted)
    numbers: list[Any] = [{p: range(size) for p, size in each.items()} for each in sizes]
    inserted, deleted, won, lost = numbers
    return Change(inserted, deleted, won, lost, found.not_explicit, found.stats)
