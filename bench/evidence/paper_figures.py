"""The figures of the papers, measured on their machines and data. Only ratios within a table are comparable."""

from __future__ import annotations

from collections.abc import Sequence

from bench.papers.figures import FIGURES, row

# Journal paper. A score is an algorithm's time divided by the best time; each pair is (average, median) over 24 inputs.
DELETING = {"counting": (258.92, 61.22), "dred": (20.49, 2.29), "fbf": (2.70, 1.00)}
DELETING_DERIVATIONS = {"counting": (1.00, 1.00), "dred": (2524.32, 5.48), "fbf": (283.67, 2.38)}
STRATIFYING = {"counting": (1.07, 1.12), "dred": (5.85, 7.52), "fbf": (1.02, 1.24)}
"""Unstratified divided by stratified: (time, derivations)."""

ADDING = {"counting": (673.96, 540.56), "dred": (1.00, 1.00), "fbf": (1.00, 1.00)}
BREAK_EVEN = {"counting": (1.02, 0.535), "dred": (18.65, 0.235), "fbf": (11.75, 0.34)}
"""With stratification: (average score, median share of the explicit facts)."""

LARGE_DELETING = {
    "counting": (1.31, 1.24),
    "dred": (11.71, 2.35),
    "fbf": (16.06, 2.07),
    "rematerialise": (1.02, 1.00),
    "rematerialise with counters": (1.23, 1.17),
}
LARGE_ADDING = {"counting": (1.85, 1.76), "dred": (1.01, 1.00), "fbf": (1.01, 1.00)}


def _breakdown(name: str) -> tuple[tuple[float, ...], ...]:
    figures = tuple(row("journal-4", f"{name} Y").values())
    return figures[:2], figures[2:5], figures[5:]


BREAKDOWN = {name: _breakdown(name) for name in ("ChEMBL-R", "Claros-LE", "DBpedia-L")}
"""Stratified derivations: (added, deleted) of Counting, (forward, backward, delete) of DRed and of FBF."""

_UNIFORM, _WALK = (row(table, "Claros-LE Y") for table in ("journal-3", "journal-5"))
UNIFORM_OVER_WALK = {name: _UNIFORM[f"{name} s"] / _WALK[f"{name} s"] for name in ("counting", "dred", "fbf")}
"""Claros-LE, where uniform samples hit cliques."""

# Thesis, seconds.
SMALL = {name: tuple(figures) for name, figures in FIGURES["thesis-4.2"]["rows"].items()}
LARGE = {name: tuple(figures[1:]) for name, figures in FIGURES["thesis-4.3"]["rows"].items()}
COLUMNS = ("dredc", "dred", "bfc", "fbf")
"""The columns of SMALL and LARGE."""

COUNTERS = {name: tuple(figures) for name, figures in FIGURES["thesis-4.4"]["rows"].items()}

# Modular paper: (seconds with modules, seconds without). The thesis has these tables for another machine.
MODULAR = {"Claros-LE": (733.55, 3593.32), "LUBM-LE": (291.90, 1100.22), "DBpedia-SKOS": (103.23, 3623.37),
           "DAG-R": (29.60, 3238.86)}  # fmt: skip
MODULAR_UPDATES = {
    "Claros-LE": ((0.93, 1035.28), (0.17, 0.80), (314.33, 3616.93)),
    "LUBM-LE": ((0.32, 3.87), (0.01, 0.01), (182.93, 1369.77)),
    "DBpedia-SKOS": ((21.77, 691.32), (0.20, 2.78), (111.28, 3826.87)),
    "DAG-R": ((64.92, 3005.11), (14.56, 116.78), (62.48, 4316.71)),
}


def _forms(figures: Sequence[float | None]) -> tuple[tuple[float, float] | None, ...]:
    pairs = zip(figures[::2], figures[1::2], strict=True)
    return tuple(None if seconds is None or held is None else (seconds, held) for seconds, held in pairs)


# Storage paper: standard rules, modules with plain storage, modules with compact storage.
CATEGORIES = {
    "29.1 M facts": _forms(FIGURES["storage-1"]["rows"]["materialise"]),
    "1.9 G facts": _forms(FIGURES["storage-1"]["rows"]["large: materialise"]),
}
"""DBpedia's categories: (seconds, megabytes held)."""

SCHEMES = {name: _forms(FIGURES["storage-2"]["rows"][name][2:]) for name in ("25%", "50%", "DAG-R", "Relations")}
"""(seconds, gigabytes held); DBpedia by the share of its facts."""

QUERIES = {name: tuple(figures) for name, figures in FIGURES["storage-3"]["rows"].items()}
"""Seconds of Q0 to Q10, with plain and with compact storage."""
