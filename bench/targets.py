"""The promises about general rules, memory, start-up and small updates, and whether they are met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench.compare import Comparison, ratio
from bench.peers import EVERLOG, SORT_KERNEL
from bench.report import Target
from bench.startup import Startup

NONLINEAR_PEERS = ("duckdb loop", "souffle", "clingo", "nemo")
NOISE = 0.5
"""Bytes per fact below which the difference of two processes is not significant."""


def targets(
    comparisons: Mapping[str, Comparison],
    held: Mapping[str, Any],
    startup: Startup | None,
    updated: Mapping[str, Any],
    terms: Mapping[str, Any],
) -> list[Target]:
    return [
        *_general(comparisons),
        *_memory(comparisons, held),
        *_start(startup),
        *_updates(updated),
        *_dictionary(terms),
    ]


def _updates(updated: Mapping[str, Any]) -> list[Target]:
    promise = "1,000 facts of 10 million changed in under 1% of rematerialising or 50 ms (median of ten)"
    if not updated:
        return []
    if "error" in updated:
        return [Target("updates", promise, f"everlog: {updated['error']}", False)]
    seconds, again = updated["updates"]["auto"]["median"], updated["rematerialise"]
    shown = f"{seconds * 1000:.3g} ms, {seconds / again:.2%} of {again:.3g} s for {updated['facts']:,} facts"
    return [Target("updates", promise, shown, seconds <= max(0.01 * again, 0.05))]


def _dictionary(terms: Mapping[str, Any]) -> list[Target]:
    promise = "5 million distinct terms encoded and decoded a second"
    if not terms or "error" in terms:
        return [Target("dictionary", promise, terms.get("error", "-"), None)]
    shown = ", ".join(f"{kind}: {rates['encode']:.1f} M and {rates['decode']:.1f} M" for kind, rates in terms.items())
    return [Target("dictionary", promise, shown, min(r for rates in terms.values() for r in rates.values()) >= 5)]


def _general(comparisons: Mapping[str, Comparison]) -> list[Target]:
    dag_r, nonlinear = comparisons.get("dag-r-linear"), comparisons.get("dag-s-nonlinear")
    chain = comparisons.get("chain2500-linear")
    factor, share = ratio(dag_r, "duckdb") if dag_r else None, _share_of_rate(dag_r)
    topic, faster = "general rules", "linear closure of DAG-R twice as fast as DuckDB with two threads"
    rate, rounds = "0.8 of the rate of the sort kernel on DAG-R", "a round under 0.6 ms (chain of 2,500 edges)"
    return [
        _failed(topic, faster, dag_r) or _at_least(topic, faster, factor, 2, "times"),
        _failed(topic, rate, dag_r) or _at_least(topic, rate, share, 0.8, "of its rate"),
        _ahead_nonlinear(topic, nonlinear),
        _failed(topic, rounds, chain) or _at_most(topic, rounds, _round_ms(chain), 0.6, "ms"),
    ]


def _failed(topic: str, promise: str, comparison: Comparison | None) -> Target | None:
    """A missed target if Everlog was run and failed, otherwise None."""
    row = comparison.row(EVERLOG) if comparison else None
    return Target(topic, promise, f"everlog: {row.error}", False) if row and row.error else None


def _share_of_rate(comparison: Comparison | None) -> float | None:
    ours, kernel = (_rate(comparison, name) for name in (EVERLOG, SORT_KERNEL))
    return ours / kernel if ours and kernel else None


def _rate(comparison: Comparison | None, system: str) -> float | None:
    outcome = comparison.outcome(system) if comparison else None
    if outcome is None or outcome.instances is None:
        return None
    return outcome.instances / (outcome.closure or outcome.seconds)


def _round_ms(comparison: Comparison | None) -> float | None:
    outcome = comparison.outcome(EVERLOG) if comparison else None
    return (outcome.closure or outcome.seconds) / 2_500 * 1_000 if outcome else None


def _ahead_nonlinear(topic: str, comparison: Comparison | None) -> Target:
    promise = "nonlinear DAG-S ahead of DuckDB, Souffle (if there), clingo, Nemo"
    if failed := _failed(topic, promise, comparison):
        return failed
    factors = {name: ratio(comparison, name) for name in NONLINEAR_PEERS if comparison}
    known = {name: factor for name, factor in factors.items() if factor is not None}
    if not known:
        return Target(topic, promise)
    shown = ", ".join(f"{name} takes {factor:.2f} times ours" for name, factor in known.items())
    absent = [name for name in NONLINEAR_PEERS if name not in known]
    shown += f" (without {', '.join(absent)})" if absent else ""
    return Target(topic, promise, shown, min(known.values()) > 1)


def _memory(comparisons: Mapping[str, Comparison], held: Mapping[str, Any]) -> list[Target]:
    nonlinear = comparisons.get("dag-r-nonlinear")
    outcome = nonlinear.outcome(EVERLOG) if nonlinear else None
    peak = outcome.peak_mb / 1_000 if outcome and outcome.peak_mb else None
    promise = "nonlinear closure of DAG-R in under 4 GB"
    return [
        _bytes("at most 16 bytes per binary fact in two orders", held.get("none"), 16),
        _bytes_with_counters("at most 28 bytes with the default counters", held.get("none"), held.get("dredc"), 28),
        _failed("memory", promise, nonlinear) or _at_most("memory", promise, peak, 4, "GB"),
    ]


def _bytes(promise: str, held: Mapping[str, Any] | None, limit: float) -> Target:
    """Judge the bytes per fact that the relation reports, rounded to a tenth (two keys are 16 bytes, the index of their
    leading column is the rest), or else the growth of the process; both are shown. If the second sort order took no
    memory it was not built, and the target counts as not measured."""
    if held is None:
        return Target("memory", promise)
    if "error" in held:
        return Target("memory", promise, f"everlog: {held['error']}", False)
    accounted, resident = held["accounted"], held["resident"]
    judged = resident if accounted is None else accounted
    second = resident - held["resident_one_order"]
    shown = f"{judged:.3f} (the process grew by {resident:.1f}, of it {second:.1f} for the second order)"
    return Target("memory", promise, shown, round(judged, 1) <= limit if second > NOISE else None)


def _bytes_with_counters(
    promise: str, plain: Mapping[str, Any] | None, counted: Mapping[str, Any] | None, limit: float
) -> Target:
    """Judge the bytes per fact that the relation and its counters report; the growth of the process is shown. Most
    facts of DAG-R have several derivations, so counters without memory were not built."""
    target = _bytes(promise, counted, limit)
    if not plain or not counted or "error" in plain or "error" in counted:
        return target
    counters = counted["counters"]
    if counters < NOISE:
        return Target("memory", promise, "no counters are kept", None)
    total = counted["accounted"] + counters
    grown = counted["resident"] - plain["resident"]
    shown = f"{total:.3f}, of it {counters:.1f} for the counters (for which the process grew by {grown:.1f})"
    return Target("memory", promise, shown, round(total, 1) <= limit)


def _start(startup: Startup | None) -> list[Target]:
    promises = (
        "import everlog under 0.5 s",
        "ten-fact program answered under 3 s after the first run",
        "first run, kernels compiled, under 60 s",
        "the first run shows a progress line",
    )
    if startup is None:
        return [Target("start", promise) for promise in promises]
    imported, answered, compiled, progress = promises
    whole = startup.knowledge_base_imported
    measured = _at_most("start", imported, startup.imported, 0.5, "s")
    if whole is not None:
        measured = Target("start", imported, f"{measured.measured} ({whole:.3g} s with KnowledgeBase)", measured.met)
    firsts = [seconds for seconds in (startup.first_run, startup.first_closure) if seconds is not None]
    shown = {True: "yes", False: "no", None: "-"}[startup.first_run_printed]
    lines = [
        measured,
        _at_most("start", answered, startup.ten_facts, 3, "s"),
        _at_most("start", compiled, max(firsts, default=None), 60, "s"),
        Target("start", progress, shown, startup.first_run_printed),
    ]
    if startup.error is None:
        return lines
    return [lines[0], *(Target("start", promise, f"everlog: {startup.error}", False) for promise in promises[1:])]


def _at_least(topic: str, promise: str, measured: float | None, limit: float, unit: str) -> Target:
    met = None if measured is None else measured >= limit
    return Target(topic, promise, "-" if measured is None else f"{measured:.3g} {unit}", met)


def _at_most(topic: str, promise: str, measured: float | None, limit: float, unit: str) -> Target:
    target = _at_least(topic, promise, measured, limit, unit)
    return target if measured is None else replace(target, met=measured <= limit)
