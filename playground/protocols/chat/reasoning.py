"""Reasoning in chat answers: four field names, content parts, vendor records, and tags inside the content.

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
THOUGHT: Final = "<thought>"

#: Opening tags at the start of the content, and the tags that close them.
_CLOSING: Final = {INLINE: "</think>", THOUGHT: "</thought>"}
#: What the name of a member is like that goes back with reasoning although nothing here reads it.
_BELONGS: Final = re.compile(r"reasoning|think|thought|signature|opaque|encrypted|redacted", re.IGNORECASE)
_BLANKS: Final = " \t\r\n"
_LONGEST_LEAD: Final = 64  # white space before a tag that is waited for


def is_marked_thought(delta: JSONObject) -> bool:
    """Return whether a delta says that its content is a thought, as Gemini does."""
    extra = delta.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def without_thought_mark(extra_content: JSON) -> JSON:
    """Return the vendor's members of a message without the mark of a thought, which is not one of the answer.

    None where nothing else is in it.
    """
    google = extra_content.get("google") if isinstance(extra_content, dict) else None
    if not isinstance(extra_content, dict) or not isinstance(google, dict) or "thought" not in google:
        return extra_content
    rest = {name: value for name, value in google.items() if name != "thought"}
    others = {name: value for name, value in extra_content.items() if name != "google"}
    return {**others, **({"google": rest} if rest else {})} or None


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
    """Split reasoning between tags off the content, across any fragments.

    A tag counts at the very start of the content. Gemini also marks each fragment of a thought beside its text
    (``extra_content.google.thought``): marked text is reasoning with or without tags, at any place of the content.
    White space before an opening tag is dropped with it; everything else is kept to the last character.
    ``tag`` is the opening tag whose reasoning is read, or was read last; empty before any.
    """

    __slots__ = ("_held", "_marked", "_state", "tag")

    def __init__(self) -> None:
        self.tag = ""
        self._state = "start"  # then "inside" a thought, "leaving" a marked one, "plain"
        self._marked = False  # the last fragment was marked as a thought
        self._held = ""

    @property
    def begun(self) -> bool:
        """Whether any content came, white space at its start aside."""
        return self._state != "start" or bool(self._held)

    @property
    def is_plain(self) -> bool:
        """Whether unmarked text goes through as it is."""
        return self._state == "plain" and not self._marked

    def split_text(self, text: str, *, marked: bool = False) -> list[tuple[bool, str]]:
        """Return (is reasoning, text) pairs of a fragment, none of them empty.

        ``marked`` says that the fragment is marked as a thought.
        """
        if self.is_plain and not marked:
            return [(False, text)]
        early: list[tuple[bool, str]] = []
        if marked and not self._marked:
            early = self.flush()
            self._state = "start"
        elif self._marked and not marked and self._state != "plain":
            if self._state == "start":
                early = self.flush()
            self._state = "leaving"
        self._marked = marked
        text, self._held = self._held + text, ""
        if self._state == "leaving":
            return early + self._after_marked(text)
        if self._state == "start":
            rest = self._opened(text)
            if rest is None:
                return early
            text = rest
        if self._state == "plain":
            return [*early, (False, text)]
        return early + self._inside(text)

    def flush(self) -> list[tuple[bool, str]]:
        """Give out what was held back for more of a tag."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._state == "start" and self._marked:
            self.tag, self._state = THOUGHT, "inside"
        elif self._state != "inside":
            self._state = "plain"
        return [(self._state == "inside", held)]

    def _opened(self, text: str) -> str | None:
        """Return the text after an opening tag, or all of it where none begins it; None until that is clear."""
        lead = text.lstrip(_BLANKS)
        tag = next((tag for tag in _CLOSING if lead.startswith(tag)), "")
        if not tag and len(text) <= _LONGEST_LEAD and any(tag.startswith(lead) for tag in _CLOSING):
            self._held = text
            return None
        self.tag = tag or (THOUGHT if self._marked else self.tag)
        self._state = "inside" if tag or self._marked else "plain"
        return lead[len(tag) :] if tag else text

    def _inside(self, text: str) -> list[tuple[bool, str]]:
        close = _CLOSING[self.tag]
        thought, closed, answer = text.partition(close)
        if closed:
            self._state = "plain"
        elif keep := _overlap(thought, close):
            thought, self._held = thought[:-keep], thought[-keep:]
        return [pair for pair in ((True, thought), (False, answer)) if pair[1]]

    def _after_marked(self, text: str) -> list[tuple[bool, str]]:
        """Read the first unmarked text after a marked thought: it begins with, or soon has, the closing tag."""
        close = _CLOSING[self.tag or THOUGHT]
        lead = text.lstrip(_BLANKS)
        if close.startswith(lead) and lead != close:
            self._held = text
            return []
        self._state = "plain"
        thought, closed, answer = text.partition(close)
        if not closed:
            return [(False, text)]
        return [pair for pair in ((True, thought), (False, answer)) if pair[1]]


def _overlap(text: str, close: str) -> int:
    """Return how many characters at the end of ``text`` may begin the closing tag."""
    for size in range(min(len(close) - 1, len(text)), 0, -1):
        if text.endswith(close[:size]):
            return size
    return 0
