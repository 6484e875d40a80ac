"""Closures: tables 1 and 2 of the modular paper (5.6 and 5.7 of the thesis), tables 1 to 3 of the storage paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.evidence import paper_figures
from bench.modules.report import by_workload
from bench.report import Results, table

Time = tuple[float, bool]
"""Seconds, and whether the run was stopped after them."""


def _forms(results: Results) -> dict[str, dict[str, Results]]:
    return by_workload([one for one in results.get("forms", ()) if "error" not in one])


def _time(one: Results | None, *keys: str) -> Time | None:
    figure: Any = one
    for key in keys:
        figure = (figure or {}).get(key)
    if not figure:
        return None
    spent, cut_off = figure.get("seconds", figure.get("median")), figure.get("cut_off")
    if cut_off is None or cut_off is False:
        return (spent, False) if spent else None
    return None if cut_off is True else (cut_off, True)


def _over(left: Time | None, right: Time | None) -> str:
    if left is None or right is None or right[1]:
        return "-"
    return f"{'> ' if left[1] else ''}{left[0] / right[0]:,.1f}"


def modular(results: Results) -> str:
    rows = [
        [f"paper: {name}", f"{without / with_:,.1f}", "-"] for name, (with_, without) in paper_figures.MODULAR.items()
    ]
    for name, forms in _forms(results).items():
        times = {form: _time(one, "materialise") for form, one in forms.items()}
        rows.append([name, *(_over(times.get("standard"), times.get(form)) for form in ("plain", "compact"))])
    return table(("input", "general rules / modules, pairs listed", "general rules / modules, compact"), rows)


def modular_updates(results: Results) -> str:
    rows = [
        [f"paper: {name}", *(f"{without / with_:,.1f}" for with_, without in columns), "-", "-", "-"]
        for name, columns in paper_figures.MODULAR_UPDATES.items()
    ]
    for name, forms in _forms(results).items():
        cells = []
        for form in ("plain", "compact"):
            for kind in ("delete", "insert", "large"):
                cells.append(_over(_time(forms.get("standard"), kind), _time(forms.get(form), kind)))
        rows.append([name, *cells])
    headings = ("input", "listed: 1,000 deleted", "1,000 inserted", "25% deleted", "compact: 1,000 deleted",
                "1,000 inserted", "25% deleted")  # fmt: skip
    return table(headings, rows)


STORAGE = ("input", "time: general / compact", "listed / compact", "held: general / compact", "listed / compact")


def _storage(theirs: Mapping[str, Any], results: Results, names: Sequence[str]) -> str:
    rows = []
    for name, (standard, plain, compact) in theirs.items():
        times = [f"{one[0] / compact[0]:,.1f}" if one else "-" for one in (standard, plain)]
        held = [f"{one[1] / compact[1]:,.1f}" if one else "-" for one in (standard, plain)]
        rows.append([f"paper: {name}", *times, *held])
    for name, forms in _forms(results).items():
        if name in names:
            compact = forms.get("compact")
            others = [forms.get("standard"), forms.get("plain")]
            times = [_over(_time(one, "materialise"), _time(compact, "materialise")) for one in others]
            held = [f"{one['held'] / compact['held']:,.1f}" if one and compact else "-" for one in others]
            rows.append([name, *times, *held])
    return table(STORAGE, rows)


def categories(results: Results) -> str:
    text = _storage(paper_figures.CATEGORIES, results, ("categories-small", "categories"))
    whole = _forms(results).get("categories", {}).get("compact")
    if whole is None:
        return text
    seconds, held = whole["materialise"]["seconds"], whole["held"] / 1e6
    theirs = "theirs 1.9 G in 444 s and 2,304 MB"
    return f"{text}\n\nOurs: {whole['facts']:,} facts in {seconds:.1f} s and {held:,.0f} MB; {theirs}."


def schemes(results: Results) -> str:
    return _storage(
        paper_figures.SCHEMES, results, ("dag-r-nonlinear", "relations", "categories-small", "stw", "gemet", "uat")
    )


def queries(results: Results) -> str:
    rows = []
    for family in ("closure", "union"):
        plain, compact = paper_figures.QUERIES[family], paper_figures.QUERIES[f"{family} compact"]
        rows.append([f"paper: {family}", *(f"{c / p:.1f}" for p, c in zip(plain, compact, strict=True))])
        for name, forms in _forms(results).items():
            asked = (forms.get("compact") or {}).get("queries", {}).get(family)
            if asked and any("rows_ratio" in one for one in asked):
                cells = (f"{one['rows_ratio']:.1f}" if "rows_ratio" in one else "-" for one in asked)
                rows.append([f"{name}: {family}", *cells])
    return table(("compact over plain", *(f"Q{i}" for i in range(11))), rows)
