"""Explanations as a graph for Graphviz: a box for each fact, an arrow from each of its premises."""

from __future__ import annotations

from collections.abc import Iterator

from everlog.lang.printer import print_atom
from everlog.query.explain.content import Content
from everlog.query.explain.proof import Proof
from everlog.query.explain.text import because, remarks, why_not


def dot(explanation: Content) -> str:
    """All proofs in one graph; those of one fact in clusters if there are several."""
    lines = ["digraph explanation {", "  rankdir=BT;", '  node [shape=box, fontname="Helvetica"];']
    for number, answer in enumerate(explanation):
        several = len(answer.proofs) > 1
        for at, proof in enumerate(answer.proofs):
            inside = list(_proof(proof, explanation, f"n{number}_{at}_"))
            if several:
                inside = [f"  subgraph cluster_{number}_{at} {{", f'    label="proof {at + 1}";', *inside, "  }"]
            lines += inside
        if not answer.holds:
            lines += _missing(number, explanation)
        elif answer.notes:
            lines.append(f"  n{number}_notes [label={_quoted(*remarks(answer, explanation))}, shape=note];")
    return "\n".join([*lines, "}"]) + "\n"


def _proof(proof: Proof, explanation: Content, name: str) -> Iterator[str]:
    for at, step in enumerate(proof.steps):
        label = _quoted(explanation.shown(step.fact), because(step, explanation))
        yield f"  {name}{at} [label={label}{', style=filled' if step.kind == 'given' else ''}];"
        for other in step.premises:
            yield f"  {name}{other} -> {name}{at};"
        for place, atom in enumerate(step.absent):
            label = _quoted(f"~{print_atom(atom, explanation.prefixes)}")
            yield f"  {name}{at}_{place} [label={label}, style=dashed];"
            yield f"  {name}{at}_{place} -> {name}{at};"


def _missing(number: int, explanation: Content) -> Iterator[str]:
    answer = explanation[number]
    yield f"  n{number} [label={_quoted(explanation.query, 'does not hold')}, style=dashed];"
    for at, reason in enumerate(answer.reasons):
        label = _quoted(explanation.label(reason.rule), why_not(reason, explanation))
        yield f"  n{number}_{at} [label={label}, shape=note];"
        yield f"  n{number}_{at} -> n{number};"


def _quoted(*lines: str) -> str:
    """A string of DOT with the given lines.

    >>> _quoted('say "a"', "b")
    '"say \\\\"a\\\\"\\\\nb"'
    """
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
