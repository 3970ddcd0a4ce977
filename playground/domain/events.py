"""Events of a response stream, independent of the protocol.

A decoder turns bytes into lists of events; the accumulator folds them into parts. One is created for each token, so
they have slots and few fields. ``choice`` is the index of the completion that an event belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from playground.domain.errors import Failure
from playground.domain.usage import Usage
from playground.jsonkit.values import JSONObject


@dataclass(frozen=True, slots=True)
class Opened:
    """The start of a response: completion id and the answering model (empty if not sent)."""

    id: str
    model: str


@dataclass(slots=True, unsafe_hash=True)
class TextDelta:
    """A fragment of content. Not frozen, because construction would take three times as long; do not modify."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A fragment of reasoning from the member ``field``; or its signature, redacted data or details."""

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
    characters of arguments in this fragment that the decoder withholds until their meaning is clear; the first ``late``
    characters of ``arguments`` were withheld from earlier fragments. ``free_text``: the tool is a custom tool.
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
        """Return whether the event carries nothing but characters of earlier fragments."""
        return 0 < self.late == len(self.arguments) and self.id is None and self.name is None


@dataclass(frozen=True, slots=True)
class PartStart:
    """The next fragment opens a new part even if it is of the same kind as the last one.

    ``place`` is for protocols whose parts may arrive mixed: the next fragment continues the part that was opened at
    that place, or opens one there; parts are in the order of their places. ``clear`` removes the text that the part has
    so far, because the gateway sent the complete one.
    """

    choice: int
    place: tuple[int, ...] | None = None
    clear: bool = False


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A complete content part of an unknown kind. It replaces an earlier one at the same place (``PartStart``)."""

    choice: int
    value: JSONObject


@dataclass(frozen=True, slots=True)
class ExtraDelta:
    """Unknown members of a part or message.

    ``owner`` is "text", "reasoning" or "refusal" (the part being received), "tool_call" (number ``call``), or
    "message".
    ``protocol`` is that of the response; strings and lists of a name in ``pieces`` are pieces of longer ones, and lists
    of a name in ``records`` hold fragments of records (see ``playground.domain.members``).
    """

    choice: int
    owner: str
    protocol: str
    members: JSONObject
    call: int = 0
    pieces: tuple[str, ...] = ()
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerMembers:
    """Members of a choice (``owner`` is "choice": ``logprobs``) or of the whole answer ("answer": ``citations``).

    They describe the answer and are not part of its message. A later text replaces an earlier one; lists are merged
    without repeats; strings and lists of a name in ``pieces`` are joined.
    """

    choice: int
    owner: str
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
    """An error of the gateway or the network. Parts received before it stay."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Deviation:
    """A deviation of the stream from the specification. ``code`` is stable, ``note`` is for people.

    ``hole``: data was lost, because something that may be part of the answer could not be decoded.
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
