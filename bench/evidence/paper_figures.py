"""The figures of the papers, measured on their machines and data. Only ratios within a table are comparable."""

from __future__ import annotations

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

BREAKDOWN = {
    "ChEMBL-R": ((96.8, 5.98e3), (56.62e6, 3.47e3, 56.62e6), (14.39e6, 5.84e3, 5.88e3)),
    "Claros-LE": ((111.2, 2.22e6), (3.51e9, 52.19e3, 3.51e9), (1.85e9, 131.8e6, 2.22e6)),
    "DBpedia-L": ((11.0, 834.27), (213.0, 18.73, 1.04e3), (115.1, 348.93, 823.27)),
}
"""Stratified derivations: (added, deleted) of Counting, (forward, backward, delete) of DRed and of FBF."""

UNIFORM_OVER_WALK = {"counting": 26.31 / 26.06, "dred": 1810 / 4.18, "fbf": 472.54 / 4.64}
"""Claros-LE, where uniform samples hit cliques: times of table 3 divided by those of table 5."""

# Thesis, seconds.
SMALL = {
    "UOBM-U": (179.24, 1185.87, 1.18, 31.96),
    "UOBM-R": (0.29, 0.56, 0.26, 0.24),
    "Reactome-U": (0.06, 1.03, 0.05, 1.00),
    "Reactome-R": (26.57, 62.46, 0.89, 0.90),
    "Uniprot-R": (4.31, 8.71, 4.13, 4.36),
    "ChemBL-R": (7.91, 12.22, 1.27, 1.26),
    "Claros-LE": (1143.55, 1741.66, 560.61, 653.04),
}
LARGE = {
    "UOBM-U": (1540, 3660, 1640, 3110),
    "UOBM-R": (3280, 5750, 2760, 2870),
    "Reactome-U": (30.7, 6320, 39.16, 6330),
    "Reactome-R": (1070, 1780, 920, 930),
    "Uniprot-R": (1570, 3470, 1920, 2860),
    "ChemBL-R": (4740, 7220, 3250, 4180),
    "Claros-LE": (5010, 17810, 3490, 16740),
}
COLUMNS = ("dredc", "dred", "bfc", "fbf")
"""The columns of SMALL and LARGE."""

COUNTERS = {
    "UOBM-U": (1560, 1600, 1610),
    "UOBM-R": (4140, 4160, 4190),
    "Reactome-U": (30.90, 31.23, 31.32),
    "Reactome-R": (910, 910, 920),
    "Uniprot-R": (1980, 1990, 2000),
    "ChemBL-R": (2560, 2570, 2590),
    "Claros-LE": (3360, 3490, 3600),
}

# Modular paper: (seconds with modules, seconds without). The thesis has these tables for another machine.
MODULAR = {"Claros-LE": (733.55, 3593.32), "LUBM-LE": (291.90, 1100.22), "DBpedia-SKOS": (103.23, 3623.37),
           "DAG-R": (29.60, 3238.86)}  # fmt: skip
MODULAR_UPDATES = {
    "Claros-LE": ((0.93, 1035.28), (0.17, 0.80), (314.33, 3616.93)),
    "LUBM-LE": ((0.32, 3.87), (0.01, 0.01), (182.93, 1369.77)),
    "DBpedia-SKOS": ((21.77, 691.32), (0.20, 2.78), (111.28, 3826.87)),
    "DAG-R": ((64.92, 3005.11), (14.56, 116.78), (62.48, 4316.71)),
}

# Storage paper: standard rules, modules with plain storage, modules with compact storage.
CATEGORIES = {"29.1 M facts": ((2845.08, 1251.77), (28.24, 1320.64), (8.44, 248.01)),
              "1.9 G facts": (None, (3295.25, 82348.18), (443.80, 2304.00))}  # fmt: skip
"""DBpedia's categories: (seconds, megabytes held)."""

SCHEMES = {
    "DB25%": ((33.42, 2.2), (33.88, 2.7), (31.39, 3.1)),
    "DB50%": ((12879.90, 25.4), (984.86, 26.4), (479.35, 7.7)),
    "DAG-R": ((3973.21, 0.9), (36.04, 1.0), (26.45, 0.9)),
    "Relations": ((14277.00, 9.3), (2046.36, 9.4), (6905.72, 4.1)),
}
"""(seconds, gigabytes held)."""

QUERIES = {
    "closure": (8.38, 27.70, 0.03, 0.03, 0.03, 0.03, 15.00, 0.10, 0.13, 0.03, 0.03),
    "closure compact": (22.43, 20.64, 0.03, 0.03, 0.03, 0.03, 42.15, 0.24, 0.35, 0.03, 0.03),
    "union": (25.50, 77.00, 0.28, 0.42, 0.03, 0.03, 36.00, 0.10, 0.15, 0.03, 0.03),
    "union compact": (338.90, 393.00, 0.61, 0.89, 0.03, 0.03, 416.23, 1.97, 2.93, 0.03, 0.03),
}
"""Seconds of Q0 to Q10, with plain and with compact storage."""
