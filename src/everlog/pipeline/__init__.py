"""From files, DataFrames and streams to encoded facts: readers, encoding, dictionary, and the jobs that run them.

:func:`maintain` keeps a store up to date with a stream, :func:`follow` gives the changes that this makes. They
are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everlog.pipeline.following import follow as follow
    from everlog.pipeline.streaming import maintain as maintain

_PLACES = {"follow": "following", "maintain": "streaming"}

__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'everlog.pipeline' has no attribute {name!r}")
    return getattr(importlib.import_module(f"everlog.pipeline.{_PLACES[name]}"), name)
