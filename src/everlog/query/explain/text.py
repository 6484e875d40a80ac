"""Explanations as text: a tree for each proof, and the rules below."""

from __future__ import annotations

from collections.abc import Iterator

from everlog.lang.printer import print_atom, print_term
from everlog.lang.syntax import Atom, Constant
from everlog.query.explain.content import Answer, Content
from everlog.query.explain.missing import CONSIDERED, Reason
from everlog.query.explain.proof import Proof, ProofStep

WIDEST = 60
"""Maximum column at which the remarks about facts are aligned."""

DEPTH = 40
"""Default level down to which steps are shown."""


def text(explanation: Content, depth: int | None = DEPTH) -> str:
    """The explanation down to some level of its proofs, None for all; see :class:`Explanation`."""
    parts = [part for answer in explanation for part in _parts(answer, explanation, depth)]
    if explanation.used:
        parts.append("\n".join(_rules(explanation)))
    return "\n\n".join(parts)


def _parts(answer: Answer, explanation: Content, depth: int | None) -> Iterator[str]:
    if not answer.holds:
        yield "\n".join(_missing(answer, explanation))
    for number, proof in enumerate(answer.proofs, 1):
        head = [f"proof {number} of {count(answer)}"] if len(answer.proofs) > 1 else []
        yield "\n".join([*head, *tree(proof, explanation, depth)])
    if answer.holds and answer.notes:
        yield "\n".join(remarks(answer, explanation))


def count(answer: Answer) -> str:
    """The text with the number of proofs."""
    return f"{len(answer.proofs)}{'' if answer.complete else ' or more'}"


def remarks(answer: Answer, explanation: Content) -> Iterator[str]:
    """The lines that say why other proofs may be missing."""
    what = "1 proof" if len(answer.proofs) == 1 else f"{len(answer.proofs)} proofs"
    return (f"{what} of {explanation.shown(answer.fact)}: {note}" for note in answer.notes)


def tree(proof: Proof, explanation: Content, depth: int | None = None) -> list[str]:
    """The lines of a proof, each step below its conclusion; steps that were shown above are not repeated.

    Steps at the given level are shown without their premises; a last line has the number of steps left out.
    """
    shown = _Tree(proof, explanation, depth)
    lines = list(shown.lines())
    width = min(WIDEST, max(len(left) for left, _ in lines))
    made = [f"{left.ljust(width)}   {right}".rstrip() for left, right in lines]
    count = len(shown.folded - shown.seen)
    if count:
        what = f"{count:,} step{' is' if count == 1 else 's are'} folded, more than {depth} levels deep"
        made.append(f"... {what}: see --depth (to_text(depth) in Python), or JSON, which has all of them")
    return made


class _Tree:
    """The lines of a proof down to some level."""

    def __init__(self, proof: Proof, explanation: Content, depth: int | None) -> None:
        self._proof, self._explanation, self._depth = proof, explanation, depth
        self.seen: set[int] = set()
        self.folded: set[int] = set()
        """The steps that are not shown."""

    def lines(self) -> Iterator[tuple[str, str]]:
        explanation = self._explanation
        waiting: list[tuple[int | Atom, int, str, str]] = [(len(self._proof.steps) - 1, 1, "", "")]
        while waiting:
            what, level, first, rest = waiting.pop()
            if isinstance(what, Atom):
                yield f"{first}~{print_atom(what, explanation.prefixes)}", "does not hold"
                continue
            step = self._proof.steps[what]
            shown = first + explanation.shown(step.fact)
            if what in self.seen and step.kind != "given":
                yield shown, "as above"
                continue
            self.seen.add(what)
            below: list[int | Atom] = [*step.premises, *step.absent]
            if self._depth is not None and level >= self._depth and below:
                self._fold(step.premises)
                yield shown, f"{because(step, explanation)} ..."
                continue
            yield shown, because(step, explanation)
            for at, each in reversed(list(enumerate(below))):
                last = at == len(below) - 1
                lead, deeper = ("└─ ", "   ") if last else ("├─ ", "│  ")
                waiting.append((each, level + 1, rest + lead, rest + deeper))

    def _fold(self, premises: tuple[int, ...]) -> None:
        """Note the steps below a step that is shown without its premises."""
        waiting = list(premises)
        while waiting:
            number = waiting.pop()
            if number not in self.folded and number not in self.seen:
                self.folded.add(number)
                waiting += self._proof.steps[number].premises


def because(step: ProofStep, explanation: Content) -> str:
    """A short text that says why a step holds."""
    bindings = _bound(step.bindings, explanation)
    if step.kind == "given":
        return "given"
    if step.kind == "equal":
        pairs = ([print_term(term, explanation.prefixes) for term in pair] for pair in step.equal)
        return "equal terms: " + ", ".join(" = ".join(pair) for pair in pairs)
    if step.kind == "same":
        count = len(step.premises)
        return "the other way round" if count == 1 else f"path of {count} equalities"
    if step.kind == "query":
        return f"answer{': ' if bindings else ''}{bindings}"
    if step.kind == "path":
        steps = len(step.premises)
        return f"path of {steps} step{'' if steps == 1 else 's'}, {rules_text(step)}"
    return f"{rules_text(step)}{': ' if bindings else ''}{bindings}"


def rules_text(step: ProofStep) -> str:
    """The numbers of the rules of a step, as users count them.

    >>> from everlog.lang.syntax import Predicate
    >>> rules_text(ProofStep(Atom(Predicate("p", 0), ()), "path", (0, 2)))
    'rules 1, 3'
    """
    numbers = ", ".join(str(rule + 1) for rule in step.rules)
    return f"rule{'' if len(step.rules) == 1 else 's'} {numbers}"


def _rules(explanation: Content) -> Iterator[str]:
    used = [number for number in explanation.used if number < len(explanation.written)]
    labels = [f"rule {number + 1}" for number in used]
    width = max(map(len, labels), default=0)
    for label, number in zip(labels, used, strict=True):
        place = explanation.place(number)
        yield f"{label.ljust(width)}   {explanation.rule(number)}{f'   {place}' if place else ''}"


def _missing(answer: Answer, explanation: Content) -> Iterator[str]:
    yield f"{explanation.query}   does not hold"
    yield from (f"  {note}" for note in answer.notes)
    if not answer.reasons:
        yield "  it was not given, and no rule derives it"
    for reason in answer.reasons:
        yield f"  {explanation.label(reason.rule)}   {why_not(reason, explanation)}"


def why_not(reason: Reason, explanation: Content) -> str:
    """A sentence that says why a rule does not derive the fact."""
    failed = print_atom(reason.failed, explanation.prefixes)
    fails = f"{failed} {'holds' if reason.negated else 'does not hold'}"
    if not reason.held:
        return fails
    atoms = ", ".join(
        f"{'~' if negated else ''}{print_atom(atom, explanation.prefixes)}" for atom, negated in reason.held
    )
    holds = f"{atoms} {'holds' if len(reason.held) == 1 else 'hold'}"
    if not reason.bindings:
        return f"{holds}, but {fails}"
    shown = "; ".join(_bound(each, explanation) for each in reason.bindings)
    return f"{holds} for {shown}{_more(reason)}, but {fails}{_of_them(reason)}"


def _of_them(reason: Reason) -> str:
    return "" if reason.count < 2 else " for each of them" if reason.negated else " for any of them"


def _bound(bindings: tuple[tuple[str, Constant], ...], explanation: Content) -> str:
    return ", ".join(f"?{name} = {print_term(term, explanation.prefixes)}" for name, term in bindings)


def _more(reason: Reason) -> str:
    more = reason.count - len(reason.bindings)
    if reason.count >= CONSIDERED:
        return " and many more"
    return f" and {more:,} more" if more else ""
