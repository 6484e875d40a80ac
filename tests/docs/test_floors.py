"""The page and the picture show the floors that imports are checked against, and packages have no import cycles."""

from __future__ import annotations

import re
import runpy

import grimp

from tests.docs.pages import DOCS

SCRIPT = runpy.run_path(str(DOCS.parent / "scripts" / "draw_floors.py"))


def test_the_table_lists_the_floors_in_their_order() -> None:
    assert list(SCRIPT["lines"]()) == SCRIPT["floors"]()


def test_the_picture_is_the_one_that_the_script_draws() -> None:
    assert SCRIPT["PICTURE"].read_text(encoding="utf-8") == SCRIPT["drawing"](), "run python scripts/draw_floors.py"


def test_every_floor_of_the_picture_is_in_one_group() -> None:
    members = [name for floors, *_ in SCRIPT["GROUPS"].values() for name in floors.split()]
    assert members == SCRIPT["floors"]()
    assert set(SCRIPT["WAYS"]) <= set(members)


def test_no_file_imports_a_package_around_it_that_imports_it() -> None:
    """No file imports an enclosing package that imports it; the contract about cycles only compares siblings."""
    graph = grimp.build_graph("everlog", cache_dir=None)
    outward = {
        (file, package)
        for file in graph.modules
        for package in graph.find_modules_directly_imported_by(file)
        if re.match(re.escape(package) + r"\.", file)
    }
    assert ("everlog.store.loading", "everlog.store") in outward
    assert not [pair for pair in outward if graph.chain_exists(importer=pair[1], imported=pair[0])]
