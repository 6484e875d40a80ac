"""Limits of reasoning: facts, seconds and bytes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from everlog.host.memory import free_memory, held_memory, size_text
from everlog.lang.codes import Code
from everlog.lang.errors import FactLimitError, LimitError

SECONDS_BETWEEN = 0.01
"""Minimum number of seconds between two measurements of memory."""


MUCH = 1 << 28
"""Bytes; larger allocations check the free memory of the machine first."""


@dataclass
class Limits:
    """Limits that are checked between blocks. Exceeding one raises an error; the values computed before stay as they
    were.

    ``deadline`` is a time of the monotonic clock; :meth:`from_now` computes it from ``seconds``. ``memory`` is the most
    bytes that the process may hold.
    """

    max_facts: int | None = None
    deadline: float | None = None
    seconds: float | None = None
    memory: int | None = None
    _measured: float = field(default=0.0, repr=False)

    @classmethod
    def from_now(cls, max_facts: int | None = None, timeout: float | None = None, memory: int | None = None) -> Limits:
        """The limits of work that begins now."""
        deadline = None if timeout is None else time.monotonic() + timeout
        return cls(max_facts, deadline, seconds=timeout, memory=memory)

    def check(self, held: int) -> None:
        """Raise an error if a limit is exceeded, given the number of facts held."""
        if self.max_facts is not None and held > self.max_facts:
            raise self._too_many(held)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise self._too_long(held)
        if self.memory is not None:
            self._check_memory(self.memory, held)

    def reserve(self, rows: int, size: int) -> None:
        """Raise an error if ``rows`` more rows, of ``size`` bytes in all, would exceed a limit."""
        self.check(rows)
        if self.memory is not None and (taken := held_memory() + size) > self.memory:
            raise self._too_much(taken, rows)
        if size > MUCH and size > free_memory():
            message = f"{rows:,} rows would take {size_text(size)} of memory, more than the machine has left"
            raise LimitError.of(Code.MEMORY, message, None, "ask for fewer rows, or use a machine with more memory")

    def _check_memory(self, allowed: int, facts: int) -> None:
        now = time.monotonic()
        if now - self._measured < SECONDS_BETWEEN:
            return
        self._measured = now
        if (taken := held_memory()) > allowed:
            raise self._too_much(taken, facts)

    def _too_much(self, taken: int, facts: int) -> LimitError:
        allowed = size_text(self.memory or 0)
        message = f"{size_text(taken)} of memory are in use with {facts:,} facts; {allowed} are allowed"
        hint = "raise --memory (max_memory in Python), or leave the reasoning to Spark with --engine spark"
        return LimitError.of(Code.MEMORY, message, None, hint)

    def _too_many(self, held: int) -> FactLimitError:
        message = f"there are more than {self.max_facts:,} facts, the most allowed; {held:,} were counted so far"
        hint = "raise --max-facts (max_facts in Python), or see with --profile which rules derive so many"
        return FactLimitError.of(Code.MAX_FACTS, message, None, hint)

    def _too_long(self, held: int) -> LimitError:
        allowed = "time" if self.seconds is None else f"{self.seconds:g} seconds"
        message = f"the {allowed} allowed for reasoning ran out with {held:,} facts"
        hint = "raise --timeout (timeout in Python), or see with --profile what takes so long"
        return LimitError.of(Code.TIMEOUT, message, None, hint)
