"""The content blocks of the native messages protocol: which of their members are read, and one block on its way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from playground.domain.members import Members
from playground.jsonkit.foreign import keepable, parse, whole
from playground.jsonkit.values import JSONObject
from playground.protocols.arguments import Arguments

#: The members of a block that are read, by its kind, and what its other members belong to.
READ: Final = {
    "text": (frozenset({"type", "text"}), "text"),
    "thinking": (frozenset({"type", "thinking", "signature"}), "reasoning"),
    "redacted_thinking": (frozenset({"type", "data"}), "reasoning"),
    "tool_use": (frozenset({"type", "id", "name", "input"}), "tool_call"),
}


_NOTHING: Final[JSONObject] = {}
_NO_INPUT: Final[JSONObject] = {"input": {}}  # with which every streamed call starts


@dataclass(slots=True)
class Block:
    """One content block on its way: as it started, and the call it is, counted from 0."""

    kind: str
    value: JSONObject
    id: str = ""
    call: int = -1
    arguments: Arguments | None = None  # of a call to which any came
    input: list[str] | None = None  # of a block that is kept whole
    open: bool = True
    thought: bool = False  # text of thinking came
    signature: str | None = None  # of thinking, None without such a member; no more is kept than whether it is empty
    _grown: Members | None = None

    def forget_start(self) -> None:
        """What it started with was taken in; of a kind that is read nothing but the input of a call is needed again."""
        if self.kind in READ:
            given = self.value.get("input") if self.kind == "tool_use" else None
            self.value = _NOTHING if given is None else {"input": given} if given != {} else _NO_INPUT

    def started_by(self, id_: str) -> bool:
        """Whether the start of a block of the same kind with that id only says once more that this one starts."""
        return bool(id_ and self.id == id_) or (self.open and not id_)

    @property
    def has_arguments(self) -> bool:
        """Whether fragments of its input came, an empty object aside."""
        return self.arguments is not None and bool(self.arguments) and not self.arguments.undecided

    @property
    def is_whole(self) -> bool:
        """Whether the fragments of its input are a JSON object that is not empty."""
        return self.arguments is not None and self.has_arguments and self.arguments.are_whole()

    def add_members(self, members: JSONObject, pieces: tuple[str, ...]) -> None:
        """What a delta adds to a block that is kept whole; see ``playground.domain.members`` for ``pieces``."""
        if self._grown is None:
            self._grown = Members()
            self._grown.add_fragment("messages", keepable(self.value), tuple(self.value))
        self._grown.add_fragment("messages", members, pieces)

    def whole(self) -> JSONObject:
        """The block as it would stand in an answer that is not streamed."""
        value = dict(self.value) if self._grown is None else self._grown.value()["messages"]
        if self.input:
            text = "".join(self.input)
            try:
                value["input"] = parse(text)
            except ValueError:
                value["input"] = whole(text)
        return value
