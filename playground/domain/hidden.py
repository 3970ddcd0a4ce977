"""Visible marks for hidden characters in foreign text: controls, bidi, zero-width, fillers, selectors, tags.

In code every hidden character is marked. In prose those remain that a script or an emoji requires, as the preceding
characters tell:

- a joiner (ZWJ, ZWNJ) after a letter of a script that joins or stacks (Arabic and Persian, Indic, Mongolian, …), ZWNJ
  also after a foreign word among such letters, and ZWJ after an emoji;
- FE0E and FE0F after a character with a text and an emoji form (in code as well), and the tags of the three tag flags;
- single LRM and RLM shortly after a right-to-left letter, where they keep punctuation in place;
- CGJ between the points of a Hebrew letter, a blank cell after a Braille one, fillers and selectors of Hangul and
  Mongolian after their letters.

Variation selectors of ideographs are always marked, because their 240 values can hide a byte behind each character.
Only preceding characters matter, so a growing text is never redrawn. These functions affect the display alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final

from playground.jsonkit.texts import cut

LONGEST_NAME: Final = 120  # characters of a name that are shown on a line
LOOKED_AT: Final = 64  # preceding characters that may matter
_PIECE: Final = 500_000  # characters of one pass of a regular expression, which blocks other threads
#: Characters with a text and an emoji form (Unicode's emoji-variation-sequences, by blocks), and all other emoji.
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_DIGITS: Final = "0-9#*"  # of keycaps
#: Letters and signs of scripts that use joiners.
_JOINING: Final = (
    "\u0620-\u065f\u066e-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1aff\u1b00-\u1bff\u1cd0-\u1cff"
    "\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9ff\uaa00-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010eff\U00010f30-\U00011fff\U0001e900-\U0001e95f"
)
_RIGHT_TO_LEFT: Final = (
    "[\u05d0-\u061b\u061d-\u065f\u066d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
#: The letters, up to ``LOOKED_AT`` characters before, that justify a single such character.
_SERVED: Final = {"\u200c": f"[{_JOINING}]", "\u200e": _RIGHT_TO_LEFT, "\u200f": _RIGHT_TO_LEFT}
_FLAGS: Final = ["\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in place) + "\U000e007f" for place in
                 ("gbeng", "gbsct", "gbwls")]  # fmt: skip
_IN_FLAGS: Final = sorted({flag[:end] for flag in _FLAGS for end in range(2, len(flag) + 1)})

#: In code and in prose: characters that are invisible, reorder the text, or are invalid.
_EVERYWHERE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
#: Contexts in which such a character, or a joiner, is legitimate.
_AT_WORK: Final = (
    f"(?<![{_EMOJI}{_DIGITS}][\ufe0e\ufe0f])(?<![\u1100-\u115e\ua960-\ua97c]\u1160)"
    "(?<![\u1820-\u18aa][\u180b-\u180d\u180f])"
)
_AT_WORK_IN_PROSE: Final = (
    f"(?<![{_JOINING}][\u200c\u200d])(?<![{_EMOJI}\ufe0f]\u200d)(?<![\u0591-\u05c7]\u034f)(?<![\u2801-\u28ff]\u2800)"
    "(?<![\u1820-\u18aa]\u180e)" + "".join(f"(?<!{flag})" for flag in _IN_FLAGS)
)
#: Characters that are marked in code, including those that Qt treats as line ends.
HIDDEN = re.compile(
    f"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200c\u200d\u2028\u2029{_EVERYWHERE}]{_AT_WORK}"
)


@cache
def _in_prose() -> re.Pattern[str]:
    """Return the pattern of characters to mark in prose, unless ``_serves``."""
    return re.compile(f"[\u200c\u200d\u2029{_EVERYWHERE}]{_AT_WORK}{_AT_WORK_IN_PROSE}")


def show_hidden(text: str, before: str = "") -> str:
    """Replace each hidden character by a visible mark such as ``‹U+202E›``.

    ``before`` is the preceding text of the same line, if any.
    """
    if len(text) > _PIECE:
        return _in_pieces(show_hidden, text, before)
    if before and HIDDEN.search(text):
        return _behind(show_hidden, before[-LOOKED_AT:], text)
    return HIDDEN.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def show_prose(text: str, before: str = "") -> str:
    """Replace each hidden character of prose by a mark, except where its script or an emoji needs it."""
    if text.isascii():
        return text
    if len(text) > _PIECE:
        return _in_pieces(show_prose, text, before)
    if before and _in_prose().search(text):
        return _behind(show_prose, before[-LOOKED_AT:], text)
    return _in_prose().sub(_prose_mark, text)


def _in_pieces(show: Callable[[str, str], str], text: str, before: str) -> str:
    """Apply ``show`` to pieces of a long text, each with the characters before it."""
    return "".join(
        [
            show(text[start : start + _PIECE], text[max(start - LOOKED_AT, 0) : start] or before)
            for start in range(0, len(text), _PIECE)
        ]
    )


def escape_hidden(text: str) -> str:
    """Replace each hidden character of JSON text by an escape sequence; its value stays the same."""
    return HIDDEN.sub(_escape, text)


def hidden_name(character: str) -> str:
    """Return the name of a hidden character: ``U+202E RIGHT-TO-LEFT OVERRIDE``."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'control character')}"


def unseen(text: str) -> Counter[str]:
    """Count the characters that are marked in prose."""
    if text.isascii():
        return Counter()
    return Counter(match[0] for match in _in_prose().finditer(text) if not _serves(match))


def without_unseen(text: str) -> str:
    """Remove the characters that are marked in prose."""
    return _in_prose().sub(lambda match: match[0] if _serves(match) else "", text)


def _behind(show: Callable[[str], str], before: str, text: str) -> str:
    """Apply ``show`` to ``text`` in the context of ``before``."""
    return show(before + text)[len(show(before)) :]


def _prose_mark(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\u2029":
        return "\u2028"
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return character if _serves(match) else f"‹U+{ord(character):04X}›"


def _serves(match: re.Match[str]) -> bool:
    """Return whether a match is a single LRM, RLM or ZWNJ that the script of the preceding letters uses."""
    script = _SERVED.get(match[0])
    text, start = match.string, match.start()
    if script is None or text[start - 1 : start] in _SERVED:
        return False
    return re.search(script, text[max(start - LOOKED_AT, 0) : start]) is not None


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def short_name(name: str) -> str:
    """Cut a foreign name to a length that fits on a line."""
    return cut(name, LONGEST_NAME)
