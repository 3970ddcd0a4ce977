"""The content of an export: the turns in order with headings, and facts about the experiment, without secrets.

Exports show the values of variables instead of their names, like requests.
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
from playground.domain.transcript import LIMIT_REASONS, Ending, Transcript, Turn
from playground.domain.variables import resolve_turns
from playground.engine.files.experiment_file.content import lay_out
from playground.engine.files.images import data_of, measure
from playground.engine.gateways.redaction import redact, redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.session.experiment import title_of
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
MAX_SERVER_NOTES: Final = 50  # on missing parts of one result
_TEXTS: Final = ("text", "arguments", "url", "name", "id", "call_id")
_ENDINGS: Final = {
    Ending.STOPPED: "Stopped here.",
    Ending.CUT_OFF: "The answer is cut off.",
    Ending.FAILED: "The answer failed.",
    Ending.INTERRUPTED: "The application ended while this was being received.",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A turn of an export. ``number`` counts from 1; ``place`` is its place in the tree, empty in a plain sequence."""

    turn: Turn
    number: int
    place: str = ""

    @property
    def speaker(self) -> str:
        """The name of the role."""
        return _ROLES[self.turn.role]

    @property
    def ending(self) -> str:
        """A sentence on how the answer ended; empty for a complete one."""
        outcome = self.turn.outcome
        if outcome is None:
            return ""
        if outcome.failure is not None:
            status = f" ({outcome.failure.status})" if outcome.failure.status else ""
            return f"Error{status}: {outcome.failure.message}"
        limit = "The answer ended at the limit of its length."
        ending = limit if outcome.finish_reason in LIMIT_REASONS else _ENDINGS.get(outcome.ending, "")
        data_lost = "Part of the answer could not be read." if outcome.holes else ""
        return " ".join(filter(None, (data_lost, ending)))


class Selection:
    """The turns of an export, and the redaction of all its other texts."""

    def __init__(self, snapshot: Snapshot, secrets: Iterable[Secret], *, whole_tree: bool) -> None:
        self.snapshot = snapshot
        self._redactor = redactor_of(secrets)
        self.whole_tree = whole_tree
        self._transcript = snapshot.transcript

    @property
    def title(self) -> str:
        """The title of the experiment."""
        return self.clean(title_of(self._transcript, self.snapshot.title, self.redacted_preview))

    def clean(self, text: str) -> str:
        """Return ``text`` without secrets."""
        return redact(text, self._redactor)

    def redacted_preview(self, text: str, limit: int) -> str:
        """Return the first ``limit`` characters of ``text``, without secrets."""
        return self._redactor.front(text, limit)

    def laid_out(self, value: JSON) -> str:
        """Return JSON over several lines, without secrets."""
        try:
            return lay_out(value, self._redactor, frozenset()).rstrip("\n")
        except ValueError as error:
            return f"({error})"

    def sections(self) -> list[Section]:
        """Return the turns of the path, or of the whole tree: each turn after its parent, depth first."""
        transcript = self._transcript
        turns = list(_tree(transcript)) if self.whole_tree else list(transcript.path)
        numbers = {turn.id: number for number, turn in enumerate(turns, 1)}
        sections = []
        before: str | None = None
        for number, turn in enumerate(self._resolved(tuple(turns)), 1):
            place = _place(transcript, turn, numbers, before) if self.whole_tree else ""
            sections.append(Section(turn, number, place))
            before = turn.id
        return sections

    def branches(self) -> list[tuple[Turn, ...]]:
        """Return the turns of the path, or of each branch of the whole tree."""
        if not self.whole_tree:
            return [self._resolved(self._transcript.path)]
        ends = [turn.id for turn in _tree(self._transcript) if not self._transcript.children(turn.id)]
        return [self._resolved(self._transcript.lineage(end)) for end in ends]

    def call_name(self, call_id: str) -> str:
        """Return the name of the tool whose call a result answers; empty without such a call."""
        calls = (call for turn in self.snapshot.turns for call in turn.calls if call.id == call_id)
        return self.clean(next((call.name for call in calls), ""))

    def _resolved(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        return tuple(self._redacted_turn(turn) for turn in resolve_turns(turns, self.snapshot.variables))

    def _redacted_turn(self, turn: Turn) -> Turn:
        outcome = turn.outcome
        if outcome is not None and outcome.failure is not None:
            failure = outcome.failure.model_copy(update={"message": self.clean(outcome.failure.message)})
            outcome = outcome.model_copy(update={"failure": failure})
        return turn.model_copy(update={"parts": tuple(map(self._redacted_part, turn.parts)), "outcome": outcome})

    def _redacted_part(self, part: Part) -> Part:
        """Return a part without secrets; this comes before markup, which would split them."""
        if isinstance(part, ToolResult) and part.images:
            part = part.model_copy(update={"images": tuple(map(self._redacted_part, part.images))})
        texts = {name: getattr(part, name, None) for name in _TEXTS if name in type(part).model_fields}
        return part.model_copy(update={name: self.clean(text) for name, text in texts.items() if text is not None})


def _tree(transcript: Transcript) -> Iterator[Turn]:
    pending = list(transcript.children(None))[::-1]
    while pending:
        turn_id = pending.pop()
        yield transcript.turns[turn_id]
        pending += transcript.children(turn_id)[::-1]


def _place(transcript: Transcript, turn: Turn, numbers: dict[str, int], before: str | None) -> str:
    words = []
    alternatives = transcript.siblings(turn.id)
    if len(alternatives) > 1:
        words.append(f"alternative {alternatives.index(turn.id) + 1} of {len(alternatives)}")
    if turn.parent != before:
        words.append(
            f"follows message {numbers[turn.parent]}" if turn.parent is not None else "starts from the beginning"
        )
    return ", ".join(words)


def snapshot_facts(snapshot: Snapshot) -> list[str]:
    """Return the known ones of model, protocol, gateway and day."""
    protocol = get_protocol(snapshot.protocol).title if snapshot.protocol in PROTOCOLS else snapshot.protocol
    day = datetime.fromtimestamp(snapshot.created_at).astimezone().strftime("%Y-%m-%d") if snapshot.created_at else ""
    return [fact for fact in (snapshot.model, protocol, snapshot.gateway, day) if fact]


def server_notes(result: ToolResult) -> list[str]:
    """Return sentences on the tool server of a result, and on the parts of its answer that the result lacks."""
    served = result.served
    if served is None:
        return []
    edited = "" if as_served(result.text, served) else " The text was changed since."
    name = short_name(served.server)
    return [
        f"Answered by the server {name} in {duration_words(served.seconds)}.{edited}",
        *unsaid(served)[:MAX_SERVER_NOTES],
    ]


def raster_url(url: str) -> str:
    """Return a data URL of a PNG, JPEG, GIF or WebP, encoded again from its bytes; empty for other URLs."""
    data = data_of(url)
    size = measure(data) if data else None
    if data is None or size is None:
        return ""
    return f"data:{size.media_type};base64,{base64.b64encode(data).decode('ascii')}"
