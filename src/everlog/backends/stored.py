"""What the back ends have in common that do not open a whole version in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from everlog.analysis.check import CheckedProgram
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.predicates import Names
from everlog.backends.asked import OtherRules, StagedChange
from everlog.backends.executors import Executors
from everlog.backends.protocol import NO_ROWS, C, FactReader, Made, Named, RowsRead
from everlog.backends.stored_version import StoredVersion
from everlog.backends.written import WrittenChange
from everlog.ingest.dictionary import new_terms
from everlog.ingest.inputs import staged_program
from everlog.ingest.named import with_empty
from everlog.kb.change import Change, ChangedNumbers
from everlog.kb.history import known_in
from everlog.kb.rule_edits import Edit, RulesChanged, edited, warnings_about
from everlog.kb.saving import NewVersion, bookkeeping_of
from everlog.kb.stores import statistics_of
from everlog.lang.errors import Diagnostic, Place, abridged
from everlog.lang.internal import LITERAL
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.equality import Equality
from everlog.store import Transaction
from everlog.store.schema import MIN_WIDTH


@dataclass
class StoredBackend(ABC):
    """A back end that does not open a whole version in this process, which knows only numbers of facts.

    ``most`` returns the maximum number of facts that one task may hold, and ``warn`` gives a warning.
    """

    needs_spark: ClassVar[bool] = False
    """Whether the back end starts Spark; otherwise this process does the work until Spark is started."""

    version: StoredVersion
    transaction: Transaction
    executors: Executors
    most: Callable[[], int]
    warn: Callable[[Diagnostic], None]

    def __post_init__(self) -> None:
        self.require_possible(0)

    @property
    def program(self) -> CheckedProgram:
        return self.version.program.program

    @property
    def predicates(self) -> Sequence[Predicate]:
        return known_in(self.version.info)

    @property
    def of_fixed_arity(self) -> Sequence[Predicate]:
        """The predicates of the rules; others may have lost all their facts, which reasoning finds out."""
        return self.program.predicates

    @property
    def equality(self) -> Equality:
        equality: Equality = self.version.info.statistics.get("equality", "off")
        return equality

    @property
    def work(self) -> Path:
        return self.version.work

    def declare(self, prefixes: Mapping[str, str]) -> None:
        self.transaction.declare(prefixes)

    def read(self, reader: FactReader) -> StagedChange:
        return reader.stage(self.program, self.version.info)

    def update(self, asked: StagedChange, named: tuple[Named, Named], warned: Callable[[], None]) -> Made[Change]:
        info, given = self.version.info, self.version.given()
        to_delete, to_insert = (_bare(each, KINDS in info.statistics) for each in named)
        given.add(with_empty(asked.insert.kinds, named[1]), to_insert)
        for warning in abridged([*given.unknown(to_delete), *given.news(self.program, whole=False)]):
            self.warn(warning)
        warned()
        asked = self._shared(asked)
        found = self._change_facts(asked)
        new = found.version or self._with_facts(found, given, self._new_terms(asked))
        change = change_of(found, self.program.predicates, self.program.prefixes)
        return self._made(change, new, RowsRead.of(asked.delete, asked.insert))

    def change_rules(self, rules: OtherRules, warned: Callable[[], None]) -> Made[RulesChanged]:
        info, old = self.version.info, self.program
        edit = edited(old, rules.add, rules.remove)
        given = self.version.given(edit.program.predicates)
        for warning in abridged(warnings_about(edit, old, given, whole=True)):
            self.warn(warning)
        warned()
        asked = self._shared(self._staged(edit))
        found = self._change_rules(rules, edit, asked) if edit.added or edit.removed else self._change_facts(asked)
        new = found.version
        if new is None or new.operation != "rules":
            new = self._with_rules(found, edit, self._given_after(asked), self._new_terms(asked))
        change = change_of(found, [*known_in(info), *edit.program.predicates], info.prefixes)
        return self._made(RulesChanged.of(change, edit.texts), new, NO_ROWS)

    @abstractmethod
    def require_possible(self, rows: int) -> None:
        """Raise an error if a change of some rows is too much for the back end, as far as that is known before."""

    @abstractmethod
    def _change_facts(self, change: StagedChange) -> WrittenChange:
        """Change explicit facts, and repair what follows; blank nodes to delete are those of the store."""

    @abstractmethod
    def _change_rules(self, rules: OtherRules, edit: Edit, change: StagedChange) -> WrittenChange:
        """Change the rules, and the explicit facts by those of programs, and bring what follows up to date."""

    def _given_after(self, asked: StagedChange) -> GivenFacts:
        """The explicit facts after a change, as the version is to describe them."""
        given = self.version.given()
        given.add(asked.insert.kinds)
        return given

    def _shared(self, asked: StagedChange) -> StagedChange:
        """The change in the form that its tasks take: in files, unless they are run by this process."""
        self.require_possible(asked.rows)
        if self.needs_spark:
            self.executors.session()
        return asked if self.executors.spark is None else asked.in_files(Path(self.version.directory))

    def _new_terms(self, asked: StagedChange) -> tuple[str, ...]:
        """Files of the terms of the facts to insert that the store does not have."""
        version = self.version
        found = new_terms(
            self.executors.runner, asked.insert.terms, version.term_files, version.work, salt=version.info.salt
        )
        return found.files

    def _staged(self, edit: Edit) -> StagedChange:
        """The facts of the programs that an edit removes and adds, with the terms of the new rules."""
        salt, program = self.version.info.salt, edit.program
        programs = (edit.facts_removed, edit.facts_added, program)
        width = max([MIN_WIDTH, *(p.arity for each in programs for p in each.predicates)])
        without_rules, literals = replace(program, rules=()), LITERAL in program.predicates
        delete = staged_program(without_rules, edit.facts_removed, None, width=width, salt=salt, literals=False)
        insert = staged_program(program, edit.facts_added, None, width=width, salt=salt, literals=literals)
        return StagedChange(delete, insert)

    def _with_facts(self, found: WrittenChange, given: GivenFacts, terms: Sequence[str]) -> NewVersion:
        """The version with changed facts, and the rules of the one before."""
        info = self.version.info
        bookkeeping = bookkeeping_of(info.bookkeeping, is_counted=found.counted) if found else info.bookkeeping
        return NewVersion(
            "update",
            info.rules,
            {**found.figures, KINDS: given.stored(self.program)},
            bookkeeping,
            info.closures,
            info.modules,
            info.salt,
            fact_files=found.files,
            term_files=terms,
        )

    def _with_rules(self, found: WrittenChange, edit: Edit, given: GivenFacts, terms: Sequence[str]) -> NewVersion:
        """The version with changed rules that derive facts as those before did."""
        assert edit.program.written is not None
        new = self._with_facts(found, given, terms)
        figures = {**new.statistics, KINDS: given.stored(edit.program)}
        return replace(new, operation="rules", rules=print_program(edit.program.written), statistics=figures)

    def _made(self, change: C, new: NewVersion, read: RowsRead) -> Made[C]:
        new = replace(new, is_same=not change)
        return Made(lambda: change, statistics_of(dict(new.statistics)), new.commit, read=read)


def change_of(written: WrittenChange, predicates: Sequence[Predicate], prefixes: Any) -> Change:
    """The change as far as the driver knows it: numbers, no rows. ``predicates`` are known, changed or not."""
    sizes = (written.inserted, written.deleted, written.explicit_inserted, written.explicit_deleted)
    names = Names([*predicates, *chain.from_iterable(sizes)], prefixes)
    numbers: list[Any] = [ChangedNumbers(names, each) for each in sizes]
    inserted, deleted, more, less = numbers
    return Change(inserted, deleted, more, less, written.not_explicit, written.stats)


def _bare(named: Named, is_described: bool) -> dict[Predicate, Place | None]:
    """The named predicates with bare names, for which a version states whether it has them."""
    return {p: place for p, place in named.items() if is_described and not p.name.startswith("<")}
