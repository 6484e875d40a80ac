"""What a run of a plan works with: the range of ids, constants, limits, working memory and threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from everlog.engine.accounts import Accounts
from everlog.engine.allocator import reuse_freed_memory
from everlog.engine.limits import Limits
from everlog.engine.passes import PassObserver
from everlog.lang.syntax import Constant, Rule

UNKNOWN = -1
"""Id of a constant that occurs in no fact."""


@dataclass(frozen=True)
class Scratch:
    """Working memory of the kernels of one thread: a bitmap and a tally over all ids, which kernels leave zeroed, and
    room for the heads of at least one group with their weights.
    """

    bits: npt.NDArray[np.uint64]
    out: npt.NDArray[np.int64]

    @cached_property
    def tally(self) -> npt.NDArray[np.int32]:
        return np.zeros(len(self.bits) << 6, np.int32)

    @cached_property
    def weights(self) -> npt.NDArray[np.int32]:
        return np.empty(len(self.out), np.int32)


class Workbench(Accounts):
    """Resources of the local engine. Ids are below ``universe``, ``constants`` maps the text of a constant to its id,
    at most ``block`` rows are made at once, and ``passes`` observes which rules are matched.
    """

    def __init__(
        self,
        universe: int,
        constants: Mapping[str, int],
        limits: Limits | None,
        block: int,
        threads: int | None,
        passes: PassObserver,
    ) -> None:
        super().__init__(limits)
        reuse_freed_memory()
        self.universe = universe
        self.constants = constants
        self.block = block
        self.threads = threads or len(os.sched_getaffinity(0))
        self.passes = passes
        self._scratch: list[Scratch] = []

    def constant(self, constant: Constant) -> int:
        return self.constants.get(constant.text, UNKNOWN)

    def scratch(self, thread: int) -> Scratch:
        """The working memory of a thread."""
        while len(self._scratch) <= thread:
            bits = np.zeros((self.universe >> 6) + 1, np.uint64)
            self._scratch.append(Scratch(bits, np.empty(max(4 * self.block, len(bits) << 6), np.int64)))
        return self._scratch[thread]

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """Threads for kernels, which run without the interpreter's lock."""
        return ThreadPoolExecutor(self.threads)

    def note(self, rule: Rule, phase: str, instances: int) -> None:
        """Add instances of a rule to the counts, and check the limits."""
        self.passes.matched(rule, phase, instances)
        self.work.instances[phase] += instances
        self.work.by_rule[rule] += instances
        self.check(0)
