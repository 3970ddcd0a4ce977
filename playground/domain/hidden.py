"""Hidden characters in text written by others: controls, bidi, zero-width, tags. Made visible, never taken out.

Pure functions; what is sent or kept is never changed by them.
"""

from __future__ import annotations

import re
import unicodedata

#: Characters that are invisible or change the order of what is read: controls, bidi, zero-width, tags, separators
#: Qt would take for a new line, and lone surrogates (which Qt cannot hold).
HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

#: Characters in prose that would change how the text around them reads. Joiners stay: scripts and emoji need them.
_IN_PROSE = {
    **{code: f"‹U+{code:04X}›" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C, 0x200B)},
    **{code: f"‹U+{code:05X}›" for code in range(0xE0000, 0xE0080)},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    0x2029: "\u2028",
}


def show_hidden(text: str) -> str:
    """The text with each hidden character replaced by a visible mark such as ``‹U+202E›``."""
    return HIDDEN.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def show_prose(text: str) -> str:
    """Prose as it may be drawn: what would change how the text around it reads becomes a mark, joiners stay."""
    return text if text.isascii() else text.translate(_IN_PROSE)


def escape_hidden(text: str) -> str:
    """JSON text with each hidden character spelled as an escape: the same value, and nothing unseen in it."""
    return HIDDEN.sub(_escape, text)


def hidden_name(character: str) -> str:
    """What a hidden character is called: ``U+202E RIGHT-TO-LEFT OVERRIDE``."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'control character')}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
