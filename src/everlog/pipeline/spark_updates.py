"""The job of an update that Spark reasons for: the store is read by executors, and nothing of it comes here.

A store of at most ``spark-local-finish`` rows is repaired in one task, by the local engine.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.analysis.check import check
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.change import Change
from everlog.engine.limits import Limits
from everlog.lake import COUNTED
from everlog.lang.errors import EverlogError
from everlog.lang.parser import parse_program
from everlog.pipeline.dictionary import new_terms
from everlog.pipeline.engines import plan_settings
from everlog.pipeline.jobs import no_representatives_on_spark
from everlog.pipeline.reports import Clock, Report
from everlog.pipeline.session import session
from everlog.pipeline.sources import ReadOptions, resolve
from everlog.pipeline.split import Split
from everlog.pipeline.splits import large_files, splits
from everlog.pipeline.stage import Staged, stage, widest
from everlog.pipeline.stored_labels import with_stored_labels
from everlog.pipeline.tasks import run_tasks, work_directory
from everlog.pipeline.triples import refuse_graphs
from everlog.pipeline.update_task import UpdateTask, run_update
from everlog.spark.opening import program_of
from everlog.spark.plans import PlanSettings
from everlog.spark.settings import SparkSettings
from everlog.spark.update import Repaired, StagedChange, update_on_spark
from everlog.store import Store, VersionInfo, begin
from everlog.store.compaction import compact_if_worth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.pipeline.updates import UpdateJob, UpdateResult
    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


def update(job: UpdateJob, report: Report | None = None) -> UpdateResult:
    """The same as :func:`everlog.pipeline.updates.update`, with facts in executors only."""
    from everlog.pipeline.updates import UpdateResult

    clock = Clock(report or Report())
    with clock.phase("check"):
        store = Store.open(job.store)
        info = store.info()
        program = updatable(job, info)
        options = _options(job, program)
        refuse_graphs(options)
        parts = [splits(resolve(paths, options), options) for paths in (job.delete, job.insert)]
        for warning in large_files([*parts[0], *parts[1]], job.large_gz):
            clock.report.warning(warning)
    with begin(job.store) as transaction:
        assert transaction.base_version == info.version
        with clock.phase("start Spark"):
            spark = session(job.master)
        with clock.phase("read"):
            deleted, inserted = (_stage(spark, job, options, part, program, transaction.work, info) for part in parts)
            existing = [str(store.layout.terms / file.name) for file in store.term_files(info.version)]
            terms = new_terms(spark, inserted.term_files, existing, transaction.work, salt=info.salt)
        with clock.phase("reason"):
            plans = plan_settings(spark, job.engine, job.memory, info.salt)
            found = _in_one_task(spark, job, store, info, (deleted, inserted), parts[0], transaction.work, plans)
            if found is None:
                how: dict[str, Any] = {"salt": info.salt, "on_error": job.on_error}
                named = with_stored_labels(spark, deleted, parts[0], existing, transaction.work, **how)
                staged = (named, inserted)
                profile = clock.report.profile
                found = _distributed(spark, job, program, store, info, staged, transaction.work, plans, profile)
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


def _in_one_task(
    spark: SparkSession,
    job: UpdateJob,
    store: Store,
    info: VersionInfo,
    staged: tuple[Staged, Staged],
    deleted_from: Sequence[Split],
    work: Path,
    plans: PlanSettings,
) -> Repaired | None:
    """The update by the local engine in one task, None if there is too much for that."""
    deleted, inserted = staged
    rows = sum(file.rows or 0 for file in store.files(info.version))
    most = plans.local_facts if job.engine == "auto" else job.local_finish
    if rows + deleted.rows + inserted.rows > most:
        return None
    task = UpdateTask(
        str(Path(job.store).absolute()),
        info.version,
        deleted,
        inserted,
        tuple(deleted_from),
        str(work_directory(work)),
        most,
        job.on_error,
        job.algorithm,
        job.strategy,
        job.max_facts,
        job.timeout,
    )
    found = run_tasks(spark, run_update, [task])[0]
    if found is None:
        log.info("more than %d facts, so the update is distributed", most)
    else:
        limit = "local-facts" if job.engine == "auto" else "spark-local-finish"
        log.info("updated in one task: %d rows (%s %d)", rows, limit, most)
    return found


def _distributed(
    spark: SparkSession,
    job: UpdateJob,
    program: StratifiedProgram,
    store: Store,
    info: VersionInfo,
    staged: tuple[Staged, Staged],
    work: Path,
    plans: PlanSettings,
    profile: Profile | None,
) -> Repaired:
    """The update through the algebra on DataFrames."""
    deleted, inserted = staged
    terms = (*deleted.term_files, *inserted.term_files)
    change = StagedChange(deleted.fact_files, inserted.fact_files, terms, work)
    limits = Limits.from_now(job.max_facts, job.timeout)
    settings = SparkSettings(job.local_finish, plans, look_up_rows=job.look_up_rows)
    return update_on_spark(
        spark,
        program,
        store,
        info.version,
        change,
        job.algorithm,
        job.strategy,
        settings=settings,
        limits=limits,
        profile=profile,
    )


def updatable(job: UpdateJob, info: VersionInfo) -> StratifiedProgram:
    """The program of a version; an error if only this machine can do the update."""
    if info.statistics.get("equality") == "representatives":
        raise no_representatives_on_spark()
    if job.algorithm == "counting":
        hint = "use --engine local, or another algorithm"
        raise EverlogError.of("no-such-algorithm", "counting is done on this machine only", None, hint)
    kind: Kind = info.statistics.get("stratification", "levels")
    program = stratify(check(parse_program(info.rules, f"{job.store} (rules of version {info.version})")), kind)
    program_of(program, info)
    return program


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
