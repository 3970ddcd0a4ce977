"""Decode chat-completions answers, streamed or not, into events (specification, sections 2.4 and 2.5).

Deviations of real gateways are read where possible, and each is noted once. No bytes make the decoder raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from playground.domain.events import (
    AnswerMembers,
    Event,
    ExtraDelta,
    Finish,
    Opened,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UnknownPart,
    UsageReport,
)
from playground.domain.usage import Usage
from playground.jsonkit import foreign
from playground.jsonkit.foreign import amount_of, count_of, members_beside
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import verdicts
from playground.protocols.chat.reasoning import (
    CONTENT_PART,
    DETAILS,
    FIELDS,
    ReasoningReader,
    ThinkSplitter,
    belongs_to_reasoning,
    holds_text,
    is_marked_thought,
    part_text,
    record_lists,
    without_thought_mark,
)
from playground.protocols.chat.toolcalls import ToolCalls
from playground.protocols.decoding import Decoder
from playground.protocols.error_fields import looks_like_error
from playground.protocols.errors import read_error
from playground.protocols.sse import DEFAULT_CAP

DOCUMENTED: Final = frozenset({"stop", "length", "tool_calls", "content_filter"})
#: Finish reasons that do not explain an empty answer.
_NATURAL: Final = frozenset({None, "stop", "tool_calls", "function_call", "eos", "end_turn", "stop_sequence"})

#: Finish reasons that announce a tool call.
_CALLING: Final = frozenset({"tool_calls", "function_call"})
#: Texts sent for a missing finish reason.
_NO_REASON: Final = frozenset({"", "null", "none", "nil", "undefined"})

_CONTENT_SHAPE: Final = "content is neither text nor a list of parts; it is left out"
#: Members of a delta or a message that are read.
_READ: Final = frozenset(
    {"role", "content", "refusal", "images", "tool_calls", "function_call", "index", DETAILS, *FIELDS}
)
#: Members of a chunk and of a choice that are read. ``obfuscation`` is padding.
_OF_CHUNK: Final = frozenset({"id", "object", "created", "model", "choices", "usage", "error", "obfuscation"})
_OF_CHOICE: Final = frozenset({"index", "delta", "message", "text", "finish_reason", "usage", "error"})
#: Members of a choice that are sent in pieces, and the lists in them that are joined.
_JOINED: Final = frozenset({"logprobs", "token_ids"})
_PIECES: Final = ("content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset", "token_ids")
#: Most events for an unknown member that repeats one value in a row.
_MOST_REPEATS: Final = 8
_NEVER: Final[tuple[JSON, int]] = (None, 0)
_AUDIO_PIECES: Final = ("data", "transcript")


def read_usage(value: JSONObject) -> Usage:
    """Return the counts in ``value``, under the documented names or other common ones."""
    return Usage(
        prompt=_first(value, "prompt_tokens", "input_tokens"),
        completion=_first(value, "completion_tokens", "output_tokens"),
        total=_first(value, "total_tokens"),
        cached=_first(
            value,
            ("prompt_tokens_details", "cached_tokens"),
            ("input_tokens_details", "cached_tokens"),
            "cached_tokens",
            "prompt_cache_hit_tokens",
            "cache_read_input_tokens",
        ),
        reasoning=_first(
            value,
            ("completion_tokens_details", "reasoning_tokens"),
            ("output_tokens_details", "reasoning_tokens"),
            "reasoning_tokens",
        ),
        cost=amount_of(value.get("cost")),
        raw=members_beside(value, (), empty=True),
    )


def _first(value: JSONObject, *places: str | tuple[str, str]) -> int | None:
    """Return the first count at one of these places: a member, or a member of a member."""
    for place in places:
        if isinstance(place, str):
            number = value.get(place)
        else:
            inner = value.get(place[0])
            number = inner.get(place[1]) if isinstance(inner, dict) else None
        if number is not None and (count := count_of(number)) is not None:
            return count
    return None


@dataclass(slots=True)
class _Choice:
    """State of one completion. There may be very many, so rarely needed parts are made late."""

    index: int
    answered: bool = False  # content or a call was received, not only reasoning
    calls: ToolCalls | None = None  # made with the first
    early: bool = False  # the finish reason preceded any content or call
    finish: str | None = None
    half: dict[str, str] = field(default_factory=dict)  # first halves of surrogate pairs at the end of a fragment
    marked: bool = False  # the delta being read marks its content as a thought
    plain: bool = False  # text needs no checks and is emitted unchanged
    reasoning: ReasoningReader = field(default_factory=ReasoningReader)
    repeats: dict[str, tuple[JSON, int]] = field(default_factory=dict)  # of unknown members: last value, times in a row
    seen: bool = False  # visible content was received
    think: ThinkSplitter = field(default_factory=ThinkSplitter)

    @property
    def has_ended(self) -> bool:
        """A finish reason was received, and no content after it proved it early."""
        return self.finish is not None and not (self.early and self.answered)


class ChatDecoder(Decoder):
    """Decoder of one chat-completions body."""

    _protocol = "chat"
    _end_marker = "[DONE]"

    def __init__(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__(content_type, cap, make_id)
        self._choices: dict[int, _Choice] = {}
        self._id = ""
        self._model = ""
        self._named = False  # id and model were both received
        self._usage: JSONObject | None = None
        self._counted = False  # usage was received without choices, as in a last chunk
        self._last_members: dict[int, JSONObject] = {}  # unknown members of each choice, and of the answer (-1)
        self._early_members: list[JSONObject] = []  # of the answer, received before its first choice

    # -- one object ----------------------------------------------------------------------------------------------

    def _read_object(self, value: JSONObject, event: str | None, out: list[Event]) -> None:
        choices = value.get("choices")
        if not self._named:
            self._read_id_and_model(value, out)
        if type(choices) is list:
            self._objects += 1
            if self._is_whole_body and len(choices) > 1:
                choices = self._with_unique_indexes(choices, out)
            for position, choice in enumerate(choices):
                if type(choice) is dict:
                    self._read_choice(choice, position, out)
                elif choice:
                    self._note(out, "choice_shape", "a choice is not an object; it is left out", hole=True)
        else:
            self._read_without_choices(value, out)
        usage = value.get("usage")
        if usage is None and "x_groq" in value:
            inner = value["x_groq"]
            usage = inner.get("usage") if isinstance(inner, dict) else None
            if isinstance(usage, dict):
                self._note(out, "usage_elsewhere", "usage is inside “x_groq” instead of next to the choices")
        if usage:
            self._read_usage(usage, out)
            self._counted = choices == []
        if value.get("error") or (choices == [] and not usage and looks_like_error(value)):
            self._fail(out, read_error(value, text=self._source))
            return
        if (
            type(choices) is list
            and not value.keys() <= _OF_CHUNK
            and (members := self._new_members(-1, value, _OF_CHUNK))
        ):
            self._early_members.append(members)
        if self._early_members and self._choices:
            self._emit_members(out)

    def _new_members(self, place: int, value: JSONObject, read: frozenset[str]) -> JSONObject:
        """Return the members of ``value`` that are not ``read`` and have a new value."""
        last = self._last_members.setdefault(place, {})
        fresh = {
            name: item
            for name, item in value.items()
            if name not in read and (name in _JOINED or name not in last or last[name] != item)
        }
        last.update(fresh)
        return foreign.members_beside(fresh, ()) if fresh else fresh

    def _emit_members(self, out: list[Event]) -> None:
        """Emit the members of the answer with its first choice."""
        first = next(iter(self._choices), 0)
        for members in self._early_members:
            self._emit_values(AnswerMembers(first, "answer", "chat", members), out)
        self._early_members.clear()

    def _with_unique_indexes(self, choices: list[JSON], out: list[Event]) -> list[JSON]:
        """Return the choices of a complete answer, numbered by their places if an index repeats."""
        indexes = [choice.get("index") if isinstance(choice, dict) else None for choice in choices]
        numbers = [index for index in indexes if type(index) is int]
        if len(set(numbers)) == len(numbers):
            return choices
        self._note(out, "choice_index_repeated", "several choices have the same index; their places in the list count")
        return [{**item, "index": i} if isinstance(item, dict) else item for i, item in enumerate(choices)]

    def _read_id_and_model(self, value: JSONObject, out: list[Event]) -> None:
        id_ = "" if self._id else foreign.text_of(value.get("id"))
        model = "" if self._model else foreign.text_of(value.get("model"))
        if id_ or model:
            self._id, self._model = self._id or id_, self._model or model
            self._named = bool(self._id and self._model)
            out.append(Opened(self._id, self._model))

    def _read_without_choices(self, value: JSONObject, out: list[Event]) -> None:
        if value.get("error"):
            return  # reported by the caller
        odd = bool(value.get("choices"))  # another value in place of the list
        if "choices" not in value and self._is_foreign(value, out):
            return
        if value.get("usage") and not self._is_whole_body:
            self._objects += 1
            self._note(out, "choices_missing", "a chunk has no list of choices", hole=odd)
        elif looks_like_error(value):
            self._read_error_or_remark(value, out)
        elif self._is_whole_body:
            self._fail(out, verdicts.no_answer("no chat completion: it has no choices", self._source))
        elif "choices" in value or value.get("object") == "chat.completion.chunk":
            self._objects += 1
            self._note(out, "choices_missing", "a chunk has no list of choices", hole=odd)
        else:
            self._strange = self._strange or f"an event is not a chunk: {foreign.whole(self._source[:120])}"
            self._note(out, "unknown_object", self._strange)

    def _read_usage(self, usage: JSON, out: list[Event]) -> None:
        if isinstance(usage, dict) and usage != self._usage:
            if self._usage is not None:
                self._note(out, "usage_repeated", "usage was sent more than once; the last one counts")
            self._usage = usage
            self._emit_values(UsageReport(read_usage(usage)), out)
        elif not isinstance(usage, dict):
            self._note(out, "usage_shape", "usage is not an object; it is left out")

    # -- one choice ----------------------------------------------------------------------------------------------

    def _read_choice(self, choice: JSONObject, position: int, out: list[Event]) -> None:
        index = choice.get("index")
        if type(index) is not int:
            self._note(out, "choice_index_missing", "a choice has no index; its place in the list is used")
            index = position
        state = self._choices.get(index)
        if state is None:
            state = self._add_choice(index, out)
        delta = choice.get("delta")
        reason = choice.get("finish_reason")
        if type(delta) is dict:
            content = delta.get("content")
            size = len(delta)
            if (
                content
                and state.plain
                and type(content) is str
                and not self._has_halves
                and (size == 1 or (size == 2 and "role" in delta))
            ):
                out.append(TextDelta(index, content))
            elif delta:
                self._read_delta(state, delta, out)
        else:
            self._read_message_choice(state, choice, out)
        if not choice.keys() <= _OF_CHOICE and (members := self._new_members(index, choice, _OF_CHOICE)):
            self._emit_values(AnswerMembers(index, "choice", "chat", members, _PIECES), out)
        if reason is not None:
            self._read_finish_reason(state, reason, out)
        if choice.get("usage"):
            self._note(out, "usage_elsewhere", "usage is inside a choice instead of next to the choices")
            self._read_usage(choice["usage"], out)
        if choice.get("error"):
            self._fail(out, read_error(choice["error"], text=self._source))

    def _add_choice(self, index: int, out: list[Event]) -> _Choice:
        state = _Choice(index)
        self._choices[index] = state
        out.append(PartStart(index))
        return state

    def _read_message_choice(self, state: _Choice, choice: JSONObject, out: list[Event]) -> None:
        """Read a choice without a delta: of a complete answer, or of a stream with its own format."""
        message = choice.get("message")
        if isinstance(message, dict):
            if self._is_whole_body or not (state.seen or state.calls):
                if not self._is_whole_body:
                    self._note(out, "message_in_stream", "a whole message is inside the stream")
                self._read_delta(state, message, out, all_whole=True)
                return
            self._note(out, "message_repeated", "the stream ends with the whole message once more; it is left out")
            self._read_delta(state, self._unsent_members(state, message), out)
            if message.get("tool_calls"):
                self._read_calls(state, message["tool_calls"], out, again=True)
        elif isinstance(choice.get("text"), str):
            self._note(out, "plain_completion", "content is in “text”, as in older completions")
            self._read_content(state, choice["text"], out)
        else:
            self._note(out, "delta_missing", "a choice has no delta", hole=bool(choice.get("delta")))

    def _unsent_members(self, state: _Choice, message: JSONObject) -> JSONObject:
        """Return the members of a final message in a stream of which no fragment was received, and unknown ones."""
        names: list[str] = [] if state.reasoning.field else [*FIELDS, DETAILS]
        names += [] if state.think.begun else ["content"]
        return {name: value for name, value in message.items() if name in names or name not in _READ}

    def _read_delta(self, state: _Choice, delta: JSONObject, out: list[Event], *, all_whole: bool = False) -> None:
        self._read_reasoning(state, delta, out, all_whole=all_whole)
        state.marked = not all_whole and "extra_content" in delta and is_marked_thought(delta)
        content = delta.get("content")
        if content:
            self._read_content(state, content, out)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._release_held(state, out)
            out.append(RefusalDelta(state.index, foreign.whole(refusal)))
            self._mark_answered(state, out)
        elif refusal:
            self._note(out, "refusal_shape", "a refusal is not text; it is left out", hole=True)
        images = delta.get("images")
        if isinstance(images, list):
            for image in images:
                if isinstance(image, dict):
                    self._emit_unknown(state, image, out)
        calls = delta.get("tool_calls")
        if calls or delta.get("function_call"):
            self._release_held(state, out)
            if calls:
                self._read_calls(state, calls, out, all_whole=all_whole)
            else:
                state_calls = self._calls_in(state)
                state_calls.function_call(delta["function_call"], out)
                self._note_calls(state, state_calls, out)
        if not delta.keys() <= _READ:
            self._emit_unknown_members(state, delta, out, all_whole=all_whole)

    def _read_calls(
        self, state: _Choice, calls: JSON, out: list[Event], *, all_whole: bool = False, again: bool = False
    ) -> None:
        joined_calls = self._join_call_halves(state, calls) if self._has_halves or state.half else calls
        state_calls = self._calls_in(state)
        state_calls.read_calls(joined_calls, out, all_whole=all_whole, again=again)
        self._note_calls(state, state_calls, out)

    def _calls_in(self, state: _Choice) -> ToolCalls:
        if state.calls is None:
            state.calls = ToolCalls(state.index, self._make_id)
        return state.calls

    def _note_calls(self, state: _Choice, calls: ToolCalls, out: list[Event]) -> None:
        if len(calls):
            self._mark_answered(state, out)
        for code, text in calls.notes.items():
            self._note(out, code, text, hole=code in calls.holes)

    def _emit_unknown_members(
        self, state: _Choice, delta: JSONObject, out: list[Event], *, all_whole: bool = False
    ) -> None:
        """Emit the unknown members of a delta; a value that only repeats is emitted a few times."""
        repeats = state.repeats
        fresh: JSONObject = {}
        for name, value in delta.items():
            if name not in _READ:
                last, times = repeats.get(name, _NEVER)
                if times < _MOST_REPEATS or last != value or name == "audio" or belongs_to_reasoning(name, value):
                    fresh[name] = value
        if "extra_content" in fresh:
            fresh["extra_content"] = without_thought_mark(fresh["extra_content"])
        members = foreign.members_beside(fresh, ()) if fresh else fresh
        for name, value in members.items():
            last, times = repeats.get(name, _NEVER)
            repeats[name] = (value, times + 1 if last == value else 1)
        audio = members.pop("audio", None)
        if audio is not None:
            self._mark_answered(state, out)
            self._emit_values(ExtraDelta(state.index, "message", "chat", {"audio": audio}, pieces=_AUDIO_PIECES), out)
        if members:
            self._emit_message_members(state, members, out, joined=not all_whole)

    def _join_call_halves(self, state: _Choice, calls: JSON) -> JSON:
        """Return the entries with surrogate pairs joined that were cut between fragments."""
        joined_calls: list[JSON] = []
        for position, entry in enumerate(calls if isinstance(calls, list) else [calls]):
            for member, name in (("function", "arguments"), ("custom", "input")):
                inner = entry.get(member) if isinstance(entry, dict) else None
                if isinstance(inner, dict) and isinstance(inner.get(name), str):
                    place = f"call {entry.get('index', position)!r}"
                    text = self._join_choice_halves(state, place, inner[name])
                    entry = {**entry, member: {**inner, name: text}}  # noqa: PLW2901 - the entry with its text joined
            joined_calls.append(entry)
        return joined_calls

    # -- text ----------------------------------------------------------------------------------------------------

    def _read_reasoning(self, state: _Choice, delta: JSONObject, out: list[Event], *, all_whole: bool = False) -> None:
        reader = state.reasoning
        for name, received in reader.read_reasoning(delta, all_whole=all_whole):
            text = self._join_choice_halves(state, name, received) if self._has_halves or state.half else received
            if text:
                out.append(ReasoningDelta(state.index, text, name))
                state.seen = True
            if name != "reasoning_content":
                self._note(out, "reasoning_name", f"reasoning is in “{name}” instead of “reasoning_content”")
        if reader.twice:
            self._note(out, "reasoning_twice", "the same reasoning is sent under two names; it is shown once")
        shaped = {name: delta[name] for name in FIELDS if isinstance(delta.get(name), dict | list) and delta[name]}
        if shaped:  # all members, so that the object can be sent back
            self._emit_message_members(state, shaped, out, joined=not all_whole)

    def _read_content(self, state: _Choice, content: JSON, out: list[Event]) -> None:
        if isinstance(content, str):
            self._read_text(state, content, out)
            return
        if isinstance(content, dict):
            content = [content]
        if not isinstance(content, list):
            self._note(out, "content_shape", _CONTENT_SHAPE, hole=True)
            return
        self._note(out, "content_parts", "content is a list of parts instead of text")
        for part in content:
            if isinstance(part, str):
                self._read_text(state, part, out)
            elif isinstance(part, dict):
                self._read_part(state, part, out)
            elif part:
                self._note(out, "content_shape", _CONTENT_SHAPE, hole=True)

    def _read_part(self, state: _Choice, part: JSONObject, out: list[Event]) -> None:
        kind = part.get("type")
        if kind in ("thinking", "reasoning"):
            text = part_text(part)
            if self._has_halves or state.half:
                text = self._join_choice_halves(state, CONTENT_PART, text)
            if text or holds_text(part):
                self._release_held(state, out)
                out.append(ReasoningDelta(state.index, text, CONTENT_PART))
                self._emit_values(self._content_part_event(state, part), out)
                state.seen = True
        elif isinstance(part.get("text"), str) and kind in ("text", "output_text", None):
            self._read_text(state, part["text"], out)
            if members := members_beside(part, ("type", "text")):
                self._emit_values(ExtraDelta(state.index, "text", "chat", members), out)
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            out.append(RefusalDelta(state.index, foreign.whole(part["refusal"])))
            self._mark_answered(state, out)
        else:
            self._emit_unknown(state, part, out)

    def _content_part_event(self, state: _Choice, part: JSONObject) -> ExtraDelta:
        """Return the event for a content part that holds reasoning, with its received shape."""
        members = members_beside({"content": [part]}, ())
        if self._is_whole_body:
            return ExtraDelta(state.index, "reasoning", "chat", members, pieces=("content",))
        return ExtraDelta(state.index, "reasoning", "chat", members, records=("content",))

    def _emit_message_members(self, state: _Choice, members: JSONObject, out: list[Event], *, joined: bool) -> None:
        """Emit members of the message; ``joined``: lists that belong to reasoning are fragments of records."""
        valid = members_beside(members, ())
        records = record_lists(valid) if joined else ()
        self._emit_values(ExtraDelta(state.index, "message", "chat", valid, records=records), out)

    def _emit_unknown(self, state: _Choice, value: JSONObject, out: list[Event]) -> None:
        self._release_held(state, out)
        self._note(out, "unknown_part", "content holds parts of an unknown kind; they are kept")
        self._emit_values(UnknownPart(state.index, foreign.keepable(value)), out)
        self._mark_answered(state, out)

    def _read_text(self, state: _Choice, text: str, out: list[Event]) -> None:
        if self._has_halves or state.half:
            text = self._join_choice_halves(state, "content", text)
        if not text:
            return
        if state.has_ended and state.answered:
            self._note(out, "content_after_finish", "content follows the finish reason")
        self._emit_details(state, out)
        self._emit_pieces(state, state.think.split_text(text, marked=state.marked), out)
        if tag := state.think.tag:
            self._note(out, "inline_think", f"reasoning is inside the content as {tag}; it is separated")
        state.plain = state.answered and state.think.is_plain and not state.half and state.finish is None
        state.seen = True

    def _emit_pieces(self, state: _Choice, pieces: list[tuple[bool, str]], out: list[Event]) -> None:
        for is_reasoning, piece in pieces:
            if is_reasoning:
                out.append(ReasoningDelta(state.index, piece, state.think.tag))
            else:
                out.append(TextDelta(state.index, piece))
                if not state.answered and not piece.isspace():
                    self._mark_answered(state, out)

    def _mark_answered(self, state: _Choice, out: list[Event]) -> None:
        """Mark content or a call as received; note a finish reason before it."""
        state.seen = state.answered = True
        if state.early:
            note = "a finish reason precedes any content; the answer continues after it"
            self._note(out, "finish_reason_early", note)

    def _join_choice_halves(self, state: _Choice, place: str, text: str) -> str:
        """Return ``text`` with surrogate pairs joined; a first half at its end is kept for the next fragment."""
        text, half = foreign.split_half(state.half.pop(place, "") + text)
        if half:
            state.half[place] = half
            state.plain = False
        return text

    # -- ends ----------------------------------------------------------------------------------------------------

    def _read_finish_reason(self, state: _Choice, reason: JSON, out: list[Event]) -> None:
        if isinstance(reason, str) and reason.strip().lower() in _NO_REASON:
            self._note(out, "finish_reason_blank", f"finish_reason is “{reason}” as text where null is meant")
            return
        reason = foreign.text_of(reason)
        if not reason:
            return
        repeated, state.early = state.has_ended, not state.answered
        if not state.early:  # after an early one more content may follow, even of a tag
            self._release_held(state, out)
            if state.calls is not None:
                state.calls.release(out)
        if repeated:
            self._note(out, "finish_twice", "a choice has more than one finish reason; the last one counts")
            if reason == state.finish:
                return
        if reason not in DOCUMENTED:
            self._note(out, "finish_reason_unknown", f"the finish reason “{reason[:60]}” is not a documented one")
        state.finish = reason
        state.plain = False  # content after the finish reason is a deviation
        out.append(Finish(state.index, reason))

    def _emit_details(self, state: _Choice, out: list[Event]) -> None:
        details = state.reasoning.take_details()
        if details:
            out.append(ReasoningDelta(state.index, "", state.reasoning.field or DETAILS, details=details))
            state.seen = True

    def _release_held(self, state: _Choice, out: list[Event]) -> None:
        """Emit text and records that are held back, because other content follows."""
        self._emit_details(state, out)
        self._emit_pieces(state, state.think.flush(), out)

    def _flush(self, out: list[Event]) -> None:
        self._emit_members(out)
        for state in self._choices.values():
            self._release_held(state, out)
            if state.calls is not None:
                state.calls.release(out)
            if state.half.pop("content", ""):
                out.append(TextDelta(state.index, "\ufffd"))

    def _looks_complete(self) -> bool:
        """Return whether every choice has content and none shows that it was cut off."""
        states = self._choices.values()
        return all(state.seen and (state.calls is None or state.calls.are_complete) for state in states)

    def _check_complete(self, out: list[Event]) -> None:
        states = self._choices.values()
        reasons = [state.finish for state in states]
        if self.finished:
            if None in reasons:
                self._note(out, "no_finish_reason", "the answer ended without a finish reason")
        elif reasons and all(state.has_ended for state in states):
            self._note(out, "no_end_marker", "the stream ended without [DONE]")
        elif (self._delimited or self._counted) and self._looks_complete():
            self._note_missing_reason(out)
        else:
            self._fail_cut_off(out)
            return
        for state in states:
            self._review_choice(state, out)
        if not any(state.seen for state in states) and all(reason in _NATURAL for reason in reasons):
            self._fail_empty(out, next(iter(reasons), None))

    def _review_choice(self, state: _Choice, out: list[Event]) -> None:
        """Note a complete choice without the content that its finish reason announces."""
        if state.finish in _CALLING and not state.calls:
            self._note(out, "finish_without_calls", f"the finish reason is “{state.finish}”; there is no tool call")
        elif state.seen and not state.answered and state.finish in _NATURAL:
            self._note(out, "reasoning_only", "the answer holds reasoning only, neither text nor a call")
