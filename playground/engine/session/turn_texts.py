"""Other words in the place of a turn's own: pure functions over one turn, which know nothing of other turns."""

from __future__ import annotations

from playground.domain.parts import Part, Text, ToolCall
from playground.domain.transcript import Role, Turn


def text_of(turn: Turn) -> str:
    """The text that is edited in a turn: its content, or the first result of a tool turn."""
    return turn.results[0].text if turn.role is Role.TOOL and turn.results else turn.text


def with_text(turn: Turn, text: str) -> Turn:
    """The turn with other content (a tool turn: with another result); other parts stay in place."""
    if turn.role is Role.TOOL and turn.results:
        old = turn.results[0]
        by = old.by if old.text == text or not old.by else "you"
        parts: tuple[Part, ...] = (old.model_copy(update={"text": text, "by": by}), *turn.parts[1:])
    else:
        parts = _with_text(turn.parts, text)
    return turn.model_copy(update={"parts": parts})


def with_arguments(turn: Turn, call_id: str, arguments: str) -> Turn:
    """The turn with other raw arguments in one call; what the model sent is kept beside them while it differs."""
    parts = tuple(
        call_with_arguments(part, arguments, sent=turn.outcome is not None)
        if isinstance(part, ToolCall) and part.id == call_id
        else part
        for part in turn.parts
    )
    return turn.model_copy(update={"parts": parts})


def call_with_arguments(call: ToolCall, arguments: str, *, sent: bool) -> ToolCall:
    """The call with other arguments. ``sent`` says that a model sent it."""
    before = call.arguments if call.received is None else call.received
    kept = before if (sent or call.received is not None) and arguments != before else None
    return call.model_copy(update={"arguments": arguments, "received": kept})


def _with_text(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """``parts`` with all content replaced by one text, where the first content stood.

    Texts at both ends that say the same as before stay as they are, with what they came with.
    """
    texts = [part for part in parts if isinstance(part, Text)]
    first, last = 0, len(texts)
    while first < last and text.startswith(texts[first].text):
        text = text[len(texts[first].text) :]
        first += 1
    while first < last and text.endswith(texts[last - 1].text):
        last -= 1
        text = text[: len(text) - len(texts[last].text)]
    if text and first == last and first:  # what was added to a text, or between two, goes with the one before it
        first -= 1
        text = texts[first].text + text
    elif text and first == last and texts:
        last = 1
        text += texts[0].text
    changed = texts[first:last]
    out: list[Part] = []
    for part in parts:
        if changed and part is changed[0]:
            kept = part.model_copy(update={"text": text}) if len(changed) == 1 else Text(text=text)
            out += [kept] if text else []
        elif not any(part is one for one in changed):
            out.append(part)
    if text and not texts:
        at = next((n for n, part in enumerate(out) if isinstance(part, ToolCall)), len(out))
        out.insert(at, Text(text=text))
    return tuple(out)
