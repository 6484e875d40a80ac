"""``python -m bench.evidence.memory [--quick]``: the memory of processes over time while they close DAG-R."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import RESULTS, ROOT
from bench.progress import tell

EVERY = 0.02
LONGEST = 120.0

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
    """Run a program; the seconds since its start and its resident megabytes, again and again, and what it printed."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    samples: list[tuple[float, float]] = []
    while process.poll() is None and time.perf_counter() - began < LONGEST:
        resident = _resident(process.pid)
        if resident:
            samples.append((round(time.perf_counter() - began, 3), round(resident, 1)))
        time.sleep(EVERY)
    process.kill()
    out, _ = process.communicate()
    return {"seconds": time.perf_counter() - began, "samples": samples, "pairs": out.strip()}


def _resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(lines[0].split()[1]) / 1e3 if lines else 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.evidence.memory", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="DAG-S instead, which is small")
    quick = parser.parse_args(arguments).quick
    found = {}
    for name, code in SYSTEMS.items():
        tell(name)
        found[name] = sampled(code.replace("import dag_r", "import dag_s") if quick else code)
    for name, one in found.items():
        peak = max((megabytes for _, megabytes in one["samples"]), default=0)
        print(f"{name}: {one['pairs'] or 'cut off'} pairs, {one['seconds']:.1f} s, {peak:,.0f} MB at most")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / ("quick-memory.json" if quick else "memory.json")).write_text(json.dumps({"systems": found}) + "\n")
    return int(len({one["pairs"] for one in found.values()}) > 1)


if __name__ == "__main__":
    sys.exit(main())
