"""The comfort of a terminal: completion by the tabulator, and a history that outlives the shell."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everlog.shell.completion import DELIMITERS, completions
from everlog.shell.session import Session

MOST_LINES = 5000
"""How many lines of history are kept."""


def history_file() -> Path | None:
    """Where lines are kept: in the user's directory for states; None for a user without a home, as in containers."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(state or Path.home() / ".local" / "state") / "everlog" / "history"
    except RuntimeError:
        return None


@contextmanager
def comfort(session: Session) -> Iterator[None]:
    """Completion and history for ``input``, as far as this Python has them."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(_Completer(session).complete)
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


class _Completer:
    """Hands completions out one by one, as readline asks for them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: list[str] = []

    def complete(self, word: str, number: int) -> str | None:
        import readline

        if number == 0:
            self._found = completions(self._session, readline.get_line_buffer(), readline.get_begidx(), word)
        return self._found[number] if number < len(self._found) else None
