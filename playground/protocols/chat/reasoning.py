"""Reasoning in chat answers: four field names, content parts, vendor records, and ``<think>`` inside the content.

One reader belongs to one choice. It emits nothing itself: it hands back what was found, so that it can be tried alone.
"""

from __future__ import annotations

import re
from typing import Final

from playground.domain.records import Records
from playground.jsonkit.foreign import keepable
from playground.jsonkit.values import JSON, JSONObject

#: Names under which reasoning text comes, the documented one first (specification, section 2.5).
FIELDS: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
DETAILS: Final = "reasoning_details"
#: The name recorded for reasoning that came as a part of the content, and for reasoning inside the text.
CONTENT_PART: Final = "content[].thinking"
INLINE: Final = "<think>"

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_LONGEST_LEAD: Final = 64  # white space before a tag that is waited for


#: What the name of a member is like that goes back with reasoning although nothing here reads it.
_BELONGS: Final = re.compile(r"reasoning|think|thought|signature|opaque|encrypted|redacted", re.IGNORECASE)


def belongs_to_reasoning(name: str, value: JSON) -> bool:
    """Return whether a member that nothing here reads belongs to reasoning, by its name or a name inside it.

    Counts and switches do not: they say something about reasoning and nothing of it.
    """
    if not value or isinstance(value, bool | int | float):
        return False
    if _BELONGS.search(name):
        return True
    if isinstance(value, dict):
        return any(belongs_to_reasoning(inner, item) for inner, item in value.items())
    return isinstance(value, list) and any(belongs_to_reasoning("", item) for item in value)


def holds_text(value: JSON) -> bool:
    """Return whether a text stands anywhere in a value, types aside."""
    if isinstance(value, dict):
        return any(holds_text(item) for name, item in value.items() if name != "type")
    return any(map(holds_text, value)) if isinstance(value, list) else isinstance(value, str) and bool(value)


def record_lists(members: JSONObject) -> tuple[str, ...]:
    """The names of lists among the members that belong to reasoning, and inside them: their records are fragments."""
    names: list[str] = []
    for name, value in members.items():
        if isinstance(value, list) and belongs_to_reasoning(name, value):
            names.append(name)
        elif isinstance(value, dict):
            names += record_lists(value)
    return tuple(names)


def part_text(part: JSONObject) -> str:
    """The text of a content part that holds reasoning."""
    return plain_text(part.get("thinking") or part.get("reasoning") or part.get("summary") or part.get("text"))


def plain_text(value: JSON) -> str:
    """The text of a reasoning value: a string, an object that holds one, or a list of those."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_one_text, value))
    return _one_text(value)


def _one_text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("text", "thinking", "summary", "content", "reasoning"):
            if isinstance(value.get(name), str):
                return str(value[name])
    return ""


class ReasoningReader:
    """Chooses among the names of one choice, so that text sent twice is shown once, and gathers vendor records."""

    __slots__ = ("_length", "_records", "_said", "field", "twice")

    def __init__(self) -> None:
        self.field = ""  # the first name seen
        self.twice = False  # the same text came under two names
        self._said: list[str] = []
        self._length = 0
        self._records = Records()

    def read_reasoning(self, delta: JSONObject, *, whole: bool = False) -> list[tuple[str, str]]:
        """(field, text) pairs of one delta, or of a ``whole`` message, whose records are not fragments."""
        found = [(name, text) for name in FIELDS if delta.get(name) and (text := plain_text(delta[name]))]
        records = delta.get(DETAILS)
        if isinstance(records, list) and records:
            text = "".join(map(_one_text, records))
            if text:
                found.append((DETAILS, text))
            self._records.add((keepable(record) for record in records if isinstance(record, dict)), whole=whole)
        if not found:
            return []
        if len(found) > 1:
            found.sort(key=lambda pair: pair[0] != self.field)  # stable: the known name first
            first = found[0][1]
            others = [pair for pair in found[1:] if pair[0] != DETAILS]  # records always repeat the text
            distinct = [pair for pair in others if pair[1] != first]
            self.twice = self.twice or len(distinct) < len(others)
            found = [found[0], *distinct]
        elif self.field and found[0][0] != self.field and self._repeats(found[0][1]):
            self.twice = True
            return []
        self.field = self.field or found[0][0]
        for _, text in found:
            self._said.append(text)
            self._length += len(text)
        return found

    def _repeats(self, text: str) -> bool:
        return len(text) == self._length and text == "".join(self._said)

    def take_details(self) -> tuple[JSONObject, ...]:
        """The records gathered so far; they are handed out once."""
        taken = tuple(record for record in self._records.value() if isinstance(record, dict))
        if taken:
            self._records = Records()
        return taken


class ThinkSplitter:
    """Splits ``<think>…</think>`` at the very start of the content off as reasoning, across any fragments.

    White space before the tag is dropped with it; everything else is kept to the last character.
    """

    __slots__ = ("_held", "found", "state")

    def __init__(self) -> None:
        self.state = "start"  # then "inside", then "plain"
        self.found = False
        self._held = ""

    @property
    def begun(self) -> bool:
        """Whether any content came, white space at its start aside."""
        return self.state != "start" or bool(self._held)

    def split_text(self, text: str) -> list[tuple[bool, str]]:
        """(is reasoning, text) pairs, none of them empty."""
        if self.state == "plain":
            return [(False, text)]
        text = self._held + text
        self._held = ""
        if self.state == "start":
            lead = text.lstrip(" \t\r\n")
            if len(lead) < len(_OPEN) and _OPEN.startswith(lead) and len(text) <= _LONGEST_LEAD:
                self._held = text
                return []
            if not lead.startswith(_OPEN):
                self.state = "plain"
                return [(False, text)]
            self.state, self.found = "inside", True
            text = lead[len(_OPEN) :]
        thought, closed, answer = text.partition(_CLOSE)
        if closed:
            self.state = "plain"
        else:
            keep = _overlap(thought)
            if keep:
                thought, self._held = thought[:-keep], thought[-keep:]
        return [pair for pair in ((True, thought), (False, answer)) if pair[1]]

    def flush(self) -> list[tuple[bool, str]]:
        """What was held back waiting for more of a tag."""
        if not self._held:
            return []
        held, self._held = self._held, ""
        if self.state == "start":
            self.state = "plain"
        return [(self.state == "inside", held)]


def _overlap(text: str) -> int:
    """How many characters at the end of ``text`` may begin the closing tag."""
    for size in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if text.endswith(_CLOSE[:size]):
            return size
    return 0
