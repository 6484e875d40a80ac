"""The promises about the maintenance algorithms, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from bench.maintenance.setting import REMATERIALISE
from bench.report import Target

SLACK = 0.05
"""Seconds that auto may always take longer than the best algorithm."""

Instance = tuple[str, str, str, str]
"""(workload, stratification, sampling, "delete" or "add")."""


def targets(results: Mapping[str, Any]) -> list[Target]:
    return [
        *_auto(results["robustness"]),
        *_small(results["robustness"]),
        *_example(results["example"]),
        _command(results["command"]),
    ]


def medians(robustness: Sequence[Mapping[str, Any]]) -> dict[Instance, dict[str, float]]:
    """For each instance, the median seconds of each algorithm that was not stopped."""
    results: dict[Instance, dict[str, float]] = {}
    for one in robustness:
        for record in one.get("records", ()):
            if record["median"] is not None and record["cut_off"] is None:
                key = (one["workload"], one["stratification"], record["sampling"], record["kind"])
                results.setdefault(key, {})[record["algorithm"]] = record["median"]
    return results


def auto_ratios(instances: Mapping[Instance, Mapping[str, float]]) -> Iterator[tuple[Instance, float, str, bool]]:
    """For each instance: the time of auto divided by that of the best algorithm, the best algorithm, and whether auto
    takes at most twice the best time plus 50 ms. The state of auto has counters, so it is not compared with
    rematerialising without counters."""
    for instance, seconds in instances.items():
        others = {name: s for name, s in seconds.items() if name not in ("auto", REMATERIALISE)}
        if others:
            best = min(others, key=others.__getitem__)
            taken = seconds.get("auto", float("inf"))
            yield instance, taken / others[best], best, taken <= 2 * others[best] + SLACK


def _auto(robustness: Sequence[Mapping[str, Any]]) -> list[Target]:
    promises = (
        "auto within 2 times the best algorithm plus 50 ms on 90% of the instances",
        "auto within 3 times the best algorithm (plus 50 ms) on all instances",
    )
    instances = medians(robustness)
    rated = list(auto_ratios(instances))
    if not rated:
        return [Target("auto", promise) for promise in promises]
    share = sum(within for *_, within in rated) / len(rated)
    beyond = [
        f"{' '.join(instance)}: {ratio:.1f} times {best}"
        for instance, ratio, best, _ in rated
        if instances[instance].get("auto", float("inf")) > 3 * instances[instance][best] + SLACK
    ]
    shown = "; ".join(beyond) if beyond else f"{len(rated)} instances"
    return [
        Target("auto", promises[0], f"{share:.0%} of {len(rated)}", share >= 0.9),
        Target("auto", promises[1], shown, not beyond),
    ]


def _small(robustness: Sequence[Mapping[str, Any]]) -> list[Target]:
    """The targets of deleting and adding 1,000 facts of ten million (the forest), by each algorithm with counters."""
    promise = "{} changes 1,000 facts of 10 million in under 1% of rematerialising or 50 ms"
    instances = {key: s for key, s in medians(robustness).items() if key[0] == "forest" and key[1] == "levels"}
    large = any(one["workload"] == "forest" and one.get("facts", 0) > 9_000_000 for one in robustness)
    lines = []
    for algorithm in ("dredc", "bfc"):
        taken = {key: s[algorithm] for key, s in instances.items() if algorithm in s and REMATERIALISE in s}
        if not taken or not large:
            lines.append(Target("small updates", promise.format(algorithm)))
            continue
        met = all(seconds <= max(0.01 * instances[key][REMATERIALISE], 0.05) for key, seconds in taken.items())
        shown = ", ".join(f"{key[3]} {key[2]} {seconds * 1000:.0f} ms" for key, seconds in taken.items())
        lines.append(Target("small updates", promise.format(algorithm), shown, met))
    return lines


def _example(scaling: Sequence[Mapping[str, Any]]) -> list[Target]:
    promises = (
        "thesis Example 1: dredc and bfc grow linearly from n = 10,000 to 100,000",
        "thesis Example 1: dredc and bfc at least as fast as dred",
    )
    done = [one for one in scaling if "columns" in one]
    if len(done) < 2:
        return [Target("backward", promise) for promise in promises]
    first, last = done[0], done[-1]
    growth = last["n"] / first["n"]
    factors = {a: last["columns"][a]["seconds"] / first["columns"][a]["seconds"] for a in ("dredc", "bfc")}
    times = ", ".join(f"{a} {factor:.1f} times" for a, factor in factors.items())
    growth_shown = f"{times} for {growth:g} times n"
    slower = max(last["columns"][a]["seconds"] for a in ("dredc", "bfc"))
    ratio = last["columns"]["dred"]["spent"] / slower
    return [
        Target("backward", promises[0], growth_shown, max(factors.values()) <= 1.5 * growth),
        Target("backward", promises[1], f"dred takes {ratio:.2f} times ours", ratio >= 1),
    ]


def _command(command: Mapping[str, Any]) -> Target:
    promise = "everlog update of 1,000 facts of a 20 M-fact store in under 20% of everlog materialise"
    if "updates" not in command:
        return Target("command", promise, command.get("skipped") or command.get("error") or "-", None)
    taken, made = median(command["updates"]), command["materialise"]
    files = (command["bytes"][-1] - command["bytes"][0]) / len(command["updates"])
    grown = f"{files / 1e3:,.0f} kB more files of {command['bytes'][0] / 1e6:,.0f} MB"
    shown = f"{taken:.1f} s, {taken / made:.0%} of {made:.1f} s; {grown}"
    return Target("command", promise, shown, taken < 0.2 * made)
