"""Everlog keeps derived data true.

>>> import everlog
>>> kb = everlog.KnowledgeBase("grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z) .")
>>> kb.insert("parent", [("ann", "bob"), ("bob", "cid")])
>>> kb.query("grandparent(ann, ?who)").rows()
[('cid',)]

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everlog.jobs.follow import follow as follow
    from everlog.jobs.stream import maintain as maintain
    from everlog.kb.change import Change as Change
    from everlog.kb.dataset import Dataset as Dataset
    from everlog.kb.history import changes as changes
    from everlog.kb.knowledge_base import KnowledgeBase as KnowledgeBase
    from everlog.kb.stores import open as open
    from everlog.lang.errors import DataError as DataError
    from everlog.lang.errors import EverlogError as EverlogError
    from everlog.lang.errors import EverlogWarning as EverlogWarning
    from everlog.lang.errors import LimitError as LimitError
    from everlog.lang.errors import RuleError as RuleError
    from everlog.lang.errors import StoreError as StoreError
    from everlog.lang.errors import TermError as TermError
    from everlog.lang.errors import UnknownPredicateError as UnknownPredicateError
    from everlog.lang.terms import IRI as IRI
    from everlog.lang.terms import BlankNode as BlankNode
    from everlog.lang.terms import Literal as Literal
    from everlog.profiling.profile import Profile as Profile
    from everlog.query.answers import RelationRows as RelationRows
    from everlog.query.answers import Rows as Rows
    from everlog.reasoning.statistics import Statistics as Statistics

_PLACES = {
    "IRI": "lang.terms",
    "BlankNode": "lang.terms",
    "Literal": "lang.terms",
    "EverlogError": "lang.errors",
    "EverlogWarning": "lang.errors",
    "DataError": "lang.errors",
    "LimitError": "lang.errors",
    "RuleError": "lang.errors",
    "StoreError": "lang.errors",
    "TermError": "lang.errors",
    "UnknownPredicateError": "lang.errors",
    "KnowledgeBase": "kb.knowledge_base",
    "Change": "kb.change",
    "Profile": "profiling.profile",
    "Rows": "query.answers",
    "RelationRows": "query.answers",
    "Statistics": "reasoning.statistics",
    "open": "kb.stores",
    "changes": "kb.history",
    "Dataset": "kb.dataset",
    "follow": "jobs.follow",
    "maintain": "jobs.stream",
}

__all__ = list(_PLACES)
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'everlog' has no attribute {name!r}")
    module = importlib.import_module(f"everlog.{_PLACES[name]}")
    found = getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
