"""Words for rules, mock tables, calls and the sequence of a run. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.domain.debugging import Answer, AnswerRow, MatchKind, Policy, ToolRule
from playground.domain.durations import brief_duration
from playground.engine.inspect.calls import CallEntry, Span
from playground.engine.session.call_notes import CallVerdict, CallVerdictCode
from playground.jsonkit.texts import quantity
from playground.ui.widgets.plain_text import show_hidden, shown_name

# ---- rules and answers -----------------------------------------------------------------------------------------------

POLICIES: Final = (
    (Policy.PAUSE, "Ask me"),
    (Policy.TABLE, "Mock table"),
    (Policy.FIXED, "Fixed reply"),
    (Policy.SERVER, "Call server"),
)
MAX_LINE: Final = 160  # characters of a text in one line


def one_line(text: str, most: int = MAX_LINE) -> str:
    """Return a text in one line, with hidden characters as marks, cut if it is long."""
    line = show_hidden(" ".join(text[: most * 4].split()))
    return line if len(line) <= most and len(text) <= most * 4 else f"{line[:most]}…"


def answer_words(answer: Answer, most: int = MAX_LINE) -> str:
    """Return the text of an answer and its options: `error · no such city · after 2 s`."""
    if answer.never:
        return "no reply"
    words = ["error"] if answer.is_error else []
    if answer.size:
        words.append(f"{answer.size:,} characters of {one_line(answer.text, 24)}")
    else:
        words.append(one_line(answer.text, most) if answer.text.strip() else "empty")
    if answer.delay:
        words.append(f"after {answer.delay:g} s")
    return " · ".join(words)


def match_words(row: AnswerRow) -> str:
    """Return which arguments a row is for."""
    if row.match is MatchKind.ANY:
        return "any"
    return one_line(row.pattern) or "(empty)"


def rule_words(rule: ToolRule) -> str:
    """Return a rule in a line: `Ask me`, `Mock table, 3 rows · asks from call 8`, `Fixed reply: sunny`."""
    words = dict(POLICIES)[rule.policy]
    if rule.policy is Policy.PAUSE:
        return f"{words} · {_row_count(rule)} ready" if rule.rows else words
    if rule.policy is Policy.TABLE:
        words += f", {_row_count(rule)}"
    elif rule.policy is Policy.FIXED:
        words += f": {answer_words(rule.fixed, 40)}"
    conditions = ["before the call"] * rule.before + ["after the call"] * rule.after
    conditions = conditions if rule.policy is Policy.SERVER else []
    conditions += ["on a match"] if rule.pause_on_path else []
    conditions += [f"from call {rule.pause_from}"] if rule.pause_from else []
    words += "" if rule.pause_on_misfit else " · also answers invalid calls"
    return f"{words} · asks {' and '.join(conditions)}" if conditions else words


def _row_count(rule: ToolRule) -> str:
    count = len(rule.rows)
    return "no rows" if not count else "1 row" if count == 1 else f"{count} rows"


# ---- calls -----------------------------------------------------------------------------------------------------------

#: Words for `ToolResult.by`.
ANSWERED: Final = {
    "you": "by you",
    "table": "from the mock table",
    "fixed": "fixed reply",
    "server": "by the server",
    "fork": "in a fork",
    "filled": "failed by you",
    "someone": "in the conversation",
}


def verdict_words(verdict: CallVerdict) -> str:
    """Return a verdict in a few words; a single problem in full."""
    if verdict.code is CallVerdictCode.FITS:
        return "Valid"
    if verdict.code is CallVerdictCode.MISFIT and len(verdict.problems) == 1:
        problem = verdict.problems[0]
        return f"{problem.where}: {problem.message}" if problem.where else problem.message
    return verdict.words


def answered_words(entry: CallEntry) -> str:
    """Return who answered a call, or that it needs a result."""
    if entry.result is None:
        return "needs a result" if entry.on_path else "no result"
    words = ANSWERED.get(entry.answered, entry.answered)
    return f"error, {words}" if entry.result.is_error else words


def turn_words(entry: CallEntry) -> str:
    """Return the number of the turn on its branch."""
    return str(entry.turn_number) if entry.on_path else f"{entry.turn_number}, other branch"


def describe_call(entry: CallEntry) -> str:
    """Return the facts of a call, a line each."""
    where = f"Message {entry.turn_number}" + ("" if entry.on_path else ", other branch")
    lines = [f"{shown_name(entry.call.name)} · {shown_name(entry.call.id)}", where, verdict_words(entry.verdict)]
    lines += [f"{problem.where}: {problem.message}".removeprefix(": ") for problem in entry.verdict.problems[:8]]
    if entry.edited:
        lines.append("The arguments were edited.")
    if entry.formed is not None:
        lines.append(f"The arguments arrived within {brief_duration(entry.formed)}.")
    lines.append(f"Answered: {answered_words(entry)}")
    if entry.time_words:
        lines.append(f"Time: {entry.time_words}")
    return "\n".join(lines)


# ---- the sequence of a run -------------------------------------------------------------------------------------------


def span_title(span: Span) -> str:
    """Return a span in a few words."""
    if span.kind in ("call", "result", "server"):
        label = shown_name(span.label)
        return label if span.ok else f"× {label}"
    return {"request": "waiting", "reasoning": "Reasoning", "text": "Text"}.get(span.kind, shown_name(span.label))


def clock_words(moment: float, step: float) -> str:
    """Return a moment in seconds, as exact as a step between two of them requires."""
    decimals = next((n for n in range(6) if round(step, n) == step), 6)
    if moment < 60:
        return f"{moment:.{decimals}f} s" if moment else "0"
    minutes, seconds = divmod(round(moment, decimals), 60)
    return f"{int(minutes)}:{seconds:0{decimals + 3 if decimals else 2}.{decimals}f}"


def describe_span(span: Span, number: int) -> str:
    """Return the facts of a span of request `number`, a line each."""
    took = brief_duration(span.end - span.start)
    lines = [f"Request {number}"]
    if span.kind == "request":
        lines = [f"Request {number} to {shown_name(span.label) or 'the model'}", f"First response after {took}."]
        lines += [] if span.ok else ["No usable response."]
    elif span.kind == "call":
        lines += [f"{shown_name(span.label)} · {shown_name(span.call_id)}", f"The arguments arrived within {took}."]
        lines.append("The arguments are valid." if span.ok else "The arguments are not valid.")
    elif span.kind == "result":
        by = ANSWERED.get(span.label, span.label)
        lines.append(f"Answer to {shown_name(span.call_id)}: {by}, {span.note or took}.")
        lines += [] if span.ok else ["The result is an error."]
    elif span.kind == "server":
        lines.append(f"Server {shown_name(span.label)} worked at {shown_name(span.call_id)} for {took}.")
        lines += [] if span.ok else ["No answer, or an error."]
    else:
        lines.append(f"{span_title(span)} for {took}." + ("" if span.ok else " The answer broke off."))
    lines.append(f"Starts {brief_duration(span.start)} after the first request.")
    return "\n".join(lines)


def request_numbers(spans: Sequence[Span]) -> dict[str, int]:
    """Return the number of each request by the turn that it brought, from 1."""
    numbers: dict[str, int] = {}
    for span in spans:
        if span.kind == "request":
            numbers.setdefault(span.turn_id, len(numbers) + 1)
    return numbers


def summarize_spans(spans: Sequence[Span]) -> str:
    """Return a run in a line: requests, calls, and the time with a person's share of it."""
    requests = len(request_numbers(spans))
    if not requests:
        return ""
    calls = [span for span in spans if span.kind == "call"]
    words = [quantity(requests, "request"), quantity(len(calls), "call")]
    if invalid := sum(not call.ok for call in calls):
        words.append(f"{invalid:,} invalid")
    person: dict[str, float] = {}
    for span in spans:
        person[span.turn_id] = max(person.get(span.turn_id, 0.0), span.person)
    total, waited = max(span.end for span in spans) - spans[0].start, sum(person.values())
    words.append(f"{brief_duration(max(total - waited, 0.0))} in all")
    if waited:
        words.append(f"you {brief_duration(waited)}")
    return " · ".join(words)


def list_requests(spans: Sequence[Span]) -> str:
    """Return every request with its calls and their answers, a line each."""
    lines: dict[str, list[str]] = {}
    numbers = request_numbers(spans)
    for span in spans:
        took = brief_duration(span.end - span.start)
        line = lines.setdefault(span.turn_id, [])
        if span.kind == "request":
            start = brief_duration(span.start)
            line.append(f"Request {numbers[span.turn_id]} at {start}: first response after {took}")
        elif span.kind == "call":
            line.append(f"call of {shown_name(span.label)}" + ("" if span.ok else " (invalid)"))
        elif span.kind == "result":
            by = ANSWERED.get(span.label, span.label)
            line.append(f"answered {by}, {span.note or took}" + ("" if span.ok else " (error)"))
        elif span.kind == "server":
            line.append(f"server {shown_name(span.label)} {took}" + ("" if span.ok else " (no answer or an error)"))
        else:
            line.append(f"{span_title(span).lower()} {took}")
    return "\n".join("; ".join(line) for line in lines.values())
