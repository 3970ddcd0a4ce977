"""A conversation as Markdown: texts as they were written, everything else in quotes and fences."""

from __future__ import annotations

import re

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult
from playground.engine.files.export.selection import Section, Selection, raster_url, server_notes, snapshot_facts
from playground.engine.files.images import is_address
from playground.engine.inspect.unknown_members import Beside, beside_part, beside_turn

_FENCE = re.compile("``+`")  # three or more; as one repeat, ``re`` is fifty times slower on texts without any


def to_markdown(selection: Selection) -> str:
    """Return the text."""
    blocks = [f"# {one_line(selection.title)}", one_line(" · ".join(snapshot_facts(selection.snapshot)))]
    for section in selection.sections():
        blocks += section_blocks(section, selection)
    return selection.clean("\n\n".join(block for block in blocks if block)) + "\n"


def section_blocks(section: Section, selection: Selection, level: int = 2) -> list[str]:
    """Return the blocks of a turn, under a heading of that level."""
    turn = section.turn
    model = turn.outcome.model if turn.outcome is not None else ""
    above = [section.speaker, *([one_line(model)] if model else []), *([section.place] if section.place else [])]
    blocks = [f"{'#' * level} {section.number}. {' · '.join(above)}"]
    for part in turn.parts:
        blocks += [_part(part, selection), *(_unknown_members(entry, selection) for entry in beside_part(part))]
    blocks += [_unknown_members(entry, selection) for entry in beside_turn(turn)]
    if section.ending:
        blocks.append(_quoted(f"**{one_line(section.ending)}**"))
    return blocks


def _part(part: Part, selection: Selection) -> str:
    match part:
        case Text():
            return part.text
        case Reasoning():
            text = part.text or ("(not readable)" if part.redacted or part.details else "")
            return _quoted(f"**Reasoning**\n\n{text}") if text else ""
        case Refusal():
            return _quoted(f"**Refusal**\n\n{part.text}")
        case ToolCall():
            return f"**Call of {_code(part.name)}** {_code(part.id)}\n\n{_fenced(part.arguments, 'json')}"
        case ToolResult():
            name = selection.call_name(part.call_id)
            tool = f" of {_code(name)}" if name else ""
            kind = "Error" if part.is_error else "Result"
            blocks = [f"**{kind}{tool}** {_code(part.call_id)}", _fenced(part.text), *map(_image, part.images)]
            if notes := server_notes(part):
                blocks.append(_quoted("\n\n".join(map(one_line, notes))))
            return "\n\n".join(blocks)
        case Image():
            return _image(part)
        case _:
            return f"**A part of a kind not known here**\n\n{_fenced(selection.laid_out(part.value), 'json')}"


def _unknown_members(entry: Beside, selection: Selection) -> str:
    about = f"**{entry.title.capitalize()}:** {_code(entry.names)} ({one_line(entry.fate)})"
    return f"{about}\n\n{_fenced(selection.laid_out(entry.members), 'json')}"


def _image(part: Image) -> str:
    label = re.sub(r"[\[\]\\\s]+", " ", part.name or "image").strip()
    if url := raster_url(part.url):
        return f"![{label}]({url})"
    return f"Image at <{part.url}>" if is_address(part.url) and not re.search("[<>]", part.url) else f"({label})"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    return f"`{one_line(text).replace('`', 'ˋ')}`" if text else ""


def one_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())
