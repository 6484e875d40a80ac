"""Loading files into a live knowledge base: rules, or facts by the readers of the pipeline."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from everlog.engine.factset import NONE
from everlog.pipeline.named import named_predicates, with_empty
from everlog.pipeline.sources import ReadOptions, resolve
from everlog.pipeline.splits import splits
from everlog.pipeline.stage import stage, widest
from everlog.pipeline.updates import facts_in

if TYPE_CHECKING:
    from everlog.change import Change
    from everlog.knowledge_base import KnowledgeBase
    from everlog.shell.session import Session


def load(session: Session, text: str) -> None:
    """Add what is in a file: rules if it is a rule file, facts otherwise, an ontology being facts, too."""
    if text.endswith(".rls"):
        from everlog.lang.parser import parse_file

        session.change(parse_file(text, session.prefixes))
        return
    session.applied(f"loading {text}", lambda: [loaded(session.kb, text)])


def loaded(kb: KnowledgeBase, path: str) -> Change:
    """Insert the facts of ``[NAME=]PATH``, read by this process."""
    arities = {p.name: p.arity for p in kb.predicates if not p.name.startswith("<")}
    options = ReadOptions(prefixes=dict(kb.program.program.prefixes), arities=arities)
    dictionary = kb.state().dictionary
    with TemporaryDirectory(prefix="everlog-") as work:
        sources = resolve((path,), options, Path(work))
        parts = splits(sources, options, headers=kb._headers)
        width = max([widest(parts, options), *(p.arity for p in kb.predicates)])
        staged = stage(None, parts, options, work, width=width, salt=dictionary.salt)
        insert, _ = facts_in(staged, dictionary, add=True)
        named = named_predicates(sources, parts, options)
        kb.warn_of_facts(with_empty(staged.kinds, named), named)
        return kb.update_facts(insert, NONE, kinds=staged.kinds, profile=True)
