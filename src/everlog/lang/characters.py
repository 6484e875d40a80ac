"""The characters of names: those of Turtle and SPARQL, so that both ``size`` and ``größe`` are names."""

from __future__ import annotations

import re

LETTER = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
"""The letters that a name may start with (PN_CHARS_BASE), as part of a character class of a regular expression."""

START = f"{LETTER}_"
"""The characters that a bare name, a local name or a variable may start with (PN_CHARS_U)."""

VARIABLE_CHARACTER = f"{START}0-9\u00b7\u0300-\u036f\u203f\u2040"
"""The characters that may follow in the name of a variable; not the hyphen, which is the minus sign."""

CHARACTER = f"{VARIABLE_CHARACTER}\\-"
"""The characters that may follow in a bare name or a local name (PN_CHARS)."""

BARE_NAME = re.compile(rf"(?!(?:true|false|_)$)[{START}][{CHARACTER}]*")
LOCAL_NAME = re.compile(rf"[{START}](?:[{CHARACTER}]|\.+(?=[{CHARACTER}]))*")
VARIABLE = re.compile(rf"\?[{START}][{VARIABLE_CHARACTER}]*")
