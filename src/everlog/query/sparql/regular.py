r"""Regular expressions of XPath, matched by RE2 in time linear in the length of the text.

A pattern is translated piece by piece: the classes ``\d``, ``\w``, ``\s``, ``\i`` and ``\c`` are those of XML Schema.
Features that RE2 lacks raise an error that names them: back-references, classes with others subtracted, blocks of
Unicode. So do features of other languages that XPath lacks, such as ``\b`` and look-ahead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from everlog.lang.codes import Code
from everlog.lang.errors import RuleError
from everlog.query.sparql.terms import ExpressionError

FLAGS = frozenset("smixq")

_INITIAL = (
    r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}"
    r"\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}"
)
_NAME = _INITIAL + r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}"
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": r"\x20\t\n\r",
    "S": r"\x00-\x08\x0b\x0c\x0e-\x1f\x21-\x{10FFFF}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "W": r"\p{P}\p{Z}\p{C}",
    "i": _INITIAL,
    "c": _NAME,
}
"""The content of a bracket for each class with a letter."""

_OUTSIDE = {letter: f"[{content}]" for letter, content in _CLASSES.items()} | {
    "w": r"[^\p{P}\p{Z}\p{C}]",
    "I": f"[^{_INITIAL}]",
    "C": f"[^{_NAME}]",
}
_CHARACTERS = {"n": r"\n", "r": r"\r", "t": r"\t"}
_PUNCTUATION = frozenset("\\|.-^?*+{}()[]$")
_CATEGORY = re.compile(r"\\[pP]\{(Is[^}]*|[A-Z][a-z]?)\}")
_FOLDED = frozenset({"Lu", "Ll", "Lt", "M", "Mn"})
"""The categories to which RE2 adds characters in brackets with the flag ``i``: letters of the other case."""

_QUANTITY = re.compile(r"\{([0-9]+)(,[0-9]*)?\}")
_MOST_REPEATED = 1000
"""Maximum number of repetitions that RE2 accepts in a quantifier."""

_REPLACEMENT = re.compile(r"\\[\\$]|\$[0-9]+|[^\\$]+|.", re.DOTALL)


@dataclass(frozen=True)
class Regular:
    """A regular expression as RE2 writes it, with the number of its groups.

    With the flag ``q``, which makes it ``literal``, the characters of a replacement are literal, too.
    """

    pattern: str
    groups: int
    literal: bool = False

    def matches(self, texts: Sequence[str]) -> list[bool]:
        """Whether the expression matches some part of each text."""
        found: list[bool] = pc.match_substring_regex(pa.array(texts, pa.large_string()), self.pattern).to_pylist()
        return found

    def replaced(self, texts: Sequence[str], replacement: str) -> list[str]:
        """The texts with every match replaced; ``$1`` stands for a group, ``\\$`` for a dollar."""
        if self.matches([""])[0]:
            raise ExpressionError
        if self.literal:
            rewrite = replacement.replace("\\", "\\\\")
        else:
            rewrite = "".join(self._piece(piece) for piece in _REPLACEMENT.findall(replacement))
        column = pa.array(texts, pa.large_string())
        made: list[str] = pc.replace_substring_regex(column, self.pattern, rewrite).to_pylist()
        return made

    def _piece(self, piece: str) -> str:
        if piece in ("\\\\", "\\$"):
            return piece[1].replace("\\", "\\\\")
        if piece in ("\\", "$"):
            raise ExpressionError
        if not piece.startswith("$"):
            return piece
        digits = piece[1:]
        length = next((end for end in range(len(digits), 0, -1) if int(digits[:end]) <= self.groups), 0)
        if not length:
            return digits[1:]
        if int(digits[:length]) > 9:
            raise _unsupported(piece, "more than nine groups cannot be put into a replacement")
        return f"\\{int(digits[:length])}{digits[length:]}"


@lru_cache(maxsize=256)
def regular(pattern: str, flags: str = "") -> Regular:
    r"""The regular expression for a pattern and flags of XPath.

    >>> regular(r"^\d+$").matches(["42", "x42", "٤٢"]), regular("(A)(.)", "i").replaced(["xay"], "$2$1")
    ([True, False, True], ['xya'])
    """
    if set(flags) - FLAGS:
        raise ExpressionError
    if "q" in flags:
        made = Regular("".join(_literal(char) for char in pattern), 0, literal=True)
    else:
        made = _PatternTranslation(pattern, flags).regular()
    options = "".join(flag for flag in "ism" if flag in flags)
    if options:
        made = replace(made, pattern=f"(?{options}){made.pattern}")
    try:
        made.matches([""])
    except pa.ArrowInvalid as error:
        reason = str(error).partition("Invalid regular expression: ")[2] or str(error)
        if "too large" in reason or "repetition size" in reason:
            raise _unsupported(pattern, "it is too large") from error
        raise ExpressionError from error
    return made


class _PatternTranslation:
    """Translates a pattern of XPath from left to right."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.text = pattern
        self.at = 0
        self.spaced = "x" in flags
        self.caseless = "i" in flags
        self.groups = 0

    def regular(self) -> Regular:
        pieces = []
        while self.at < len(self.text):
            pieces.append(self._piece())
        return Regular("".join(pieces), self.groups)

    def _piece(self) -> str:
        char = self.text[self.at]
        if char == "\\":
            return self._escape(_OUTSIDE)
        if char == "[":
            return self._bracket()
        if char == "{":
            return self._quantity()
        self.at += 1
        if self.spaced and char in "\t\n\r ":
            return ""
        if char == "(":
            return self._group()
        return char if char in ".^$|)*+?" else _literal(char)

    def _group(self) -> str:
        if self.text.startswith("?:", self.at):
            self.at += 2
            return "(?:"
        if self.text.startswith("?", self.at):
            raise _unsupported(self.text[self.at - 1 : self.at + 3], "groups with `(?` are not part of XPath")
        self.groups += 1
        return "("

    def _quantity(self) -> str:
        found = _QUANTITY.match(self.text, self.at)
        if found is None:
            raise ExpressionError
        least, most = found[1], (found[2] or ",")[1:]
        if any(len(part) > 4 or int(part or 0) > _MOST_REPEATED for part in (least, most)):
            raise _unsupported(found[0], f"a part is repeated more than {_MOST_REPEATED:,} times")
        if most and int(most) < int(least):
            raise ExpressionError
        self.at = found.end()
        return found[0]

    def _escape(self, classes: dict[str, str]) -> str:
        """The translation of a backslash and the character after it."""
        following = self.text[self.at + 1 : self.at + 2]
        category = _CATEGORY.match(self.text, self.at)
        if category is not None:
            if category[1].startswith("Is"):
                raise _unsupported(category[0], "blocks of Unicode are not known")
            self.at = category.end()
            return self._category(category[0], classes is _CLASSES)
        self.at += 2
        if following in classes:
            return classes[following]
        if following in _CHARACTERS:
            return _CHARACTERS[following]
        if following and following in _PUNCTUATION:
            return f"\\{following}"
        if not following or following in "pP":
            raise ExpressionError
        if following.isdigit():
            raise _unsupported(f"\\{following}", "it would have to remember what a group matched")
        raise _unsupported(f"\\{following}", "it is no escape of XPath")

    def _category(self, category: str, in_brackets: bool) -> str:
        """A category of Unicode; its characters do not depend on the flag ``i``."""
        if not self.caseless:
            return category
        if not in_brackets:
            return f"(?-i:{category})"
        if category[3:-1] in _FOLDED:
            raise _unsupported(category, "it cannot be in brackets together with the flag `i`")
        return category

    def _bracket(self) -> str:
        """A class of characters in brackets."""
        pieces = ["["]
        self.at += 1
        if self.text.startswith("^", self.at):
            pieces.append("^")
            self.at += 1
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "]" and self.at > start:
                self.at += 1
                return "".join([*pieces, "]"])
            if char == "\\":
                pieces.append(self._escape(_CLASSES))
                continue
            if char == "-" and self.text.startswith("-[", self.at):
                raise _unsupported("-[", "a class cannot be subtracted from another")
            if char in "[]":
                raise _unsupported(char, f"inside of brackets XPath writes it `\\{char}`")
            self.at += 1
            pieces.append("-" if char == "-" else _literal(char))
        raise ExpressionError


def _literal(char: str) -> str:
    """A literal character."""
    if char == "\0":
        return r"\x00"
    return f"\\{char}" if char in "\\.^$|()[]{}*+?-" else char


def _unsupported(part: str, reason: str) -> RuleError:
    message = f"the regular expression cannot be used, because of `{part}`: {reason}"
    hint = "write it without; `CONTAINS`, `STRSTARTS`, `STRENDS` and several `REGEX` joined by `&&` may do"
    return RuleError.of(Code.UNSUPPORTED_REGEX, message, None, hint)
