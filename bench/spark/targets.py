"""The promises about reasoning on Spark, and whether they are met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.report import Results, Target
from bench.spark.memory_peaks import DRIVER, HEAP
from bench.spark.workloads import OBVIOUS

Runs = Mapping[tuple[str, str], Results]
CLOSURES = {"dag-r": "DAG-R", "wiki-vote": "wiki-Vote", "gnp10K": "gnp10K"}
FASTER = 10.0
"""Minimum ratio of the obvious loop's seconds to Everlog's."""
LINEAR = 1.2
"""Maximum growth of the time, relative to linear growth."""
SPEED_UP = 1.6
"""Minimum ratio of the seconds on one core to those on two."""
GROWTH = 1.1
"""Maximum growth of the driver's peak."""
LEAST_SECONDS = 20.0
"""Minimum seconds of the smallest run for which growth is judged."""
UPDATE, ADDED, READ = 0.2, 2, 0.25
"""Maxima for an update: share of the time of materialising, rows written per changed fact, share of the rows read."""
DEFAULT = "Spark"
MANY_FACTS = 5_000_000
TIMES = (1, 8)
"""Multiples of the size that are compared."""


def targets(parts: Results) -> list[Target]:
    runs = {(run["workload"], run["system"]): run for run in parts.get("compare", {}).get("runs", ())}
    results = [_faster(runs, name, shown, "reachability", FASTER) for name, shown in CLOSURES.items()]
    results.append(_faster(runs, "generations", "same-generation without the local finish", "loop", 3.0))
    results.append(_faster(runs, "generations", "same-generation with it", "loop with local finish", FASTER))
    results += [_finished(runs, how) for how in ("one task", "rounds")]
    results.append(_linear(parts.get("joins", {})))
    results.append(_cores(parts.get("joins", {})))
    results.append(_pinned(runs, "dag-r", "decomposed", "DAG-R's closure in slices"))
    results.append(_pinned(runs, "generations", "loop", "same-generation in rounds"))
    results += _memory(parts.get("memory", {}))
    results.append(_million(parts.get("memory", {})))
    results += _updates(parts.get("updates", {}))
    return results


def _faster(runs: Runs, workload: str, shown: str, system: str, least: float) -> Target:
    promise = f"{shown}: at least {least:g} times faster than the obvious loop"
    ours, loop = runs.get((workload, system)), runs.get((workload, OBVIOUS))
    if ours is None or loop is None or loop.get("failed"):
        return Target("compared", promise)
    if ours.get("failed"):
        return Target("compared", promise, str(ours["error"]), False)
    ratio = loop["seconds"] / ours["seconds"]
    stopped = "" if loop["answers"] is not None else "more than "
    measured = f"{stopped}{ratio:.1f} times ({ours['seconds']:.1f} s, {stopped}{loop['seconds']:.0f} s)"
    met = True if ratio >= least else None if stopped else False
    return Target("compared", promise, measured, met)


def _finished(runs: Runs, how: str) -> Target:
    promise = f"the components of five million edges are found: {how}"
    run = runs.get(("components", how))
    if run is None:
        return Target("compared", promise)
    done = run.get("answers") is not None
    measured = f"{run['seconds']:.1f} s, {run['answers']:,} vertices" if done else str(run["error"])
    return Target("compared", promise, measured, done)


def _linear(part: Results) -> Target:
    promise = f"time grows at most {LINEAR:g} times linearly from 1 to 8 times the facts, from {LEAST_SECONDS:g} s"
    runs = {run["times"]: run for run in part.get("runs", ()) if run["cores"] == 2}
    if target := _unjudged("joins", promise, runs):
        return target
    first, last = (runs[times] for times in TIMES)
    ratio = last["seconds"] / first["seconds"] / (last["explicit"] / first["explicit"])
    measured = f"{ratio:.2f} times linearly ({first['seconds']:.1f} s, {last['seconds']:.1f} s)"
    if first["seconds"] < LEAST_SECONDS:
        return Target("joins", promise, f"{measured}: the first run is too short", None)
    return Target("joins", promise, measured, ratio <= LINEAR)


def _cores(part: Results) -> Target:
    promise = f"two cores at least {SPEED_UP:g} times faster than one: joins"
    runs = {(run["times"], run["cores"]): run for run in part.get("runs", ())}
    pinned = [run for (_, cores), run in runs.items() if cores == 1]
    one = max(pinned, key=lambda run: run["times"], default=None)
    two = None if one is None else runs.get((one["times"], 2))
    if one is None or two is None:
        return Target("cores", promise)
    if error := one.get("error") or two.get("error"):
        return Target("cores", promise, error, False)
    return _speed_up(promise, one, two)


def _pinned(runs: Runs, workload: str, system: str, shown: str) -> Target:
    promise = f"two cores at least {SPEED_UP:g} times faster than one: {shown}"
    one, two = (runs.get((workload, name)) for name in (f"{system}, one core", system))
    if one is None or two is None or one.get("failed") or two.get("failed"):
        return Target("cores", promise)
    return _speed_up(promise, one, two)


def _unjudged(topic: str, promise: str, runs: Mapping[int, Results]) -> Target | None:
    """The target if a run of the compared sizes is missing or a run failed, otherwise None."""
    if not {*TIMES} <= runs.keys():
        return Target(topic, promise)
    error = next((run["error"] for run in runs.values() if "error" in run), None)
    return Target(topic, promise, error, False) if error else None


def _speed_up(promise: str, one: Results, two: Results) -> Target:
    ratio = one["seconds"] / two["seconds"]
    measured = f"{ratio:.2f} times ({one['seconds']:.1f} s, {two['seconds']:.1f} s)"
    return Target("cores", promise, measured, ratio >= SPEED_UP)


def _memory(part: Results) -> list[Target]:
    runs = {run["times"]: run for run in part.get("runs", ())}
    results = []
    for shown, roles in (("resident", (DRIVER, "driver, Java")), ("alive in Java's heap", (HEAP,))):
        promise = f"the driver's peak grows by at most 10% from 1 to 8 times the facts: {shown}"
        if target := _unjudged("memory", promise, runs):
            results.append(target)
            continue
        sizes = [sum(runs[times]["peaks"].get(role, 0) for role in roles) for times in TIMES]
        measured = f"{sizes[1] / sizes[0] - 1:+.1%} ({sizes[0] / 1e6:.0f} MB, {sizes[1] / 1e6:.0f} MB)"
        results.append(Target("memory", promise, measured, sizes[1] <= GROWTH * sizes[0]))
    return results


def _million(part: Results) -> Target:
    promise = "five million facts read, materialised and stored with 1 GB for each executor and Python worker"
    run = next((run for run in part.get("runs", ()) if run["times"] == max(TIMES)), None)
    if run is None:
        return Target("memory", promise)
    if "error" in run:
        return Target("memory", promise, run["error"], False)
    measured = f"{run['explicit']:,} facts, {run['facts']:,} with the derived ones, in {run['seconds']:.0f} s"
    return Target("memory", promise, measured, True if run["explicit"] >= MANY_FACTS else None)


def _updates(part: Results) -> list[Target]:
    """The targets of updates with default settings and ``engine="spark"``."""
    changed, store = part.get("changed", 1_000), part.get("store", {})
    quick = f"{changed:,} explicit facts change where Spark reasons: at most {UPDATE:.0%} of materialising"
    small = f"files added in proportion: at most {ADDED} rows for each fact that changes"
    few = f"{max(2, changed // 100):,} change: at most {READ:.0%} of the store's rows are read"
    runs = [part.get("updates", {}).get(how) for how in (DEFAULT, f"{DEFAULT}, a hundredth of the change")]
    if "error" in part or not all(runs):
        return [Target("updates", promise, str(part.get("error", "-")), None) for promise in (quick, small, few)]
    many, less = (min(each, key=lambda run: float(run["seconds"])) for each in runs)
    share = many["seconds"] / part["materialise"]["seconds"]
    rows = [run["added"]["rows"] / max(1, run["inserted"] + run["deleted"]) for run in (many, less)]
    read = less["read"]["rows"] / store["rows"]
    measured = f"{share:.1%} ({many['seconds']:.1f} s, {part['materialise']['seconds']:.1f} s)"
    return [
        Target("updates", quick, measured, share <= UPDATE),
        Target("updates", small, f"{max(rows):.2f} rows", max(rows) <= ADDED),
        Target("updates", few, f"{read:.0%} ({less['read']['rows']:,} of {store['rows']:,})", read <= READ),
    ]


def disagreements(runs: Sequence[Results]) -> list[str]:
    """Workloads on which systems give different answers. For components only the number of vertices must agree."""
    results = []
    for workload in dict.fromkeys(run["workload"] for run in runs):
        mine = [run for run in runs if run["workload"] == workload and run.get("answers") is not None]
        keys = {run["answers"] if workload.startswith("components") else (run["answers"], run["mixed"]) for run in mine}
        if len(keys) > 1:
            measured = ", ".join(f"{run['system']} {run['answers']:,}" for run in mine)
            results.append(f"DISAGREEMENT about {workload}: {measured}")
    return results
