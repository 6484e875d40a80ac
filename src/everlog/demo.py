"""``make demo``: the main job on a small real ontology, through Spark into a store, with answers.

Runs commands as a user would, in one process so that Spark starts once.
"""

from __future__ import annotations

import shlex
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path

STORE = "demo-store"
INFECTIOUS = "heart(?d), infectious(?d), name(?d, ?name)"
UNEXPLAINED = "unexplained(?d), name(?d, ?name)"


def main(store: str = STORE) -> int:
    """Run the demo; returns the status of the first command that failed, 0 if none did."""
    begun = time.monotonic()
    with as_file(files("everlog") / "demo_data") as data:
        rules = data / "diseases.rls"
        _say("Diseases of the heart, from an extract of the Human Disease Ontology (CC0). The rules:")
        print(rules.read_text(encoding="utf-8"))
        status = _run_all(rules, data, store)
    if status == 0:
        _say(f"Done in {time.monotonic() - begun:.0f} seconds. The store stays in {store}/: ask it something else with")
        print(f"  everlog query {store} 'kind_of(\"DOID:114\", ?y), name(?y, ?name)'")
    return status


def _run_all(rules: Path, data: Path, store: str) -> int:
    commands = [
        ("Read the facts and derive what follows with Spark, commit it to a Delta store:",
         ["materialise", str(rules), "--facts", str(data), "--store", store, "--overwrite", "--engine", "spark"]),
        ("What is in the store:", ["stats", store]),
        ("Which diseases of the heart come from an infection?", ["query", store, INFECTIOUS]),
        ("Five of those that the ontology puts under no cause:", ["query", store, UNEXPLAINED, "--limit", "5"]),
        ("Check the files, and reason again from the explicit facts to compare:", ["verify", store]),
    ]  # fmt: skip
    for what, arguments in commands:
        status = _run(what, arguments)
        if status:
            return status
    return 0


def _run(what: str, arguments: list[str]) -> int:
    from everlog.cli.run import run

    _say(what)
    print(f"$ everlog {shlex.join(arguments)}", flush=True)
    status = run(arguments)
    print(flush=True)
    return status


def _say(text: str) -> None:
    print(f"== {text}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
