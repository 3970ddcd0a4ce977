"""The parts a turn is made of, in the order in which they were written or received.

``extra`` of a part are members it came with that nothing here knows (see ``playground.domain.members``). They go back
over the protocol they came over, each where it stood, and over no other.
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
    """Plain content; Markdown by custom, shown raw on demand. Citations stand in ``extra``."""

    kind: Literal["text"] = "text"
    text: LongText
    extra: Extra = Field(default_factory=dict)


class Reasoning(Value):
    """What a model thought before or between its answers.

    ``field`` is the wire name it came under (``reasoning_content``, ``thinking``, ``<think>`` ...).
    ``signature`` and ``redacted`` belong to the native messages protocol and go back byte for byte;
    ``details`` are vendor records (``reasoning_details``) that go back unmodified and in order.
    """

    kind: Literal["reasoning"] = "reasoning"
    text: LongText
    field: str | None = None
    signature: str | None = None
    redacted: str | None = None
    details: tuple[JSONObject, ...] = ()
    extra: Extra = Field(default_factory=dict)


class Refusal(Value):
    """A refusal sent apart from content (``message.refusal``)."""

    kind: Literal["refusal"] = "refusal"
    text: LongText


class ToolCall(Value):
    """One call of a tool (specification, section 2.2).

    ``arguments`` is the raw text as received, whether or not it is JSON. ``id_is_ours`` marks an id that
    was made here because the gateway sent none. ``free_text`` marks a call of a custom tool, whose arguments are a text
    and no JSON. ``received`` is what the model sent where a person edited the
    arguments since, else None; it never goes out again.
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
        """The arguments as JSON text, to be compared with rows and conditions; a free text is a JSON string."""
        return json.dumps(self.arguments, ensure_ascii=False) if self.free_text else self.arguments


class Image(Value):
    """An image in a user turn: an http(s) address or a ``data:`` URL, with the detail asked for."""

    kind: Literal["image"] = "image"
    url: str
    detail: str | None = None
    name: str | None = None
    extra: Extra = Field(default_factory=dict)


class ToolResult(Value):
    """The answer to one tool call (specification, section 2.1, role ``tool``).

    ``by`` says how it was answered: "you", "table", "fixed", "filled", "server", "fork" in older files, or empty: not
    known. ``seconds`` is the time from the complete call to the answer. ``served`` is what a tool server answered,
    before any edit. Nothing of these goes out. ``images`` do, where the protocol carries them in results. A result that
    came as a list of blocks has it in ``extra``, which goes back as long as ``text`` is what its texts say.
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


class Unknown(Value):
    """A part of a kind we do not know. Kept whole, shown as JSON, sent back as it came.

    ``from_file`` says that it is no part of a message but one of an experiment as a newer version of this application
    writes it: it goes back into files as it came, and is not sent.
    """

    kind: Literal["unknown"] = "unknown"
    value: JSONObject
    from_file: bool = False

    @field_validator("from_file")
    @classmethod
    def _is_foreign(cls, given: bool, info: ValidationInfo) -> bool:
        return given and _kind_of_newer(info.data.get("value"))


def _known(value: object) -> object:
    """A part of a kind that only a newer version has is kept as an unknown one."""
    return Unknown(value=value, from_file=True) if isinstance(value, dict) and _kind_of_newer(value) else value


def _kind_of_newer(value: object) -> bool:
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind not in _KINDS


Part: TypeAlias = Annotated[
    Text | Reasoning | Refusal | ToolCall | ToolResult | Image | Unknown,
    Field(discriminator="kind"),
    BeforeValidator(_known),
]

_KINDS: Final = frozenset(
    str(part.model_fields["kind"].default) for part in (Text, Reasoning, Refusal, ToolCall, ToolResult, Image, Unknown)
)
