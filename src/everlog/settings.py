"""Settings: a flag counts before the environment, the environment before ``everlog.toml``.

This is the only module that knows the settings, their possible values, and where they come
from. A setting ``on-error`` is the flag ``--on-error``, the variable ``EVERLOG_ON_ERROR`` and the
key ``on-error`` of the ``everlog.toml`` in the working directory or the nearest one above it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError, Place

FILE = "everlog.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``default`` is its value if it is given nowhere."""

    name: str
    kind: type
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    metavar: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable.

        >>> SETTINGS["on-error"].variable
        'EVERLOG_ON_ERROR'
        """
        return "EVERLOG_" + self.name.upper().replace("-", "_")

    @property
    def parameter(self) -> str:
        """The name as a Python parameter."""
        return self.name.replace("-", "_")

    def problem(self, value: object) -> str | None:
        """A description of what is wrong with a value from a file, None if it is valid.

        >>> SETTINGS["salt"].problem("7"), SETTINGS["format"].problem("xml")
        ('is not an integer', 'is none of table, csv, json, parquet, arrow')
        """
        fits = (int, float) if self.kind is float else self.kind
        if not isinstance(value, fits) or (isinstance(value, bool) and self.kind is not bool):
            return f"is not {KIND_NAMES[self.kind]}"
        if self.choices and value not in self.choices:
            return f"is none of {', '.join(self.choices)}"
        if self.least is not None and isinstance(value, int | float) and value < self.least:
            return f"is less than {self.least:g}"
        return None


KIND_NAMES: Mapping[type, str] = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}

EXPAND_BELOW = 50_000_000
"""Default maximum number of facts of a closure that is listed."""

LARGE_GZ = 64
"""Default minimum size, in megabytes, of a gzip file for which a warning says that one task has to read it."""

LOCAL_FINISH = 4_000_000
"""Default maximum number of facts of a recursion that Spark leaves to one task."""

LOOK_UP_ROWS = 50_000_000
"""Default maximum number of rows of a store that one task looks up for an update."""

PROBE_ROWS = 4_000_000
"""Default minimum number of rows of a store from which Spark first finds the row groups to read for a join."""

WAIT = 60.0
"""Default number of seconds to wait for another writer."""

_ALL = (
    Setting("engine", str, "Where rules are applied.", "auto", ("auto", "local", "spark")),
    Setting("master", str, "Spark's master; embedded in this process without one.", metavar="URL"),
    Setting(
        "memory",
        str,
        "What reasoning may take on this machine or in one task, such as 8g: what needs more Spark "
        "distributes; beyond it, this machine stops with an error.",
        metavar="SIZE",
    ),
    Setting(
        "spark-local-finish",
        int,
        "Spark leaves recursion with fewer facts to one task.",
        LOCAL_FINISH,
        least=0,
        metavar="N",
    ),
    Setting("spark-memory", str, "Memory of Spark's JVM, such as 2g.", metavar="SIZE"),
    Setting("spark-log", str, "Keep Spark's own log in this file.", metavar="FILE"),
    Setting("modules", str, "Closures by algorithms of their own.", "on", ("on", "off")),
    Setting("stratification", str, "How rules are put into strata.", "levels", ("levels", "single")),
    Setting(
        "maintain",
        str,
        "For which algorithm derivations are counted.",
        "dredc",
        ("dredc", "bfc", "counting", "none"),
    ),
    Setting("profile", str, "How ontologies become rules.", "lower", ("lower", "upper", "rl", "rdfs", "skos")),
    Setting(
        "equality",
        str,
        "Whether equals are one: not, by rules of the ontologies, or all of them by representatives.",
        "off",
        ("off", "rules", "representatives"),
    ),
    Setting(
        "schema",
        str,
        "Whether triples about classes and properties, labels too, are facts under lower and upper.",
        "drop",
        ("drop", "keep"),
    ),
    Setting("header", bool, "The first row of CSV and TSV files names the columns.", False),
    Setting("types", str, "Whether cells may be numbers, IRIs, ... or strings only.", "auto", ("auto", "string")),
    Setting("base", str, "Base IRI of RDF files, by default the file's own, and of SPARQL queries.", metavar="IRI"),
    Setting("graphs", bool, "Facts of RDF have the graph they are in as last argument.", False),
    Setting("large-gz", int, "Warn of .gz files above this size in megabytes.", LARGE_GZ, least=0, metavar="MB"),
    Setting(
        "on-error",
        str,
        "What to do with bad rows, and with facts that an export cannot write.",
        "stop",
        ("stop", "skip"),
    ),
    Setting("salt", int, "Another number gives terms other ids, after two had the same.", 0, metavar="N"),
    Setting(
        "expand-below", int, "Do not list the pairs of closures with more facts.", EXPAND_BELOW, least=0, metavar="N"
    ),
    Setting("max-facts", int, "Stop with an error above this number of facts.", least=1, metavar="N"),
    Setting("timeout", float, "Stop reasoning with an error after this number of seconds.", least=0, metavar="SECONDS"),
    Setting(
        "wait",
        float,
        "Seconds to wait for another writer of the store to finish.",
        WAIT,
        least=0,
        metavar="SECONDS",
    ),
    Setting("format", str, "How answers are written.", "table", ("table", "csv", "json", "parquet", "arrow")),
    Setting("limit", int, "Write at most this number of answers.", least=0, metavar="N"),
    Setting(
        "warnings",
        str,
        "Whether warnings make the exit status 1, before anything is written.",
        "show",
        ("show", "error"),
    ),
    Setting("quiet", bool, "No progress and no logs, only results and errors.", False),
    Setting("json-logs", bool, "Progress, logs and errors as one JSON object a line on stderr.", False),
)

SETTINGS: Mapping[str, Setting] = MappingProxyType({setting.name: setting for setting in _ALL})


def in_environment(name: str) -> str | None:
    """A setting in the environment, None if it is not there or empty."""
    return os.environ.get(SETTINGS[name].variable) or None


def find_file(start: Path) -> Path | None:
    """The ``everlog.toml`` of a directory or of the nearest directory above it."""
    return next((path / FILE for path in (start, *start.parents) if (path / FILE).is_file()), None)


def read_file(path: Path) -> dict[str, Any]:
    """The settings in a file by parameter name; an error that lists everything wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except OSError as error:
        raise EverlogError.of(
            Code.UNREADABLE_FILE, f"the settings cannot be read: {error.strerror}", Place(str(path))
        ) from error
    except UnicodeDecodeError as error:
        raise EverlogError.of(
            Code.NOT_UTF_8, "the file is not UTF-8 text", Place(str(path)), "save it as UTF-8"
        ) from error
    except tomllib.TOMLDecodeError as error:
        reason, place = _of_toml(str(error), path, text)
        hint = 'a setting is written `name = value`, with strings in quotes: `format = "csv"`'
        raise EverlogError.of(Code.BAD_SETTINGS, f"this is not TOML: {reason}", place, hint) from error
    problems = [problem for key, value in found.items() for problem in _problems(key, value, path, text)]
    if problems:
        raise EverlogError(problems)
    return {SETTINGS[_dashed(key)].parameter: value for key, value in found.items()}


def file_settings() -> dict[str, Any]:
    """The settings in the nearest ``everlog.toml``, by parameter name; empty if there is none."""
    path = find_file(Path.cwd())
    return {} if path is None else read_file(path)


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _problems(key: str, value: object, path: Path, text: str) -> list[Diagnostic]:
    setting = SETTINGS.get(_dashed(key))
    place = _place(key, path, text)
    if setting is None:
        close = get_close_matches(_dashed(key), SETTINGS, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"the settings are {', '.join(SETTINGS)}"
        return [Diagnostic(Code.UNKNOWN_SETTING, f"there is no setting `{key}`", place, hint)]
    problem = setting.problem(value)
    return [Diagnostic(Code.BAD_SETTING, f"`{key}`: {value!r} {problem}", place)] if problem else []


def _of_toml(message: str, path: Path, text: str) -> tuple[str, Place]:
    """The message of the TOML parser, and the place that it names."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    if found is None:
        return message, Place(str(path))
    line = int(found[2])
    return found[1], Place(str(path), line, int(found[3]), text.splitlines()[line - 1])


def _place(key: str, path: Path, text: str) -> Place:
    """The first line that begins with the key."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip(' \t["').startswith(key):
            return Place(str(path), number, line.index(key) + 1, line, len(key))
    return Place(str(path))
