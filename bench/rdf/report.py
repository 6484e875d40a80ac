"""RDF and ontologies as tables, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.plots import figure, grouped_bars
from bench.rdf.reasoners import REASONERS
from bench.rdf.targets import targets
from bench.report import Report, Results, table

READ = (
    "Seconds from files (N-Triples, with the ontology) to the system's own form in memory, and from there to the "
    "last derived triple. `x everlog rl` compares the latter. Everlog runs on one core, the others on as many as "
    "they use. reasonable's time includes making its triples Python objects. `employees` are the individuals found to "
    "be employees: reasonable has no scm-svf1 and finds fewer. The numbers of triples differ because Everlog and owlrl "
    "derive `x owl:sameAs x` for each term, and because systems add different facts about vocabulary. "
    "`everlog lower` is the datalog part of the ontology over unary and binary predicates."
)
ASK = (
    "The materialisation of the lower program in memory; milliseconds of the best of several runs, with all answers "
    "taken as Python objects; the first run in brackets."
)


def report(results: Results) -> Report:
    """The results as tables; the run fails if Everlog fails or answers differ."""
    parts = ["## Reading and materialising", READ]
    parts += [f"### {name}\n\n{reasoned_text(records)}" for name, records in by_workload(results["reasoned"]).items()]
    parts += ["## The 14 queries of LUBM", ASK]
    parts += [f"### {one['workload']}\n\n{asked_text(one)}" for one in results["asked"]]
    verdicts = targets(results["reasoned"], results["asked"])
    ours = [*(one for one in results["reasoned"] if one["system"].startswith("everlog")),
            *(one["everlog"] for one in results["asked"])]  # fmt: skip
    wrong = [one["error"] for one in ours if "error" in one]
    wrong += [each.promise for each in verdicts if each.met is False and each.topic.startswith(("queries", "facts"))]
    return Report(results, verdicts, parts, wrong, partial(plot, results))


def by_workload(records: Sequence[Results]) -> dict[str, list[Results]]:
    results: dict[str, list[Results]] = {}
    for one in records:
        results.setdefault(one["workload"], []).append(one)
    return results


def reasoned_text(records: Sequence[Results]) -> str:
    headings = ("system", "read s", "triples read/s", "reason s", "cpu s", "x everlog rl", "triples", "triples/s",
                "employees", "peak MB", "note")  # fmt: skip
    ours = next((one["reason"] for one in records if one["system"] == "everlog rl" and "reason" in one), None)
    rows = []
    for one in records:
        note = REASONERS[one["system"]].note
        if "read" not in one:
            stopped = f">{one['stopped']:g}" if "stopped" in one else "failed"
            least = f">{one['stopped'] / ours:.1f}" if ours and "stopped" in one else "-"
            rows.append([one["system"], "-", "-", stopped, "-", least, *["-"] * 4, note or one.get("error", "")])
            continue
        reason = one["reason"]
        rows.append([
            one["system"], f"{one['read']:.2f}", f"{one['given'] / one['read']:,.0f}",
            f"{reason:.2f}" if reason else "-",
                f"{one['cpu']:.2f}" if reason else "-", f"{reason / ours:.2f}" if reason and ours else "-",
            f"{one['triples']:,}", f"{one['triples'] / reason:,.0f}" if reason else "-",
            f"{one['employees']:,}" if reason else "-", f"{one['peak_mb']:,.0f}", note,
        ])  # fmt: skip
    return table(headings, rows)


def asked_text(one: Results) -> str:
    ours, theirs = one["everlog"], one["pyoxigraph"]
    if "queries" not in ours:
        return f"everlog: {ours['error']}"
    rows = [("read and materialise, or load", f"{ours['triples']:,}", f"{ours['load'] * 1000:,.0f}",
             f"{theirs['load'] * 1000:,.0f}" if "load" in theirs else theirs["error"], "-")]  # fmt: skip
    for name, mine in ours["queries"].items():
        other = theirs.get("queries", {}).get(name)
        shown = _milliseconds(other) if other else "-"
        ratio = f"{other['best'] / mine['best']:.2f}" if other else "-"
        rows.append((name, f"{mine['answers']:,}", _milliseconds(mine), shown, ratio))
    return table(("query", "answers", "everlog ms", "pyoxigraph ms", "pyoxigraph / everlog"), rows)


def _milliseconds(one: Results) -> str:
    return f"{one['best'] * 1000:,.1f} ({one['first'] * 1000:,.1f})"


def plot(results: Results, path: Path) -> None:
    asked = [one for one in results["asked"] if "queries" in one["everlog"] and "queries" in one["pyoxigraph"]]
    reasoned = {
        name: {one["system"]: one.get("reason") for one in records}
        for name, records in by_workload(results["reasoned"]).items()
    }
    options = {"figsize": (6 + 5 * len(asked), 4.5), "squeeze": False}
    with figure(path, 1, 1 + len(asked), **options) as ((first, *others),):
        grouped_bars(first, reasoned, "seconds of materialising")
        for axes, one in zip(others, asked, strict=True):
            systems = {system: one[system]["queries"] for system in ("everlog", "pyoxigraph")}
            queries = {
                query: {system: each[query]["best"] for system, each in systems.items()} for query in systems["everlog"]
            }
            grouped_bars(axes, queries, f"seconds of queries, {one['workload']}")
