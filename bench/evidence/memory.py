"""The memory of processes over time while they close DAG-R."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

from bench.machine import status_bytes
from bench.measure import ROOT
from bench.progress import log_progress
from bench.report import Report, table
from bench.suites import Benchmark

INTERVAL = 0.02
"""Seconds between two samples."""
LONGEST = 120.0
"""Maximum seconds of a process; a longer one is killed."""

START = """
import sys, numpy as np
from bench.workloads import dag_r as drawn
from bench.programs import LINEAR, NONLINEAR
edges = np.asarray(drawn())
"""
EVERLOG = """
from everlog import KnowledgeBase
kb = KnowledgeBase(NONLINEAR.rules, modules=MODULES, maintain="none")
kb.insert("edge", edges)
kb.materialise()
print(len(kb["path"]))
"""
DUCKDB = """
import duckdb, pyarrow as pa
connection = duckdb.connect(config={"threads": 2})
connection.execute("set enable_progress_bar = false")
connection.register("given", pa.table({"a": edges[:, 0], "b": edges[:, 1]}))
connection.execute("create table edge as select * from given")
print(connection.execute("with recursive path(a, b) as (select a, b from edge union select path.a, edge.b from path, "
                         "edge where path.b = edge.a) select count(*) from path").fetchone()[0])
"""
SYSTEMS = {
    "everlog, compact": START + EVERLOG.replace("MODULES", "True"),
    "everlog, plain pairs": START + EVERLOG.replace("MODULES", "False").replace("NONLINEAR.rules", "LINEAR.rules"),
    "DuckDB, recursive query": START + DUCKDB,
}


def sampled(code: str) -> dict[str, Any]:
    """Run a program and sample it: (seconds since its start, resident megabytes) at intervals, and its output."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    samples: list[tuple[float, float]] = []
    while process.poll() is None and time.perf_counter() - began < LONGEST:
        resident = status_bytes("VmRSS", process.pid) / 1024e3
        if resident:
            samples.append((round(time.perf_counter() - began, 3), round(resident, 1)))
        time.sleep(INTERVAL)
    process.kill()
    out, _ = process.communicate()
    return {"seconds": time.perf_counter() - began, "samples": samples, "pairs": out.strip()}


def measure(options: argparse.Namespace) -> Report:
    results = {}
    for name, code in SYSTEMS.items():
        log_progress(name)
        results[name] = sampled(code.replace("import dag_r", "import dag_s") if options.quick else code)
    rows = []
    for name, one in results.items():
        peak = max((megabytes for _, megabytes in one["samples"]), default=0)
        rows.append([name, one["pairs"] or "cut off", f"{one['seconds']:.1f}", f"{peak:,.0f}"])
    wrong = ["the systems have different numbers of pairs"] if len({row[1] for row in rows}) > 1 else []
    sections = [table(("system", "pairs", "seconds", "peak MB"), rows)]
    return Report({"systems": results}, sections=sections, wrong=wrong)


BENCHMARK = Benchmark(measure)
