"""Reasoning on Spark as tables, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.plots import figure
from bench.report import Report, Results, table
from bench.spark.everlog_plans import IN_ONE_TASK
from bench.spark.parts import errors
from bench.spark.targets import disagreements, targets
from bench.spark.workloads import OBVIOUS, WORKLOADS
from everlog.settings import LOCAL_FINISH

COMPARED = (
    "Seconds from edges in Parquet files until every answer has been counted and hashed, after a small run that warms "
    "up, on two cores unless it says one. `>` marks a lower bound, where the obvious loop was stopped at its time "
    "limit. `loop` is same-generation without the local finish: rounds over slices whose facts stay in place; "
    f"with it, one task may hold {IN_ONE_TASK:,} facts (`spark-local-finish`, by default {LOCAL_FINISH:,})."
)
JOINS = (
    "Universities in the spirit of LUBM and 74 rules, from Parquet files of IRIs to a committed store with its "
    "counters, after a small run that warms up, with two cores, and with all processes pinned to one."
)
MEMORY = (
    "On `local-cluster[2,1,1024]` with `spark.executor.memory=1g` and `spark.executor.pyspark.memory=1g`, a session's "
    "first run, the driver's heap limited to 512 MB (it runs Spark's master "
    "and workers, too): the largest process of each kind, MB resident at its peak, and what is alive in the driver's "
    "heap after collections. Spark limits the address space of workers, so that is beside what is resident."
)
UPDATES = (
    "Some students change courses. Seconds of whole jobs, from files of changes to the next version of the store, in a "
    "warm session, the better of two runs, beside materialising the store. By default one task looks up the rows it "
    "needs. `rows read` are the rows that this task read from the store, or that the tasks of Spark read from files: "
    "rows that several stages read count several times, and files that stages write for later stages count, too. Rows "
    "of skipped row groups never count. The percentage is that of the store's rows. The last line is the local engine "
    "in this process, which maps the snapshot that its previous run wrote."
)


def report(parts: Mapping[str, Results]) -> Report:
    """The results as tables; the run fails if two systems disagree or Everlog fails."""
    texts = []
    for name, (title, intro, shown) in SECTIONS.items():
        if name in parts:
            texts += [f"## {title}", intro, parts[name].get("error") or shown(parts[name]), _measured(parts[name])]
    wrong = [*errors(parts), *disagreements(parts.get("compare", {}).get("runs", ()))]
    return Report({"parts": parts}, targets(parts), texts, wrong, partial(plot, parts))


def _measured(part: Results) -> str:
    load = "not looked at" if part["load"] is None else f"{part['load']:.1f}"
    lines = [f"`{part['command_line']}`, cores busy with other work before: {load}", part.get("note", "")]
    return "\n\n".join(line for line in lines if line)


def compare_text(part: Results) -> str:
    """All runs, each with its speed relative to the obvious loop."""
    loops = {run["workload"]: run for run in part["runs"] if run["system"] == OBVIOUS}
    rows = []
    order = list(WORKLOADS)
    for run in sorted(part["runs"], key=lambda run: order.index(run["workload"])):
        answers = run.get("answers")
        figures = [f"{run['seconds']:.1f}", "-" if answers is None else f"{answers:,}"]
        rows.append([run["workload"], run["system"], *figures, _times(run, loops.get(run["workload"]))])
    notes = [f"{run['workload']}, {run['system']}: {run['error']}" for run in part["runs"] if run.get("error")]
    headings = ("workload", "system", "seconds", "answers", "times the obvious loop")
    return "\n\n".join([table(headings, rows), *notes, *disagreements(part["runs"])])


def _times(run: Results, loop: Results | None) -> str:
    """The speed relative to the loop; a lower bound, marked with >, if the loop was stopped."""
    if loop is None or run is loop or run.get("answers") is None or loop.get("failed"):
        return "-"
    return f"{'>' if loop.get('answers') is None else ''}{loop['seconds'] / run['seconds']:.1f}"


def joins_text(part: Results) -> str:
    runs = sorted(part["runs"], key=lambda run: (-int(run["cores"]), int(run["times"])))
    first = next((run for run in runs if "seconds" in run and run["cores"] == 2), None)
    rows = []
    for run in runs:
        mark = [str(run["times"]), str(run["cores"])]
        if "error" in run:
            rows.append([*mark, "-", "-", run["error"], "-", "-", "-"])
            continue
        linear = "-"
        if first is not None and run["cores"] == 2:
            linear = f"{run['seconds'] / first['seconds'] / (run['explicit'] / first['explicit']):.2f}"
        rows.append([*mark, f"{run['explicit']:,}", f"{run['facts']:,}", f"{run['seconds']:.1f}",
                     *(f"{run['phases'][phase]:.1f}" for phase in ("read", "reason")), linear])  # fmt: skip
    text = table(("times", "cores", "explicit", "facts", "seconds", "reading", "reasoning", "of linear"), rows)
    return "\n\n".join([text, *_fixed([run for run in runs if "seconds" in run and run["cores"] == 2])])


def _fixed(runs: Sequence[Results]) -> list[str]:
    """The fixed seconds and the seconds per million facts, computed from the two largest runs."""
    if len(runs) < 2:
        return []
    (few, short), (many, long) = ((run["explicit"] / 1e6, run["seconds"]) for run in runs[-2:])
    rate = (long - short) / (many - few)
    return [f"By the two largest, {long - rate * many:.0f} s and {rate:.0f} s for each million explicit facts."]


def memory_text(part: Results) -> str:
    runs = sorted(part["runs"], key=lambda run: int(run["times"]))
    roles = list(dict.fromkeys(role for run in runs for role in run.get("peaks", ())))
    rows = [
        [str(run.get("times", 1)), run["error"], *["-"] * (len(roles) + 1)]
        if "error" in run
        else [str(run.get("times", 1)), f"{run['explicit']:,}", f"{run['seconds']:.0f}",
              *(f"{run['peaks'].get(role, 0) / 1e6:,.0f}" for role in roles)]
        for run in runs
    ]  # fmt: skip
    return table(("times", "explicit", "seconds", *roles), rows)


def updates_text(part: Results) -> str:
    made, local, store = part["materialise"], part.get("local"), part["store"]
    rows = [("materialise, Spark", f"{made['seconds']:.1f}", "100%", *["-"] * 5)]
    if local is not None:
        rows.append(("materialise, this machine", f"{local['seconds']:.1f}", *["-"] * 6))
    for how, runs in part["updates"].items():
        best = min(runs, key=lambda run: float(run["seconds"]))
        added, read = best["added"], best["read"]
        on_spark = read["rows"] > 0
        rows.append((
            f"update, {how}",
            f"{best['seconds']:.1f}",
            f"{best['seconds'] / made['seconds']:.0%}",
            best["algorithm"],
            f"{best['inserted']:,} + {best['deleted']:,}",
            f"{added['files']} ({added['rows']:,} rows, {added['bytes'] / 1e3:,.0f} kB)",
            str(read["stages"]) if on_spark else "-",
            f"{read['rows']:,} ({read['rows'] / store['rows']:.0%})" if on_spark else "-",
        ))  # fmt: skip
    title = (
        f"{part['changed']:,} explicit facts change of {made['explicit']:,}, with {made['facts']:,} in all; the store "
        f"has {store['rows']:,} rows in {store['groups']} row groups of {store['files']} files, "
        f"{store['bytes'] / 1e6:,.0f} MB."
    )
    headings = ("job", "seconds", "of materialising", "algorithm", "facts that come + go", "files added", "stages",
                "rows read")  # fmt: skip
    return f"{title}\n\n{table(headings, rows)}"


SECTIONS = {
    "compare": ("Against the obvious loops", COMPARED, compare_text),
    "joins": ("Joins at 1 to 8 times the size", JOINS, joins_text),
    "memory": ("Memory", MEMORY, memory_text),
    "updates": ("Updates", UPDATES, updates_text),
}


def plot(parts: Mapping[str, Results], path: Path) -> None:
    runs = [run for run in parts.get("compare", {}).get("runs", ()) if run["seconds"]]
    runs.sort(key=lambda run: run["workload"])
    sized = [run for run in parts.get("joins", {}).get("runs", ()) if "seconds" in run and run["cores"] == 2]
    sized.sort(key=lambda run: run["times"])
    with figure(path, 1, 2, figsize=(11, 4.5)) as (left, right):
        colours = ["tab:grey" if run["system"] == OBVIOUS else "tab:blue" for run in runs]
        left.barh(range(len(runs)), [run["seconds"] for run in runs], color=colours)
        left.set_yticks(range(len(runs)), [f"{run['workload']}\n{run['system']}" for run in runs], fontsize="x-small")
        left.invert_yaxis()
        if runs:
            left.set_xscale("log")
        left.set_xlabel("seconds (grey: the obvious loop, perhaps stopped)")
        if sized:
            facts, seconds = ([run[key] for run in sized] for key in ("explicit", "seconds"))
            right.plot(facts, seconds, marker="o", label="universities, two cores")
            right.plot(facts, [seconds[0] * n / facts[0] for n in facts], linestyle=":", label="linear")
            right.legend(fontsize="small")
        right.set_xlabel("explicit facts")
        right.set_ylabel("seconds")
