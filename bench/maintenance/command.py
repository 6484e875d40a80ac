"""A small update of a large store by the command line, compared with materialising the store."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.extras import RULES
from bench.generators import forest
from bench.inputs import table_of, write_tsv
from bench.measure import ROOT

CHANGED = 1_000
"""Number of explicit facts that an update changes: half are deleted, half inserted."""
RUNS = 3
TIMEOUT = 300
"""Maximum seconds of a command."""


def command_update(trees: int, size: int) -> dict[str, Any]:
    """Seconds of whole processes: ``everlog materialise`` of a forest's ancestors, and ``everlog update`` that deletes
    500 edges and inserts 500; or the reason why they were not measured."""
    if _everlog("update", "--help")[1] != 0:
        return {"skipped": "there is no command `everlog update`"}
    edges = forest(trees, size, seed=1)
    random = np.random.default_rng(3)
    absent, present = edges[: CHANGED // 2], edges[CHANGED // 2 :]
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        folder = Path(scratch)
        rules, store = folder / "rules.rls", folder / "store"
        rules.write_text(RULES)
        facts = f"parent={write_tsv(table_of(present), folder / 'parent.tsv')}"
        made = _timed("materialise", str(rules), "--facts", facts, "--store", str(store))
        sizes, runs = [_bytes(store / "facts")], []
        for number in range(RUNS):
            at = random.choice(len(present), CHANGED // 2, replace=False)
            deleted, present = present[at], np.delete(present, at, axis=0)
            insert = f"parent={write_tsv(table_of(absent), folder / f'insert{number}.tsv')}"
            delete = f"parent={write_tsv(table_of(deleted), folder / f'delete{number}.tsv')}"
            runs.append(_timed("update", str(store), "--insert", insert, "--delete", delete))
            present, absent = np.concatenate([present, absent]), deleted
            sizes.append(_bytes(store / "facts"))
    return {"materialise": made, "updates": runs, "bytes": sizes, "changed": CHANGED}


def _bytes(directory: Path) -> int:
    """The size of all files below a directory, including those that are no longer read."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _timed(*arguments: str) -> float:
    began = perf_counter()
    err, status = _everlog(*arguments)
    if status:
        raise RuntimeError(f"everlog {arguments[0]}: {err.strip().splitlines()[-1] if err.strip() else status}")
    return perf_counter() - began


def _everlog(*arguments: str) -> tuple[str, int]:
    command = [sys.executable, "-m", "everlog.cli", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    return ran.stderr, ran.returncode
