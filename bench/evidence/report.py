"""``bench/results/REPORT.md``: all measurements, and the cases where Everlog is slower."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from bench.evidence import plots, theory
from bench.evidence.tables import TABLES
from bench.measure import RESULTS
from bench.papers.report import papers_text
from bench.progress import shown
from bench.report import Results, about, now, table
from bench.suites import SUITES, SuiteRun

SLOWER = 1.5
"""A query on a compact relation counts as lost above this multiple of its time on listed pairs."""


def write(ran: Mapping[str, SuiteRun], *, results: Path = RESULTS, quick: bool = False) -> Path:
    """Write the report and its plots from the result files; ``ran`` are the benchmarks of this run."""
    by_suite = {name: suite.last_results(quick=quick, results=results) for name, suite in SUITES.items()}
    parts = [
        "# What was measured",
        QUICK_SAYS if quick else "",
        _preface(ran, results),
        about(now()),
        *_pictures(by_suite, results),
    ]
    parts += ["## Promises", _targets(by_suite), "## Where we lose", _losses(by_suite)]
    if by_suite["papers"]:
        parts += ["## The papers' tables on their programs and data", f"`{SUITES['papers'].command}`"]
        parts.append(papers_text(by_suite["papers"]))
    parts += ["## The papers' tables on other data", TABLES_SAY]
    for each in TABLES.values():
        parts += [f"### {each.name}: {each.title}", f"`python -m bench evidence {each.name}`"]
        parts.append(each.text(by_suite[each.suite]))
    if by_suite["theory"].get("counts"):
        counts = theory.text(by_suite["theory"]["counts"])
        parts += ["## Counts against theory", f"`{SUITES['theory'].command}`", counts]
    parts += ["## Peers", "Seconds from facts to the last derived fact, best of the runs.", _peers(by_suite["general"])]
    parts += ["## Everything else", _links(results, quick)]
    path = results / "REPORT.md"
    path.write_text("\n\n".join(part for part in parts if part) + "\n")
    return path


TABLES_SAY = (
    "Larger and other instances of the same kind as the papers'. Lines that start with `paper:` are theirs, the others "
    "ours: ratios within a table are comparable, seconds are not."
)


QUICK_SAYS = "Small sizes: this tells whether everything works, and nothing about speed."


def _preface(ran: Mapping[str, SuiteRun], results: Path) -> str:
    """How this run ended or, if nothing ran, how the last complete run ended."""
    whole = results / "run.json"
    if ran.keys() == SUITES.keys():
        whole.write_text(json.dumps({name: asdict(each) for name, each in ran.items()}, indent=1) + "\n")
        return f"`make bench` measured all of it in {_minutes(ran)} minutes.\n\n{_endings(ran)}"
    if ran:
        preface = (
            f"Of these, {', '.join(ran)} ran now, for {_minutes(ran)} minutes; the others are those of their last run."
        )
        return f"{preface}\n\n{_endings(ran)}"
    if not whole.exists():
        return "Put together from the last run of each benchmark. `make bench` measures everything again."
    last = {name: SuiteRun(**each) for name, each in json.loads(whole.read_text()).items()}
    preface = f"`make bench` measured all of it in {_minutes(last)} minutes. Some parts were measured again since."
    pages = "The pages of the benchmarks name the command and the machine of each part; below is that of the last."
    return f"{preface} {pages}\n\n{_endings(last)}"


def _minutes(ran: Mapping[str, SuiteRun]) -> str:
    return shown(sum(each.seconds for each in ran.values()))


def _endings(ran: Mapping[str, SuiteRun]) -> str:
    rows = [
        (SUITES[name].title, f"`{SUITES[name].command}`", shown(each.seconds), str(each)) for name, each in ran.items()
    ]
    return table(("part", "command", "minutes", "how it ended"), rows)


def _pictures(by_suite: Mapping[str, Results], results: Path) -> Iterator[str]:
    general, modules = by_suite["general"], by_suite["modules"]
    maintenance, spark = by_suite["maintenance"], by_suite["spark"]
    made = (
        ("closure.png", "Closing DAG-R", plots.closure_bars(general, modules, results / "closure.png")),
        ("update.png", "A small update", plots.update_bars(general, results / "update.png")),
        ("memory.png", "Memory over time", plots.memory_over_time(by_suite["memory"], results / "memory.png")),
        ("scaling.png", "Scaling", plots.scaling_curves(maintenance, spark, results / "scaling.png")),
    )
    return (f"![{title}]({name})" for name, title, done in made if done)


def _targets(by_suite: Mapping[str, Results]) -> str:
    rows = []
    for name, one in by_suite.items():
        for target in one.get("targets", ()):
            verdict = {True: "met", False: "**missed**", None: "not measured"}[target["met"]]
            rows.append((name, target["promise"], target["measured"], verdict))
    met = sum(row[3] == "met" for row in rows)
    return f"{met} of {len(rows)} are met.\n\n" + table(("part", "promise", "measured", "verdict"), rows)


def _losses(by_suite: Mapping[str, Results]) -> str:
    """All measurements in which another system or form is faster, and all missed targets."""
    lines = [f"- {line}" for line in (*_lost_to_peers(by_suite["general"]), *_lost_queries(by_suite["modules"]),
                                      *_lost_rdf(by_suite["rdf"]), *_missed(by_suite))]  # fmt: skip
    return "\n".join(lines) if lines else "Nowhere in what was measured."


def _lost_to_peers(general: Results) -> Iterator[str]:
    for comparison in general.get("comparisons", ()):
        outcomes = {row["system"]: row["outcome"]["seconds"] for row in comparison["rows"] if row["outcome"]}
        ours = min((s for name, s in outcomes.items() if name.startswith("everlog")), default=None)
        for name, seconds in outcomes.items():
            if ours and "kernel" not in name and not name.startswith("everlog") and seconds < ours:
                shown = f"{ours / seconds:.1f} times faster ({seconds:.3g} s, {ours:.3g} s)"
                yield f"{comparison['workload']}: {name} is {shown}."


def _lost_queries(modules: Results) -> Iterator[str]:
    for one in modules.get("forms", ()):
        asked = [q for family in one.get("queries", {}).values() for q in family if q.get("rows_ratio", 0) > SLOWER]
        if one["form"] == "compact" and asked:
            worst = max(asked, key=lambda q: q["rows_ratio"])
            slow = f"{len(asked)} queries find rows {SLOWER} times slower than in listed pairs, or worse"
            yield f"{one['workload']}, compact: {slow}; {worst['query']} is the worst, {worst['rows_ratio']:.1f} times."


def _lost_rdf(rdf: Results) -> Iterator[str]:
    for one in rdf.get("asked", ()):
        ours, theirs = ((one.get(name) or {}).get("queries", {}) for name in ("everlog", "pyoxigraph"))
        ratios = {q: ours[q]["best"] / theirs[q]["best"] for q in ours.keys() & theirs.keys()}
        slower = sorted((q for q in ratios if ratios[q] > 1), key=lambda q: -ratios[q])
        if slower:
            worst = f"{slower[0]} is the worst, {ratios[slower[0]]:,.0f} times"
            yield f"{one['workload']}: pyoxigraph answers {len(slower)} of {len(ratios)} queries faster; {worst}."


def _missed(by_suite: Mapping[str, Results]) -> Iterator[str]:
    for name, one in by_suite.items():
        for target in one.get("targets", ()):
            if target["met"] is False:
                yield f"{name}: missed: {target['promise']} ({target['measured']})."


def _peers(general: Results) -> str:
    compared = [one for one in general.get("comparisons", ()) if one["rows"]]
    systems = list(dict.fromkeys(row["system"] for one in compared for row in one["rows"]))
    rows = []
    for one in compared:
        by_system = {row["system"]: row for row in one["rows"]}
        rows.append([one["workload"], *(_cell(by_system.get(system)) for system in systems)])
    return table(("workload", *systems), rows) if rows else "not measured"


def _cell(row: Results | None) -> str:
    if row is None:
        return "-"
    if row["outcome"]:
        return f"{row['outcome']['seconds']:.3f}"
    return f">{row['stopped_after']:g}" if row["stopped_after"] else "failed"


def _links(results: Path, quick: bool) -> str:
    pages = {suite.title: suite.path(results, quick=quick).with_suffix(".md") for suite in SUITES.values()}
    return "\n".join(f"- [{title}]({page.name})" for title, page in pages.items() if page.exists())
