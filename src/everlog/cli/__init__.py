"""The command line: one file for each command, which imports the packages it needs when it is called."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

from everlog.cli.imports import WithoutPandas

INTERRUPTED = 130
"""The exit status of an interrupted command, as shells have it for Ctrl+C."""

COLLECTED_OBJECTS = 500_000
"""Number of new Python objects after which the garbage collector looks for cycles among them.

Imports alone make 200,000 objects that stay. With Python's threshold of 700, looking through them again and again takes
an eighth of the time of a small command.
"""


def main() -> None:
    """Run the command line and end the process with its status.

    An interrupt after the end of the command is ignored, so that Python's shutdown shows no traceback.
    """
    gc.set_threshold(COLLECTED_OBJECTS)
    sys.meta_path.insert(0, WithoutPandas())
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
