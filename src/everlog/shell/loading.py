"""Loading files of rules or facts into a live knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.engine.factset import NONE
from everlog.ingest.into_memory import read_files
from everlog.ingest.sources import ReadOptions

if TYPE_CHECKING:
    from everlog.kb.change import Change
    from everlog.kb.knowledge_base import KnowledgeBase
    from everlog.shell.session import Session


def load(session: Session, text: str) -> None:
    """Add the contents of a file: rules if it is a rule file, otherwise facts, also those of an ontology."""
    if text.endswith(".rls"):
        from everlog.lang.parser import parse_file

        session.change(parse_file(text, session.kb.program.program.prefixes))
        return
    session.applied(f"loading {text}", lambda: [loaded(session.kb, text)])


def loaded(kb: KnowledgeBase, path: str) -> Change:
    """Insert the facts of ``[NAME=]PATH``, read by this process."""
    arities = {p.name: p.arity for p in kb.predicates if not p.name.startswith("<")}
    options = ReadOptions(prefixes=dict(kb.program.program.prefixes), arities=arities)
    read = read_files(path, options, kb.state().dictionary, kb._headers)
    kb.declare(read.prefixes)
    kb.warn_of_facts(read.kinds, read.named)
    return kb.update_facts(read.facts, NONE, kinds=read.kinds, profile=True)
