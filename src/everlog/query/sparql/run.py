"""Answering queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from everlog.lang.syntax import Constant, Variable
from everlog.query.sparql.algebra import Ask, Construct, Describe, Select
from everlog.query.sparql.dataset import GraphSet
from everlog.query.sparql.evaluation import Evaluation
from everlog.query.sparql.hints import warn_of
from everlog.query.sparql.parsing import parse_query, refusing_deep_queries
from everlog.query.sparql.results import Result, Solutions, Triples, Truth
from everlog.query.sparql.templates import COLUMNS, construct, describe, has_blanks, template_names


@refusing_deep_queries()
def query(dataset: GraphSet[Any], text: str, *, base: str = "") -> Result:
    """The answer to a SPARQL query."""
    limits = dataset.limits()
    parsed = parse_query(text, dataset.prefixes, base, limits)
    evaluation = dataset.evaluation(limits, parsed.graphs, parsed.base)
    form = parsed.form
    warn_of(form.pattern, evaluation.graphs)
    if isinstance(form, Select):
        found = evaluation.unweighted(evaluation.solutions(form.pattern, frozenset(form.columns)))
        return Solutions(evaluation.terms, found, form.columns)
    if isinstance(form, Ask):
        return Truth(evaluation.solutions(form.pattern, frozenset(), distinct=True, enough=1).size > 0)
    if isinstance(form, Construct):
        return _constructed(evaluation, form)
    return _described(evaluation, form)


def _constructed(evaluation: Evaluation, form: Construct) -> Triples:
    blanks = has_blanks(form.template)
    found = evaluation.solutions(form.pattern, template_names(form.template), distinct=not blanks)
    triples = construct(evaluation.terms, form.template, evaluation.unweighted(found))
    return Triples(evaluation.terms, triples, COLUMNS)


def _described(evaluation: Evaluation, form: Describe) -> Triples:
    names = frozenset(term.name for term in form.terms if isinstance(term, Variable))
    ids = [evaluation.terms.add(term.text) for term in form.terms if isinstance(term, Constant)]
    columns = [np.array(ids, np.int64)]
    if names:
        found = evaluation.solutions(form.pattern, names, distinct=True)
        columns += [found.column(name) for name in sorted(names)]
    triples = describe(evaluation.matcher, evaluation.graphs.default, np.concatenate(columns))
    return Triples(evaluation.terms, triples, COLUMNS)
