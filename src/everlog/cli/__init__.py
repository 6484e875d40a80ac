"""The command line: one file for each command, which imports the packages it needs when it is called."""

from __future__ import annotations

import atexit
import os
import signal
import sys

INTERRUPTED = 130
"""The exit status of an interrupted command, as shells have it for Ctrl+C."""


def main() -> None:
    """Run the command line and end the process with its status.

    An interrupt after the end of the command is ignored, so that Python's shutdown shows no traceback.
    """
    try:
        from everlog.cli.run import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        print("error[interrupted]: interrupted before anything was done", file=sys.stderr)
        status = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if status == INTERRUPTED:
        _exit(status)
    sys.exit(status)


def _exit(status: int) -> None:
    """End the process at once: threads may still be running, and Python would remember an interrupt that arrived while
    it ran generated code, and kill itself.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
