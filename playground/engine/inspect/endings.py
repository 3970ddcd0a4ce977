"""Explain an answer that ended in another way than plainly: what happened, whether it can be used, and what to do.

Failures and answers that were cut off are explained elsewhere (``playground.engine.advice``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from playground.domain.transcript import Ending, Turn
from playground.jsonkit import foreign
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSONObject
from playground.protocols.error_fields import filter_words

_LONGEST_DETAIL: Final = 500  # characters

#: Reasons after which an answer with something in it needs no words.
_PLAIN: Final = frozenset(
    {
        None,
        "stop",
        "end_turn",
        "completed",
        "stop_sequence",
        "eos",
        "eos_token",
        "tool_calls",
        "tool_use",
        "function_call",
    }
)
_CHANGE: Final = "Change the messages, or name another model."
_RAISE: Final = "Raise “max_tokens” or “max_completion_tokens”, whichever the file sets."
_AGAIN: Final = "Run it again, or change the prompt."


class _Reason(NamedTuple):
    """A finish reason: what it means, and what helps. ``partial`` says that an answer begun before it is of use."""

    meaning: str
    remedy: str
    partial: bool = True


_FILTERED: Final = _Reason("The content filter stopped the answer.", _CHANGE)
_LIMIT: Final = _Reason("The answer reached the limit on completion tokens.", _RAISE)
_CONTEXT: Final = _Reason(
    "The conversation and the answer fill the model's context window.",
    "Shorten the messages, or name a model with a larger context window.",
)
_ERROR: Final = _Reason("The gateway ended the answer with an error and gave no message.", "Run it again.", False)
_CALL: Final = _Reason("The model wrote a tool call that cannot be read.", "Run it again, or simplify the tools.")

_REASONS: Final[dict[str, _Reason]] = {
    **dict.fromkeys(
        (
            "content_filter", "content_filtered", "safety", "prohibited_content", "blocklist", "spii", "recitation",
            "image_safety", "guardrail_intervened", "sensitive",
        ),
        _FILTERED,
    ),
    "refusal": _Reason("The model refused to answer.", _CHANGE),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_completion_tokens"), _LIMIT),
    **dict.fromkeys(("model_context_window_exceeded", "context_length_exceeded", "model_length"), _CONTEXT),
    "pause_turn": _Reason("The model paused its turn.", "Send the message back unchanged to continue."),
    **dict.fromkeys(
        ("error", "network_error", "upstream_error", "server_error", "insufficient_system_resource", "abort"),
        _ERROR,
    ),
    **dict.fromkeys(("malformed_function_call", "unexpected_tool_call"), _CALL),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EndingNote:
    """Sentences about the end of an answer; ``usable`` says whether an answer came that can be used."""

    words: str
    usable: bool


def ending_note(turn: Turn) -> EndingNote | None:
    """Return what is to be said about the end of an answer; None for a plain one and for one that failed."""
    outcome = turn.outcome
    if outcome is None or outcome.failure is not None or outcome.ending is not Ending.COMPLETE:
        return None
    has_answer = bool(turn.text.strip() or turn.calls or turn.refusal or _has_media(turn))
    entry = _reason(outcome.finish_reason) or (_REASONS["refusal"] if turn.refusal else None)
    if entry is None and not turn.text.strip() and (transcript := _transcript(turn)):
        return EndingNote(f"The answer is audio; --json has its data. Its transcript: {transcript}", usable=True)
    if entry is None and (has_answer or outcome.holes):
        return None
    words, remedy = _nothing_of_use(turn), _AGAIN
    if entry is not None:
        words = (
            entry.meaning
            if has_answer
            else f"{entry.meaning} {'Only reasoning' if turn.reasoning else 'No text'} came."
        )
        remedy = entry.remedy
    if entry in (_LIMIT, _CONTEXT) and turn.reasoning and not has_answer:
        remedy = f"{remedy} Less reasoning helps as well."
    sentences = (words, ending_details(turn), remedy)
    only_refused = bool(turn.refusal) and not (turn.text.strip() or turn.calls or _has_media(turn))
    usable = has_answer and not only_refused and (entry is None or entry.partial)
    return EndingNote(" ".join(text for text in sentences if text), usable)


def _nothing_of_use(turn: Turn) -> str:
    reason = turn.outcome.finish_reason if turn.outcome is not None else None
    what = "holds reasoning and no text" if turn.reasoning else "holds nothing"
    named = "" if reason in _PLAIN else f" It ended with “{cut(foreign.whole(reason or ''), 60)}”."
    return f"The answer {what}.{named}"


def ending_details(turn: Turn) -> str:
    """Return what the gateway says about the end beside its reason: an explanation, filtered categories, a block."""
    sentences: list[str] = []
    for members in turn.extra.values():
        stop = members.get("stop_details")
        if isinstance(stop, dict):
            category = _text(stop, "category")
            sentences += [_text(stop, "explanation", "message", "reason"), f"Category: {category}." if category else ""]
        for name in ("content_filter_results", "content_filter_result", "prompt_filter_results"):
            sentences.append(f"{words}." if (words := filter_words(members.get(name))) else "")
        for name in ("prompt_feedback", "promptFeedback"):
            feedback = members.get(name)
            if isinstance(feedback, dict):
                blocked = _text(feedback, "block_reason", "blockReason")
                sentences += [f"The prompt was blocked: {blocked}." if blocked else ""]
                sentences += [_text(feedback, "block_reason_message", "blockReasonMessage")]
        sentences.append(_text(members, "finish_message", "finishMessage"))
        native = _text(members, "native_finish_reason")
        reason = turn.outcome.finish_reason if turn.outcome is not None else None
        sentences += [f"The provider's own reason: {native}." if native and native != reason else ""]
    return " ".join(dict.fromkeys(text for text in sentences if text))


def _reason(reason: str | None) -> _Reason | None:
    """Return the entry for a reason, also one in capitals or behind a prefix (``function_call_filter: X``)."""
    if reason is None:
        return None
    name = reason.strip().lower().replace("-", "_")
    return _REASONS.get(name) or _REASONS.get(name.rpartition(":")[2].strip())


def _has_media(turn: Turn) -> bool:
    return any(part.kind in ("image", "unknown") for part in turn.parts) or any(
        bool(members.get("audio")) for members in turn.extra.values()
    )


def _transcript(turn: Turn) -> str:
    """Return what is spoken in an answer that is audio; empty where there is no transcript."""
    audios = (members.get("audio") for members in turn.extra.values())
    return next((text for audio in audios if isinstance(audio, dict) and (text := _text(audio, "transcript"))), "")


def _text(members: JSONObject, *names: str) -> str:
    texts = (foreign.text_of(members.get(name)).strip() for name in names)
    return next((cut(text, _LONGEST_DETAIL) for text in texts if text), "")
