"""The robustness experiment (journal paper, section 10.3): delete a sample of the explicit facts and add it again.

Every algorithm deletes each sample from the materialisation and adds it again, and the results are compared. An
algorithm that exceeds the time limit is stopped and not run again.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, median, stdev
from typing import Any

from bench.maintenance.samples import Sampler, Sampling
from bench.maintenance.setting import COLUMNS, REMATERIALISE, Setting, UpdateRun
from bench.maintenance.workloads import WORKLOADS, changed_facts
from everlog.analysis.stratify import Kind

SAMPLINGS: tuple[Sampling, ...] = ("uniform", "walk")


@dataclass
class Measured:
    """The measurements of an algorithm on one kind of update: the seconds of all samples, and the statistics of the
    median one."""

    sampling: Sampling
    kind: str
    algorithm: str
    seconds: list[float] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    cut_off: float | None = None
    all_figures: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def note(self, run: UpdateRun) -> None:
        if run.done is None:
            self.cut_off = run.seconds
            return
        self.seconds.append(run.seconds)
        self.all_figures.append(run.figures())

    def finished(self) -> dict[str, Any]:
        if self.seconds:
            ranked = sorted(range(len(self.seconds)), key=self.seconds.__getitem__)
            self.figures = self.all_figures[ranked[len(ranked) // 2]]
        record = asdict(self)
        del record["all_figures"]
        counted = [figures.get("instances", {}) for figures in self.all_figures]
        return {
            **record,
            "median": median(self.seconds) if self.seconds else None,
            "mean": interval(self.seconds) if self.seconds else None,
            "instances": {phase: interval([each.get(phase, 0) for each in counted]) for phase in _phases(counted)},
        }


def _phases(counted: Sequence[Mapping[str, int]]) -> list[str]:
    return list(dict.fromkeys(phase for each in counted for phase in each))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95% confidence interval (journal paper, equations 164 and 165).

    >>> interval([3.0]), interval([1, 2, 3])[0]
    ((3.0, 0.0), 2)
    """
    return mean(values), 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


@dataclass(frozen=True)
class SampleLimits:
    """Limits of the measurement of one algorithm.

    ``samples`` is the maximum number of samples of each kind. After ``seconds`` in total, samples are run only until
    there are ``fewest``, and only if deleting and adding one take less than ``slow`` seconds on average. A single
    update is stopped after ``cut_off`` seconds."""

    samples: int
    fewest: int
    seconds: float
    slow: float
    cut_off: float


def robustness(workload: str, size: int, stratification: Kind, **limits: Any) -> dict[str, Any]:
    """All algorithms on both kinds of samples of one workload; ``limits`` are the fields of ``SampleLimits``."""
    chosen, sample_limits = WORKLOADS[workload], SampleLimits(**limits)
    facts = chosen.facts(size)
    setting, sampler = Setting(chosen.rules, facts, stratification), Sampler(facts)
    changed = changed_facts(sampler.size)
    records = []
    for sampling in SAMPLINGS:
        records += sampled(setting, sampler, sampling, changed, sample_limits)
    return {
        "workload": workload,
        "stratification": stratification,
        "rules": sum(len(stratum.rules) for stratum in setting.program.strata),
        "recursive": sum(len(stratum.recursive) for stratum in setting.program.strata),
        "strata": len(setting.program.strata),
        "explicit": sampler.size,
        "facts": setting.bare.facts.count,
        "instances": setting.bare.instances,
        "changed": changed,
        "first": setting.seconds,
        "records": records,
    }


def sampled(
    setting: Setting, sampler: Sampler, sampling: Sampling, changed: int, sample_limits: SampleLimits
) -> list[dict[str, Any]]:
    """Measure all algorithms on samples of one kind. The first sample is not measured: it builds the sort orders that
    all later ones use."""
    measured = {(kind, c): Measured(sampling, kind, c) for kind in ("delete", "add") for c in COLUMNS}
    for seed in range(sample_limits.samples + 1):
        sample = setting.encoded(sampler.draw(sampling, changed, seed))
        deleted_counts: set[int] = set()
        for column in COLUMNS:
            deleting, adding = measured["delete", column], measured["add", column]
            rematerialises = column.startswith(REMATERIALISE)
            if (rematerialises and not seed) or not _is_wanted(deleting, adding, sample_limits):
                continue
            gc.collect()
            deleted = setting.run(column, setting.state(column), delete=sample, limit=sample_limits.cut_off)
            if deleted.done is not None:
                deleted_counts.add(deleted.done.deleted.count)
                added = setting.run(
                    column, setting.state_after(column, deleted.done), insert=sample, limit=sample_limits.cut_off
                )
                _require_restored(setting, added, column)
                if seed:
                    adding.note(added)
            if seed or deleted.done is None:
                deleting.note(deleted)
        if len(deleted_counts) > 1:
            raise RuntimeError(f"the algorithms deleted {sorted(deleted_counts)} facts")
    return [each.finished() for each in measured.values()]


def _is_wanted(deleting: Measured, adding: Measured, sample_limits: SampleLimits) -> bool:
    """Whether another sample is measured: no update was stopped, and the limits allow it."""
    if deleting.cut_off is not None or adding.cut_off is not None:
        return False
    runs, spent = len(deleting.seconds), sum(deleting.seconds) + sum(adding.seconds)
    return spent < sample_limits.seconds or (runs < sample_limits.fewest and spent < sample_limits.slow * max(1, runs))


def _require_restored(setting: Setting, added: UpdateRun, column: str) -> None:
    """Raise an error if adding the deleted facts did not restore all facts."""
    if added.done is not None and added.done.materialisation.facts.count != setting.bare.facts.count:
        raise RuntimeError(f"{column} did not bring the facts back")
