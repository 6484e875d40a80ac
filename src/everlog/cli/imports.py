"""What commands do not import."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any


class WithoutPandas(MetaPathFinder):
    """Refuses to find pandas, which takes 0.3 seconds to import, unless Spark is there, which needs it.

    Arrow imports pandas with its first table or array if it can, to recognise DataFrames; no command has any.
    """

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> None:
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(name, name=name)
