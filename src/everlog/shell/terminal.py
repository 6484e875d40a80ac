"""Features of a terminal: completion with the tabulator key, and a history that is kept in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from everlog.shell.completion import DELIMITERS, completions
from everlog.shell.session import Session

MOST_LINES = 5000
"""Maximum number of lines of history."""


def history_file() -> Path | None:
    """The path of the history in the user's directory for states; None for a user without a home, as in containers."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(state or Path.home() / ".local" / "state") / "everlog" / "history"
    except RuntimeError:
        return None


@contextmanager
def completion_and_history(session: Session) -> Iterator[None]:
    """Completion and history for ``input``, if this Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(_completer(session))
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    path = history_file()
    if path is not None:
        with contextlib.suppress(OSError):
            readline.read_history_file(path)
    try:
        yield
    finally:
        readline.set_completer(None)
        readline.set_history_length(MOST_LINES)
        if path is not None:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                readline.write_history_file(path)


def _completer(session: Session) -> Callable[[str, int], str | None]:
    """A function that returns completions one by one, as readline requests them."""
    import readline

    found: list[str] = []

    def complete(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = completions(session, readline.get_line_buffer(), readline.get_begidx(), word)
        return found[number] if number < len(found) else None

    return complete
