"""The parts of a turn: text, reasoning, tool calls and results, images.

``extra`` are the unknown members of a received part (see ``playground.domain.members``). They are sent back in their
place, and only over the protocol that they were received over.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from playground.domain.members import Extra
from playground.domain.tool_servers import ServerAnswer
from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSONObject


class Text(Value):
    """Text content, usually Markdown. Citations are in ``extra``."""

    kind: Literal["text"] = "text"
    text: LongText
    extra: Extra = Field(default_factory=dict)


class Reasoning(Value):
    """The reasoning of a model.

    ``field`` is the name of its member or tag (``reasoning_content``, ``thinking``, ``<think>`` ...).
    ``signature`` and ``redacted`` belong to the native messages protocol and are sent back byte for byte;
    ``details`` are vendor records (``reasoning_details``) that are sent back unmodified and in order.
    """

    kind: Literal["reasoning"] = "reasoning"
    text: LongText
    field: str | None = None
    signature: str | None = None
    redacted: str | None = None
    details: tuple[JSONObject, ...] = ()
    extra: Extra = Field(default_factory=dict)


class Refusal(Value):
    """A refusal outside the content (``message.refusal``)."""

    kind: Literal["refusal"] = "refusal"
    text: LongText
    extra: Extra = Field(default_factory=dict)


class ToolCall(Value):
    """One call of a tool (specification, section 2.2).

    ``arguments`` is the raw text as received, valid JSON or not. ``id_is_ours``: the id was generated here because the
    gateway sent none. ``free_text``: a call of a custom tool, whose arguments are plain text. ``received`` are the
    model's arguments if a person has edited them, else None; they are not sent again.
    """

    kind: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: LongText
    id_is_ours: bool = False
    free_text: bool = False
    received: LongText | None = None
    extra: Extra = Field(default_factory=dict)

    @property
    def arguments_json(self) -> str:
        """The arguments as JSON text, to be compared with rows and conditions; free text becomes a JSON string."""
        return json.dumps(self.arguments, ensure_ascii=False) if self.free_text else self.arguments


class Image(Value):
    """An image in a user turn: an http(s) or ``data:`` URL, with the requested detail."""

    kind: Literal["image"] = "image"
    url: str
    detail: str | None = None
    name: str | None = None
    extra: Extra = Field(default_factory=dict)


class ToolResult(Value):
    """The answer to one tool call (specification, section 2.1, role ``tool``).

    ``by`` is the source of the result: "you", "table", "fixed", "filled", "server", "fork" in older files, or empty:
    unknown. ``seconds`` is the time from the complete call to the result. ``served`` is the answer of the tool server
    before any edit. These fields are not sent; ``images`` are, if the protocol supports them in results. A result that
    was received as a list of blocks has it in ``extra``, which is sent back unless ``text`` was edited.
    """

    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    text: LongText
    is_error: bool = False
    by: str = ""
    seconds: float | None = None
    images: tuple[Image, ...] = ()
    served: ServerAnswer | None = None
    extra: Extra = Field(default_factory=dict)

    @property
    def server_seconds(self) -> float | None:
        """Seconds that a tool server worked at the call; None if no server was called."""
        return self.served.seconds if self.served is not None and not self.served.recorded else None

    @property
    def person_seconds(self) -> float | None:
        """Seconds that a person took to start the call, to write the result or to check it; None without a person."""
        server = self.server_seconds
        if self.seconds is None or (server is None and self.by not in ("you", "filled")):
            return None
        return max(self.seconds - (server or 0.0), 0.0) or None


class Unknown(Value):
    """A part of an unknown kind. It is stored whole, shown as JSON and sent back unchanged.

    ``from_file``: the part is from a file of a newer version of the application, not from a gateway; it is written back
    to files unchanged, and not sent.
    """

    kind: Literal["unknown"] = "unknown"
    value: JSONObject
    from_file: bool = False

    @field_validator("from_file")
    @classmethod
    def _check_from_file(cls, value: bool, info: ValidationInfo) -> bool:
        return value and _kind_of_newer(info.data.get("value"))


def _newer_as_unknown(value: object) -> object:
    """Convert a part of a kind of a newer version to ``Unknown``."""
    return Unknown(value=value, from_file=True) if isinstance(value, dict) and _kind_of_newer(value) else value


def _kind_of_newer(value: object) -> bool:
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind not in _KINDS


Part: TypeAlias = Annotated[
    Text | Reasoning | Refusal | ToolCall | ToolResult | Image | Unknown,
    Field(discriminator="kind"),
    BeforeValidator(_newer_as_unknown),
]

_KINDS: Final = frozenset(
    str(part.model_fields["kind"].default) for part in (Text, Reasoning, Refusal, ToolCall, ToolResult, Image, Unknown)
)
