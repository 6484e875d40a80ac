"""The program and the numbered facts of a dataset in a directory, which all measured processes read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bench.maintenance.workloads import Facts


def write(directory: Path, rules: str, facts: Facts) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "rules.rls").write_text(rules)
    (directory / "names.json").write_text(json.dumps(list(facts)))
    np.savez(directory / "facts.npz", *facts.values())


def read(directory: str) -> tuple[str, Facts]:
    path = Path(directory)
    with np.load(path / "facts.npz") as arrays:
        columns = [arrays[name] for name in arrays.files]
    return (path / "rules.rls").read_text(), dict(
        zip(json.loads((path / "names.json").read_text()), columns, strict=True)
    )


def few(facts: Facts) -> Facts:
    """The first facts of each predicate, for a run that loads compiled code."""
    return {name: rows[:3] for name, rows in facts.items()}
