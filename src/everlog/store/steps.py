"""The named steps of a write, in order. Tests stop a process at each of them.

If ``EVERLOG_STOP_AT`` is the name of a step, the process is killed without any clean-up when it reaches that step.
"""

from __future__ import annotations

import os
import signal

BEGUN = "begun"
TERMS_WRITTEN = "terms files written"
FACTS_HALFWAY = "midway in the facts files"
FACTS_WRITTEN = "facts files written"
TERMS_MOVED = "terms files in place"
TERMS_COMMITTED = "terms committed"
WIDENED = "facts table widened"
FACTS_MOVED = "facts files in place"
FACTS_COMMITTED = "facts committed"
STAGING_REMOVED = "staging removed"
SNAPSHOT_WRITTEN = "snapshot written, not in place"
BATCH_APPLIED = "batch of a stream applied"

ALL = (
    BEGUN,
    TERMS_WRITTEN,
    FACTS_HALFWAY,
    FACTS_WRITTEN,
    TERMS_MOVED,
    TERMS_COMMITTED,
    WIDENED,
    FACTS_MOVED,
    FACTS_COMMITTED,
    STAGING_REMOVED,
    SNAPSHOT_WRITTEN,
)


def reached(step: str) -> None:
    """Record that a step has been reached."""
    if os.environ.get("EVERLOG_STOP_AT") == step:
        os.kill(os.getpid(), signal.SIGKILL)
