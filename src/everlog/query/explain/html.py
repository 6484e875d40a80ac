"""Explanations as HTML: steps that fold, without scripts and external resources."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from everlog.lang.printer import print_atom
from everlog.query.explain.content import Answer, Content
from everlog.query.explain.proof import Proof
from everlog.query.explain.text import because, count, remarks, why_not

OPEN = 3
"""Depth down to which steps are unfolded."""

SHOWN = 100
"""Maximum number of answers shown in a notebook."""

STYLE = """
.everlog-explanation { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 14px; line-height: 1.5 }
.everlog-explanation details, .everlog-explanation .leaf { margin-left: 1.4em }
.everlog-explanation summary { cursor: pointer; margin-left: -1.4em }
.everlog-explanation .why { opacity: .65; padding-left: 1em }
.everlog-explanation table { border-collapse: collapse; margin-top: 1em }
.everlog-explanation td { padding: 0 1em 0 0; vertical-align: top; text-align: left }
"""


def page(explanation: Content) -> str:
    title = escape(explanation.query)
    body = _content(explanation, len(explanation))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>body {{ margin: 2em }}{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def fragment(explanation: Content) -> str:
    return f"<style>{STYLE}</style>\n{_content(explanation, SHOWN)}"


def _content(explanation: Content, most: int) -> str:
    answers = explanation[:most]
    parts = [part for answer in answers for part in _answer(answer, explanation)]
    if len(explanation) > most:
        parts.append(f"<p>{len(explanation) - most:,} more answers</p>")
    parts.append(_rules(explanation))
    return '<div class="everlog-explanation">\n' + "\n".join(parts) + "\n</div>"


def _answer(answer: Answer, explanation: Content) -> Iterator[str]:
    if not answer.holds:
        yield _missing(answer, explanation)
    for number, proof in enumerate(answer.proofs, 1):
        if len(answer.proofs) > 1:
            yield f"<p>proof {number} of {count(answer)}</p>"
        yield _proof(proof, explanation)
    if answer.holds:
        yield from (f"<p>{escape(remark)}</p>" for remark in remarks(answer, explanation))


def _proof(proof: Proof, explanation: Content) -> str:
    """The steps of a proof, nested; a step that was shown before is not repeated."""
    seen: set[int] = set()
    made: list[str] = []
    waiting: list[tuple[int, int] | str] = [(len(proof.steps) - 1, 0)]
    while waiting:
        what = waiting.pop()
        if isinstance(what, str):
            made.append(what)
            continue
        at, depth = what
        step = proof.steps[at]
        fact = explanation.shown(step.fact)
        if step.kind == "given" or at in seen:
            made.append(_leaf(fact, "as above" if step.kind != "given" else "given"))
            seen.add(at)
            continue
        seen.add(at)
        made.append(
            f"<details{' open' if depth < OPEN else ''}><summary>{_line(fact, because(step, explanation))}</summary>"
        )
        waiting.append("</details>")
        absent = [_leaf(f"~{print_atom(atom, explanation.prefixes)}", "does not hold") for atom in step.absent]
        waiting += reversed(absent)
        waiting += [(other, depth + 1) for other in reversed(step.premises)]
    return "\n".join(made)


def _leaf(fact: str, why: str) -> str:
    return f'<div class="leaf">{_line(fact, why)}</div>'


def _line(fact: str, why: str) -> str:
    return f'{escape(fact)}<span class="why">{escape(why)}</span>'


def _missing(answer: Answer, explanation: Content) -> str:
    lines = [_leaf(explanation.label(each.rule), why_not(each, explanation)) for each in answer.reasons]
    lines = lines or [_leaf("it was not given, and no rule derives it", "")]
    notes = [_leaf(note, "") for note in answer.notes]
    head = _line(explanation.query, "does not hold")
    return f"<details open><summary>{head}</summary>\n" + "\n".join([*notes, *lines]) + "\n</details>"


def _rules(explanation: Content) -> str:
    used = (number for number in explanation.used if number < len(explanation.written))
    cells = [(f"rule {n + 1}", explanation.rule(n), explanation.place(n) or "") for n in used]
    rows = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells]
    return f"<table>{''.join(rows)}</table>" if rows else ""
