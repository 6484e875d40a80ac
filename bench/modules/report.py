"""The module experiments as tables with the papers' columns, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.modules.setting import FORMS
from bench.modules.targets import targets
from bench.plots import figure, grouped_bars
from bench.report import Report, Results, number, table


def report(results: Results) -> Report:
    parts: list[str] = []
    forms = results["forms"]
    if forms:
        parts += ["## Materialising (seconds)", FORMS_EXPLAINED, materialising_text(forms)]
        parts += ["## Memory (MB)", MEMORY_EXPLAINED, memory_text(forms)]
        parts += ["## Updates (milliseconds)", UPDATES_EXPLAINED, updates_text(forms)]
        parts += ["## Single edges on compact relations", singles_text(forms)]
        for family in ("closure", "union"):
            parts += [f"## Queries on a {family} (milliseconds)", QUERIES_EXPLAINED, queries_text(forms, family)]
    if "dredc" in results["held"]:
        parts += ["## A knowledge base that holds DAG-R (MB)", held_text(results["held"])]
    if results["components"]:
        parts += ["## Components that lose single edges", components_text(results["components"])]
    if results["sizes"]:
        parts += ["## Closure sizes", sizes_text(results["sizes"])]
    measured = [*forms, *results["components"], results["sizes"], results["columns"], results["held"]]
    wrong = [one["error"] for one in measured if "error" in one]
    draw = partial(plot, forms) if any("held" in one for one in forms) else None
    return Report(results, targets(results), parts, wrong, draw)


FORMS_EXPLAINED = (
    "`standard` is general rules, `plain` computes modules and lists their pairs, `compact` keeps their compact form. "
    "Seconds are those of the reasoning, from facts in memory; > marks runs that were stopped."
)
MEMORY_EXPLAINED = (
    "`peak` is the high-water mark of the process after materialising, `held` the reported size of facts and explicit "
    "facts, `counted` that size with the counters for updates, `asked` that size after queries by either argument."
)
UPDATES_EXPLAINED = "The median of samples that are deleted and inserted again; a quarter of the facts deleted once."
QUERIES_EXPLAINED = (
    "Finding and counting the answers in compact relations, and the ratio to the times on listed pairs, run "
    "alternately in one process: medians."
)


def materialising_text(forms: Sequence[Results]) -> str:
    """Sizes and seconds (modular paper, table 1; storage paper, tables 1 and 2)."""
    headings = ("workload", "rules", "modules", "explicit", "facts", "closure", *FORMS, "standard / compact")
    rows = []
    for name, by_form in by_workload(forms).items():
        known = next((one for one in reversed(list(by_form.values())) if "facts" in one), None)
        if known is None:
            errors = [one["error"] for one in by_form.values() if "error" in one]
            rows.append([name, *["-"] * 8, errors[0] if errors else "-"])
            continue
        modules = ", ".join(f"{count} {kind}" for kind, count in known["modules"].items())
        counts = [f"{known[count]:,}" for count in ("explicit", "facts", "pairs")]
        cells = [_made(by_form.get(form, {})) for form in FORMS]
        rows.append([name, str(known["rules"]), modules, *counts, *cells, _ratio(by_form)])
    return table(headings, rows)


def memory_text(forms: Sequence[Results]) -> str:
    columns = ("peak", "held", "counted", "asked")
    headings = ("workload", *(f"{form} {column}" for form in FORMS for column in columns), "plain / compact")
    rows = []
    for name, by_form in by_workload(forms).items():
        cells = []
        for form in FORMS:
            one = by_form.get(form, {})
            cells.append(number(one.get("peak_mb"), ",.0f"))
            cells += [_megabytes(one, column) for column in ("held", "held_counted", "held_asked")]
        held = [by_form.get(form, {}).get("held") for form in ("plain", "compact")]
        rows.append([name, *cells, f"{held[0] / held[1]:.1f}" if held[0] and held[1] else "-"])
    return table(headings, rows)


def updates_text(forms: Sequence[Results]) -> str:
    kinds = {"delete": "delete", "insert": "insert", "large": "25%"}
    headings = ("workload", "changed", *(f"{form} {shown}" for shown in kinds.values() for form in FORMS))
    rows = []
    for name, by_form in by_workload(forms).items():
        changed = next((f"{one['changed']:,}" for one in by_form.values() if "changed" in one), "-")
        cells = [_change(by_form.get(form, {}), kind) for kind in kinds for form in FORMS]
        rows.append([name, changed, *cells])
    return table(headings, rows)


def singles_text(forms: Sequence[Results]) -> str:
    """Milliseconds to delete and insert one edge, compared with materialising everything."""
    rows = []
    for one in forms:
        if "delete_one" in one:
            made = one["materialise"]["seconds"]
            cells = []
            for kind in ("delete_one", "insert_one"):
                taken = one[kind]["median"]
                cells += [_change(one, kind), "-" if taken is None else f"{taken / made:.2%}"]
            rows.append([one["workload"], str(one["delete_one"]["runs"]), *cells])
    return table(("workload", "edges", "delete ms", "of materialising", "insert ms", "of materialising"), rows)


def queries_text(forms: Sequence[Results], family: str) -> str:
    """Every query (storage paper, table 3, and table 3 of its appendix)."""
    headings = ("workload", "query", "answers", "found", "of plain", "counted", "of plain")
    rows = []
    for name, by_form in by_workload(forms).items():
        for one in by_form.get("compact", {}).get("queries", {}).get(family, ()):
            cells = [_milliseconds(one.get("rows")), _times(one, "rows_ratio")]
            cells += [_milliseconds(one["count"]), _times(one, "count_ratio")]
            rows.append([name, one["query"], f"{one['answers']:,}", *cells])
    return table(headings, rows)


def _times(one: Results, key: str) -> str:
    return f"{one[key]:.2f}" if key in one else "-"


def components_text(components: Sequence[Results]) -> str:
    headings = ("nodes", "form", "explicit", "facts", "materialise s", "held MB", "delete ms", "insert ms", "edges")
    rows = []
    for one in components:
        if "delete" not in one:
            rows.append([*(str(one.get(key, "-")) for key in ("nodes", "form")), one.get("error", "-"), *["-"] * 6])
            continue
        cells = [f"{one['explicit']:,}", f"{one['facts']:,}", f"{one['materialise']:.3f}", _megabytes(one, "held")]
        changes = [_change(one, kind) for kind in ("delete", "insert")]
        rows.append([f"{one['nodes']:,}", one["form"], *cells, *changes, str(one["delete"]["runs"])])
    return table(headings, rows) if rows else ""


def held_text(held: Results) -> str:
    parts = ("facts", "bookkeeping", "dictionary", "bytes")
    rows = [
        [maintain, name, *(_megabytes(one, part) for part in parts)]
        for maintain, both in held.items()
        for name, one in both.items()
    ]
    return table(("maintain", "rules", "facts", "bookkeeping", "dictionary", "all"), rows)


def sizes_text(sizes: Results) -> str:
    if "sizes" not in sizes:
        return str(sizes.get("error", ""))
    rows = [
        [one["name"], f"{one['edges']:,}", f"{one['published']:,}",
         *(f"{one['pairs'][rule]:,}" for rule in ("linear", "nonlinear")),
         *(f"{one['seconds'][rule] * 1000:.1f}" for rule in ("linear", "nonlinear"))]
        for one in sizes["sizes"]
    ]  # fmt: skip
    return table(("relation", "edges", "published", "linear", "nonlinear", "linear ms", "nonlinear ms"), rows)


def by_workload(forms: Sequence[Results]) -> dict[str, dict[str, Results]]:
    """The records of each workload by form."""
    results: dict[str, dict[str, Results]] = {}
    for one in forms:
        results.setdefault(one["workload"], {})[one["form"]] = one
    return results


def _made(record: Results) -> str:
    made = record.get("materialise")
    if made is None:
        return "-"
    return f">{made['cut_off']:.0f}" if made["seconds"] is None else f"{made['seconds']:.4f}"


def _ratio(by_form: Mapping[str, Results]) -> str:
    standard, compact = (by_form.get(form, {}).get("materialise") for form in ("standard", "compact"))
    if standard is None or compact is None:
        return "-"
    slow, sign = (standard["cut_off"], ">") if standard["seconds"] is None else (standard["seconds"], "")
    return f"{sign}{slow / compact['seconds']:,.1f}"


def _change(record: Results, kind: str) -> str:
    change = record.get(kind)
    if change is None:
        return "-"
    if change["cut_off"] is not None:
        return f">{change['cut_off'] * 1000:,.0f}"
    return _milliseconds(change["median"])


def _milliseconds(seconds: float | None) -> str:
    """
    >>> _milliseconds(0.0123), _milliseconds(1.5), _milliseconds(None)
    ('12.3', '1,500', '-')
    """
    if seconds is None:
        return "-"
    return f"{seconds * 1000:,.0f}" if seconds >= 0.1 else f"{seconds * 1000:.3g}"


def _megabytes(record: Results, key: str) -> str:
    return f"{record[key] / 1e6:,.1f}" if key in record else "-"


def plot(forms: Sequence[Results], path: Path) -> None:
    workloads = by_workload(forms)
    shown: Mapping[str, Callable[[Results], float | None]] = {
        "seconds to materialise": lambda one: (one.get("materialise") or {}).get("seconds"),
        "MB held": lambda one: one["held"] / 1e6 if "held" in one else None,
    }
    with figure(path, 2, 1, figsize=(max(6.0, 1.1 * len(workloads)), 8), sharex=True) as axes:
        for axis, (label, value) in zip(axes, shown.items(), strict=True):
            groups: dict[str, dict[str, float | None]] = {
                name: {form: value(by_form.get(form, {})) for form in FORMS} for name, by_form in workloads.items()
            }
            grouped_bars(axis, groups, label, ncols=len(FORMS))
