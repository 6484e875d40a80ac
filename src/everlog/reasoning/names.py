"""The names of algorithms and strategies, as users write them."""

from __future__ import annotations

from typing import Literal

Algorithm = Literal["auto", "dredc", "bfc", "fbf", "dred", "counting", "rematerialise"]
"""The algorithm that repairs derived facts. ``auto`` chooses for each update, ``rematerialise`` derives everything
again.

The others are the names of the classes in :data:`everlog.reasoning.update.ALGORITHMS`.
"""

Strategy = Literal["never", "always"] | int
"""When FBF and B/F^c give up the search for a proof: never (B/F), always (DRed, DRed^c), or after a number
of levels.
"""
