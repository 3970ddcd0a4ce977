"""What a stream says, independent of the protocol that said it.

A decoder turns bytes into lists of these; the accumulator folds them into parts. They are made once per
token, so they are slotted and small. ``choice`` is the index of the completion they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from playground.domain.errors import Failure
from playground.domain.usage import Usage
from playground.jsonkit.values import JSONObject


@dataclass(frozen=True, slots=True)
class Opened:
    """The stream named itself: completion id and the model that answers (empty where not sent)."""

    id: str
    model: str


@dataclass(slots=True, unsafe_hash=True)
class TextDelta:
    """A fragment of content. Nobody changes one: frozen, each would cost three times as much to make."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A fragment of reasoning, under the wire name ``field``; or its signature, redacted data or details."""

    choice: int
    text: str
    field: str
    signature: str | None = None
    redacted: str | None = None
    details: tuple[JSONObject, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """A fragment of a refusal."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A fragment of the ``call``-th tool call of a choice (our own count from 0, in order of appearance).

    ``id`` and ``name`` are None when this fragment does not set them; ``arguments`` is appended. ``held`` counts the
    characters of arguments that came with this fragment and are not given out before it is known what they are; the
    first ``late`` of ``arguments`` are such characters of earlier fragments. ``free_text``: it is of a custom tool.
    """

    choice: int
    call: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    id_is_ours: bool = False
    held: int = 0
    late: int = 0
    free_text: bool = False

    @property
    def only_late(self) -> bool:
        """Whether all that it carries came earlier."""
        return 0 < self.late == len(self.arguments) and self.id is None and self.name is None


@dataclass(frozen=True, slots=True)
class PartStart:
    """The next fragment opens a new part even if it is of the same kind as the last one."""

    choice: int


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A content part of a kind we do not know, kept whole."""

    choice: int
    value: JSONObject


@dataclass(frozen=True, slots=True)
class ExtraDelta:
    """Members that nothing here knows, as they stood beside what is known.

    ``of`` is what they belong to: "text" or "reasoning" (the one being received), "tool_call" (``call`` says which), or
    "message". ``protocol`` is the one they came over; strings and lists of a name in ``pieces`` are pieces of longer
    ones, and lists of a name in ``records`` hold fragments of records (see ``playground.domain.members``).
    """

    choice: int
    of: str
    protocol: str
    members: JSONObject
    call: int = 0
    pieces: tuple[str, ...] = ()
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerMembers:
    """Members of a choice (``of`` is "choice": ``logprobs``) or of the whole answer ("answer": ``citations``).

    They say something about the answer and are no part of its message. A later text replaces an earlier one, lists
    become one without repeats; those of a name in ``pieces`` are joined.
    """

    choice: int
    of: str
    protocol: str
    members: JSONObject
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Token counts so far. A later report replaces an earlier one; they are never added."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finish:
    """A choice ended, with the gateway's own reason, verbatim."""

    choice: int
    reason: str


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The protocol's own end marker was seen (``[DONE]``, ``message_stop``, or a whole JSON body)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The gateway, or the way to it, reported an error. What came before stays."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Deviation:
    """The stream is not as the specification says. ``code`` is stable, ``note`` is for people.

    With ``hole`` it was not understood either: something arrived that may be part of the answer and is not in it.
    """

    code: str
    note: str
    hole: bool = False


Event: TypeAlias = (
    Opened
    | TextDelta
    | ReasoningDelta
    | RefusalDelta
    | ToolCallDelta
    | PartStart
    | UnknownPart
    | ExtraDelta
    | AnswerMembers
    | UsageReport
    | Finish
    | StreamEnd
    | Failed
    | Deviation
)
