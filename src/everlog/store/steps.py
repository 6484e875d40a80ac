"""The named steps of a write, in order. Tests patch :func:`reached` to end a process at each of them."""

from __future__ import annotations

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


def reached(step: str) -> None:
    """Observe that a step has been reached; does nothing."""
