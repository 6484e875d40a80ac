"""The compared systems, each a function from a program and its inputs to an outcome.

``seconds`` is the total time, from facts in the system's usual form (Arrow columns for Everlog, the reference kernels
and DuckDB; text files for clingo, Nemo and Souffle) to the last derived fact. ``closure`` is the time of the reasoning
alone, for systems that separate it from loading. Counting the answers is not timed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench.inputs import Inputs, read
from bench.machine import status_bytes
from bench.programs import PROGRAMS, Program

DUCKDB_THREADS = 2
COUNTED_ROWS = 30_000_000
"""Maximum number of Nemo's answers that are counted: Nemo returns them one by one."""


class NotExpressibleError(Exception):
    """The system has no way to run this program."""


@dataclass(frozen=True)
class Outcome:
    """The measurements of one system on one workload.

    ``peak_mb`` is set by a system that runs outside the measured process. ``cpu`` is the processor time on all cores;
    other work on the machine hardly changes it."""

    facts: int | None
    seconds: float
    closure: float | None = None
    instances: int | None = None
    rounds: int | None = None
    peak_mb: float | None = None
    cpu: float | None = None


def everlog(program: Program, inputs: Inputs) -> Outcome:
    """Everlog in memory: general rules without modules, without bookkeeping for updates."""
    from everlog import KnowledgeBase

    start = perf_counter()
    kb: Any = KnowledgeBase(program.rules, maintain="none", modules=False)
    for name, table in inputs.tables.items():
        kb.insert(name, table)
    loaded = perf_counter()
    stats = kb.materialise()
    done = perf_counter()
    rounds = getattr(stats, "rounds", None)
    return Outcome(len(kb[program.goal]), done - start, done - loaded, stats.instances, rounds)


def reference(program: Program, inputs: Inputs, kernel: str) -> Outcome:
    """A hand-written kernel of :mod:`bench.reference_kernels`; the stamp kernel counts the pairs but does not keep
    them."""
    from bench import reference_kernels

    if program.name != "linear":
        raise NotExpressibleError("the reference kernels are for linear closure")
    start = perf_counter()
    graph = reference_kernels.adjacency(*_integers(inputs.tables["edge"]))
    loaded = perf_counter()
    closure = getattr(reference_kernels, kernel)(graph)
    done = perf_counter()
    return Outcome(closure.facts, done - start, done - loaded, closure.instances, closure.rounds)


def _integers(table: Any) -> tuple[Any, Any]:
    """The two columns as integers; strings are replaced by numbers."""
    import pyarrow as pa

    x, y = (table.column(name).combine_chunks() for name in ("x", "y"))
    if x.type == pa.string():
        codes = pa.concat_arrays([x, y]).dictionary_encode().indices.to_numpy().astype("int64")
        return codes[: len(x)], codes[len(x) :]
    return x.to_numpy(), y.to_numpy()


def duckdb_recursive(program: Program, inputs: Inputs) -> Outcome:
    """DuckDB's recursive SQL; the answers are written to a table."""
    if program.recursive_sql is None:
        raise NotExpressibleError("not a linear recursion")
    start = perf_counter()
    connection = _duckdb(inputs)
    loaded = perf_counter()
    goal = program.goal
    connection.execute(
        f"CREATE TABLE {goal} AS WITH RECURSIVE {goal}(x, y) AS ({program.recursive_sql}) SELECT x, y FROM {goal}"
    )
    done = perf_counter()
    return Outcome(_count(connection, goal), done - start, done - loaded)


def duckdb_loop(program: Program, inputs: Inputs) -> Outcome:
    """Semi-naive rounds in DuckDB, driven from Python: DISTINCT, then an anti-join."""
    loop, goal = program.loop_sql, program.goal
    if loop is None:
        raise NotExpressibleError("no loop is written for it")
    start = perf_counter()
    connection = _duckdb(inputs)
    loaded = perf_counter()
    connection.execute(f"CREATE TABLE {goal} AS SELECT DISTINCT * FROM ({loop.first})")
    connection.execute(f"CREATE TABLE delta AS SELECT * FROM {goal}")
    rounds = 1
    while _count(connection, "delta"):
        connection.execute(
            f"CREATE TABLE fresh AS SELECT DISTINCT * FROM ({loop.step}) made(x, y) ANTI JOIN {goal} USING (x, y)"
        )
        connection.execute(f"INSERT INTO {goal} SELECT * FROM fresh")
        connection.execute("DROP TABLE delta")
        connection.execute("ALTER TABLE fresh RENAME TO delta")
        rounds += 1
    done = perf_counter()
    return Outcome(_count(connection, goal), done - start, done - loaded, rounds=rounds)


def _duckdb(inputs: Inputs) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {DUCKDB_THREADS}")
    connection.execute("SET enable_progress_bar = false")
    for name, table in inputs.tables.items():
        connection.register("loading", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM loading")
    return connection


def _count(connection: Any, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def clingo(program: Program, inputs: Inputs) -> Outcome:
    """Clingo's grounder: without choices and negation, grounding is the materialisation."""
    from clingo import Control

    start = perf_counter()
    control = Control(["--warn=none"])
    for name in inputs.tables:
        control.load(str(inputs.directory / f"{name}.lp"))
    control.add("base", [], program.clingo())
    loaded = perf_counter()
    control.ground([("base", [])])
    done = perf_counter()
    explicit = sum(table.num_rows for table in inputs.tables.values())
    return Outcome(len(control.symbolic_atoms) - explicit, done - start, done - loaded)


def nemo(program: Program, inputs: Inputs) -> Outcome:
    """Nemo's Python package, which loads and reasons in one step."""
    import nmo_python

    kind = "string" if inputs.textual else "int"
    imports = [
        f'@import {name} :- tsv{{resource="{inputs.directory / name}.tsv", format=({kind}, {kind})}} .'
        for name in inputs.tables
    ]
    text = "\n".join([*imports, program.rules, f"@output {program.goal} ."])
    start = perf_counter()
    engine = nmo_python.NemoEngine(nmo_python.load_string(text))
    engine.reason()
    done = perf_counter()
    peak = peak_mb()
    facts = 0
    for _ in engine.result(program.goal):
        facts += 1
        if facts > COUNTED_ROWS:
            return Outcome(None, done - start, peak_mb=peak)
    return Outcome(facts, done - start, peak_mb=peak)


def souffle(program: Program, inputs: Inputs) -> Outcome:
    """Souffle, compiled for two threads; the compilation is not counted."""
    with tempfile.TemporaryDirectory() as scratch:
        source, binary = Path(scratch, "program.dl"), Path(scratch, "program")
        source.write_text(program.souffle("symbol" if inputs.textual else "number"))
        subprocess.run(["souffle", "-j2", "-o", str(binary), str(source)], check=True, capture_output=True)
        start = perf_counter()
        process = subprocess.Popen([binary, "-j2", "-F", str(inputs.directory)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        done = perf_counter()
    if process.returncode:
        raise RuntimeError(f"souffle ended with status {process.returncode}")
    facts = int(printed.split()[-1])
    return Outcome(facts, done - start, peak_mb=usage.ru_maxrss * 1024 / 1e6)


def peak_mb() -> float:
    """The peak resident memory of this process, in millions of bytes.

    The high-water mark of ``/proc`` starts anew with the program; ``ru_maxrss`` is inherited from
    the process that started it.
    """
    if mark := status_bytes("VmHWM"):
        return mark / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


@dataclass(frozen=True)
class System:
    """A way to run a program. ``package`` is the module that it needs, ``tool`` the executable. ``one_core`` pins its
    process to one core. ``warmed`` runs a few rows first, so that loading compiled kernels is not measured."""

    name: str
    run: Callable[[Program, Inputs], Outcome]
    package: str | None = None
    tool: str | None = None
    one_core: bool = False
    warmed: bool = False

    def available(self) -> bool:
        if self.package is not None and find_spec(self.package) is None:
            return False
        return self.tool is None or shutil.which(self.tool) is not None


EVERLOG = "everlog"
SORT_KERNEL = "sort kernel"

SYSTEMS = {
    system.name: system
    for system in (
        System(EVERLOG, everlog, package="everlog", one_core=True, warmed=True),
        System("everlog all cores", everlog, package="everlog", warmed=True),
        System(SORT_KERNEL, partial(reference, kernel="sort_closure"), one_core=True, warmed=True),
        System("stamp kernel", partial(reference, kernel="stamp_closure"), one_core=True, warmed=True),
        System("duckdb", duckdb_recursive, package="duckdb", warmed=True),
        System("duckdb loop", duckdb_loop, package="duckdb", warmed=True),
        System("clingo", clingo, package="clingo"),
        System("nemo", nemo, package="nmo_python"),
        System("souffle", souffle, tool="souffle"),
    )
}


def measure_system(system: str, program: str, directory: str) -> dict[str, Any]:
    """Run a program on prepared inputs with one system in this process."""
    chosen, inputs = SYSTEMS[system], read(Path(directory))
    if chosen.warmed:
        chosen.run(PROGRAMS[program], inputs.head(10))
    began = process_time()
    outcome = asdict(chosen.run(PROGRAMS[program], inputs))
    if outcome["peak_mb"] is None:
        outcome.update(peak_mb=peak_mb(), cpu=process_time() - began)
    return outcome
