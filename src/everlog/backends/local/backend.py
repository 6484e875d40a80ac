"""The local back end: all facts are in a knowledge base in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import CheckedProgram
from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import BeginningOptions, ChangeOptions, FactsToChange, OtherRules
from everlog.backends.engines import TEXT_FACTOR, memory_needed, needs_spark
from everlog.backends.protocol import NO_ROWS, C, FactReader, InputReader, Made, Named, RowsRead
from everlog.backends.too_much import TooMuchError
from everlog.engine.dictionary import Dictionary
from everlog.host.memory import size_text
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.facts import FactsRead, load_columns
from everlog.ingest.named import with_empty
from everlog.ingest.programs import facts_in_program
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged
from everlog.kb.saving import NewVersion, append, is_saved_in, keep_whole_version, whole_version
from everlog.kb.stores import open as open_store
from everlog.lang.errors import Diagnostic
from everlog.lang.internal import LITERAL
from everlog.lang.syntax import Predicate
from everlog.reasoning.equality import Equality
from everlog.reasoning.statistics import Listener
from everlog.store import Store, Transaction
from everlog.store.codec import dictionary_of, facts_of
from everlog.store.schema import TERMS

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile


@dataclass
class LocalBackend:
    """Implements :class:`everlog.backends.protocol.Backend` by a knowledge base that has all facts of the version."""

    kb: KnowledgeBase
    store: Store
    work: Path
    options: ChangeOptions
    profile: Profile | None = None

    @classmethod
    def opened(
        cls,
        store: Store,
        work: Path,
        options: ChangeOptions,
        warn: Callable[[Diagnostic], None],
        profile: Profile | None = None,
        kb: KnowledgeBase | None = None,
    ) -> LocalBackend:
        """Open the newest version of a store; ``kb`` may have its facts already."""
        if kb is None or kb.saved is None or not is_saved_in(kb.saved, store, store.version):
            limits: dict[str, Any] = {"max_facts": options.max_facts, "timeout": options.timeout}
            kb = open_store(store, **limits, max_memory=options.memory)
        kb.warning = warn
        return cls(kb, store, work, options, profile)

    @property
    def program(self) -> CheckedProgram:
        return self.kb.program.program

    @property
    def predicates(self) -> Sequence[Predicate]:
        return self.kb.predicates

    @property
    def of_fixed_arity(self) -> Sequence[Predicate]:
        return self.predicates

    @property
    def equality(self) -> Equality:
        return self.kb.equality

    def declare(self, prefixes: Mapping[str, str]) -> None:
        self.kb.declare(prefixes)

    def read(self, reader: FactReader) -> FactsToChange:
        return reader.read(self.kb)

    def update(self, asked: FactsToChange, named: tuple[Named, Named], warned: Callable[[], None]) -> Made[Change]:
        kb, delete, insert = self.kb, asked.delete, asked.insert
        to_delete, to_insert = named
        kb.warn_of_facts(with_empty(insert.kinds, to_insert), to_insert)
        kb.warn_of_deletions(to_delete)
        warned()
        change = kb.update_facts(insert.facts, delete.facts, kinds=insert.kinds, unknown=delete.unknown, **self._how)
        return self.made(change, {"update": asdict(change.stats)}, RowsRead.of(delete, insert))

    def change_rules(self, rules: OtherRules, warned: Callable[[], None]) -> Made[RulesChanged]:
        change = self.kb.change_rules(rules.add, rules.remove, **self._how)
        warned()
        return self.made(change, {"update": asdict(change.stats)})

    def made(self, change: C, update: Mapping[str, Any], read: RowsRead = NO_ROWS) -> Made[C]:
        """A change that the knowledge base has; ``update`` are figures of it for the store."""

        def commit(transaction: Transaction, figures: Mapping[str, Any], positions: Mapping[str, Any] | None) -> int:
            where = positions, self.options.expand_below, self.store
            return append(self.kb, transaction, {**update, **figures}, *where)

        return Made(lambda: change, self.kb.statistics, commit, read=read, kb=self.kb)

    @property
    def _how(self) -> dict[str, Any]:
        options = self.options
        return {"algorithm": options.algorithm, "strategy": options.strategy, "profile": self.profile or False}


@dataclass
class LocalBeginning:
    """Makes a first version in this process; ``program`` is without modules."""

    program: StratifiedProgram
    options: BeginningOptions
    path: str
    warn: Callable[[Diagnostic], None]
    listener: Listener
    profile: Profile | None = None
    amount: AmountProgress | None = None
    kb: KnowledgeBase = field(init=False)
    _term_files: tuple[str, ...] = ()
    """Files that have the first terms, where Spark has written them."""
    _new: NewVersion | None = None

    def read(self, reader: InputReader) -> FactsRead:
        if reader.is_small:
            self.kb = self._knowledge_base(Dictionary(salt=self.options.salt))
            read = reader.read(self.kb.dictionary)
            rows = read.rows + facts_in_program(self.program.program)
            self._require_memory(rows, self.kb.dictionary.nbytes // TEXT_FACTOR)
            return FactsRead(read.facts, rows, 0, read.bad, read.bad_count, read.kinds)
        staged = reader.stage()
        self._require_memory(staged.rows, sum(Path(file).stat().st_size for file in staged.term_files))
        self._term_files = staged.term_files
        self.kb = self._knowledge_base(dictionary_of(_terms(staged.term_files), self.options.salt))
        facts = facts_of(load_columns(staged.fact_files), self.kb.dictionary)
        facts = facts.restricted(p for p in facts if p != LITERAL)
        return FactsRead(facts, staged.rows, 0, staged.bad, staged.bad_count, staged.kinds)

    def derive(self, read: FactsRead, named: Named, warned: Callable[[], None], *, whole: bool) -> Made[Change]:
        kb = self.kb
        refuse_two_arities(read.facts, self.program.program.arities)
        kb.insert_facts(read.facts, with_empty(read.kinds, named), named, whole=whole)
        kb.warn_of_queued()
        warned()
        statistics = kb.materialise(progress=self.listener, profile=self.profile or False)
        return Made(kb.from_nothing, statistics, self._commit, self._keep, RowsRead.of(read), kb)

    def _commit(self, transaction: Transaction, figures: Mapping[str, Any], positions: Mapping[str, Any] | None) -> int:
        options = self.options
        self._new = whole_version(
            self.kb,
            "materialise",
            expand_below=options.expand_below,
            maintain=options.maintain,
            term_files=self._term_files,
            progress=self.amount,
        )
        return self._new.commit(transaction, figures, positions)

    def _keep(self, version: int, transaction: Transaction) -> None:
        """Write a snapshot."""
        assert self._new is not None
        keep_whole_version(self.kb, self.path, version, self._new, transaction.writer, self.warn)

    def _require_memory(self, rows: int, texts: int) -> None:
        """Raise an error if Spark is to reason because the memory of this machine may not suffice; logs the choice."""
        if self.options.engine == "auto" and self.options.equality != "representatives":
            needed = memory_needed(rows, texts)
            if needs_spark(needed, self.options.memory):
                raise TooMuchError(f"about {size_text(needed)} of memory needed")

    def _knowledge_base(self, dictionary: Dictionary) -> KnowledgeBase:
        options = self.options
        kb = KnowledgeBase.over(
            dictionary,
            self.program.program,
            modules=options.modules,
            stratification=options.stratification,
            maintain="none" if options.maintain == "counting" else options.maintain,  # a trace is not stored
            equality=options.equality,
            max_facts=options.max_facts,
            timeout=options.timeout,
            max_memory=options.memory,
        )
        kb.warning = self.warn
        return kb


def _terms(files: Sequence[str]) -> pa.Table:
    """All terms, sorted by id; the files are sorted, and their ranges of ids are disjoint."""
    tables = [pq.read_table(file, memory_map=True) for file in files]
    if not tables:
        return TERMS.empty_table()
    return pa.concat_tables(sorted(tables, key=lambda table: table.column("id")[0].as_py()))
