"""Reading inputs and carrying them out, until there are no more."""

from __future__ import annotations

import sys
from collections.abc import Callable

from everlog.host.interrupts import as_interrupts, forget
from everlog.lang.errors import EverlogError
from everlog.shell.inputs import run_input
from everlog.shell.reading import is_complete
from everlog.shell.session import Session

PROMPT, MORE = "everlog> ", "    ...> "
INTERRUPTED = "interrupted: the knowledge base is as before"

ReadLine = Callable[[str], str]
"""Returns the next line for a prompt; raises EOFError after the last."""


def typed(prompt: str) -> str:
    return input(prompt)


def piped(prompt: str) -> str:
    """Read the next line of a pipe or a file."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def run(session: Session, read: ReadLine, show_error: Callable[[str], None], *, on_terminal: bool) -> bool:
    """Carry out inputs; errors are shown and the next input is read. Returns whether there was no error.

    On a terminal Ctrl-C cancels the current input or the work on it; elsewhere it ends the shell.
    """
    well = True
    while not session.over:
        try:
            text = next_input(read)
        except EOFError:
            if on_terminal:
                session.write("")
                run_input(session, ":quit")
                continue
            break
        except KeyboardInterrupt:
            if not on_terminal:
                raise
            forget()
            session.write("")
            continue
        try:
            with as_interrupts():
                run_input(session, text)
        except EverlogError as error:
            well = False
            show_error(str(error))
        except KeyboardInterrupt:
            if not on_terminal:
                raise
            forget()
            show_error(INTERRUPTED)
    return well


def next_input(read: ReadLine) -> str:
    """Read lines until they form a complete input; an input that the end of the lines leaves unfinished is returned,
    too."""
    lines = [read(PROMPT)]
    while not is_complete("\n".join(lines)):
        try:
            lines.append(read(MORE))
        except EOFError:
            break
    return "\n".join(lines)
