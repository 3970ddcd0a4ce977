"""The fields that the message of an answer is to have, and the names of its events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from playground.protocols.expected import OnceEach, parsed, text_in

_NAME: Final = re.compile(rb"(?:\A|[\r\n])event:([^\r\n]*)")
_MESSAGE: Final = {"id_missing": text_in("id", "the message"), "model_missing": text_in("model", "the message")}


class MessagesShapes:
    """Goes through the frames of one answer. See ``playground.protocols.expected.Shapes``."""

    def __init__(self) -> None:
        self._once = OnceEach()

    def body(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """What a message lacks."""
        value = parsed(raw)
        if value is not None and "content" in value:
            yield from self._once.look(_MESSAGE, value)

    def frame(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """What an event lacks."""
        named, rest = _NAME.search(raw), raw.partition(b"data:")[2]
        name = named[1].strip() if named else b""
        quick = (b'{"type":"' + name + b'"', b'{"type": "' + name + b'"')
        if name and name != b"message_start" and rest.lstrip(b" ").startswith(quick):
            return
        value = parsed(rest)
        kind = value.get("type") if value is not None else None
        if value is None or not isinstance(kind, str):
            return
        said = name.decode("utf-8", "replace")
        if said != kind:
            note = f"an event is named “{said[:60]}” and its type is “{kind[:60]}”"
            yield from self._once.first("event_name", note if name else "an event has no name beside its data")
        message = value.get("message")
        if kind == "message_start" and isinstance(message, dict):
            yield from self._once.look(_MESSAGE, message)
