"""RDF and ontologies as tables, a file for machines, and a plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.machine import machine, versions
from bench.rdf.reasoners import REASONERS
from bench.report import BUSY, table
from bench.targets import Target

Found = Mapping[str, Any]
PEERS = ("reasonable", "owlrl", "rdflib", "pyoxigraph")

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


def document(found: Found, verdicts: Sequence[Target]) -> str:
    """The whole report as Markdown."""
    facts = {**machine(), **versions(), **{name: version(name) for name in PEERS}}
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    lines.append(f"- load before: {found['load']:.1f}")
    parts = ["# RDF and ontologies", f"`{found['command_line']}`", "\n".join(lines)]
    parts += ["## Targets", targets_text(found, verdicts), "## Reading and materialising", READ]
    parts += [f"### {name}\n\n{reasoned_text(records)}" for name, records in by_workload(found["reasoned"]).items()]
    parts += ["## The 14 queries of LUBM", ASK]
    parts += [f"### {one['workload']}\n\n{asked_text(one)}" for one in found["asked"]]
    return "\n\n".join(parts) + "\n"


def by_workload(records: Sequence[Found]) -> dict[str, list[Found]]:
    """The records of each workload."""
    found: dict[str, list[Found]] = {}
    for one in records:
        found.setdefault(one["workload"], []).append(one)
    return found


def targets_text(found: Found, verdicts: Sequence[Target]) -> str:
    """The targets, one a line, with a warning if other work was going on."""
    lines = [(target.topic, target.promise, target.measured, target.verdict) for target in verdicts]
    text = table(("topic", "target", "measured", "verdict"), lines)
    busy = f"\n\nThe machine was busy (load {found['load']:.1f} before the run): the verdicts are provisional."
    return text + (busy if found["load"] > BUSY else "")


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


def write(found: Found, verdicts: Sequence[Target], directory: Path, name: str) -> None:
    """Write ``NAME.json``, ``NAME.md`` and ``NAME.png``."""
    directory.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine(), "versions": versions(), **found, "targets": [asdict(each) for each in verdicts]}
    (directory / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (directory / f"{name}.md").write_text(document(found, verdicts))
    plot(found, directory / f"{name}.png")


def plot(found: Found, path: Path) -> None:
    """Seconds of reasoning by system, and of each query by both, on logarithmic scales."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    asked = [one for one in found["asked"] if "queries" in one["everlog"] and "queries" in one["pyoxigraph"]]
    figure, axes = pyplot.subplots(1, 1 + len(asked), figsize=(6 + 5 * len(asked), 4.5), squeeze=False)
    workloads = by_workload(found["reasoned"])
    systems = [
        name for name in REASONERS if any(one["system"] == name and one.get("reason") for one in found["reasoned"])
    ]
    for index, system in enumerate(systems):
        seconds = [next((one.get("reason") for one in records if one["system"] == system), None) or 0.0
                   for records in workloads.values()]  # fmt: skip
        places = [place + (index - len(systems) / 2) * 0.8 / len(systems) for place in range(len(workloads))]
        axes[0][0].bar(places, seconds, 0.8 / len(systems), label=system, align="edge")
    axes[0][0].set_xticks(range(len(workloads)), list(workloads))
    axes[0][0].set_ylabel("seconds of materialising")
    for axis, one in zip(axes[0][1:], asked, strict=True):
        for shift, system in ((-0.4, "everlog"), (0.0, "pyoxigraph")):
            queries = one[system]["queries"]
            axis.bar([place + shift for place in range(len(queries))],
                     [each["best"] for each in queries.values()], 0.4, label=system, align="edge")  # fmt: skip
        axis.set_xticks(range(len(queries)), list(queries), rotation=60)
        axis.set_ylabel(f"seconds of queries, {one['workload']}")
    for axis in axes[0]:
        axis.set_yscale("log")
        axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
