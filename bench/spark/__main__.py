"""``python -m bench.spark [NAMES...] [--quick] [--limit SECONDS]``: measure, print, write ``bench/results/``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.machine import machine
from bench.spark.measure import Run, measured, prepared
from bench.spark.report import disagreements, text, write
from bench.spark.workloads import WORKLOADS

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if two systems disagree or one of ours fails."""
    options = _options(arguments)
    chosen = [w for w in WORKLOADS.values() if (w.name in options.names or not options.names)]
    chosen = [w for w in chosen if options.names or w.quick or not options.quick]
    name = "selected-spark" if options.names or options.systems else "quick-spark" if options.quick else "spark"
    about = {**machine(), "load before": f"{os.getloadavg()[0]:.1f}", "master": options.master}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        from everlog.pipeline.session import session, stop

        spark = session(options.master)
        for workload in chosen:
            if not workload.available():
                _tell(f"{workload.name} skipped: its data is not here")
                continue
            edges = prepared(spark, workload, Path(scratch))
            for system in workload.systems:
                if not options.systems or system in options.systems:
                    runs.append(measured(spark, workload, system, edges, Path(scratch), options.limit))
                    _tell(str(runs[-1]))
                    write(runs, RESULTS / name, about)
        stop()
    print(text(runs))
    return int(any(run.failed for run in runs) or bool(disagreements(runs)))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(WORKLOADS))
    parser.add_argument("--quick", action="store_true", help="small workloads only")
    parser.add_argument("--limit", type=float, default=600, help="stop a system after so many seconds (600)")
    parser.add_argument("--master", default="local[2,4]", help="Spark's master (local[2,4])")
    parser.add_argument("--systems", type=lambda names: names.split(","), default=[], help="only these")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]}; there are {', '.join(WORKLOADS)}")
    return options


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
