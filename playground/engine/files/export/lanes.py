"""Several lanes of an experiment as Markdown, as one HTML page with a column each, and as a table.

A *round* is a user turn and everything up to the next one; the answers of all lanes to one question are shown together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from markupsafe import Markup

from playground.domain.roles import Role
from playground.engine.files.export.markdown import one_line, section_blocks
from playground.engine.files.export.page import STYLE, TAIL, escaped, head, render_turns
from playground.engine.files.export.selection import Section, Selection, snapshot_facts
from playground.engine.gateways.secrets import Secret
from playground.engine.io.resources import resource_root
from playground.engine.io.spreadsheet import tab_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playground.engine.session.snapshot import Snapshot


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
