"""The papers' programs with their facts, or with generated facts where the papers' cannot be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bench.inputs import SHARED
from bench.maintenance.workloads import Facts
from bench.papers import generated, seeds
from bench.papers.figures import FIGURES

ALL = 1 << 40
PROGRAMS = "seeds/programs"
RO = "ontologies/ro.owl.gz"


@dataclass(frozen=True)
class Dataset:
    """A program and its explicit facts.

    ``facts(rules, size)`` reads or generates the facts of the rules; ``size`` is that of a full run, ``quick`` that of
    a quick one. ``paper`` is its name in the papers' tables, and ``source`` says where the facts are from."""

    name: str
    paper: str
    rules: Callable[[], str]
    facts: Callable[[str, int], Facts]
    source: str
    size: int = ALL
    quick: int = 300
    shared: tuple[str, ...] = ()


def _published(name: str, folder: str, bound: str) -> Dataset:
    path = f"seeds/{folder}/{bound}.rls"
    read = partial(seeds.rules, path)
    return Dataset(name, name, read, lambda _, most: seeds.facts(f"seeds/{folder}/facts", most), "published, a sample",
                   shared=(path,))  # fmt: skip


def _universities(count: int) -> Dataset:
    path = f"{PROGRAMS}/LUBM_LE.rls"
    return Dataset(f"LUBM-LE-{count}", "LUBM-LE", partial(seeds.rules, path),
                   lambda _, most: seeds.universities(count, most), f"LUBM's generator, {count} of 1,000 universities",
                   shared=(path,))  # fmt: skip


def _clustered(name: str, paper: str, rules: Callable[[], str], path: str) -> Dataset:
    recipe = "150 random edges a property, in clusters of 50 nodes"
    return Dataset(name, paper, rules, generated.clustered_facts, recipe, quick=5, shared=(path,))


def _rewritten(name: str, nodes: int) -> Dataset:
    levels = [tuple(level) for level in FIGURES["journal-2"]["rows"][name]]
    rules = partial(generated.layered_rules, levels, seed=7)
    source = "generated, with the published numbers of rules"
    return Dataset(name, name, rules, lambda _, size: generated.layered_facts(size), source, size=nodes, quick=20)


def _relations() -> str:
    """The rules of the lower bound of the Relations Ontology; the facts of the ontology itself are left out."""
    from everlog.lang.printer import print_program
    from everlog.owl.programs import program_of

    return print_program(replace(program_of(SHARED / RO, "lower").program, facts=(), data=()))


def _claros(bound: str) -> Dataset:
    path = f"{PROGRAMS}/Claros_{bound}.rls"
    return _clustered(f"Claros-{bound}", f"Claros-{bound}", partial(seeds.without_equality, path), path)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        _published("UOBM-L", "uobm-010", "lower"),
        _published("UOBM-U", "uobm-010", "upper"),
        _published("Reactome-L", "reactome-040", "lower"),
        _published("Reactome-U", "reactome-040", "upper"),
        _universities(1),
        _universities(10),
        _claros("L"),
        _claros("LE"),
        _clustered("DBpedia-L", "DBpedia-L", partial(seeds.without_equality, f"{PROGRAMS}/DBpedia_L.rls"),
                   f"{PROGRAMS}/DBpedia_L.rls"),
        _clustered("RO", "Relations", _relations, RO),
        _rewritten("ChEMBL-R", 5_000),
        _rewritten("UOBM-R", 1_000),
        _rewritten("UniProt-R", 1_000),
        _rewritten("Reactome-R", 1_000),
    )
}  # fmt: skip
