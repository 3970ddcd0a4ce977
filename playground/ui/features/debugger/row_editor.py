"""The editor of one row of an answer table: which arguments it is for, and the answer they get."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from playground.domain.debugging import AnswerRow, MatchKind
from playground.engine.checks.questions import RowFits
from playground.jsonkit.reading import problem_at
from playground.ui.features.debugger.answer_field import AnswerField
from playground.ui.features.debugger.path_field import PathField
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.choice_fields import look
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.segments import Segments

KINDS: Final = (MatchKind.ANY, MatchKind.EQUAL, MatchKind.PATH)
TITLES: Final = ("Any", "Equal to", "JSONPath")
FRAME = 18  # pixels of border and padding above and below the lines


class RowEditor(QFrame):
    """``set_row`` shows a row, ``changed`` tells the one a person made of it."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "field-block")
        self._row = AnswerRow()
        self._latest: str | None = None
        self._showing = False
        self._asking = Asking(self)
        self._asking.answered.connect(self._dress)
        self.kinds = Segments(TITLES, "Which arguments the row is for")
        self.take_button = QPushButton("From the latest call")
        self.take_button.setProperty("kind", "link")
        self.take_button.setToolTip(tip("Put the arguments of the latest call of this tool here"))
        self.pattern = CodeEditor()
        self.pattern.setAccessibleName("Arguments the row is for")
        self.pattern.setPlaceholderText('{"city": "Oslo"}')
        self.pattern.set_wheel_needs_focus()
        self.pattern.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.path = PathField("JSONPath the row is for")
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.answer = AnswerField("Answer")
        title = QLabel("When the arguments are")
        title.setProperty("kind", "group")
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.kinds)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(4)
        column.addWidget(title)
        column.addLayout(head)
        column.addWidget(self.pattern)
        column.addWidget(self.path)
        column.addWidget(self.said)
        column.addWidget(self.take_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(4)
        column.addWidget(self.answer)
        self.kinds.chosen.connect(self._kind_chosen)
        self.pattern.textChanged.connect(self._pattern_typed)
        self.path.edited.connect(self._path_typed)
        self.take_button.clicked.connect(self.take_latest)
        self.answer.changed.connect(self._answered)

    @property
    def row(self) -> AnswerRow:
        """The row as edited."""
        return self._row

    def set_row(self, row: AnswerRow, latest: str | None = None) -> None:
        """Show a row without telling anyone; ``latest`` are the raw arguments of the latest call, None without one."""
        another = row != self._row
        self._row, self._latest = row, latest
        self._showing = True
        self.kinds.set_index(KINDS.index(row.match))
        if another:  # what was typed for the other kinds of match was another row's
            self.pattern.setPlainText(row.pattern if row.match is MatchKind.EQUAL else "")
            self.path.show_path(row.pattern if row.match is MatchKind.PATH else "", latest)
        self.answer.set_answer(row.answer)
        self._showing = False
        self._dress()

    def take_latest(self) -> None:
        """The row is for calls like the latest one."""
        if self._latest is None:
            return
        text = self._latest.strip() or "{}"
        self._change(match=MatchKind.EQUAL, pattern=text if problem_at(text) else pretty(text))
        self.set_row(self._row, self._latest)

    def _kind_chosen(self, index: int) -> None:
        kind = KINDS[index]
        pattern = {MatchKind.EQUAL: self.pattern.text(), MatchKind.PATH: self.path.line.text()}.get(kind, "")
        self._change(match=kind, pattern=pattern)

    def _pattern_typed(self) -> None:
        if not self._showing:
            self._change(pattern=self.pattern.text())

    def _path_typed(self, text: str) -> None:
        self._change(pattern=text)

    def _answered(self, answer: object) -> None:
        self._change(answer=answer)

    def _change(self, **changes: object) -> None:
        row = self._row.model_copy(update=changes)
        self._row, before = row, self._row
        self._dress()
        if row != before:
            self.changed.emit(row)

    def _dress(self) -> None:
        row = self._row
        equal = row.match is MatchKind.EQUAL
        self.pattern.setVisible(equal)
        self.path.setVisible(row.match is MatchKind.PATH)
        if row.match is MatchKind.PATH:
            self.path.show_path(row.pattern, self._latest)
        lines = min(max(self.pattern.document().blockCount(), 2), 8)
        self.pattern.setFixedHeight(lines * self.pattern.fontMetrics().lineSpacing() + FRAME)
        words, bad = self._equal_words() if equal else ("", False)
        self.said.setText(words)
        self.said.setVisible(bool(words))
        look(self.said, "flag-error" if bad else "small")
        look(self.pattern, "true" if bad else "false", "bad")
        found = self._asking.ask(RowFits(row, self._latest), alone=True)
        fits = found is not None and bool(found.fits)
        self.take_button.setVisible(
            self._latest is not None and row.match is not MatchKind.PATH and not (equal and fits)
        )

    def _equal_words(self) -> tuple[str, bool]:
        """What is said below the pattern, and whether that is an error."""
        row = self._row
        if not row.pattern.strip():
            return "Type the arguments as JSON; the row fits no call until then.", False
        found = self._asking.ask(RowFits(row, self._latest), alone=True)
        if found is None:
            return "Checking…", False
        if found.costly:
            return f"Too costly to check against the latest call: {found.costly}.", False
        if found.problem:
            broken = problem_at(row.pattern)
            where = f"line {broken.line}, column {broken.column}: {broken.message}" if broken else found.problem
            return f"Not JSON: {where}. The row fits no call.", True
        if self._latest is None:
            return "", False
        return "Equals the latest call." if found.fits else "Not the latest call.", False
