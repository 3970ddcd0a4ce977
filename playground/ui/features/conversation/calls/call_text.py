"""Arguments and results as the text a call's card shows."""

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
PRETTY_LIMIT = 20_000  # characters of arguments that are laid out as a tree; longer ones are shown as they came
LEAST_TOLD = 0.05  # seconds a call took that are worth telling
NOT_SENT = "A newer version of this application wrote this part. It is kept, and not sent."
VERDICT_LENGTH = 64  # characters of the first problem shown in a verdict; the rest is in its tooltip
LONGEST_DIFF = 400  # lines that are compared; the cost grows with their square
_written: Final = json.JSONEncoder(ensure_ascii=False).encode


class Judged(NamedTuple):
    """A verdict on arguments: its words, the look of its chip, and all there is to say."""

    words: str
    kind: str
    says: str


FREE_TEXT: Final = Judged("Free text", "chip", "The input of a custom tool is text and has no schema.")


def judged(problems: list[Problem] | None, arguments: str, *, known: bool) -> Judged:
    """What a chip says of arguments with these problems; ``known`` says that there is a tool of the call's name.

    None: it is not known what is wrong with them.
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
    if not known:
        return Judged("Unknown tool", "chip", "No tool of this name is defined.")
    return Judged("Valid", "chip-ok", "The arguments match the schema of the tool.")


def clipped(text: str) -> str:
    """A text as long as a verdict may be."""
    return cut(text, VERDICT_LENGTH)


def is_laid_out(arguments: str) -> bool:
    """Whether ``argument_lines`` lays these arguments out, with their problems."""
    return _laid_out(arguments) is not None


def shown_arguments(arguments: str, problems: list[Problem], *, answered: bool) -> list[Line]:
    """Arguments as a card shows them: an answered call without problems needs one line where that is short."""
    brief = brief_json(arguments) if answered and not problems else ""
    if brief and "\n" not in brief:
        return [Line("raw", (Span(brief, Style.CODE),))]
    return argument_lines(arguments, problems)


def argument_lines(arguments: str, problems: list[Problem]) -> list[Line]:
    """Arguments laid out a member a line, each problem behind the line it is about.

    As they came when they are not JSON, and where they would take more lines than are drawn at once.
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
        said = " · ".join(wrong.pop(path, []))  # once, where the value begins
        spans = (Span(text, Style.CODE, token="deleted" if said and path else ""),)
        message = (Span(f"   × {said}", Style.CODE, token="deleted"),) if said and several else ()
        out.append(Line("raw", (*spans, *message)))
    return out


@lru_cache(maxsize=16)
def _laid_out(arguments: str) -> list[tuple[tuple[str | int, ...], str]] | None:
    """The lines of ``json_lines``, if they are few enough; no more of them are made than that takes."""
    if len(arguments) > PRETTY_LIMIT:
        return None
    try:
        value = parse_json(arguments if arguments.strip() else "{}")
    except ValueError:
        return None
    lines = list(islice(json_lines(value), LINES + 1))
    return lines if len(lines) <= LINES else None


def changed_lines(received: str, arguments: str) -> list[Line]:
    """What was changed in the arguments a model sent: lines taken out begin with −, new ones with +."""
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
    """The lines that a part of an unknown kind is shown with."""
    lines = [line for _, line in json_lines(part.value)]
    return [NOT_SENT, *lines] if part.from_file else lines


def json_lines(
    value: JSON, path: tuple[str | int, ...] = (), indent: int = 0, key: str = "", comma: str = ""
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Pretty JSON as (path of what the line holds, line); closing brackets have the path of their opening one.

    ``path``, ``indent``, ``key`` and ``comma`` are of a value inside another.
    """
    pad = "  " * indent
    if not isinstance(value, dict | list) or not value or indent >= 60:
        yield path, f"{pad}{key}{_written(value)}{comma}"
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield path, f"{pad}{key}{opening}"
    left = len(value)
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        left -= 1
        label = f"{_written(name)}: " if isinstance(value, dict) else ""
        yield from json_lines(inner, (*path, name), indent + 1, label, "," if left else "")
    yield path, f"{pad}{closing}{comma}"


def pretty_json(text: str) -> str:
    """JSON laid out a member a line; what is none, or is very long, as it is."""
    try:
        return "\n".join(line for _, line in json_lines(parse_json(text))) if len(text) <= PRETTY_LIMIT else text
    except ValueError:
        return text


def brief_json(text: str) -> str:
    """As ``pretty_json``, on one line where that is short."""
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
