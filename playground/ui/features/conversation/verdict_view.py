"""View of an answer that must be JSON: shown as code, validated, each error marked at its place.

The turn's own text is validated; the view shows it as pretty JSON, or exactly if it is not JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QTextCursor
from PySide6.QtWidgets import QToolTip, QWidget

from playground.domain.output import schema_of
from playground.domain.parts import Text
from playground.engine.questions.kinds import AnswerFits
from playground.jsonkit.layout import locate_all
from playground.jsonkit.problems import Problem, not_checked, position
from playground.jsonkit.reading import problem_at
from playground.jsonkit.texts import quantity
from playground.jsonkit.tokens import TOKEN
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.features.conversation.measures import scroll_to
from playground.ui.features.conversation.part_view import PartContext, PartView, Searched
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
        self.problems: dict[int, list[str]] = {}  # messages by line, counted from 1

    def show_code(self, text: str, language: str, marks: dict[int, list[str]]) -> None:
        """Show a text in a frame; `marks` are the messages by line."""
        red = {number: [("deleted", line)] for number, line in enumerate(text.split("\n"), 1) if number in marks}
        drawn = highlight(text.split("\n"), "json" if language else "")
        lines = [
            Line(
                "code",
                tuple(Span(piece, Style.CODE, token=token) for token, piece in red.get(number, pieces)),
                language=language or "text",
                first=number == 1,
            )
            for number, pieces in enumerate(drawn, 1)
        ]
        self.problems = marks if self.set_lines(text, lines) else {}
        self.viewport().update()

    def show_large(self, text: str) -> None:
        """Show a text that is too large to be laid out and marked unchanged."""
        self.problems = {}
        self.set_text(text)

    def select(self, line: int, column: int) -> QRectF:
        """Select the word at a place of the text (both from 1). Return its rectangle in this widget."""
        block = self.document().findBlock(self._writer.block_start(line - 1))
        start = min(column - 1, block.length() - 1)
        token = TOKEN.match(self.source.split("\n")[line - 1], start)
        end = start + max(len(token[0].rstrip(",")) if token else 1, 1)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + start)
        cursor.setPosition(block.position() + min(end, block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        return self._writer.line_rect(line - 1)

    def _paint_frames(self, painter: QPainter, clip: QRectF) -> None:
        super()._paint_frames(painter, clip)
        t = tokens()
        font = code_font(10)
        font.setBold(True)
        painter.setFont(font)
        for number in self.problems:
            rect = self._writer.line_rect(number - 1)
            if not rect.intersects(clip):
                continue
            painter.fillRect(QRectF(1, rect.top(), self.width() - 2, rect.height()), QColor(t.error_background))
            painter.fillRect(QRectF(1, rect.top(), 2, rect.height()), QColor(t.error))
            painter.setPen(QColor(t.error))
            sign = QRectF(3, rect.top(), 9, min(rect.height(), painter.fontMetrics().height() + 6))
            painter.drawText(sign, Qt.AlignmentFlag.AlignCenter, MARK)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            messages = self.problems.get(self._writer.line_at_height(event.pos().y()) + 1, []) if self.problems else []
            QToolTip.showText(event.globalPos(), tip("\n".join(messages)), self)
            return True
        return super().viewportEvent(event)


class AnswerCheckView(QWidget, PartView[Text]):
    """Validate and show an answer; ``chip_text`` is for the chip in the header of the turn."""

    is_edited_in_place = True

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
        in_column(self.view, self.list, parent=self, margins=0, spacing=6)

    @classmethod
    def make(cls, context: PartContext, mode: str) -> AnswerCheckView:
        view = cls(zoom=context.zoom)
        view.judged.connect(context.judged)
        view.height_changed.connect(context.frame.height_changed)
        return view

    def show_part(self, part: Text) -> None:
        outcome = self.context.turn.outcome
        if self._exact is not self.context.raw:
            self._exact, self._text = self.context.raw, None
        self.show_answer(part.text, outcome.response_format if outcome else None)

    @property
    def busy(self) -> bool:
        return self.view.textCursor().hasSelection()

    def texts(self) -> Sequence[Searched]:
        return ((self.view, None),)

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
    return ChipText(quantity(len(problems), "schema error"), "chip-error", says)


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
