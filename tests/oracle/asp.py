"""Translates programs to clingo: a stratified program has exactly one stable model.

Constants become integers and predicates ``p0``, ``p1``, ..., so that nothing depends
on how clingo reads names. A negated atom with wildcards becomes the negation of its projection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import clingo

from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Term, Variable, Wildcard
from tests.oracle.naive import Fact, Row, explicit


class Translation:
    """A program and facts as clingo text; translates clingo's symbols back to facts.

    >>> p, q = Predicate("p", 2), Predicate("q", 1)
    >>> x = Variable("x")
    >>> rule = Rule(Atom(q, (x,)), (Atom(p, (x, Wildcard())),), (Atom(p, (Wildcard(), x)),))
    >>> print(Translation(Program((rule,)), [(p, ('"a"', '"b"'))]).text)
    p0(0,1).
    not_0_0(V0) :- p0(_,V0).
    p1(V0) :- p0(V0,_), not not_0_0(V0).
    """

    def __init__(self, program: Program, facts: Iterable[Fact]) -> None:
        self._constants: dict[str, int] = {}
        self._predicates: dict[Predicate, int] = {}
        lines = [f"{self._call(predicate, row)}." for predicate, row in sorted({*explicit(program), *facts})]
        for index, rule in enumerate(program.rules):
            lines += self._rule(index, rule)
        self.text = "\n".join(lines)

    def facts(self, symbols: Iterable[clingo.Symbol]) -> dict[Predicate, set[Row]]:
        """The facts of a model."""
        predicates = {f"p{number}": predicate for predicate, number in self._predicates.items()}
        texts = list(self._constants)
        found: dict[Predicate, set[Row]] = {}
        for symbol in symbols:
            if symbol.name in predicates:
                row = tuple(texts[argument.number] for argument in symbol.arguments)
                found.setdefault(predicates[symbol.name], set()).add(row)
        return found

    def _rule(self, index: int, rule: Rule) -> list[str]:
        names = {variable: f"V{number}" for number, variable in enumerate(_variables(rule))}
        lines, body = [], [self._atom(atom, names) for atom in rule.positive]
        for number, atom in enumerate(rule.negative):
            if Wildcard() in atom.terms:
                kept = [self._term(term, names) for term in atom.terms if not isinstance(term, Wildcard)]
                projection = _applied(f"not_{index}_{number}", kept)
                lines.append(f"{projection} :- {self._atom(atom, names)}.")
                body.append(f"not {projection}")
            else:
                body.append(f"not {self._atom(atom, names)}")
        lines.append(f"{self._atom(rule.head, names)} :- {', '.join(body)}.")
        return lines

    def _atom(self, atom: Atom, names: Mapping[Variable, str]) -> str:
        return _applied(self._name(atom.predicate), [self._term(term, names) for term in atom.terms])

    def _term(self, term: Term, names: Mapping[Variable, str]) -> str:
        if isinstance(term, Constant):
            return self._constant(term.text)
        return names[term] if isinstance(term, Variable) else "_"

    def _call(self, predicate: Predicate, row: Row) -> str:
        return _applied(self._name(predicate), [self._constant(text) for text in row])

    def _constant(self, text: str) -> str:
        return str(self._constants.setdefault(text, len(self._constants)))

    def _name(self, predicate: Predicate) -> str:
        return f"p{self._predicates.setdefault(predicate, len(self._predicates))}"


def materialise(program: Program, facts: Iterable[Fact] = ()) -> dict[Predicate, set[Row]]:
    """The facts of the stable model; checks that there is exactly one."""
    translation = Translation(program, facts)
    control = clingo.Control(["0"], message_limit=0)
    control.add("base", [], translation.text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        models = [translation.facts(model.symbols(atoms=True)) for model in handle]
    assert len(models) == 1, f"{len(models)} stable models"
    return models[0]


def _variables(rule: Rule) -> dict[Variable, None]:
    """The distinct variables of the rule, in order."""
    return dict.fromkeys(variable for atom in (*rule.body, rule.head) for variable in atom.variables())


def _applied(name: str, arguments: list[str]) -> str:
    return f"{name}({','.join(arguments)})" if arguments else name
