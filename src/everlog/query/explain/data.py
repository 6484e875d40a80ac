"""Explanations as plain data, for JSON: each proof is a list of steps, each after its premises."""

from __future__ import annotations

from typing import Any

from everlog.lang.printer import print_atom, print_term
from everlog.lang.syntax import Constant
from everlog.query.explain.content import Answer, Content
from everlog.query.explain.missing import Reason
from everlog.query.explain.proof import Proof, ProofStep


def data(explanation: Content) -> dict[str, Any]:
    """The whole explanation. Rules are numbered from 1, steps by their position in the proof from 0."""
    rules = [_rule(number, explanation) for number in explanation.used if number < len(explanation.written)]
    answers = [_answer(answer, explanation) for answer in explanation]
    return {"query": explanation.query, "answers": answers, "rules": rules}


def _rule(number: int, explanation: Content) -> dict[str, Any]:
    span = explanation.written[number].span
    place = {} if span is None else {"file": span.source.name, "line": span.line, "column": span.column}
    return {"rule": number + 1, "text": explanation.rule(number), **place}


def _answer(answer: Answer, explanation: Content) -> dict[str, Any]:
    found: dict[str, Any] = {"fact": explanation.shown(answer.fact), "holds": answer.holds}
    if answer.holds:
        completeness = {} if answer.complete is None else {"complete": answer.complete, "notes": list(answer.notes)}
        return {**found, "proofs": [_proof(proof, explanation) for proof in answer.proofs], **completeness}
    return {
        **found,
        "reasons": [_reason(reason, explanation) for reason in answer.reasons],
        "notes": list(answer.notes),
    }


def _proof(proof: Proof, explanation: Content) -> dict[str, Any]:
    return {"height": proof.height, "steps": [_step(step, explanation) for step in proof.steps]}


def _step(step: ProofStep, explanation: Content) -> dict[str, Any]:
    found: dict[str, Any] = {"fact": explanation.shown(step.fact), "by": step.kind}
    if step.rules:
        found["rules"] = [rule + 1 for rule in step.rules]
    if step.kind in ("rule", "query"):
        found["bindings"] = _values(step.bindings, explanation)
    if step.equal:
        found["equal"] = [[print_term(t, explanation.prefixes) for t in pair] for pair in step.equal]
    if step.kind != "given":
        found["from"] = list(step.premises)
    if step.absent:
        found["absent"] = [print_atom(atom, explanation.prefixes) for atom in step.absent]
    return found


def _reason(reason: Reason, explanation: Content) -> dict[str, Any]:
    prefixes = explanation.prefixes
    own = {} if reason.rule >= len(explanation.written) else {"rule": reason.rule + 1}
    return {
        **own,
        "holds": [f"{'~' if negated else ''}{print_atom(atom, prefixes)}" for atom, negated in reason.held],
        "fails": f"{'~' if reason.negated else ''}{print_atom(reason.failed, prefixes)}",
        "closest": [_values(each, explanation) for each in reason.bindings],
    }


def _values(bindings: tuple[tuple[str, Constant], ...], explanation: Content) -> dict[str, str]:
    return {name: print_term(term, explanation.prefixes) for name, term in bindings}
