"""Conversion between rows of facts and sets of the local engine, for tasks that hold all of their facts in memory."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.backends.spark.sharing import SharedNumbering, fact_set
from everlog.backends.spark.workspace import Workspace
from everlog.engine.factset import FactSet
from everlog.engine.keys import BLOCK_ROWS, Column, columns_of
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.lang.syntax import Predicate, Rule, constants_of

GROUP = "part"
"""The name of the column with the number of the set that a fact belongs to."""

Written = tuple[tuple[str, ...], dict[int, int]]
"""Files, and the number of facts of each predicate in them, by its id."""


@dataclass(frozen=True)
class TaskIds:
    """The ids of predicates and constants that a task needs, the columns of facts, and the directory of its files."""

    predicates: tuple[tuple[int, Predicate], ...]
    constants: Mapping[str, int]
    keys: tuple[str, ...]
    directory: str

    @classmethod
    def of(cls, space: Workspace, predicates: Iterable[Predicate], rules: Iterable[Rule] = ()) -> TaskIds:
        return cls(
            tuple((space.names.id(p), p) for p in dict.fromkeys(predicates)),
            {constant.text: space.names.constant(constant) for constant in constants_of(rules)},
            tuple(space.keys),
            str(space.directory),
        )

    def read(self, batches: Iterable[pa.RecordBatch], groups: int = 1) -> tuple[list[FactSet], SharedNumbering]:
        """The facts of rows, as sets over one numbering; with several groups a set for each number in :data:`GROUP`."""
        named = np.array(list(self.constants.values()), np.int64)
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return [FactSet() for _ in range(groups)], fact_set((), (), more=named)[1]
        rows = pa.Table.from_batches(held)
        tags = rows.column("predicate").to_numpy()
        group = rows.column(GROUP).to_numpy() if groups > 1 else np.zeros(len(tags), np.int64)
        columns = [rows.column(name).to_numpy() for name in self.keys[1:]]
        wanted = [(number, predicate, g) for g in range(groups) for number, predicate in self.predicates]
        places = [np.flatnonzero((tags == number) & (group == g)) for number, _, g in wanted]
        names = [Predicate(f"{g} {p.name}", p.arity) for _, p, g in wanted]
        found, numbering = fact_set(names, [[column[at] for column in columns] for at in places], more=named)
        sets = [
            FactSet({p: found.relation(Predicate(f"{g} {p.name}", p.arity)) for _, p in self.predicates})
            for g in range(groups)
        ]
        return sets, numbering

    def engine(self, numbering: SharedNumbering, limits: Limits) -> Engine:
        """An engine of one thread for facts over a numbering."""
        named = np.array(list(self.constants.values()), np.int64)
        numbers = dict(zip(self.constants, numbering.numbers_of(named).tolist(), strict=True))
        return Engine(numbering.universe, numbers, limits=limits, threads=1)

    def write(self, facts: FactSet, numbering: SharedNumbering) -> Written:
        """Write facts into a file in the work directory.

        They are written block by block, since allocating memory for all rows costs more than copying the blocks.
        """
        ids = {predicate: number for number, predicate in self.predicates}
        relations = {predicate: relation for predicate, relation in facts.items() if len(relation)}
        if not relations:
            return (), {}
        sizes: Counter[int] = Counter()
        path = f"{self.directory}/{uuid.uuid4().hex}.parquet"
        schema = pa.schema([(name, pa.int64()) for name in self.keys])
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["predicate"]) as writer:
            for predicate, relation in relations.items():
                sizes[ids[predicate]] += len(relation)
                keys = relation.keys()
                for start in range(0, len(keys), BLOCK_ROWS):
                    block = keys[start : start + BLOCK_ROWS]
                    found = [numbering.ids(column) for column in columns_of(relation.layout, block)]
                    columns = self._filled(ids[predicate], found[: predicate.arity], len(block))
                    writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        return (path,), dict(sizes)

    def _filled(self, number: int, columns: Sequence[Column], size: int) -> list[pa.Array]:
        """The columns of rows: the predicate, its arguments, and zeros in the columns beyond its arity."""
        missing = len(self.keys) - 1 - len(columns)
        return list(map(pa.array, (np.full(size, number), *columns, *[np.zeros(size, np.int64)] * missing)))
