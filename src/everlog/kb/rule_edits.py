"""Edits of the rules: rules to add and to remove, and the program that results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType

from everlog.analysis.check import CheckedProgram, check, unknown_predicate
from everlog.analysis.given import GivenFacts
from everlog.analysis.places import atom_place, position
from everlog.analysis.variants import Variants
from everlog.kb.change import Change
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, RuleError
from everlog.lang.printer import print_rule
from everlog.lang.syntax import Predicate, Program, Rule

CLOSEST = 3
"""Maximum number of similar rules that the error for a missing rule names."""


Texts = tuple[str, ...]


@dataclass(frozen=True)
class RulesChanged(Change):
    """The difference that a change of the rules made: to the rules, the materialisation, and the explicit facts.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> change = kb.change_rules(add="path(?x, ?y) :- edge(?y, ?x) .")
    >>> change.rules_added, change.inserted["path"].rows()
    (('path(?x, ?y) :- edge(?y, ?x) .',), [('b', 'a')])
    """

    rules_added: tuple[str, ...] = ()
    rules_removed: tuple[str, ...] = ()
    rules_known: tuple[str, ...] = ()
    """Rules that were to be added and were there already."""

    @classmethod
    def of(cls, change: Change, texts: tuple[Texts, Texts, Texts]) -> RulesChanged:
        """A change of facts by an edit of rules; ``texts`` are the rules added, removed, and known already,
        as written.
        """
        sides = change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted
        return cls(*sides, change.not_explicit, change.stats, *texts)

    def __bool__(self) -> bool:
        return bool(self.rules_added or self.rules_removed) or super().__bool__()


@dataclass(frozen=True)
class Edit:
    """A program after a change of its rules, and the differences.

    ``facts_added`` and ``facts_removed`` are the programs whose facts become explicit, and cease to be.
    """

    program: CheckedProgram
    removed: tuple[Rule, ...]
    added: tuple[Rule, ...]
    facts_added: CheckedProgram
    facts_removed: CheckedProgram
    texts: tuple[Texts, Texts, Texts]
    """The rules added, removed, and known already, as they are written."""


def edited(old: CheckedProgram, add: Program, remove: Program, known: Iterable[Predicate] = ()) -> Edit:
    """The program (old \\ remove) u add, where rules are the same up to names of variables and order of bodies.

    ``known`` are predicates that facts have. An error if a rule to be removed is not there, or the result is no
    program.

    >>> from everlog.lang.parser import parse_program
    >>> old = check(parse_program("p(?x) :- q(?x) . r(?x) :- p(?x) ."))
    >>> edit = edited(old, parse_program("s(?x) :- r(?x) ."), parse_program("p(?y) :- q(?y) ."))
    >>> [print_rule(rule) for rule in edit.program.rules]
    ['r(?x) :- p(?x) .', 's(?x) :- r(?x) .']
    """
    plus, minus = check(add), check(remove)
    _refuse_missing(minus, old)
    _refuse_other_arities(plus, known)
    removed_rules, added_rules = Variants(minus.rules), Variants(plus.rules)
    lost = [at for at, rule in enumerate(old.rules) if rule in removed_rules and rule not in added_rules]
    left = sorted({*range(len(old.rules))}.difference(lost))
    there = Variants(old.rules[at] for at in left)
    fresh = [at for at in _distinct(plus) if plus.rules[at] not in there]
    same = [at for at in _distinct(plus) if plus.rules[at] in there]
    assert old.written is not None
    own, no_more = old.written.rules, set(remove.facts)
    program = Program(
        (*(own[at] for at in left), *(add.rules[at] for at in fresh)),
        tuple(dict.fromkeys((*(fact for fact in old.facts if fact not in no_more), *add.facts))),
        MappingProxyType({**add.prefixes, **old.prefixes}),
    )
    written = ([add.rules[at] for at in fresh], [own[at] for at in lost], [add.rules[at] for at in same])
    added, removed, known_before = (tuple(print_rule(r, program.prefixes) for r in rules) for rules in written)
    rules = (*(old.rules[at] for at in left), *(plus.rules[at] for at in fresh))
    return Edit(
        replace(check(program), rules=rules),
        tuple(old.rules[at] for at in lost),
        tuple(plus.rules[at] for at in fresh),
        plus,
        minus,
        (added, removed, known_before),
    )


def warnings_about(edit: Edit, old: CheckedProgram, given: GivenFacts, *, whole: bool) -> list[Diagnostic]:
    """The warnings about probable mistakes in the rules that an edit adds; ``whole`` is as for :class:`GivenFacts`."""
    given_before = {(found.code, found.message) for found in old.warnings}
    news = [found for found in edit.program.warnings if (found.code, found.message) not in given_before]
    return [*news, *given.of_rules(edit.program, edit.added, old, whole=whole)]


def _distinct(program: CheckedProgram) -> list[int]:
    """The positions of the rules of a program; of equal rules only the first."""
    firsts: dict[Rule, int] = {}
    variants = Variants(program.rules)
    for at, rule in enumerate(program.rules):
        firsts.setdefault(variants.of(rule)[0], at)
    return list(firsts.values())


def _refuse_missing(minus: CheckedProgram, old: CheckedProgram) -> None:
    known = Variants(old.rules)
    assert minus.written is not None
    written = zip(minus.rules, minus.written.rules, strict=True)
    missing = [_missing(shown, old) for rule, shown in written if rule not in known]
    if missing:
        raise RuleError(sorted(missing, key=position))


def _missing(rule: Rule, old: CheckedProgram) -> Diagnostic:
    assert old.written is not None
    shown = {print_rule(other, old.prefixes): other for other in old.written.rules}
    text, head = print_rule(rule, old.prefixes), rule.head.predicate
    same = [line for line, other in shown.items() if other.head.predicate == head]
    near = [*get_close_matches(text, same, CLOSEST, 0), *get_close_matches(text, shown, CLOSEST)]
    closest = "  ".join(f"`{line}`" for line in list(dict.fromkeys(near))[:CLOSEST])
    hint = f"the closest there is: {closest}" if near else "`everlog rules STORE` (kb.rules in Python) shows the rules"
    place = rule.span.place if rule.span is not None else None
    return Diagnostic(Code.UNKNOWN_RULE, f"there is no rule `{text}` to remove", place, hint)


def _refuse_other_arities(plus: CheckedProgram, known: Iterable[Predicate]) -> None:
    """An error if a bare name has facts with another number of arguments."""
    arities = {predicate.name: predicate for predicate in known if not predicate.name.startswith("<")}
    atoms = [*plus.facts, *(atom for rule in plus.rules for atom in (rule.head, *rule.body))]
    wrong = {
        atom.predicate: unknown_predicate(atom.predicate, [arities[atom.predicate.name]], atom_place(atom))
        for atom in atoms
        if atom.predicate.name in arities and arities[atom.predicate.name] != atom.predicate
    }
    if wrong:
        raise RuleError(sorted(wrong.values(), key=position))
