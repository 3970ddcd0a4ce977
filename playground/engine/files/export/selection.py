"""What of an experiment goes into an export: which turns, in which order, what is said above each, and no secret.

Besides, what is said of it all. Exports show what a request has: the values of variables instead of their names.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from playground.domain.durations import duration_words
from playground.domain.hidden import short_name
from playground.domain.parts import Part, ToolResult
from playground.domain.roles import Role
from playground.domain.served import as_served, unsaid
from playground.domain.transcript import Ending, Transcript, Turn
from playground.domain.variables import resolve_turns
from playground.engine.files.experiment_file.layout import lay_out
from playground.engine.files.images import data_of, measure
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.redacted_output import redact
from playground.engine.gateways.secrets import Secret
from playground.engine.session.titles import title_of
from playground.jsonkit.values import JSON
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.snapshot import Snapshot

_ROLES: Final = {
    Role.SYSTEM: "System",
    Role.DEVELOPER: "Developer",
    Role.USER: "User",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "Tool",
}
MOST_UNSAID: Final = 50  # sentences on one result
_TEXTS: Final = ("text", "arguments", "url", "name", "id", "call_id")
_ENDINGS: Final = {
    Ending.STOPPED: "Stopped here.",
    Ending.CUT_OFF: "The answer broke off here.",
    Ending.FAILED: "The answer failed here.",
    Ending.INTERRUPTED: "The application ended while this was being received.",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One turn of an export. ``number`` counts from 1; ``place`` says where it belongs, empty in a plain sequence."""

    turn: Turn
    number: int
    place: str = ""

    @property
    def speaker(self) -> str:
        """Who speaks."""
        return _ROLES[self.turn.role]

    @property
    def ending(self) -> str:
        """A sentence on how it ended, where that is not by itself."""
        outcome = self.turn.outcome
        if outcome is None:
            return ""
        if outcome.failure is not None:
            status = f" ({outcome.failure.status})" if outcome.failure.status else ""
            return f"Error{status}: {outcome.failure.message}"
        limit = "The answer ended at the limit of its length."
        ending = limit if outcome.finish_reason in ("length", "max_tokens") else _ENDINGS.get(outcome.ending, "")
        hole = "Part of the answer could not be read." if outcome.holes else ""
        return " ".join(filter(None, (hole, ending)))


class Selection:
    """The turns of an export, and what takes secrets out of everything else in it."""

    def __init__(self, snapshot: Snapshot, known: Iterable[Secret], *, whole_tree: bool) -> None:
        self.snapshot = snapshot
        self._redactor = redactor_of(known)
        self._whole = whole_tree
        self._transcript = snapshot.transcript

    @property
    def title(self) -> str:
        """The title of the experiment."""
        return self.clean(title_of(self._transcript, self.snapshot.title, self.front))

    def clean(self, text: str) -> str:
        """``text`` without secrets."""
        return redact(text, self._redactor)

    def front(self, text: str, most: int) -> str:
        """The first ``most`` characters of ``text``, without secrets."""
        return self._redactor.front(text, most)

    def laid_out(self, value: JSON) -> str:
        """JSON over several lines, without secrets."""
        try:
            return lay_out(value, self._redactor, frozenset()).rstrip("\n")
        except ValueError as error:
            return f"({error})"

    def sections(self) -> list[Section]:
        """The turns of the path; of the whole tree each after the one it follows, alternatives one after another."""
        transcript = self._transcript
        turns = list(_tree(transcript)) if self._whole else list(transcript.path)
        numbers = {turn.id: number for number, turn in enumerate(turns, 1)}
        out = []
        for at, turn in enumerate(self._ready(tuple(turns))):
            place = _place(transcript, turn, numbers, turns[at - 1].id if at else None) if self._whole else ""
            out.append(Section(turn, at + 1, place))
        return out

    def branches(self) -> list[tuple[Turn, ...]]:
        """The turns of the path; of the whole tree those of each branch down to its end."""
        if not self._whole:
            return [self._ready(self._transcript.path)]
        ends = [turn.id for turn in _tree(self._transcript) if not self._transcript.children(turn.id)]
        return [self._ready(self._transcript.lineage(end)) for end in ends]

    def call_name(self, call_id: str) -> str:
        """The name of the tool that a result answers; empty where there is no such call."""
        calls = (call for turn in self.snapshot.turns for call in turn.calls if call.id == call_id)
        return self.clean(next((call.name for call in calls), ""))

    def _ready(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        return tuple(self._cleaned(turn) for turn in resolve_turns(turns, self.snapshot.variables))

    def _cleaned(self, turn: Turn) -> Turn:
        outcome = turn.outcome
        if outcome is not None and outcome.failure is not None:
            failure = outcome.failure.model_copy(update={"message": self.clean(outcome.failure.message)})
            outcome = outcome.model_copy(update={"failure": failure})
        return turn.model_copy(update={"parts": tuple(map(self._part, turn.parts)), "outcome": outcome})

    def _part(self, part: Part) -> Part:
        """A part without secrets; before anything is cut into pieces for its looks."""
        if isinstance(part, ToolResult) and part.images:
            part = part.model_copy(update={"images": tuple(map(self._part, part.images))})
        texts = {name: getattr(part, name, None) for name in _TEXTS if name in type(part).model_fields}
        return part.model_copy(update={name: self.clean(text) for name, text in texts.items() if text is not None})


def _tree(transcript: Transcript) -> Iterator[Turn]:
    left = list(transcript.children(None))[::-1]
    while left:
        key = left.pop()
        yield transcript.turns[key]
        left += transcript.children(key)[::-1]


def _place(transcript: Transcript, turn: Turn, numbers: dict[str, int], before: str | None) -> str:
    words = []
    alternatives = transcript.siblings(turn.id)
    if len(alternatives) > 1:
        words.append(f"alternative {alternatives.index(turn.id) + 1} of {len(alternatives)}")
    if turn.parent != before:
        words.append(f"follows turn {numbers[turn.parent]}" if turn.parent is not None else "begins anew")
    return ", ".join(words)


def facts_of(snapshot: Snapshot) -> list[str]:
    """Model, protocol, gateway and day, as far as they are known."""
    protocol = get_protocol(snapshot.protocol).title if snapshot.protocol in PROTOCOLS else snapshot.protocol
    day = datetime.fromtimestamp(snapshot.created_at).astimezone().strftime("%Y-%m-%d") if snapshot.created_at else ""
    return [fact for fact in (snapshot.model, protocol, snapshot.gateway, day) if fact]


def served_words(result: ToolResult) -> list[str]:
    """Sentences on the tool server that a result came from, and on what of its answer is no part of the result."""
    served = result.served
    if served is None:
        return []
    edited = "" if as_served(result.text, served) else " The text was changed since."
    name = short_name(served.server)
    return [
        f"Answered by the server {name} in {duration_words(served.seconds)}.{edited}",
        *unsaid(served)[:MOST_UNSAID],
    ]


def raster_url(url: str) -> str:
    """A data URL of a PNG, JPEG, GIF or WebP, spelled anew from its bytes; empty for anything else."""
    data = data_of(url)
    found = measure(data) if data else None
    if data is None or found is None:
        return ""
    return f"data:{found.media_type};base64,{base64.b64encode(data).decode('ascii')}"
