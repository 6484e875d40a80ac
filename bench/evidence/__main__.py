"""``python -m bench.evidence [TABLES...] [--kept]``: measure everything, or what some tables need, and report it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.evidence import report
from bench.evidence.suites import SUITES
from bench.evidence.tables import TABLES, PaperTable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    options = _options(arguments)
    for name in options.names:
        if name in TABLES:
            print(f"## {name}: {TABLES[name].title}\n\n{_table(TABLES[name], options.kept)}\n", flush=True)
    suites = [name for name in options.names if name in SUITES] or (list(SUITES) if not options.names else [])
    seconds: dict[str, float] = {}
    for name in suites if not options.kept else ():
        print(f"# {SUITES[name].title}\n", flush=True)
        seconds[name] = SUITES[name].run()
    if suites:
        print(f"written to {report.write(seconds if len(seconds) == len(SUITES) else {}).name}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.evidence", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*TABLES, *SUITES]))
    parser.add_argument("--kept", action="store_true", help="measure nothing, take what was measured last")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in TABLES and name not in SUITES]
    if unknown:
        parser.error(f"no table or part {unknown[0]}; there are {', '.join([*TABLES, *SUITES])}")
    return options


def _table(wanted: PaperTable, kept: bool) -> str:
    suite = SUITES[wanted.suite]
    if kept:
        return wanted.text(suite.found())
    suite.run(wanted.parts)
    return wanted.text(suite.found(part=bool(wanted.parts)))


if __name__ == "__main__":
    sys.exit(main())
