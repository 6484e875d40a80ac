"""The facts that say which terms are literals, for programs that ask for them.

Rules do not distinguish literals from other terms. A program that must, such as that of the profile ``rl``, has the
predicate ``everlog:literal``. Whatever adds explicit facts for such a program adds this fact for each literal in them,
and for each literal in the program's own rules. These facts stay when the others are deleted, since a literal remains
one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.dictionary import Dictionary
from everlog.engine.relation import Relation
from everlog.lang.internal import VIOLATION
from everlog.lang.syntax import Constant, Rule


def are_literals(texts: pa.Array) -> pa.BooleanArray:
    """Which texts of terms and predicates are literals.

    >>> are_literals(pa.array(['"a"', "-1", "true", "<http://e.org/a>", "_:b", "true/1", "p/2"])).to_pylist()
    [True, True, True, False, False, False, False]
    """
    return pc.match_substring_regex(texts, '^["0-9-]|^(?:true|false)$')


def literals_in(relations: Iterable[Relation], dictionary: Dictionary) -> Relation:
    """The literals that occur in some relations.

    >>> dictionary = Dictionary()
    >>> ids = dictionary.encode(pa.array(["<http://e.org/a>", "42"]))
    >>> literals_in([Relation.from_columns([ids[:1], ids[1:]], 2)], dictionary).columns()[0].tolist()
    [1]
    """
    seen = np.zeros(len(dictionary), np.bool_)
    for relation in relations:
        for column in relation.columns():
            seen[column] = True
    ids = np.flatnonzero(seen)
    chosen = are_literals(dictionary.decode(ids)).to_numpy(zero_copy_only=False)
    return Relation.from_columns([ids[chosen]], len(dictionary))


def literals_of(rules: Iterable[Rule]) -> pa.Array:
    """The texts of the literals in the heads of rules. The names of violations are not among them.

    >>> from everlog.lang.parser import parse_program
    >>> literals_of(parse_program("p(?x, 1) :- q(?x, 2) . p(?x, <http://e.org/a>) :- q(?x, _) .").rules).to_pylist()
    ['1']
    """
    heads = (rule.head for rule in rules if rule.head.predicate != VIOLATION)
    constants = {term.text for head in heads for term in head.terms if isinstance(term, Constant)}
    texts = pa.array(sorted(constants), pa.large_string())
    return texts.filter(are_literals(texts))
