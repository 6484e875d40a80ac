"""``python -m bench [NAME [PARTS...] [--quick] [OPTIONS]]``: run a benchmark, print and write its report.

Without a name everything is measured, in one report (``python -m bench evidence``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.evidence.run_all import main as everything
from bench.suites import SUITES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmark; return 1 if it has problems."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=["evidence", *SUITES], default="evidence")
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["evidence"]
    chosen = parser.parse_args([name]).name
    return everything(rest) if chosen == "evidence" else SUITES[chosen].measure(rest)


if __name__ == "__main__":
    sys.exit(main())
