"""The order of the packages inside ``reasoning``: modules and equality are below the algorithms."""

import ast
from pathlib import Path

import everlog.reasoning

ROOT = Path(everlog.reasoning.__file__).parent
BELOW_MODULES = {"fixpoint", "materialisation", "observers", "statistics"}


def imports_of(path: Path) -> set[str]:
    """What a file imports of ``reasoning``, as the first name below it."""
    names = (
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    )
    return {name.split(".")[2] for name in names if name.startswith("everlog.reasoning.")}


def test_equality_imports_nothing_else() -> None:
    for path in (ROOT / "equality").glob("*.py"):
        assert imports_of(path) <= {"equality"}, path.name


def test_modules_import_no_algorithm() -> None:
    for path in (ROOT / "modules").glob("*.py"):
        assert imports_of(path) <= {"modules", *BELOW_MODULES}, path.name


def test_what_modules_import_is_below_them() -> None:
    for name in BELOW_MODULES:
        path = ROOT / f"{name}.py"
        if path.exists():
            assert imports_of(path) <= {"equality", *BELOW_MODULES}, name
