"""The job that changes a store by a function over its knowledge base, such as a SPARQL update."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from everlog.backends.local.backend import LocalBackend
from everlog.backends.protocol import Backend, Made
from everlog.jobs.change_job import ChangeJob
from everlog.jobs.change_request import ChangeRequest
from everlog.jobs.changing import C, carry_out
from everlog.jobs.reports import Report
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.settings import WAIT


def changed(
    store: str | Path,
    change: Callable[[KnowledgeBase], C],
    *,
    wait: float = WAIT,
    max_facts: int | None = None,
    timeout: float | None = None,
    max_memory: int | None = None,
) -> tuple[int, C]:
    """Change the newest version of a store once no other writer is at work, and commit that.

    ``change`` gets the knowledge base, in this process and with the limits given. ``wait`` is how many seconds to wait
    for others. Returns the version, and what ``change`` returned.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/kb"
    >>> KnowledgeBase("p(?x) :- q(?x) . q(a) .").save(place)
    0
    >>> changed(place, lambda kb: kb.update(insert={"q": [("b",)]}).inserted["p"].rows())
    (1, [('b',)])
    """
    limits = {"max_facts": max_facts, "timeout": timeout, "memory": max_memory}
    job = ChangeJob(str(store), engine="local", wait=wait, **limits)  # type: ignore[arg-type]
    done = carry_out(AskedFunction(job, change), Report())
    return done.version, done.change


class AskedFunction(ChangeRequest[C]):
    """A request for what a function does to a knowledge base.

    The function may read what it has changed, as operations of a SPARQL update do, so all facts are in this process.
    """

    def __init__(self, job: ChangeJob, change: Callable[[KnowledgeBase], C]) -> None:
        super().__init__(job)
        self.change = change

    def made_by(self, backend: Backend) -> Made[C]:
        assert isinstance(backend, LocalBackend), "the engine is local"
        with self.clock.phase("reason"):
            change = self.change(backend.kb)
            self.warned()
            return backend.made(change, {})
