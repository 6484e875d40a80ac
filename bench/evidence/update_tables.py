"""Updates: tables 3 to 9 of the journal paper, tables 4.2 to 4.4 of the thesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from bench.evidence import paper_figures
from bench.report import Results, count, table

JOURNAL = ("counting", "dred", "fbf")
NAMES = {"counting": "Counting", "dred": "DRed", "fbf": "FBF", "dredc": "DRed^c", "bfc": "B/F^c"}
INCOMPLETE = "not all was measured"


def _having(results: Results, part: str, key: str) -> list[Results]:
    """The measurements of a part that have something."""
    return [one for one in results.get(part, ()) if one.get(key)]


def _uniform(one: Results, kind: str = "delete") -> dict[str, Any]:
    """The record of each algorithm for uniform samples."""
    return {r["algorithm"]: r for r in one["records"] if r["kind"] == kind and r["sampling"] == "uniform"}


def scores(inputs: Iterable[Mapping[str, float]], algorithms: Sequence[str]) -> dict[str, list[float]]:
    """For each algorithm and input, its figure divided by the best of the algorithms.

    >>> scores([{"a": 1.0, "b": 2.0}], ["a", "b"])
    {'a': [1.0], 'b': [2.0]}
    """
    results: dict[str, list[float]] = {algorithm: [] for algorithm in algorithms}
    for figures in inputs:
        known = {a: figures[a] for a in algorithms if figures.get(a)}
        for algorithm, figure in known.items():
            results[algorithm].append(figure / min(known.values()))
    return results


def _score_rows(
    what: str, theirs: Mapping[str, tuple[float, float]], ours: Mapping[str, list[float]]
) -> list[list[str]]:
    return [
        [what, NAMES.get(a, a), *(f"{x:,.2f}" for x in pair), f"{mean(ours[a]):,.2f}", f"{median(ours[a]):,.2f}"]
        for a, pair in theirs.items()
        if ours.get(a)
    ]


SCORE = ("score", "algorithm", "paper, average", "paper, median", "ours, average", "ours, median")


def _seconds(records: Mapping[str, Any]) -> dict[str, float]:
    return {a: r["median"] for a, r in records.items() if r["median"] is not None}


def _derivations(records: Mapping[str, Any]) -> dict[str, float]:
    return {a: sum(r["figures"]["instances"].values()) for a, r in records.items() if r["figures"].get("instances")}


def deleting(results: Results) -> str:
    inputs = list(map(_uniform, _having(results, "robustness", "records")))
    if not inputs:
        return INCOMPLETE
    rows = _score_rows("time", paper_figures.DELETING, scores(map(_seconds, inputs), JOURNAL))
    derivations = scores(map(_derivations, inputs), JOURNAL)
    return table(SCORE, rows + _score_rows("derivations", paper_figures.DELETING_DERIVATIONS, derivations))


def adding(results: Results) -> str:
    inputs = [_seconds(_uniform(one, "add")) for one in _having(results, "robustness", "records")]
    return _times(paper_figures.ADDING, inputs)


def _times(theirs: Mapping[str, tuple[float, float]], inputs: Sequence[Mapping[str, float]]) -> str:
    """The scores of the algorithms by time, the papers' beside ours."""
    return table(SCORE, _score_rows("time", theirs, scores(inputs, list(theirs)))) if inputs else INCOMPLETE


def stratifying(results: Results) -> str:
    by_name: dict[str, dict[str, Any]] = {}
    for one in _having(results, "robustness", "records"):
        by_name.setdefault(one["workload"], {})[one["stratification"]] = _uniform(one)
    both = [pair for pair in by_name.values() if len(pair) == 2]
    rows = []
    for algorithm, theirs in paper_figures.STRATIFYING.items():
        ours = []
        for figures in (_seconds, _derivations):
            pairs = [[figures(pair[kind]).get(algorithm) for kind in ("single", "levels")] for pair in both]
            ours.append([single / levels for single, levels in pairs if single and levels])
        if all(ours):
            rows.append([NAMES[algorithm], *(f"{x:.2f}" for x in theirs), *(f"{mean(x):.2f}" for x in ours)])
    headings = ("algorithm", "paper, time", "paper, derivations", "ours, time", "ours, derivations")
    return table(headings, rows) if rows else INCOMPLETE


def breakdown(results: Results) -> str:
    headings = ("input", "Counting added", "deleted", "DRed forward", "backward", "delete", "FBF forward", "backward",
                "delete")  # fmt: skip
    rows = [
        [f"paper: {name}", *(count(x) for phase in phases for x in phase)]
        for name, phases in paper_figures.BREAKDOWN.items()
    ]
    phases = {"counting": ("added", "deleted"), "dred": ("forward", "backward", "delete"),
              "fbf": ("forward", "backward", "delete")}  # fmt: skip
    for one in _having(results, "robustness", "records"):
        if one["stratification"] == "levels":
            records = _uniform(one)
            counted = [records[a]["figures"].get("instances", {}).get(p) for a, ps in phases.items() for p in ps]
            rows.append([one["workload"], *map(count, counted)])
    return table(headings, rows)


def walking(results: Results) -> str:
    cliques = [one for one in _having(results, "robustness", "records") if one["workload"] == "symmetric-transitive"]
    if not cliques:
        return INCOMPLETE
    medians = {(r["algorithm"], r["sampling"]): r["median"] for r in cliques[0]["records"] if r["kind"] == "delete"}
    rows = []
    for algorithm, theirs in paper_figures.UNIFORM_OVER_WALK.items():
        uniform, walk = medians.get((algorithm, "uniform")), medians.get((algorithm, "walk"))
        rows.append([NAMES[algorithm], f"{theirs:.2f}", f"{uniform / walk:.2f}" if uniform and walk else "-"])
    return table(("algorithm", "paper, uniform over walk", "ours"), rows)


def break_even(results: Results) -> str:
    ours = [one["points"] for one in _having(results, "break_even", "points")]
    if not ours:
        return INCOMPLETE
    shares = {a: [points[a]["share"] for points in ours] for a in NAMES if a in ours[0]}
    rows = []
    for algorithm, known in shares.items():
        theirs = paper_figures.BREAK_EVEN.get(algorithm)
        rows.append([NAMES[algorithm], f"{theirs[1]:.0%}" if theirs else "-", f"{median(known):.0%}",
                     f"{min(known):.1%} to {max(known):.0%}"])  # fmt: skip
    return table(("algorithm", "paper, median share", "ours, median share", "ours, all"), rows)


def large_deleting(results: Results) -> str:
    return _times(paper_figures.LARGE_DELETING, [one["seconds"] for one in _having(results, "break_even", "seconds")])


def large_adding(results: Results) -> str:
    return _times(paper_figures.LARGE_ADDING, [one["adding"] for one in _having(results, "break_even", "adding")])


COMPARED = (("dred", "dredc"), ("fbf", "bfc"), ("dredc", "bfc"))


def _ratio_table(theirs: Mapping[str, tuple[float, ...]], inputs: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Three ratios between the four algorithms of the thesis, for each input."""
    rows = []
    for name, row in theirs.items():
        by_name = dict(zip(paper_figures.COLUMNS, row, strict=True))
        rows.append([f"paper: {name}", *(f"{by_name[a] / by_name[b]:,.2f}" for a, b in COMPARED)])
    for name, figures in inputs:
        cells = [f"{figures[a] / figures[b]:,.2f}" if figures.get(a) and figures.get(b) else "-" for a, b in COMPARED]
        rows.append([name, *cells])
    return table(("input", *(f"{NAMES[a]} / {NAMES[b]}" for a, b in COMPARED)), rows)


def small_with_counters(results: Results) -> str:
    inputs = [
        (f"{one['workload']} ({one['stratification']})", _seconds(_uniform(one)))
        for one in _having(results, "robustness", "records")
    ]
    return _ratio_table(paper_figures.SMALL, inputs) if inputs else INCOMPLETE


def large_with_counters(results: Results) -> str:
    inputs = [(one["workload"], one["seconds"]) for one in _having(results, "break_even", "seconds")]
    return _ratio_table(paper_figures.LARGE, inputs) if inputs else INCOMPLETE


def counters(results: Results) -> str:
    rows = [
        [f"paper: {name}", f"{one / none:.2f}", f"{two / none:.2f}"]
        for name, (none, one, two) in paper_figures.COUNTERS.items()
    ]
    for one in results.get("robustness", ()):
        if one.get("stratification") == "levels" and "first" in one:
            again = median(r["median"] for r in one["records"] if r["algorithm"] == "rematerialise" and r["median"])
            first = one["first"]
            cells = [f"{(again + first[kept]) / again:.2f}" for kept in ("nonrecursive", "counters")]
            rows.append([one["workload"], *cells])
    return table(("input", "with the nonrecursive counter", "with both"), rows)
