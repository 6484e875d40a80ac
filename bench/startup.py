"""Start-up times: the import, a small program, and the first run after installation."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.inputs import table_of, write
from bench.measure import ProcessResult, run_python, start
from bench.peers import EVERLOG
from bench.programs import LINEAR
from bench.workloads import dag_s

TEN_FACTS = "ancestor(?x, ?y) :- parent(?x, ?y) .\nancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) ."


@dataclass(frozen=True)
class Startup:
    """Seconds of whole processes; None for a run that failed, with the reason in ``error``."""

    interpreter: float | None
    imported: float | None
    knowledge_base_imported: float | None
    ten_facts: float | None
    first_run: float | None
    first_closure: float | None
    first_run_printed: bool | None
    error: str | None = None


def answer_ten_facts() -> dict[str, Any]:
    """Materialise and query ten facts in this process."""
    from everlog import KnowledgeBase

    began = perf_counter()
    kb: Any = KnowledgeBase(TEN_FACTS)
    kb.insert("parent", [(f"p{i}", f"p{i + 1}") for i in range(10)])
    answers = len(kb.query("ancestor(p0, ?x)"))
    if answers != 10:
        raise RuntimeError(f"expected 10 answers, not {answers}")
    return {"seconds": perf_counter() - began}


def startup(first_runs: bool = True) -> Startup:
    """The best of five imports and the best of three small programs; with ``first_runs`` also one small program and
    one closure of DAG-S with an empty kernel cache."""
    bare = [run_python(["-c", "pass"], 60) for _ in range(5)]
    imports = [run_python(["-c", "import everlog"], 60) for _ in range(5)]
    attributes = [run_python(["-c", "import everlog; everlog.KnowledgeBase"], 60) for _ in range(5)]
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as cache:
        environment = {"NUMBA_CACHE_DIR": cache} if first_runs else {}
        first = start({"task": "startup.answer_ten_facts"}, 300, environment)
        printed = first_command(cache) if first_runs else None
        small = [start({"task": "startup.answer_ten_facts"}, 300, environment) for _ in range(3)]
    closure = first_closure() if first_runs else None
    return Startup(
        _best(bare),
        _best(imports),
        _best(attributes),
        _best(small),
        _best([first]) if first_runs else None,
        _best([closure]) if closure else None,
        printed,
        first.error or (closure.error if closure else None),
    )


def first_command(cache: str) -> bool:
    """Whether the first command after installation prints that kernels are being compiled."""
    from everlog import KnowledgeBase

    store = Path(cache, "store")
    KnowledgeBase("p(?x) :- q(?x) . q(a) .").save(store)
    environment = {"NUMBA_CACHE_DIR": str(Path(cache, "commands"))}
    ran = run_python(["-m", "everlog.cli", "query", str(store), "p(?x), q(?x)", "--format", "json"], 300, environment)
    return "compil" in ran.stderr


def first_closure() -> ProcessResult:
    """The linear closure of DAG-S with an empty kernel cache."""
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        write({"edge": table_of(dag_s())}, Path(scratch, "dag-s"))
        job = {
            "task": "peers.measure_system",
            "system": EVERLOG,
            "program": LINEAR.name,
            "directory": str(Path(scratch, "dag-s")),
        }
        return start(job, 300, {"NUMBA_CACHE_DIR": str(Path(scratch, "cache"))})


def _best(reports: list[ProcessResult]) -> float | None:
    return min((report.wall for report in reports if report.error is None), default=None)
