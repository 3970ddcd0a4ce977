"""The content blocks of the native messages protocol: the members that are read, and the state of one block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from playground.domain.members import Members
from playground.jsonkit.foreign import keepable, parse, whole
from playground.jsonkit.values import JSONObject
from playground.protocols.arguments import Arguments

#: Members of a block that are read, by its kind, and the part that its other members belong to.
READ: Final = {
    "text": (frozenset({"type", "text"}), "text"),
    "thinking": (frozenset({"type", "thinking", "signature"}), "reasoning"),
    "redacted_thinking": (frozenset({"type", "data"}), "reasoning"),
    "tool_use": (frozenset({"type", "id", "name", "input"}), "tool_call"),
}


_NOTHING: Final[JSONObject] = {}
_NO_INPUT: Final[JSONObject] = {"input": {}}  # start of every streamed call


@dataclass(slots=True)
class Block:
    """State of one content block: its start, and the number of its call, from 0."""

    kind: str
    value: JSONObject
    id: str = ""
    call: int = -1
    arguments: Arguments | None = None  # of a call, once received
    input: list[str] | None = None  # of an unknown block
    open: bool = True
    thought: bool = False  # text of thinking was received
    signature: str | None = None  # of thinking: its first character; None without the member
    _grown: Members | None = None

    def forget_start(self) -> None:
        """Release the start of a known block after it was read, except for the input of a call."""
        if self.kind in READ:
            start = self.value.get("input") if self.kind == "tool_use" else None
            self.value = _NOTHING if start is None else {"input": start} if start != {} else _NO_INPUT

    def started_by(self, id_: str) -> bool:
        """Return whether a start of the same kind with that id repeats the start of this block."""
        return bool(id_ and self.id == id_) or (self.open and not id_)

    @property
    def has_arguments(self) -> bool:
        """Fragments of its input were received, other than an empty object."""
        return self.arguments is not None and bool(self.arguments) and not self.arguments.undecided

    @property
    def is_complete(self) -> bool:
        """The fragments of its input are a JSON object that is not empty."""
        return self.arguments is not None and self.has_arguments and self.arguments.are_complete()

    def add_members(self, members: JSONObject, pieces: tuple[str, ...]) -> None:
        """Add members of a delta to an unknown block; see ``playground.domain.members`` for ``pieces``."""
        if self._grown is None:
            self._grown = Members()
            self._grown.add_fragment("messages", keepable(self.value), tuple(self.value))
        self._grown.add_fragment("messages", members, pieces)

    def complete_value(self) -> JSONObject:
        """Return the block as in an answer without streaming."""
        value = dict(self.value) if self._grown is None else self._grown.value()["messages"]
        if self.input:
            text = "".join(self.input)
            try:
                value["input"] = parse(text)
            except ValueError:
                value["input"] = whole(text)
        return value
