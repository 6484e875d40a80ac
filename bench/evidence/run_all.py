"""``python -m bench evidence [NAMES...] [--kept | --quick]``: measure all or named benchmarks, write the report."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.evidence import report
from bench.evidence.tables import TABLES, PaperTable
from bench.measure import RESULTS
from bench.progress import BEGAN, log_progress, shown
from bench.suites import SUITES, SuiteRun


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and write the report; return 1 if a benchmark failed. The last line names the failed ones."""
    options = _options(arguments)
    os.environ.setdefault(BEGAN, str(time.time()))
    for name in options.names:
        if name in TABLES:
            print(f"## {name}: {TABLES[name].title}\n\n{_table(TABLES[name], options.kept)}\n", flush=True)
    suites = [name for name in options.names if name in SUITES] or (list(SUITES) if not options.names else [])
    if not suites:
        return 0
    results = Path(tempfile.mkdtemp(prefix="everlog-bench-")) if options.quick else RESULTS
    ran = {} if options.kept else _run_suites(suites, options.quick, results)
    path = report.write(ran, results=results, quick=options.quick)
    print(f"written to {path if options.quick else path.name}")
    failed = [name for name, each in ran.items() if each.failed]
    if failed:
        log_progress(f"FAILED: {', '.join(failed)}")
    return int(bool(failed))


def _run_suites(suites: Sequence[str], quick: bool, results: Path) -> dict[str, SuiteRun]:
    """Run the benchmarks one after the other; each writes its results before the next begins."""
    ran: dict[str, SuiteRun] = {}
    for number, name in enumerate(suites, 1):
        print(f"# {SUITES[name].title}\n", flush=True)
        log_progress(f"{name}: part {number} of {len(suites)}")
        ran[name] = SUITES[name].run(quick=quick, results=results)
        log_progress(f"{name}: {shown(ran[name].seconds)} minutes, {ran[name]}")
    for name, each in ran.items():
        log_progress(f"{name:12} {shown(each.seconds):>6} {each}")
    log_progress(f"{'all':12} {shown(sum(each.seconds for each in ran.values())):>6}")
    return ran


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench evidence", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*TABLES, *SUITES]))
    parser.add_argument("--kept", action="store_true", help="measure nothing, take what was measured last")
    parser.add_argument("--quick", action="store_true", help="small sizes, into a new directory: whether it works")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in TABLES and name not in SUITES]
    if unknown:
        parser.error(f"no table or part {unknown[0]}; there are {', '.join([*TABLES, *SUITES])}")
    return options


def _table(wanted: PaperTable, kept: bool) -> str:
    suite = SUITES[wanted.suite]
    if kept:
        return wanted.text(suite.last_results())
    suite.run(wanted.parts)
    return wanted.text(suite.last_results(part=bool(wanted.parts)))
