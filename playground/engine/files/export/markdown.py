"""A conversation as Markdown: texts as they were written, everything else in quotes and fences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from markupsafe import Markup

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.roles import Role
from playground.engine.files.export.page import STYLE, TAIL, escaped, head, render_turns
from playground.engine.files.export.selection import Section, Selection, raster_url, server_notes, snapshot_facts
from playground.engine.files.images import is_address
from playground.engine.gateways.secrets import Secret
from playground.engine.inspect.hosted_items import generated_picture, hosted_item
from playground.engine.inspect.unknown_members import UnknownMembers, clipped, unknown_in_part, unknown_in_turn
from playground.engine.io.files import resource_root
from playground.engine.io.spreadsheet import tab_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playground.engine.session.snapshot import Snapshot

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
        blocks += [
            _part(part, selection),
            *(_unknown_members(entry, selection) for entry in unknown_in_part(part)),
        ]
    blocks += [_unknown_members(entry, selection) for entry in unknown_in_turn(turn)]
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
            return _unknown_part(part, selection)


def _unknown_part(part: Unknown, selection: Selection) -> str:
    """Return a part of an unknown kind as JSON; an item that the gateway ran itself under its title, with its image."""
    item = hosted_item(part)
    if item is None:
        return f"**A part of an unknown kind**\n\n{_fenced(selection.laid_out(part.value), 'json')}"
    picture = generated_picture(item)
    is_shown = picture is not None and raster_url(picture.url) != ""
    blocks = [f"**{one_line(item.title)}** {_code(item.subject)}".rstrip()]
    blocks += [_image(picture)] if picture is not None and is_shown else []
    blocks.append(_fenced(selection.laid_out(clipped(part.value) if is_shown else part.value), "json"))
    return "\n\n".join(blocks)


def _unknown_members(entry: UnknownMembers, selection: Selection) -> str:
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


# ---- several lanes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A lane: its differences (``about``) and the metrics of its last question (``figures``), a few words each."""

    title: str
    about: tuple[str, ...]
    figures: tuple[str, ...]
    snapshot: Snapshot


class _Lane:
    def __init__(self, column: Column, secrets: Sequence[Secret]) -> None:
        self.selection = Selection(column.snapshot, secrets, whole_tree=False)
        self.rounds = _rounds(self.selection.sections())
        self.title = self._join((column.title, *snapshot_facts(column.snapshot)[:1]))
        self.about = self._join(column.about)
        self.figures = self._join(column.figures)

    def _join(self, texts: Iterable[str]) -> str:
        return self.selection.clean(" · ".join(text for text in texts if text))


def _lanes(columns: Sequence[Column], secrets: Iterable[Secret]) -> list[_Lane]:
    secrets = tuple(secrets)
    return [_Lane(column, secrets) for column in columns]


def _rounds(sections: Iterable[Section]) -> list[list[Section]]:
    rounds: list[list[Section]] = []
    for section in sections:
        is_user = section.turn.role is Role.USER
        if not rounds or (is_user and any(previous.turn.role is Role.USER for previous in rounds[-1])):
            rounds.append([])
        rounds[-1].append(section)
    return rounds


def lanes_markdown(columns: Sequence[Column], secrets: Iterable[Secret] = ()) -> str:
    """Return a table of the lanes with their differences and metrics, then each question with all answers."""
    lanes = _lanes(columns, secrets)
    first = lanes[0].selection
    rows = [("Lane", "What is different", "Figures"), ("---", "---", "---")]
    rows += [(lane.title, lane.about, lane.figures) for lane in lanes]
    blocks = [
        f"# {one_line(first.title)}",
        "\n".join(f"| {' | '.join(one_line(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
    for number, row in enumerate(zip_longest(*(lane.rounds for lane in lanes)), 1):
        blocks.append(f"## Question {number}")
        for lane, sections in zip(lanes, row, strict=True):
            if sections:
                blocks.append(f"### {one_line(lane.title)}")
                blocks += [block for section in sections for block in section_blocks(section, lane.selection, 4)]
    return first.clean("\n\n".join(block for block in blocks if block)) + "\n"


def lanes_page(columns: Sequence[Column], secrets: Iterable[Secret] = ()) -> str:
    """Return one page with a column for each lane; it loads nothing and runs nothing."""
    lanes = _lanes(columns, secrets)
    title = lanes[0].selection.title
    rows = list(zip_longest(*(lane.rounds for lane in lanes)))
    body = render_turns("lanes.html.j2", lanes[0].selection, title=title, lanes=lanes, rows=rows)
    style = STYLE + (resource_root() / "templates" / "lanes.css").read_text(encoding="utf-8")
    return head(escaped(title), style) + body + TAIL


def lanes_table(columns: Sequence[Column], secrets: Iterable[Secret] = ()) -> tuple[str, str]:
    """Return a table for the clipboard, as text with tabs and as HTML: a column for each lane, a row for each question.

    The last rows are the differences and the metrics.
    """
    lanes = _lanes(columns, secrets)
    header = [lane.title for lane in lanes]
    rows = [[_answer_text(cell or ()) for cell in row] for row in zip_longest(*(lane.rounds for lane in lanes))]
    rows += [[lane.about for lane in lanes], [lane.figures for lane in lanes]]
    html = [Markup("").join(Markup("<th>{}</th>").format(cell) for cell in header)]
    for row in rows:
        cells = (Markup("<br>").join(cell.split("\n")) for cell in row)
        html.append(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells))
    lines = Markup("").join(Markup("<tr>{}</tr>").format(row) for row in html)
    return tab_text(header, rows), str(Markup("<table>{}</table>").format(lines))


def _answer_text(sections: Sequence[Section]) -> str:
    """Return the texts and calls of the assistant in a round, and how the answer ended if it is not complete."""
    texts: list[str] = []
    for section in sections:
        if section.turn.role is Role.ASSISTANT:
            texts += [section.turn.text, section.turn.refusal]
            texts += [f"{call.name}({call.arguments})" for call in section.turn.calls]
            texts.append(section.ending)
    return "\n".join(text for text in texts if text)
