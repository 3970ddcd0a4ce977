"""Several lanes of an experiment for other people: as Markdown, as one HTML page with a column each, as a table.

What one question brought in each lane stands together: a *round* is a user turn and all that follows it up to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from playground.domain.roles import Role
from playground.engine.files.export.markdown import one_line, section_blocks
from playground.engine.files.export.page import STYLE, TAIL, escaped, head, section_html
from playground.engine.files.export.selection import Section, Selection, facts_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.spreadsheet import tab_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playground.engine.session.snapshot import Snapshot

_STYLE: Final = (
    STYLE
    + """
main { max-width: none; }
.scroll { overflow-x: auto; }
.lanes { border-collapse: separate; border-spacing: 12px 0; table-layout: fixed; }
.lanes > * > tr > * { width: 440px; min-width: 320px; max-width: 520px; padding: 0; text-align: left;
  vertical-align: top; font-weight: normal; }
.lanes > thead th { border-bottom: 1px solid var(--line); padding: 8px 0; }
.lanes > thead b { font-size: 16px; }
.lanes p { margin: 0; }
@media print { .scroll { overflow: visible; } .lanes > * > tr > * { width: auto; min-width: 0; } }
"""
)


@dataclass(frozen=True)
class Column:
    """One lane. ``about`` is what is different in it, ``figures`` what its last question took: words, a few each."""

    title: str
    about: tuple[str, ...]
    figures: tuple[str, ...]
    snapshot: Snapshot


class _Lane:
    def __init__(self, column: Column, known: Sequence[Secret]) -> None:
        self.column = column
        self.selection = Selection(column.snapshot, known, whole_tree=False)
        self.rounds = _rounds(self.selection.sections())

    def words(self, *parts: str) -> str:
        return self.selection.clean(" · ".join(part for part in parts if part))

    @property
    def title(self) -> str:
        return self.words(self.column.title, *facts_of(self.column.snapshot)[:1])


def _rounds(sections: Iterable[Section]) -> list[list[Section]]:
    out: list[list[Section]] = []
    for section in sections:
        if not out or (section.turn.role is Role.USER and any(one.turn.role is Role.USER for one in out[-1])):
            out.append([])
        out[-1].append(section)
    return out


def lanes_markdown(columns: Sequence[Column], known: Iterable[Secret] = ()) -> str:
    """A table of what each lane is and took, then each question with what every lane made of it."""
    secrets = tuple(known)
    lanes = [_Lane(column, secrets) for column in columns]
    first = lanes[0].selection
    rows = [("Lane", "What is different", "Figures"), ("---", "---", "---")]
    rows += [(lane.title, lane.words(*lane.column.about), lane.words(*lane.column.figures)) for lane in lanes]
    blocks = [
        f"# {one_line(first.title)}",
        "\n".join(f"| {' | '.join(one_line(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
    for number, row in enumerate(zip_longest(*(lane.rounds for lane in lanes)), 1):
        blocks.append(f"## Question {number}")
        for lane, found in zip(lanes, row, strict=True):
            if found:
                blocks.append(f"### {one_line(lane.title)}")
                blocks += [block for section in found for block in section_blocks(section, lane.selection, 4)]
    return first.clean("\n\n".join(block for block in blocks if block)) + "\n"


def lanes_page(columns: Sequence[Column], known: Iterable[Secret] = ()) -> str:
    """One page that needs nothing else and can do nothing, with the lanes as columns."""
    secrets = tuple(known)
    lanes = [_Lane(column, secrets) for column in columns]
    title = escaped(lanes[0].selection.title)
    out = [
        head(title, _STYLE),
        f'<header>\n<h1>{title}</h1>\n</header>\n<div class="scroll"><table class="lanes">\n<thead><tr>',
    ]
    for lane in lanes:
        about = escaped(lane.words(*lane.column.about))
        figures = escaped(lane.words(*lane.column.figures))
        out.append(f'<th><b>{escaped(lane.title)}</b><p class="facts">{about}</p><p class="facts">{figures}</p></th>')
    out.append("</tr></thead>\n<tbody>\n")
    for row in zip_longest(*(lane.rounds for lane in lanes)):
        out.append("<tr>")
        for number, (lane, found) in enumerate(zip(lanes, row, strict=True)):
            prefix = f"lane-{number + 1}-"
            out.append("<td>")
            out += [section_html(section, lane.selection, prefix) for section in found or ()]
            out.append("</td>")
        out.append("</tr>\n")
    out += ["</tbody></table></div>\n", TAIL]
    return "".join(out).encode("utf-8", "replace").decode("utf-8")


def lanes_table(columns: Sequence[Column], known: Iterable[Secret] = ()) -> tuple[str, str]:
    """For the clipboard: lanes as columns, a question a row, then figures; with tabs between, and as HTML."""
    secrets = tuple(known)
    lanes = [_Lane(column, secrets) for column in columns]
    rows = [[_said(found or ()) for found in row] for row in zip_longest(*(lane.rounds for lane in lanes))]
    rows.append([lane.words(*lane.column.about) for lane in lanes])
    rows.append([lane.words(*lane.column.figures) for lane in lanes])
    header = [lane.title for lane in lanes]
    cells = ["".join(f"<th>{escape(cell)}</th>" for cell in header)]
    cells += ["".join(f"<td>{escape(cell).replace(chr(10), '<br>')}</td>" for cell in row) for row in rows]
    html = "".join(f"<tr>{row}</tr>" for row in cells)
    return tab_text(header, rows), f"<table>{html}</table>"


def _said(sections: Sequence[Section]) -> str:
    """What the assistant said of a question, and what it called; how it ended where that is no answer."""
    parts: list[str] = []
    for section in sections:
        if section.turn.role is Role.ASSISTANT:
            parts += [section.turn.text, section.turn.refusal]
            parts += [f"{call.name}({call.arguments})" for call in section.turn.calls]
            parts.append(section.ending)
    return "\n".join(part for part in parts if part)
