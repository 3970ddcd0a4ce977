"""Text of arguments and results in a call's card."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from playground.domain.parts import ToolResult, Unknown
from playground.engine.session.call_notes import answer_time_words
from playground.jsonkit.problems import UNCHECKED, Problem, not_checked
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON
from playground.ui.features.conversation.caps import LINES
from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.features.conversation.markdown_stream import exact_lines
from playground.ui.features.conversation.text_check import unchecked_words

ONE_LINE = 48  # characters of JSON that fit into half a card; an answered call needs no more room
PRETTY_LIMIT = 20_000  # characters of arguments that are laid out as a tree; longer ones are shown unchanged
LEAST_TOLD = 0.05  # shortest shown duration of a call, in seconds
NOT_SENT = "A newer version of this application wrote this part. It is kept, and not sent."
VERDICT_LENGTH = 64  # characters of the first problem shown in a verdict; the rest is in its tooltip
LONGEST_DIFF = 400  # lines that are compared; the cost grows with their square
_written: Final = json.JSONEncoder(ensure_ascii=False).encode


class Judged(NamedTuple):
    """A verdict on arguments: the words and the kind of its chip, and its description."""

    words: str
    kind: str
    says: str


FREE_TEXT: Final = Judged("Free text", "chip", "The input of a custom tool is text and has no schema.")


def judged(problems: list[Problem] | None, arguments: str, *, has_tool: bool) -> Judged:
    """Return the verdict on arguments with these problems, None while they are being checked.

    `has_tool` says that there is a tool of the call's name.
    """
    if problems is None:
        words, says = unchecked_words(arguments)
        return Judged(words, "chip", says)
    says = "\n".join(f"{p.where}: {p.message}" if p.where else p.message for p in problems)
    if unknown := not_checked(problems):
        return Judged(clipped(unknown.message), "chip", says)
    if problems:
        first = problems[0]
        more = f" · and {len(problems) - 1} more" if len(problems) > 1 else ""
        return Judged(clipped(f"{first.where}: {first.message}".removeprefix(": ")) + more, "chip-error", says)
    if not has_tool:
        return Judged("Unknown tool", "chip", "No tool of this name is defined.")
    return Judged("Valid", "chip-ok", "The arguments match the schema of the tool.")


def clipped(text: str) -> str:
    """Return a text cut to the length of a verdict."""
    return cut(text, VERDICT_LENGTH)


def is_laid_out(arguments: str) -> bool:
    """Return whether `argument_lines` lays these arguments out."""
    return _laid_out(arguments) is not None


def shown_arguments(arguments: str, problems: list[Problem]) -> list[Line]:
    """Return the lines of arguments in a card: one line if they are short, with a single problem in red."""
    lines = argument_lines(arguments, problems)
    is_short = sum(len(line.text.strip()) + 1 for line in lines) <= ONE_LINE
    if len(problems) > 1 or not is_short or not is_laid_out(arguments):
        return lines
    spans = [span for line in lines for span in line.spans]
    one_line = [
        Span(f"{' ' * (n > 0)}{span.text.strip()}", span.style, token=span.token) for n, span in enumerate(spans)
    ]
    return [Line("raw", tuple(one_line))]


def argument_lines(arguments: str, problems: list[Problem]) -> list[Line]:
    """Lay out arguments with a member a line; several problems are named behind their lines, a single one is red.

    Arguments that are not JSON or would take too many lines are returned as they are.
    """
    laid_out = _laid_out(arguments)
    if laid_out is None:
        return exact_lines(arguments, "raw")
    wrong: dict[tuple[str | int, ...], list[str]] = {}
    for problem in problems:
        if problem.severity != UNCHECKED:  # nothing is known to be wrong
            wrong.setdefault(problem.path, []).append(problem.message)
    several = len(problems) > 1  # the card's header names a single problem
    out: list[Line] = []
    for path, text in laid_out:
        messages = " · ".join(wrong.pop(path, []))  # once, where the value begins
        spans = (Span(text, Style.CODE, token="deleted" if messages and path else ""),)
        message = (Span(f"   × {messages}", Style.CODE, token="deleted"),) if messages and several else ()
        out.append(Line("raw", (*spans, *message)))
    return out


@lru_cache(maxsize=16)
def _laid_out(arguments: str) -> list[tuple[tuple[str | int, ...], str]] | None:
    """Return the lines of `json_lines`, None if there are too many."""
    if len(arguments) > PRETTY_LIMIT:
        return None
    try:
        value = parse_json(arguments if arguments.strip() else "{}")
    except ValueError:
        return None
    lines = list(islice(json_lines(value), LINES + 1))
    return lines if len(lines) <= LINES else None


def changed_lines(received: str, arguments: str) -> list[Line]:
    """Compare the model's arguments with the edited ones: removed lines begin with −, new ones with +."""
    before, after = pretty_json(received).split("\n"), pretty_json(arguments).split("\n")
    if len(before) + len(after) > LONGEST_DIFF:
        return exact_lines(arguments, "raw")
    out: list[Line] = []
    for line in difflib.ndiff(before, after):
        mark, text = line[0], line[2:]
        if mark == "-":
            out.append(Line("raw", (Span(f"− {text}", Style.CODE, token="deleted"),)))
        elif mark == "+":
            out.append(Line("raw", (Span(f"+ {text}", Style.CODE, token="string"),)))
        elif mark == " ":
            out.append(Line("raw", (Span(f"  {text}", Style.CODE),)))
    return out


def unknown_lines(part: Unknown) -> list[str]:
    """Return the lines of a part of an unknown kind."""
    lines = [line for _, line in json_lines(part.value)]
    return [NOT_SENT, *lines] if part.from_file else lines


def json_lines(
    value: JSON, path: tuple[str | int, ...] = (), indent: int = 0, key: str = "", comma: str = ""
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the lines of pretty JSON, each with the path of its value; closing brackets have that of their opening one.

    `path`, `indent`, `key` and `comma` are those of a value inside another.
    """
    pad = "  " * indent
    if not isinstance(value, dict | list) or not value or indent >= 60:
        yield path, f"{pad}{key}{_written(value)}{comma}"
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield path, f"{pad}{key}{opening}"
    remaining = len(value)
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        remaining -= 1
        label = f"{_written(name)}: " if isinstance(value, dict) else ""
        yield from json_lines(inner, (*path, name), indent + 1, label, "," if remaining else "")
    yield path, f"{pad}{closing}{comma}"


def pretty_json(text: str) -> str:
    """Lay out JSON with a member a line; return other or very long text unchanged."""
    try:
        return "\n".join(line for _, line in json_lines(parse_json(text))) if len(text) <= PRETTY_LIMIT else text
    except ValueError:
        return text


def brief_json(text: str) -> str:
    """Lay out JSON on one line if that is short, else with a member a line."""
    try:
        line = json.dumps(parse_json(text), ensure_ascii=False) if len(text) <= PRETTY_LIMIT else ""
    except ValueError:
        return text
    return line if 0 < len(line) <= ONE_LINE else pretty_json(text)


WAITS: Final = "Needs your result"
_SOURCES: Final = {
    "you": "you",
    "table": "mock table",
    "fixed": "fixed reply",
    "server": "server",
    "fork": "compared result",
    "filled": "you",
}


def describe_result(result: ToolResult | None) -> str:
    """Return who answered a call and how long that took, such as "you 50 s · server 4 ms"."""
    if result is None:
        return "No result"
    source = _SOURCES.get(result.by, "")
    took = answer_time_words(result) if (result.seconds or 0) >= LEAST_TOLD else ""
    words = took if took and result.by in ("you", "server") else " · ".join(filter(None, (source, took)))
    return f"{words or 'Answered'} · error" if result.is_error else words or "Answered"


def waiting_words(remaining: float | None) -> str:
    """Return the status of a call that waits: for a person, or until a delayed result is sent."""
    if remaining is None:
        return WAITS
    return "No reply until Stop" if remaining == float("inf") else f"Sends in {remaining:.1f} s"
