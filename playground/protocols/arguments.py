"""The raw arguments of one call, joined from fragments that may repeat or replace earlier ones.

A fragment is returned as received, with two exceptions. An empty object is held back while it is the only content:
some gateways open every call with ``{}`` and send the real arguments after it. A complete object after a complete one
is dropped if equal; if it differs, both are returned: together they are no JSON, so that no call is made of a guess.
"""

from __future__ import annotations

from typing import Final

from playground.jsonkit.foreign import parse
from playground.jsonkit.tree import PartialJson
from playground.jsonkit.values import same

#: A deviation in a fragment: (code, text).
Note = tuple[str, str]

REPEATED: Final[Note] = ("tool_call_repeated", "a call was sent once more in full; the repeat is left out")
PLACEHOLDER: Final[Note] = (
    "tool_arguments_placeholder",
    "a call began with empty arguments, “{}”, before the real ones; the empty ones are left out",
)
TWICE: Final[Note] = (
    "tool_arguments_twice",
    "the arguments of a call were sent twice and differ; both are kept, one after the other",
)


_EMPTY: Final = "{}"  # one string for the many calls of tools without arguments


class Arguments:
    """Joins fragments with ``take_fragment``; ``release`` ends them.

    After either, ``held`` is the number of characters held back, ``late`` that of returned characters that had been.
    """

    __slots__ = ("_held", "_pieces", "_read", "_reader", "held", "late")

    def __init__(self) -> None:
        self.held = self.late = 0
        self._pieces: list[str] | tuple[()] = ()  # returned; there may be a million calls with none
        self._held: list[str] | tuple[()] = ()  # a leading empty object, and white space
        self._reader: PartialJson | None = None  # finds the end of the first value; made when needed
        self._read = 0  # pieces that the reader has read

    def __bool__(self) -> bool:
        return bool(self._held or self._pieces)

    @property
    def undecided(self) -> bool:
        """An empty object is the only content so far; it may be a placeholder."""
        return bool(self._held)

    def take_fragment(self, text: str) -> tuple[str, Note | None]:
        """Add a fragment; return the text to append to the arguments, and the deviation, if any."""
        if self._held:
            return self._after_held(self._held, text)
        self.held = self.late = 0
        if text[-1:] == "}" or text[-1:].isspace():  # the usual fragment ends in neither
            if not self._pieces and is_empty_object(text):
                self._held, self.held = [_EMPTY if text == _EMPTY else text], len(text)
                return "", None
            if self._pieces and is_object(text) and self.are_complete():
                if self.equals(text):
                    return "", REPEATED
                self._add(text)
                return text, TWICE
        if text:
            self._add(text)
        return text, None

    def release(self) -> str:
        """End the arguments; return the text that was held back."""
        pieces, self._held = self._held, ()
        text = "".join(pieces)
        self.held, self.late = 0, len(text)
        if pieces:
            self._pieces = pieces  # nothing was returned before
        return text

    def are_complete(self) -> bool:
        """Return whether the arguments are a complete JSON object. The cost is that of the new fragments."""
        if self._held:
            return True
        if not self._pieces or self._pieces[-1].rstrip()[-1:] not in ("}", ""):
            return False
        reader = self._reader = self._reader or PartialJson()
        while self._read < len(self._pieces):
            reader.read_fragment(self._pieces[self._read])
            self._read += 1
        return reader.sound and reader.complete and reader.root is not None and reader.root.kind == "object"

    def equals(self, text: str) -> bool:
        """Return whether ``text`` equals the arguments so far, regardless of white space and the order of names."""
        so_far = "".join(self._held or self._pieces)
        if text == so_far:
            return True
        try:
            return same(parse(text), parse(so_far))
        except ValueError:
            return False

    def _after_held(self, pieces: list[str], text: str) -> tuple[str, Note | None]:
        stripped = text.strip()
        self.held = 0
        if not stripped:
            pieces.append(text)
            self.held = len(text)
            return "", None
        if is_empty_object(text):
            return "", REPEATED
        if stripped[0] != "{":  # no second object: the text continues the first
            early = self.release()
            self._add(text)
            return early + text, None
        self._held = ()
        self._add(text)
        return text, PLACEHOLDER

    def _add(self, text: str) -> None:
        if self._pieces:
            self._pieces.append(text)
        else:
            self._pieces = [text]


def is_object(text: str) -> bool:
    """Return whether a text is one complete JSON object."""
    if text.lstrip()[:1] != "{" or text.rstrip()[-1:] != "}":
        return False
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False


def is_empty_object(text: str) -> bool:
    """Return whether a text is an empty JSON object."""
    text = text.strip()
    return text[:1] == "{" and text[-1:] == "}" and not text[1:-1].strip()
