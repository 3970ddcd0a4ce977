"""The raw arguments of one call, put together from fragments that may say things twice or take them back.

A fragment is given out as it comes, with two exceptions. An empty object is held back while it is all there is: some
gateways open every call with ``{}`` and send the real arguments after it. And a whole object after a whole one is left
out where it says the same; where it does not, both are given out: together they are no JSON, so that no call is made
of a guess. Nothing here knows a protocol.
"""

from __future__ import annotations

from typing import Final

from playground.jsonkit.foreign import parse
from playground.jsonkit.tree import PartialJson
from playground.jsonkit.values import same

#: What was odd about a fragment, as (code, words); nothing for most.
Note = tuple[str, str]

REPEATED: Final[Note] = ("tool_call_repeated", "a call was sent once more in full; the repeat is left out")
PLACEHOLDER: Final[Note] = (
    "tool_arguments_placeholder",
    "a call began with empty arguments, “{}”, before the real ones; the empty ones are left out",
)
TWICE: Final[Note] = (
    "tool_arguments_twice",
    "the arguments of a call came twice and are not the same; both are kept, one after the other",
)


_EMPTY: Final = "{}"  # kept once, for the many calls of tools that take nothing


class Arguments:
    """``take_fragment`` gives what is to be added to the arguments now. ``release`` when no more come.

    After either, ``held`` counts the characters of it that were held back, ``late`` those given out that were before.
    """

    __slots__ = ("_held", "_pieces", "_read", "_reader", "held", "late")

    def __init__(self) -> None:
        self.held = self.late = 0
        self._pieces: list[str] | tuple[()] = ()  # given out; there may be a million calls with none
        self._held: list[str] | tuple[()] = ()  # an empty object that came first, and spaces
        self._reader: PartialJson | None = None  # made when it matters where the first value ends
        self._read = 0  # pieces it has taken in

    def __bool__(self) -> bool:
        return bool(self._held or self._pieces)

    @property
    def undecided(self) -> bool:
        """Whether there is nothing but an empty object that may yet turn out to be a placeholder."""
        return bool(self._held)

    def take_fragment(self, text: str) -> tuple[str, Note | None]:
        """Take a fragment in; gives the text to add, and what was odd about it."""
        if self._held:
            return self._after_held(self._held, text)
        self.held = self.late = 0
        if text[-1:] == "}" or text[-1:].isspace():  # the usual fragment ends in neither
            if not self._pieces and is_empty_object(text):
                self._held, self.held = [_EMPTY if text == _EMPTY else text], len(text)
                return "", None
            if self._pieces and is_object(text) and self.are_whole():
                if self.say(text):
                    return "", REPEATED
                self._add(text)
                return text, TWICE
        if text:
            self._add(text)
        return text, None

    def release(self) -> str:
        """The end: what was held back is what it is."""
        pieces, self._held = self._held, ()
        held = "".join(pieces)
        self.held, self.late = 0, len(held)
        if pieces:
            self._pieces = pieces  # nothing was given out before
        return held

    def are_whole(self) -> bool:
        """Whether they are a JSON object so far, so that nothing more can belong to them. Costs what is new of them."""
        if self._held:
            return True
        if not self._pieces or self._pieces[-1].rstrip()[-1:] not in ("}", ""):
            return False
        reader = self._reader = self._reader or PartialJson()
        while self._read < len(self._pieces):
            reader.read_fragment(self._pieces[self._read])
            self._read += 1
        return reader.sound and reader.complete and reader.root is not None and reader.root.kind == "object"

    def say(self, text: str) -> bool:
        """Whether ``text`` says the same as they do so far, spaces and the order of names aside."""
        so_far = "".join(self._held or self._pieces)
        if text == so_far:
            return True
        try:
            return same(parse(text), parse(so_far))
        except ValueError:
            return False

    def _after_held(self, held: list[str], text: str) -> tuple[str, Note | None]:
        stripped = text.strip()
        self.held = 0
        if not stripped:
            held.append(text)
            self.held = len(text)
            return "", None
        if is_empty_object(text):
            return "", REPEATED
        if stripped[0] != "{":  # no other object: whatever it is, it goes on from there
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
    """Whether a text is one whole JSON object."""
    if text.lstrip()[:1] != "{" or text.rstrip()[-1:] != "}":
        return False
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False


def is_empty_object(text: str) -> bool:
    """Return whether a text is a JSON object that holds nothing."""
    text = text.strip()
    return text[:1] == "{" and text[-1:] == "}" and not text[1:-1].strip()
