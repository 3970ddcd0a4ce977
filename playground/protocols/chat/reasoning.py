"""Reasoning in chat answers: four field names, content parts, vendor records, and tags inside the content.

One reader belongs to one choice. It returns values instead of events.
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
#: Names of unknown members that are sent back with reasoning.
_BELONGS: Final = re.compile(r"reasoning|think|thought|signature|opaque|encrypted|redacted", re.IGNORECASE)
_BLANKS: Final = " \t\r\n"
_LONGEST_LEAD: Final = 64  # longest white space before a tag


def is_marked_thought(delta: JSONObject) -> bool:
    """Return whether a delta marks its content as a thought, as Gemini does."""
    extra = delta.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def without_thought_mark(extra_content: JSON) -> JSON:
    """Return the vendor's members of a message without the mark of a thought; None if there are no others."""
    google = extra_content.get("google") if isinstance(extra_content, dict) else None
    if not isinstance(extra_content, dict) or not isinstance(google, dict) or "thought" not in google:
        return extra_content
    rest = {name: value for name, value in google.items() if name != "thought"}
    others = {name: value for name, value in extra_content.items() if name != "google"}
    return {**others, **({"google": rest} if rest else {})} or None


def belongs_to_reasoning(name: str, value: JSON) -> bool:
    """Return whether an unknown member belongs to reasoning, by its name or a name inside it.

    Counts and switches do not: they only describe reasoning.
    """
    if not value or isinstance(value, bool | int | float):
        return False
    if _BELONGS.search(name):
        return True
    if isinstance(value, dict):
        return any(belongs_to_reasoning(inner, item) for inner, item in value.items())
    return isinstance(value, list) and any(belongs_to_reasoning("", item) for item in value)


def holds_text(value: JSON) -> bool:
    """Return whether a value contains a text, ``type`` members aside."""
    if isinstance(value, dict):
        return any(holds_text(item) for name, item in value.items() if name != "type")
    return any(map(holds_text, value)) if isinstance(value, list) else isinstance(value, str) and bool(value)


def record_lists(members: JSONObject) -> tuple[str, ...]:
    """Return the names of lists that belong to reasoning, among the members and inside them."""
    names: list[str] = []
    for name, value in members.items():
        if isinstance(value, list) and belongs_to_reasoning(name, value):
            names.append(name)
        elif isinstance(value, dict):
            names += record_lists(value)
    return tuple(names)


def part_text(part: JSONObject) -> str:
    """Return the text of a content part that holds reasoning."""
    return plain_text(part.get("thinking") or part.get("reasoning") or part.get("summary") or part.get("text"))


def plain_text(value: JSON) -> str:
    """Return the text of a reasoning value: a string, an object that holds one, or a list of those."""
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
    """Reads the reasoning of one choice: drops text sent under two names, and collects vendor records."""

    __slots__ = ("_length", "_records", "_texts", "field", "twice")

    def __init__(self) -> None:
        self.field = ""  # the first field name received
        self.twice = False  # one text was received under two names
        self._texts: list[str] = []
        self._length = 0
        self._records = Records()

    def read_reasoning(self, delta: JSONObject, *, all_whole: bool = False) -> list[tuple[str, str]]:
        """Return (field, text) pairs of a delta; ``all_whole`` for a message, whose records are no fragments."""
        pairs = [(name, text) for name in FIELDS if delta.get(name) and (text := plain_text(delta[name]))]
        records = delta.get(DETAILS)
        if isinstance(records, list) and records:
            text = "".join(map(_one_text, records))
            if text:
                pairs.append((DETAILS, text))
            self._records.add((keepable(record) for record in records if isinstance(record, dict)), whole=all_whole)
        if not pairs:
            return []
        if len(pairs) > 1:
            pairs.sort(key=lambda pair: pair[0] != self.field)  # stable: the field received first
            first = pairs[0][1]
            others = [pair for pair in pairs[1:] if pair[0] != DETAILS]  # records always repeat the text
            distinct = [pair for pair in others if pair[1] != first]
            self.twice = self.twice or len(distinct) < len(others)
            pairs = [pairs[0], *distinct]
        elif self.field and pairs[0][0] != self.field and self._repeats(pairs[0][1]):
            self.twice = True
            return []
        self.field = self.field or pairs[0][0]
        for _, text in pairs:
            self._texts.append(text)
            self._length += len(text)
        return pairs

    def _repeats(self, text: str) -> bool:
        return len(text) == self._length and text == "".join(self._texts)

    def take_details(self) -> tuple[JSONObject, ...]:
        """Return the records collected since the last call."""
        records = tuple(record for record in self._records.value() if isinstance(record, dict))
        if records:
            self._records = Records()
        return records


class ThinkSplitter:
    """Splits reasoning between tags off the content, across fragments.

    A tag counts only at the start of the content. Gemini also marks each fragment of a thought
    (``extra_content.google.thought``): marked text is reasoning with or without tags, anywhere in the content. White
    space before an opening tag is dropped with it; all other characters are kept. ``tag`` is the opening tag of the
    last reasoning; empty before any.
    """

    __slots__ = ("_held", "_marked", "_state", "tag")

    def __init__(self) -> None:
        self.tag = ""
        self._state = "start"  # then "inside" a thought, "leaving" a marked one, "plain"
        self._marked = False  # the last fragment was marked as a thought
        self._held = ""

    @property
    def begun(self) -> bool:
        """Content other than leading white space was received."""
        return self._state != "start" or bool(self._held)

    @property
    def is_plain(self) -> bool:
        """Unmarked text is returned unchanged."""
        return self._state == "plain" and not self._marked

    def split_text(self, text: str, *, marked: bool = False) -> list[tuple[bool, str]]:
        """Return (is reasoning, text) pairs of a fragment, none of them empty.

        ``marked`` means that the gateway marks the fragment as a thought.
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
        """Return text that was held back as the possible start of a tag."""
        text, self._held = self._held, ""
        if not text:
            return []
        if self._state == "start" and self._marked:
            self.tag, self._state = THOUGHT, "inside"
        elif self._state != "inside":
            self._state = "plain"
        return [(self._state == "inside", text)]

    def _opened(self, text: str) -> str | None:
        """Return the text after an opening tag, or all of it without one; None until that is clear."""
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
        """Read the first unmarked text after a marked thought; it begins with the closing tag or contains it."""
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
