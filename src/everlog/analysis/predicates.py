"""Finding predicates by the names that users write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from everlog.analysis.check import unknown_predicate
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, RuleError, UnknownPredicateError
from everlog.lang.parser import resolve_predicate_name
from everlog.lang.syntax import Predicate
from everlog.lang.terms import IRI

Key = str | IRI | tuple[str | IRI, int] | Predicate
"""A bare name, a prefixed name, ``"<iri>"``, an IRI, one of these with an arity, or a predicate."""


class Names:
    """The predicates a knowledge base knows, by name.

    >>> names = Names([Predicate("edge", 2)], {"ex": "http://e.org/"})
    >>> names.find("edge"), names.for_data("ex:p", 1)
    (Predicate(name='edge', arity=2), Predicate(name='<http://e.org/p>', arity=1))
    """

    def __init__(self, predicates: Iterable[Predicate], prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._by_name: dict[str, list[Predicate]] = {}
        for predicate in predicates:
            self.add(predicate)

    def add(self, predicate: Predicate) -> None:
        known = self._by_name.setdefault(predicate.name, [])
        if predicate not in known:
            known.append(predicate)

    def copy(self) -> Names:
        return Names(self.all(), self._prefixes)

    def with_program(self, predicates: Iterable[Predicate], prefixes: Mapping[str, str]) -> Names:
        """The names after a change of the rules: those of the program, and all that were known before.

        Where the program has a bare name with another arity, the predicate with the old arity is removed.

        >>> names = Names([Predicate("p", 1), Predicate("q", 1)], {}).with_program([Predicate("p", 2)], {})
        >>> [str(predicate) for predicate in names.all()]
        ['p/2', 'q/1']
        """
        new = Names(predicates, prefixes)
        for predicate in self.all():
            if predicate.name.startswith("<") or predicate.name not in new._by_name:
                new.add(predicate)
        return new

    def all(self) -> list[Predicate]:
        return [predicate for known in self._by_name.values() for predicate in known]

    def knows(self, key: Key) -> bool:
        """Whether there is a predicate of that name, and of that arity if the key has one."""
        name, arity = self._split(key)
        return any(arity is None or p.arity == arity for p in self._by_name.get(name, ()))

    def find(self, key: Key) -> Predicate:
        """The predicate of a key; an error that names the closest ones if there is none."""
        name, arity = self._split(key)
        known = [p for p in self._by_name.get(name, ()) if arity is None or p.arity == arity]
        if len(known) == 1:
            return known[0]
        if not known:
            unknown = unknown_predicate(Predicate(name, arity or 0), self.all())
            if arity is None:
                unknown = replace(unknown, message=f"there is no predicate `{name}`")
            raise UnknownPredicateError(unknown)
        arities = " and ".join(str(p.arity) for p in known)
        hint = f'say which, as in ("{name}", {known[0].arity})'
        raise UnknownPredicateError.of(Code.AMBIGUOUS_PREDICATE, f"`{name}` has the arities {arities}", None, hint)

    def for_data(self, key: Key, arity: int) -> Predicate:
        """The predicate for rows of a given arity, new or known."""
        name, wanted = self._split(key)
        if wanted is not None and wanted != arity:
            raise wrong_arity(name, wanted, arity)
        known = self._by_name.get(name, [])
        if known and not name.startswith("<") and known[0].arity != arity:
            raise wrong_arity(name, known[0].arity, arity)
        return Predicate(name, arity)

    def name_of(self, key: Key) -> str:
        """The name in a key, whether or not there is such a predicate."""
        return self._split(key)[0]

    def arity_for(self, key: Key) -> int | None:
        """The arity that rows for a key must have, if that is known beforehand."""
        name, arity = self._split(key)
        known = self._by_name.get(name, [])
        if arity is None and len(known) == 1 and not name.startswith("<"):
            return known[0].arity
        return arity

    def _split(self, key: Key) -> tuple[str, int | None]:
        if isinstance(key, Predicate):
            return key.name, key.arity
        if isinstance(key, tuple):
            name, _ = self._split(key[0])
            return name, key[1]
        if isinstance(key, IRI):
            return f"<{key.value}>", None
        try:
            return resolve_predicate_name(key, self._prefixes), None
        except RuleError as error:
            raise UnknownPredicateError(error.diagnostics) from None


def refuse_two_arities(predicates: Iterable[Predicate], arities: Mapping[str, int]) -> None:
    """Raise an error if a bare name has two arities in rules and data; ``arities`` has those that are known.

    >>> refuse_two_arities([Predicate("<http://e.org/p>", 1), Predicate("<http://e.org/p>", 2)], {})
    >>> refuse_two_arities([Predicate("p", 1)], {"p": 2})
    Traceback (most recent call last):
    everlog.lang.errors.DataError: error[arity]: `p` has facts with 1 argument, and others with 2
      = help: give one of the two another name with NAME=PATH
    """
    known = dict(arities)
    for predicate in predicates:
        if predicate.name.startswith("<"):
            continue
        arity = known.setdefault(predicate.name, predicate.arity)
        if arity != predicate.arity:
            some = _count(predicate.arity, "argument")
            message = f"`{predicate.name}` has facts with {some}, and others with {arity}"
            raise DataError.of(Code.ARITY, message, None, "give one of the two another name with NAME=PATH")


def wrong_arity(predicate: str | None, arity: int, width: int, remedy: str | None = None) -> DataError:
    """The error for rows that are too short or too long for a predicate.

    >>> print(wrong_arity("age", 2, 1))
    error[wrong-arity]: `age` has 2 arguments, but the rows have 1 value
      = help: pass rows of 2 values, or use another predicate
    """
    name = "the predicate" if predicate is None else f"`{predicate}`"
    message = f"{name} has {_count(arity, 'argument')}, but the rows have {_count(width, 'value')}"
    remedy = f"pass rows of {_count(arity, 'value')}" if remedy is None else remedy
    return DataError.of(Code.WRONG_ARITY, message, None, f"{remedy}, or use another predicate")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
