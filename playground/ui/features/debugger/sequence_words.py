"""The picture of the loop in words, for those who cannot see it, for tooltips and for the clipboard. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from playground.engine.inspect.calls import Span
from playground.ui.features.debugger.call_words import ANSWERED, seconds_words

TITLES = {"request": "waits", "reasoning": "Reasoning", "text": "Text"}


def title(span: Span) -> str:
    """What a span is, in a few words."""
    if span.kind in ("call", "result", "server"):
        return span.label if span.ok else f"× {span.label}"
    return TITLES.get(span.kind, span.label)


def clock_words(moment: float, step: float) -> str:
    """A moment on the axis, as exact as ``step`` (both in seconds) asks for."""
    decimals = next((n for n in range(6) if round(step, n) == step), 6)
    if moment < 60:
        return f"{moment:.{decimals}f} s" if moment else "0"
    minutes, rest = divmod(round(moment, decimals), 60)
    return f"{int(minutes)}:{rest:0{decimals + 3 if decimals else 2}.{decimals}f}"


def about(span: Span, number: int) -> str:
    """All there is to say of a span of request ``number``, a line each."""
    took = seconds_words(span.end - span.start)
    lines = [f"Request {number}"]
    if span.kind == "request":
        lines = [f"Request {number} to {span.label or 'the model'}", f"The first of the answer came after {took}."]
        if not span.ok:
            lines.append("Nothing usable came back.")
    elif span.kind == "call":
        lines += [f"{span.label} · {span.call_id}", f"Its arguments arrived within {took}."]
        lines.append("They fit the schema." if span.ok else "They do not fit the schema.")
    elif span.kind == "result":
        lines += [f"The answer to {span.call_id} came {ANSWERED.get(span.label, span.label)}, after {took}."]
        if not span.ok:
            lines.append("It says that the call failed.")
    elif span.kind == "server":
        lines.append(f"The server {span.label} worked at {span.call_id} for {took}.")
        if not span.ok:
            lines.append("It gave no answer, or one that says that it failed.")
    else:
        lines.append(f"{title(span)} for {took}." + ("" if span.ok else " The answer broke off."))
    lines.append(f"From {seconds_words(span.start)} on, counted from the first request.")
    return "\n".join(lines)


def numbers(spans: Sequence[Span]) -> dict[str, int]:
    """The number of each request by the turn it brought, from 1."""
    out: dict[str, int] = {}
    for span in spans:
        if span.kind == "request":
            out.setdefault(span.turn_id, len(out) + 1)
    return out


def summary(spans: Sequence[Span]) -> str:
    """The whole in one line."""
    requests = len(numbers(spans))
    if not requests:
        return ""
    calls = [span for span in spans if span.kind == "call"]
    words = [f"{requests:,} request{'s' * (requests > 1)}", f"{len(calls):,} call{'s' * (len(calls) != 1)}"]
    if wrong := sum(not call.ok for call in calls):
        words.append(f"{wrong:,} {'does' if wrong == 1 else 'do'} not fit")
    words.append(f"{seconds_words(max(span.end for span in spans) - spans[0].start)} in all")
    return " · ".join(words)


def told(spans: Sequence[Span]) -> str:
    """Every request and what came of it, a line each."""
    lines: dict[str, list[str]] = {}
    number = numbers(spans)
    for span in spans:
        took = seconds_words(span.end - span.start)
        line = lines.setdefault(span.turn_id, [])
        if span.kind == "request":
            line.append(f"Request {number[span.turn_id]} at {seconds_words(span.start)}: {took} until the answer began")
        elif span.kind == "call":
            line.append(f"call of {span.label}" + ("" if span.ok else " (does not fit)"))
        elif span.kind == "result":
            line.append(
                f"answered {ANSWERED.get(span.label, span.label)} after {took}" + ("" if span.ok else " (error)")
            )
        elif span.kind == "server":
            line.append(f"asked of {span.label} for {took}" + ("" if span.ok else " (no good answer)"))
        else:
            line.append(f"{title(span).lower()} for {took}")
    return "\n".join("; ".join(line) for line in lines.values())
