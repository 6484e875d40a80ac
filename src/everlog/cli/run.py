"""Running a command: errors become a message and an exit status, never a traceback.

0 done, 1 the data or the rules are wrong (or the machine: a full disk, no Java), 2 wrong usage,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from everlog.cli.completion import complete
from everlog.cli.console import Console
from everlog.cli.group import everlog
from everlog.host.interrupts import as_interrupts, remember_interrupts
from everlog.host.system_errors import system_error
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError

DONE, WRONG, INTERRUPTED = 0, 1, 130
"""Exit statuses; the last one is that of shells for Ctrl+C."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status."""
    if (completed := complete(everlog)) is not None:
        return completed
    console = Console()
    try:
        with (
            remember_interrupts(),
            as_interrupts(),
            everlog.make_context("everlog", list(arguments), obj=console) as context,
        ):
            everlog.invoke(context)
            sys.stdout.flush()
        return DONE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (KeyboardInterrupt, click.Abort):
        console.failed(
            [Diagnostic(Code.INTERRUPTED, "interrupted; a store that was being written is as its last commit left it")]
        )
        return INTERRUPTED
    except EverlogError as error:
        console.failed(error.diagnostics)
    except BrokenPipeError:
        _discard_stdout()
        return DONE
    except OSError as error:
        console.failed([system_error(error)])
    except MemoryError as error:
        hint = "give the process more memory, or stop earlier with --max-facts"
        console.failed([Diagnostic(Code.OUT_OF_MEMORY, f"there is not enough memory: {error}", hint=hint)])
    except Exception as error:
        if not _is_spark(error):
            raise
        console.failed([_spark_diagnostic(error)])
    finally:
        console.close()
    return WRONG


def _discard_stdout() -> None:
    """Discard what is still to be written to stdout after its reader has closed it, so that flushing it at exit does
    not fail.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_spark(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")


def _spark_diagnostic(error: Exception) -> Diagnostic:
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    hint = "run again with --spark-log FILE and read that file"
    return Diagnostic(Code.SPARK_FAILED, f"Spark failed: {lines[0]}", hint=hint)
