"""RDF and ontologies as tables, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.plots import figure, grouped_bars
from bench.rdf.reasoners import REASONERS
from bench.rdf.targets import targets
from bench.report import Found, Report, table

READ = (
    "Seconds from files (N-Triples, with the ontology) to the system's own form in memory, and from there to the "
    "last derived triple. `x everlog rl` compares the latter. Everlog runs on one core, the others on as many as "
    "they use. reasonable gives its triples as Python objects, which is part of its time. `employees` are the "
    "individuals found to be employees: reasonable has no scm-svf1 and finds fewer. The numbers of triples differ in "
    "what is added about vocabulary, and in that Everlog's and owlrl's rules make each term the same as itself. "
    "`everlog lower` is the datalog part of the ontology over unary and binary predicates."
)
ASK = (
    "The materialisation of the lower program in memory; milliseconds of the best of several times, all answers taken "
    "as Python objects, the first time in brackets."
)


def report(found: Found) -> Report:
    """What was measured, as tables; wrong if Everlog fails or answers differ."""
    parts = ["## Reading and materialising", READ]
    parts += [f"### {name}\n\n{reasoned_text(records)}" for name, records in by_workload(found["reasoned"]).items()]
    parts += ["## The 14 queries of LUBM", ASK]
    parts += [f"### {one['workload']}\n\n{asked_text(one)}" for one in found["asked"]]
    verdicts = targets(found["reasoned"], found["asked"])
    ours = [*(one for one in found["reasoned"] if one["system"].startswith("everlog")),
            *(one["everlog"] for one in found["asked"])]  # fmt: skip
    wrong = [one["error"] for one in ours if "error" in one]
    wrong += [each.promise for each in verdicts if each.met is False and each.topic.startswith(("queries", "facts"))]
    return Report(found, verdicts, parts, wrong, partial(plot, found))


def by_workload(records: Sequence[Found]) -> dict[str, list[Found]]:
    """The records of each workload."""
    found: dict[str, list[Found]] = {}
    for one in records:
        found.setdefault(one["workload"], []).append(one)
    return found


def reasoned_text(records: Sequence[Found]) -> str:
    """All systems on one workload."""
    headings = ("system", "read s", "triples read/s", "reason s", "cpu s", "x everlog rl", "triples", "triples/s",
                "employees", "peak MB", "note")  # fmt: skip
    ours = next((one["reason"] for one in records if one["system"] == "everlog rl" and "reason" in one), None)
    rows = []
    for one in records:
        note = REASONERS[one["system"]].note
        if "read" not in one:
            stopped = f">{one['stopped']:g}" if "stopped" in one else "failed"
            least = f">{one['stopped'] / ours:.1f}" if ours and "stopped" in one else "-"
            rows.append(
                [one["system"], "-", "-", stopped, "-", least, "-", "-", "-", "-", note or one.get("error", "")]
            )
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


def asked_text(one: Found) -> str:
    """The queries of one workload by both systems."""
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


def _milliseconds(one: Found) -> str:
    return f"{one['best'] * 1000:,.1f} ({one['first'] * 1000:,.1f})"


def plot(found: Found, path: Path) -> None:
    """Seconds of reasoning by system, and of each query by both, on logarithmic scales."""
    asked = [one for one in found["asked"] if "queries" in one["everlog"] and "queries" in one["pyoxigraph"]]
    reasoned = {
        name: {one["system"]: one.get("reason") for one in records}
        for name, records in by_workload(found["reasoned"]).items()
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
