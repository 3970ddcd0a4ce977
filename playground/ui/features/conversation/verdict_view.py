"""View of an answer that must be JSON: shown as code, validated, each error marked at its place.

The turn's own text is validated; the view shows it as pretty JSON, or exactly if it is not JSON.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QTextCursor
from PySide6.QtWidgets import QToolTip, QWidget

from playground.domain.output import schema_of
from playground.engine.questions.kinds import AnswerFits
from playground.jsonkit.layout import locate_all
from playground.jsonkit.problems import Problem, not_checked, position
from playground.jsonkit.reading import problem_at
from playground.jsonkit.tokens import TOKEN
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.caps import LONG_LINE
from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.features.conversation.scrolling import scroll_to
from playground.ui.features.conversation.shown_text import is_large
from playground.ui.features.conversation.text_check import TextCheck, unchecked_words
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.highlight import highlight
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.problem_line import ProblemList
from playground.ui.widgets.theme import code_font, tokens

TOOLTIP_PROBLEMS = 20  # problems in the tooltip of the verdict
MARK = "×"


class ChipText(NamedTuple):
    """Content of the verdict chip: its words, its style kind, and its tooltip."""

    words: str
    kind: str
    says: str


class MarkedView(TextView):
    """Code with marked lines: a background, a bar, a sign, and a tooltip with the reason."""

    def __init__(self, *, zoom: float) -> None:
        super().__init__(mode="raw", zoom=zoom)
        self.problems: dict[int, list[str]] = {}  # messages by source line, counted from 1
        self._first: list[int] = []  # the index of each source line among the lines drawn

    def show_code(self, text: str, language: str, marks: dict[int, list[str]]) -> None:
        """Show ``text`` in a frame; ``marks`` are the messages by line."""
        self.problems = marks
        self._first = []
        drawn: list[Line] = []
        source = text.split("\n")
        for number, pieces in enumerate(highlight(source, "json" if language else ""), 1):
            self._first.append(len(drawn))
            red = [("deleted", source[number - 1])]
            for chunk, spans in enumerate(_cut(red if number in marks else pieces)):
                first = not drawn
                drawn.append(Line("code", spans, joins=chunk > 0, language=language or "text", first=first))
        self.set_lines(text, drawn)
        self.viewport().update()

    def show_large(self, text: str) -> None:
        """Show a text that is too large to be laid out and marked unchanged."""
        self.problems, self._first = {}, []
        self.set_text(text)

    def select(self, line: int, column: int) -> QRectF:
        """Select the word at a place of the source (both from 1). Returns its rectangle in this widget."""
        text = self.source.split("\n")[line - 1]
        drawn, column = self._drawn_at(line, column)
        start = self._writer.block_start(drawn) + column
        token = TOKEN.match(text, self._column(line, drawn) + column) if text else None
        length = len(token[0].rstrip(",")) if token else 1
        block = self.document().findBlock(start)
        end = min(start + max(length, 1), block.position() + block.length() - 1)
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(max(end, start), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        return self._line_rect(drawn)

    def _drawn_at(self, line: int, column: int) -> tuple[int, int]:
        """Return the drawn line that holds a place of the source, and the column in it (from 0)."""
        drawn, remaining = self._first[line - 1], column - 1
        lines = self._writer.lines
        while remaining > len(lines[drawn].text) and drawn + 1 < len(lines) and lines[drawn + 1].joins:
            remaining -= len(lines[drawn].text)
            drawn += 1
        return drawn, min(remaining, len(lines[drawn].text))

    def _column(self, line: int, drawn: int) -> int:
        return sum(len(self._writer.lines[index].text) for index in range(self._first[line - 1], drawn))

    def _paint_frames(self, painter: QPainter, clip: QRectF) -> None:
        super()._paint_frames(painter, clip)
        t = tokens()
        font = code_font(10)
        font.setBold(True)
        painter.setFont(font)
        for number in self.problems:
            rect = self._source_rect(number)
            if not rect.intersects(clip):
                continue
            painter.fillRect(QRectF(1, rect.top(), self.width() - 2, rect.height()), QColor(t.error_background))
            painter.fillRect(QRectF(1, rect.top(), 2, rect.height()), QColor(t.error))
            painter.setPen(QColor(t.error))
            sign = QRectF(3, rect.top(), 9, min(rect.height(), painter.fontMetrics().height() + 6))
            painter.drawText(sign, Qt.AlignmentFlag.AlignCenter, MARK)

    def _source_rect(self, number: int) -> QRectF:
        first = self._first[number - 1]
        rect = self._line_rect(first)
        last = self._first[number] - 1 if number < len(self._first) else len(self._writer.lines) - 1
        return rect.united(self._line_rect(last)) if last > first else rect

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            y = event.pos().y()
            lines = [s for n, messages in self.problems.items() if _holds(self._source_rect(n), y) for s in messages]
            QToolTip.showText(event.globalPos(), tip("\n".join(lines)), self)
            return True
        return super().viewportEvent(event)


class AnswerCheckView(QWidget):
    """Validate and show an answer; ``chip_text`` is for the chip in the header of the turn."""

    height_changed = Signal()
    judged = Signal()  # the validation of a long answer has ended

    def __init__(self, *, zoom: float = 1.0) -> None:
        super().__init__()
        self._text: str | None = None
        self._format: JSONObject | None = None
        self._exact = False
        self.problems: list[Problem] = []
        self.chip_text = ChipText("", "chip", "")
        self._check = TextCheck(AnswerFits, self)
        self._check.checked.connect(self._checked)
        self._places: dict[Problem, tuple[int, int]] = {}
        self.view = MarkedView(zoom=zoom)
        self.view.setAccessibleName("The answer as JSON")
        self.view.height_changed.connect(self.height_changed)
        self.list = ProblemList(within=0)
        self.list.chosen.connect(self.go_to)
        self.list.grown.connect(self.height_changed)
        in_column(self.view, self.list, of=self, margins=0, spacing=6)

    def show_answer(self, text: str, response_format: JSONObject | None) -> None:
        """Validate ``text`` against the requested format and show it."""
        if text == self._text and response_format == self._format:
            return
        self._text, self._format = text, response_format
        self.list.reset()
        self._judge()
        self._draw()

    def _judge(self) -> None:
        text = self._text or ""
        problems = self._check.problems(text, self._format)
        self.problems = problems or []
        if problems is None:
            words, says = unchecked_words(text)
            self.chip_text = ChipText(words, "chip", says)
        else:
            self.chip_text = _verdict(problems, schema_of(self._format) is not None)

    def _checked(self) -> None:
        self._judge()
        self.judged.emit()
        self._draw()

    def set_exact(self, exact: bool) -> None:
        """Show the text character for character instead of laid out."""
        if exact != self._exact:
            self._exact = exact
            self._draw()

    def set_zoom(self, zoom: float) -> None:
        """Set the text size."""
        self.view.set_zoom(zoom)

    def go_to(self, problem: Problem) -> None:
        """Select the place of a problem in the answer and scroll to it."""
        if problem not in self._places:
            return
        rect = self.view.select(*self._places[problem])
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        scroll_to(self.view, rect)

    def _draw(self) -> None:
        text = self._text or ""
        if is_large(text, "raw"):
            self.view.show_large(text)
            self.view.marks.set_original(None)
            self._places = {}
            self._list_problems(self.problems)
            return
        broken = problem_at(text)
        display = show_hidden(text) if broken is not None or self._exact else pretty(text)
        placed = sorted(zip(_places(display, self.problems), self.problems, strict=True), key=lambda pair: pair[0])
        marks: dict[int, list[str]] = {}
        for (line, _), problem in placed:
            marks.setdefault(line, []).append(_words(problem))
        self._places = {problem: place for place, problem in placed}
        self.view.show_code(display, "" if broken is not None and not _like_json(text) else "json", marks)
        self.view.marks.set_original(text)
        self._list_problems([problem for _, problem in placed])

    def _list_problems(self, problems: list[Problem]) -> None:
        self.list.show_problems(problems)
        self.height_changed.emit()


def _verdict(problems: list[Problem], has_schema: bool) -> ChipText:
    says = "\n".join(_words(problem) for problem in problems[:TOOLTIP_PROBLEMS])
    if not problems:
        words = "Valid" if has_schema else "Valid JSON"
        return ChipText(words, "chip-ok", "The answer matches its format.")
    if not_checked(problems):
        return ChipText("Not checked", "chip", says)
    if not has_schema or problems[0].message.startswith("not JSON"):
        return ChipText("Not JSON", "chip-error", says)
    return ChipText(f"{len(problems):,} schema error{'s' * (len(problems) > 1)}", "chip-error", says)


def _words(problem: Problem) -> str:
    return f"{problem.where}: {problem.message}" if problem.where else problem.message


def _places(display: str, problems: list[Problem]) -> list[tuple[int, int]]:
    """Return the line and column of each problem in a text; in broken JSON, all are at the syntax error."""
    broken = problem_at(display)
    if broken is None:
        locations = locate_all(display, [problem.path for problem in problems])
        return [locations.get(problem.path, (1, 1)) for problem in problems]
    last = position(display, len(display.rstrip()))
    return [min((broken.line, broken.column), last)] * len(problems)


def _like_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _holds(rect: QRectF, y: float) -> bool:
    return rect.top() <= y < rect.bottom()


def _cut(pieces: list[tuple[str, str]]) -> list[tuple[Span, ...]]:
    """Return a source line as spans, a very long one cut into pieces that are cheap to lay out."""
    out: list[tuple[Span, ...]] = []
    now: list[Span] = []
    room = LONG_LINE
    for token, text in pieces:
        start = 0
        while start < len(text):
            piece = text[start : start + room]
            start += len(piece)
            now.append(Span(piece, Style.CODE, token=token))
            room -= len(piece)
            if not room:
                out.append(tuple(now))
                now, room = [], LONG_LINE
    return [*out, tuple(now)] if now or not out else out
