"""Every message in the source, found in the syntax trees.

A message is a call that names a code (``Diagnostic(Code.X, ...)``, ``DataError.of(Code.X, ...)``, and every function
with parameters ``code`` and ``message``), or an exception that is raised with a text. The text of such a call is a
pattern: the fixed parts of the text, with anything between them. A name is looked up in the function around it, so a
text that is chosen before is as many messages as there are choices.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

import everlog
from everlog.lang.codes import Code

SOURCE = Path(everlog.__file__).parent
ANYTHING = ".*?"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Site:
    """A call with a message, and the pattern of its text."""

    file: str
    line: int
    what: str
    """A code, or one of ``message``, ``help`` and ``text``."""
    pattern: str

    def said_in(self, golden: str) -> bool:
        """Whether a golden text has this message."""
        before = {"message": r"\[[a-z0-9-]+\]: ", "help": "\n  = help: ", "text": ""}
        wanted = before.get(self.what, rf"\[{re.escape(self.what)}\]: ") + self.pattern
        return re.search(wanted, golden) is not None

    @property
    def text(self) -> str:
        """The text of the message, with dots for the parts that vary."""
        return re.sub(r"\\(.)", r"\1", self.pattern.replace(ANYTHING, "..."))

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.what}: {self.text}"


@dataclass
class Module:
    """The messages of one file."""

    file: str
    tree: ast.Module
    sayers: frozenset[str]
    """The functions that take a code and a text."""
    unnamed: list[str] = field(default_factory=list)
    """Calls of these functions whose code is not a constant."""

    def sites(self) -> Iterator[Site]:
        """The messages, each once."""
        yield from dict.fromkeys(site for node in ast.walk(self.tree) for site in self._of(node))

    def _of(self, node: ast.AST) -> Iterator[Site]:
        if isinstance(node, ast.Call) and self._name(node) in self.sayers:
            yield from self._with_code(node)
        elif isinstance(node, ast.Call) and self._name(node) == "BadRow":
            yield from self._texts(node.args[1:], node)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and self._name(node.exc) not in self.sayers:
            yield from self._texts([each for each in node.exc.args if _is_text(each)], node.exc)

    def _with_code(self, call: ast.Call) -> Iterator[Site]:
        code, message, hint = (self._argument(call, *where) for where in ((0, "code"), (1, "message"), (3, "hint")))
        if message is None or (self._name(call) == "of" and not self._is_error(call)):
            return
        if not _is_code(code):
            if not self._passed_on(code):
                self.unnamed.append(f"{self.file}:{call.lineno} {ast.unparse(call)}")
            return
        patterns = self._patterns(message, call)
        yield Site(self.file, call.lineno, Code[code.attr], patterns[0] if len(patterns) == 1 else ANYTHING)
        for pattern in patterns if len(patterns) > 1 else ():
            yield Site(self.file, message.lineno, "message", pattern)
        if hint is not None:
            line = 0 if isinstance(hint, ast.Name) else hint.lineno  # a name is shared by several messages
            yield from (Site(self.file, line, "help", p) for p in self._patterns(hint, call) if p not in ("", ANYTHING))

    def _texts(self, nodes: list[ast.expr], call: ast.Call) -> Iterator[Site]:
        for node in nodes:
            for pattern in self._patterns(node, call):
                if pattern != ANYTHING:
                    yield Site(self.file, node.lineno, "text", pattern)

    def _is_error(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value).endswith("Error")

    def _passed_on(self, code: ast.expr | None) -> bool:
        """The code is a parameter of the function around, or that of another diagnostic."""
        return isinstance(code, ast.Attribute) or (isinstance(code, ast.Name) and code.id == "code")

    def _patterns(self, node: ast.expr, call: ast.Call, seen: frozenset[str] = frozenset()) -> list[str]:
        """The patterns of the possible values of an expression."""
        match node:
            case ast.Constant(value=None):
                return []
            case ast.Constant(value=str(text)):
                return [re.escape(text)]
            case ast.JoinedStr(values=values):
                return ["".join(re.escape(str(v.value)) if isinstance(v, ast.Constant) else ANYTHING for v in values)]
            case ast.IfExp(body=one, orelse=other):
                return [*self._patterns(one, call, seen), *self._patterns(other, call, seen)]
            case ast.BoolOp(values=values):
                return [pattern for value in values for pattern in self._patterns(value, call, seen)]
            case ast.Name(id=name) if name not in seen:
                assigned = self._assigned(name, call)
                return [p for value in assigned for p in self._patterns(value, call, seen | {name})] or [ANYTHING]
        return [ANYTHING]

    def _assigned(self, name: str, call: ast.Call) -> Iterator[ast.expr]:
        """The texts that a local name may have where a call uses it; constants of the file too."""
        function = self._around.get(call)
        for place in (function, self.tree):
            if place is None:
                continue
            values = self._texts_by_name(place).get(name, [])
            yield from values
            if values or (function is not None and name in _parameters(function)):
                return

    def _texts_by_name(self, place: ast.AST) -> dict[str, list[ast.expr]]:
        """The texts that are assigned to each name in a function or in the file."""
        if place not in self._assigned_texts:
            found: dict[str, list[ast.expr]] = {}
            for node in ast.walk(place):
                for target, value in _assignments(node):
                    if isinstance(target, ast.Name) and _is_text(value):
                        found.setdefault(target.id, []).append(value)
            self._assigned_texts[place] = found
        return self._assigned_texts[place]

    @cached_property
    def _assigned_texts(self) -> dict[ast.AST, dict[str, list[ast.expr]]]:
        return {}

    @cached_property
    def _around(self) -> dict[ast.AST, Function]:
        """The innermost function around each call."""
        found: dict[ast.AST, Function] = {}
        for function in ast.walk(self.tree):
            if isinstance(function, Function):
                found.update((node, function) for node in ast.walk(function) if isinstance(node, ast.Call))
        return found

    @staticmethod
    def _name(call: ast.Call) -> str:
        return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")

    @staticmethod
    def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
        if position < len(call.args):
            return call.args[position]
        return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_code(node: ast.expr | None) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr | ast.IfExp | ast.BoolOp | ast.Name)


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def _parameters(function: Function) -> set[str]:
    arguments = function.args
    return {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _takes_code(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            names = [each.arg for each in node.args.args if each.arg not in ("self", "cls")]
            if names[:2] == ["code", "message"]:
                yield node.name


def modules() -> list[Module]:
    """Every file of the package."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    sayers = frozenset({"Diagnostic", *(name for tree in trees.values() for name in _takes_code(tree))})
    return [Module(path.relative_to(SOURCE).as_posix(), tree, sayers) for path, tree in trees.items()]
