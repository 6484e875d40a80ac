"""Requests to delete and insert facts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import FactsToChange, StagedChange
from everlog.backends.protocol import Backend, Made, Named
from everlog.jobs.change_request import ChangeRequest
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.syntax import Predicate
from everlog.store import VersionInfo


class AskedFacts(ChangeRequest[Change]):
    """A request to delete and insert facts. Subclasses read the facts, into files in ``work`` if at all."""

    work: Path
    _staged: StagedChange | None = None

    @abstractmethod
    def prepare(self, program: CheckedProgram, predicates: Iterable[Predicate]) -> Mapping[str, str]:
        """Find the inputs to read for a program with some predicates; returns the prefixes that they declare."""

    @abstractmethod
    def read(self, kb: KnowledgeBase) -> FactsToChange:
        """Read the facts over the dictionary of a knowledge base."""

    @abstractmethod
    def read_ids(self, program: CheckedProgram, info: VersionInfo) -> StagedChange:
        """Read the facts as ids of a version with a program."""

    @property
    def named(self) -> tuple[Named, Named]:
        """The predicates that a user has named for facts to delete and for facts to insert, with the places of the
        names.
        """
        return {}, {}

    def stage(self, program: CheckedProgram, info: VersionInfo) -> StagedChange:
        """The facts as ids of a version with a program, which are read only once."""
        if self._staged is None:
            self._staged = self.read_ids(program, info)
        return self._staged

    def made_by(self, backend: Backend) -> Made[Change]:
        self.work = backend.work
        with self.clock.phase("check"):
            backend.declare(self.prepare(backend.program, backend.of_fixed_arity))
        with self.clock.phase("read"):
            asked = backend.read(self)
        with self.clock.phase("reason"):
            return backend.update(asked, self.named, self.warned)
