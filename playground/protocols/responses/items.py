"""The items of the Responses protocol: their kinds, and the state of one that is being received."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.foreign import members_beside, whole
from playground.jsonkit.values import JSON, JSONObject

#: The protocol's name in ``extra`` of parts and turns.
NAME: Final = "responses"
#: Members of an item that its part does not hold, in ``extra`` of its first part; the others have ``CONTINUES``.
ITEM: Final = "item"
CONTINUES: Final = "continues"
#: Mark of a message whose content, or of an input that as a whole, is a text instead of a list.
PLAIN: Final = "plain"

#: Checksum of a text as the model wrote it, by which an edited one is known.
DIGEST: Final = "digest"
#: Names of the members of an item, and of a content part, in an order of the gateway's own.
ITEM_ORDER: Final = "item_order"
ORDER: Final = "order"
MARKS: Final = frozenset({ITEM, CONTINUES, PLAIN, DIGEST, ITEM_ORDER, ORDER})

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
#: Calls that the client answers: the members with the input and the type of their results.
CALLS: Final = {
    "function_call": ("arguments", "function_call_output"),
    "custom_tool_call": ("input", "custom_tool_call_output"),
}
OUTPUTS: Final = frozenset(output for _, output in CALLS.values())
#: Members of an item that its parts hold, in the order of sent items; all others are kept in ``extra``.
HELD: Final = {
    MESSAGE: ("role", "content"),
    REASONING: ("type", "summary", "content"),
    "function_call": ("type", "call_id", "name", "arguments"),
    "custom_tool_call": ("type", "call_id", "name", "input"),
}
#: Content parts with a text, and the member that holds it.
TEXTS: Final = {"output_text": "text", "input_text": "text", "text": "text", "refusal": "refusal"}

#: A text within an item: ``output_text``, ``refusal``, ``summary_text`` or ``reasoning_text``, and its index.
TextKey = tuple[str, int]


@dataclass(slots=True)
class Slot:
    """An output item being received.

    ``order`` is its place among the items. ``pieces`` are the fragments of each text so far, ``ordinals`` the order of
    the texts within the item. ``members`` are members of texts that came in pieces, such as annotations.
    """

    order: tuple[int, ...]
    kind: str
    item: JSONObject
    id: str = ""
    call_id: str = ""
    name: str = ""
    call: int = -1
    is_done: bool = False
    pieces: dict[TextKey, list[str]] = field(default_factory=dict)
    ordinals: dict[TextKey, int] = field(default_factory=dict)
    members: dict[TextKey, JSONObject] = field(default_factory=dict)

    def place(self, key: TextKey) -> tuple[int, ...]:
        """Return the place of a text among the parts of the answer."""
        return (*self.order, self.ordinals.setdefault(key, len(self.ordinals)))

    def text(self, key: TextKey) -> str:
        """Return a text so far."""
        return "".join(self.pieces.get(key, ()))


def item_marks(item: JSONObject, held: Sequence[str]) -> JSONObject:
    """Return the marks of the first part of a received item, whose parts hold the members ``held``."""
    return {ITEM: members_beside(item, held, empty=True), **_order_mark(item, held, ITEM_ORDER)}


def part_marks(part: JSONObject, held: Sequence[str]) -> JSONObject:
    """Return the members of a content part that are not ``held``, and the mark of their order."""
    return {**members_beside(part, held, empty=True), **_order_mark(part, held, ORDER)}


def _order_mark(value: JSONObject, held: Sequence[str], mark: str) -> JSONObject:
    """Return a mark with the names of a received object in their order; none if the ``held`` ones come first."""
    usual = [*(name for name in held if name in value), *(name for name in value if name not in held)]
    return {} if usual == list(value) else {mark: list(map(whole, value))}


def ordered(value: JSONObject, names: JSON) -> JSONObject:
    """Return an object with its members in the order of ``names``, all others behind them."""
    sent = [name for name in names if isinstance(name, str) and name in value] if isinstance(names, list) else ()
    return {**{name: value[name] for name in sent}, **value}


def digest(text: str) -> int:
    """Return the checksum of a text."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def reasoning_texts(content: JSON) -> str:
    """Return the raw reasoning in the content of an item, joined."""
    texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(text for text in texts if isinstance(text, str))
