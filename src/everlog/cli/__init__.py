"""The command line: one file per command, each of which imports what it needs when it is called."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    from everlog.cli.run import run

    sys.exit(run(sys.argv[1:]))
