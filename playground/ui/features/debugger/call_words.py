"""What is said of a call in the list and in the picture of the loop. No widgets here."""

from __future__ import annotations

from playground.engine.inspect.calls import CallEntry
from playground.engine.session.call_notes import CallVerdict, CallVerdictCode
from playground.ui.widgets.plain_text import short_name

#: How a call was answered, by ``ToolResult.by``.
ANSWERED = {
    "you": "by you",
    "table": "from the table",
    "fixed": "fixed answer",
    "fork": "in a fork",
    "filled": "no result given",
    "someone": "in the conversation",
}


def seconds_words(seconds: float | None) -> str:
    """A time for people: ``84 ms``, ``1.20 s``, ``3 min 05 s``; empty for None."""
    if seconds is None:
        return ""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min"


def verdict_words(verdict: CallVerdict) -> str:
    """The verdict in a few words; a single problem in full."""
    if verdict.code is CallVerdictCode.FITS:
        return "fits the schema"
    if verdict.code is CallVerdictCode.MISFIT and len(verdict.problems) == 1:
        problem = verdict.problems[0]
        return f"{problem.where}: {problem.message}" if problem.where else problem.message
    return f"{verdict.words[:1].lower()}{verdict.words[1:]}"


def answered_words(entry: CallEntry) -> str:
    """How a call was answered, or that it was not."""
    if entry.result is None:
        return "no answer yet" if entry.on_path else "no answer"
    words = ANSWERED.get(entry.answered, entry.answered)
    return f"error, {words}" if entry.result.is_error else words


def turn_words(entry: CallEntry) -> str:
    """The number of the turn on its branch, and whether that is another one than is shown."""
    return str(entry.turn_number) if entry.on_path else f"{entry.turn_number} · other"


def about(entry: CallEntry) -> str:
    """All there is to say of a call, a line each."""
    where = f"Turn {entry.turn_number}" + ("" if entry.on_path else ", on another branch")
    lines = [f"{short_name(entry.call.name)} · {short_name(entry.call.id)}", where, entry.verdict.words]
    lines += [f"{problem.where}: {problem.message}".removeprefix(": ") for problem in entry.verdict.problems[:8]]
    if entry.edited:
        lines.append("The arguments were edited after the model sent them.")
    if entry.formed is not None:
        lines.append(f"The arguments arrived within {seconds_words(entry.formed)}.")
    lines.append(f"Answered: {answered_words(entry)}")
    if entry.seconds is not None:
        lines.append(f"The answer came {seconds_words(entry.seconds)} after the call was complete.")
    return "\n".join(lines)
