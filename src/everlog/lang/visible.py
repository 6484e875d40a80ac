"""Text that is safe to print: without characters that control a terminal, and without secrets in addresses."""

from __future__ import annotations

import re

ACTING = r"[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]"
"""Control characters, among them escape, marks that turn the direction of text, line separators: a pattern of RE2."""

_ACTS = re.compile(re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), ACTING)[:-1] + "\ud800-\udfff]")

_SECRETS = re.compile(
    r"(?P<scheme>\b(?!abfss?:|wasbs?:)[a-z][a-z0-9+.-]{0,20}://)[^\s/@?#]{1,300}@"
    r"|(?P<user>\b[a-z][a-z0-9+.-]{0,20}://[^\s/@:?#]{1,300}:)(?!\d+/)[^\s@?#]{1,300}@"
    r"|(?P<name>[?&;](?:[\w-]{0,30}(?:signature|credential|token|secret|password|accountkey|accesskeyid|accessid)|sig|key|pwd)=)"
    r"[^\s&;'\"`]+",
    re.IGNORECASE,
)

HIDDEN = "***"
"""The text shown in place of a secret."""


def visible(text: str) -> str:
    r"""A text in which characters that control a terminal are written as escapes.

    >>> print(visible("red \x1b[31m, turned \u202e"))
    red \x1b[31m, turned \u202e
    """
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def visible_lines(text: str) -> str:
    """A text in which characters that control a terminal, except line breaks and tabs, are written as escapes."""
    return _ACTS.sub(lambda found: found[0] if found[0] in "\n\t" else visible(found[0]), text)


def masked(text: str) -> str:
    """A text in which names and passwords inside addresses, and signatures of addresses, are left out.

    >>> masked("s3://key:secret@bucket/kb and https://h.org/x.csv?a=1&X-Amz-Signature=ab12")
    's3://***@bucket/kb and https://h.org/x.csv?a=1&X-Amz-Signature=***'
    """
    if "://" not in text:
        return text
    return _SECRETS.sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    if found["name"]:
        return found["name"] + HIDDEN
    return f"{found['scheme'] or found['user'].split('://')[0] + '://'}{HIDDEN}@"
