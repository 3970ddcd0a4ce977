"""Repeat a step: one request asked many times, with the tools as they are or in two variants, and what came of it.

It belongs to one experiment, changes nothing in it, and is not modal. Closed while it asks, it stops asking.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from itertools import accumulate

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QToolTip,
    QWidget,
)

from playground.domain.errors import RunRefusedError
from playground.domain.request import Request
from playground.domain.transcript import Role
from playground.engine.session.changes import Change, PathChanged, SettingsChanged
from playground.engine.session.session import Session
from playground.engine.session.stability import (
    FAILED,
    MOST_SAMPLES,
    NO_CALL,
    Stability,
    Variant,
    VariantResult,
    sample,
    stability_csv,
    step_request,
)
from playground.ui.features.debugger.stability_words import Bar, bars, brief, figures, progress_words, share
from playground.ui.features.debugger.variant_editor import VariantEditor
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import one_line_of, short_title, show_hidden, shown_name, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.session_window import main_window
from playground.ui.widgets.theme import code_font, tokens

WIDE, WIDER, TALL = 760, 1180, 680
DRAW_MS = 100
MOST_STEPS = 100
NEXT = ""  # stands for the request that a run would send now
UNASKED = "Stopped before anything was asked."
EMPTY = (
    "The same request goes out as often as you say, and the answers are counted: which tools are called with which "
    "arguments, how many calls fit, how long it takes. The conversation stays as it is."
)

LABEL, BAR, GAP = 16, 12, 10  # pixels: a line of a label, its bar, the room below
MOST_LINES = 6  # calls of one answer that are written out
COUNT = 82  # room for "20 · 100 %"


class Histogram(QWidget):
    """``set_bars`` shows labels and counts, the most frequent first; shares are of ``total``. Ctrl+C copies it."""

    def __init__(self, says: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: list[Bar] = []
        self._tops: list[int] = [0]
        self._total = 0
        self._says = says
        self.setAccessibleName(says)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def bars(self) -> Sequence[Bar]:
        """What is shown."""
        return self._bars

    def set_bars(self, bars: Sequence[Bar], total: int) -> None:
        """Show these."""
        if list(bars) == self._bars and total == self._total:
            return
        self._bars, self._total = list(bars), total
        heights = (len(_lines(label)) * LABEL + BAR + GAP for label, _ in self._bars)
        self._tops = list(accumulate(heights, initial=0))
        self.setAccessibleDescription(self.text())
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """A line for each bar."""
        return "\n".join(f"{count} ({share(count, self._total)}): {' + '.join(label)}" for label, count in self._bars)

    def sizeHint(self) -> QSize:
        return QSize(240, max(self._tops[-1], LABEL))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.text())
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = bisect_right(self._tops, event.pos().y()) - 1
            words = "\n".join(self._bars[row][0])[:2_000] if 0 <= row < len(self._bars) else ""
            QToolTip.showText(event.globalPos(), tip(words), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max((count for _, count in self._bars), default=0)
        for row in range(len(self._bars)):
            if self._tops[row] <= event.rect().bottom() and self._tops[row + 1] >= event.rect().top():
                self._paint_row(painter, row, most)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(tokens().accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_row(self, painter: QPainter, row: int, most: int) -> None:
        t, (label, count) = tokens(), self._bars[row]
        top, width = self._tops[row], self.width()
        plain = label[0] in (NO_CALL, FAILED)
        colour = t.error if label[0] == FAILED else t.muted if plain else t.accent
        painter.setFont(self.font() if plain else code_font())
        painter.setPen(QColor(t.text if count else t.muted))
        for line in _lines(label):
            words = painter.fontMetrics().elidedText(one_line_of(line), Qt.TextElideMode.ElideRight, width - 8)
            painter.drawText(QRect(4, top, width - 8, LABEL), Qt.AlignmentFlag.AlignVCenter, words)
            top += LABEL
        room = width - COUNT - 8
        track = QRectF(4, top + 2, room, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.chip))
        painter.drawRoundedRect(track, 3, 3)
        if count and most:
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(4, track.top(), max(room * count / max(self._total, most), 4), BAR), 3, 3)
        painter.setFont(self.font())
        painter.setPen(QColor(t.text if count else t.muted))
        painter.drawText(
            QRect(width - COUNT, top, COUNT - 4, BAR + 4),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
            f"{count} · {share(count, self._total)}" if count else "0",
        )


def _lines(label: tuple[str, ...]) -> list[str]:
    """The lines of a label: a call each, the last one saying how many more there are."""
    if label[0] in (NO_CALL, FAILED):
        return [label[0].strip("()").capitalize()]
    lines = [brief(call) for call in label[:MOST_LINES]]
    return [*lines, f"and {len(label) - MOST_LINES} more calls"] if len(label) > MOST_LINES else lines


class VariantView(QFrame):
    """``show_result`` shows the figures so far."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.setMinimumWidth(260)
        self.title = text_label(title, "heading")
        self._figures: dict[str, QLabel] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self.histogram = Histogram(f"How often each came, {title}")
        in_column(self.title, self._grid, Gap(4), self.histogram, 1, of=self, margins=(12, 10, 12, 12), spacing=8)

    def figure(self, name: str) -> str:
        """The words of a figure. Raises KeyError."""
        return self._figures[name].text()

    def show_result(self, result: VariantResult, bars: Sequence[Bar], total: int) -> None:
        """Show these figures and bars; shares are of ``total``."""
        for name, words in figures(result):
            label = self._figures.get(name) or self._add(name)
            label.setText(show_hidden(words))
            look(label, "error" if name == "Failures" and words != "none" else "")
        self.histogram.set_bars(bars, total)

    def _add(self, name: str) -> QLabel:
        caption, label = QLabel(name), QLabel()
        caption.setProperty("kind", "muted")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setAccessibleName(name)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = self._grid.rowCount()
        self._grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(label, row, 1)
        self._figures[name] = label
        return label


class StabilityWindow(QDialog):
    """Made by ``shown_for``; one for each experiment."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self._stability: Stability | None = None
        self._closed = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.views: list[VariantView] = []
        self._build()
        self._throttle = Throttle(self._show_progress, self, DRAW_MS)
        self._followed = Throttle(self._follow, self, 300)
        self._cancel = session.subscribe(self._changed, PathChanged, SettingsChanged)
        self.finished.connect(self._end)
        self._follow()
        self._compare_changed(False)
        room = parent.window().size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 60))

    @classmethod
    def shown_for(cls, session: Session, parent: QWidget, turn_id: str | None = None) -> StabilityWindow:
        """The window of that experiment in front; ``turn_id`` is the step to repeat, None the obvious one."""
        found = [window for window in parent.findChildren(cls) if window._session is session]
        window = found[0] if found else cls(session, parent)
        if not window.running:
            window.choose_step(turn_id if turn_id is not None else _suggested(session))
        window.show()
        window.raise_()
        window.activateWindow()
        window.run_button.setFocus()
        return window

    # Building

    def _build(self) -> None:
        self.step = QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.step.setAccessibleName("Step to repeat")
        self.times = _spin("How often", 10)
        self.parallel = _spin("At once", 2)
        self.compare = QCheckBox("Compare with other tools (A/B)")
        self.run_button = styled(QPushButton("Run"), "primary")
        self.stop_button = QPushButton("Stop")
        self.export_button = QPushButton("Export CSV…")
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName("Progress")
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.said.setAccessibleName("State")
        self.counted = Segments(("Whole answers", "Single calls"), "What is counted")
        self.editor = VariantEditor()
        self.empty = styled(QLabel(EMPTY, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter), "muted")
        self.empty.setContentsMargins(24, 24, 24, 24)
        for button in (self.run_button, self.stop_button, self.export_button):
            button.setAutoDefault(False)
        step_label, times, parallel = QLabel("Step"), QLabel("How often"), QLabel("At once")
        for label, buddy in ((step_label, self.step), (times, self.times), (parallel, self.parallel)):
            label.setBuddy(buddy)
        first = _row(step_label, self.step, stretch=self.step)
        second = _row(times, self.times, parallel, self.parallel, self.compare, None, self.run_button, self.stop_button)
        third = _row(self.counted, self.said, self.export_button, stretch=self.said)
        self._columns = in_row((self.empty, 1), margins=0, spacing=10)
        holder = QWidget()
        holder.setLayout(self._columns)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(holder)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._split = split(self.editor, area, thin=True)
        self._split.setStretchFactor(0, 2)
        self._split.setStretchFactor(1, 3)
        in_column(first, second, self.progress, third, (self._split, 1), of=self, margins=(16, 14, 16, 16), spacing=10)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(self.stop)
        self.export_button.clicked.connect(self._export)
        self.compare.toggled.connect(self._compare_changed)
        self.counted.chosen.connect(self._counted_changed)
        self.times.valueChanged.connect(self._show_state)
        self._show_state()

    # Following the experiment

    def _changed(self, _change: Change) -> None:
        self._followed.poke()

    def _follow(self) -> None:
        """The steps there are, the title, the tools that variant B is compared with."""
        session = self._session
        self.setWindowTitle(f"Repeat a step · {short_title(session.title)}")
        chosen = self.step.currentData()
        steps = _steps(session)
        if steps != [(self.step.itemData(at), self.step.itemText(at)) for at in range(self.step.count())]:
            self.step.clear()
            for turn_id, words in steps:
                self.step.addItem(words, turn_id)
            self.choose_step(chosen if chosen is not None else _suggested(session))
        if self.compare.isChecked():
            self.editor.start(session.settings.tools, session.settings.current, session.settings.protocol)

    def choose_step(self, turn_id: str) -> None:
        """Repeat the step that led to that turn; an unknown one or an empty id means the next request."""
        self.step.setCurrentIndex(max(self.step.findData(turn_id), 0))

    def _compare_changed(self, compare: bool) -> None:
        self.editor.setVisible(compare)
        self._columns.setContentsMargins(10 if compare else 0, 0, 0, 0)
        if compare:
            session = self._session
            self.editor.start(session.settings.tools, session.settings.current, session.settings.protocol)
            room = main_window(self).width() - 40
            if self.width() < WIDER:
                self.resize(min(WIDER, room), self.height())
        self._show_state()

    # Running

    @property
    def running(self) -> bool:
        """Whether requests are under way."""
        return self._task is not None

    def run(self) -> None:
        """Begin; what cannot be asked is refused in words."""
        if self._task is not None:
            return
        try:
            request = step_request(self._session, self._chosen_step())
            variants = self._variants()
        except (RunRefusedError, ValueError) as error:
            self._say(str(error), bad=True)
            return
        self._stability = None
        self._say("Connecting…")
        self._task = spawn(self._perform(request, variants), name="repeat a step")
        self._show_state()

    def stop(self) -> None:
        """End it; what came stays."""
        if self._stability is not None and self._stability.running:
            self._stability.stop()
        elif self._task is not None:
            self._task.cancel()

    def _chosen_step(self) -> str:
        turn_id = str(self.step.currentData() or NEXT)
        if turn_id and turn_id not in self._session.transcript.turns:
            raise ValueError("That turn is gone. Choose another step.")
        return turn_id

    def _variants(self) -> tuple[Variant, ...]:
        if not self.compare.isChecked():
            return (Variant(),)
        return Variant(name="A"), self.editor.variant()

    async def _perform(self, request: Request, variants: tuple[Variant, ...]) -> None:
        words = ""
        try:
            await sample(
                self._session,
                request,
                variants,
                count=self.times.value(),
                parallel=self.parallel.value(),
                progress=self._progressed,
            )
        except RunRefusedError as error:
            words = str(error)
        finally:
            self._task = None
            if not self._closed:
                self._draw()
                self._show_state()
                how_far = progress_words(self._stability) if self._stability is not None else UNASKED
                self._say(words or how_far, bad=bool(words))

    def _progressed(self, stability: Stability) -> None:
        self._stability = stability
        if not self._closed:
            self._throttle.poke()

    def _end(self) -> None:
        """The window is closed."""
        self._closed = True
        self._cancel()
        if self._task is not None:
            self._task.cancel()

    # Showing

    def _show_progress(self) -> None:
        """It may be asked for after the end, when something else is said already."""
        if self.running and self._stability is not None:
            self._draw()
            self._say(progress_words(self._stability))

    def _show_state(self) -> None:
        running, count = self.running, self.times.value() * (2 if self.compare.isChecked() else 1)
        self.run_button.setText(f"Run {count} time{'s' * (count > 1)}")
        self.run_button.setVisible(not running)
        self.stop_button.setVisible(running)
        for widget in (self.step, self.times, self.parallel, self.compare, self.editor):
            widget.setEnabled(not running)
        found = self._stability is not None and self._stability.done > 0
        self.export_button.setEnabled(found and not running)
        self.counted.setVisible(found)

    def _draw(self) -> None:
        stability = self._stability
        if stability is None:
            return
        self.progress.setRange(0, stability.total)
        self.progress.setValue(stability.done)
        self._make_views(stability)
        single = self.counted.index == 1
        counted = bars(stability.results, single=single)
        for view, result, found in zip(self.views, stability.results, counted, strict=True):
            calls = sum(len(sample.calls) for sample in result.samples)
            view.show_result(result, found, calls if single else len(result.samples))
        self.counted.setVisible(stability.done > 0)

    def _make_views(self, stability: Stability) -> None:
        names = [result.variant.name for result in stability.results]
        self.empty.hide()
        if [view.objectName() for view in self.views] == names:
            return
        for view in self.views:
            self._columns.removeWidget(view)
            view.deleteLater()
        titles = {"A": "A · the tools as set", "B": "B · the edited copy"}
        self.views = [VariantView(titles.get(name, "The tools as set")) for name in names]
        for view, name in zip(self.views, names, strict=True):
            view.setObjectName(name)
            self._columns.addWidget(view, 1)

    def _counted_changed(self, _index: int) -> None:
        self._draw()

    def _say(self, words: str, *, bad: bool = False) -> None:
        self.said.setText(show_hidden(words))
        look(self.said, "error" if bad else "muted")

    def _export(self) -> None:
        if self._stability is not None:
            make = partial(stability_csv, self._stability)
            spawn(save_as(self, "Save the answers as CSV", "repeated.csv", "csv", make, self._saved), name="export csv")

    def _saved(self, words: str) -> None:
        if not self._closed:
            self._say(words)


def _suggested(session: Session) -> str:
    """The step one looks at: while calls wait, or after an answer, the one that led there; else the next request."""
    path = session.transcript.path
    received = [turn.id for turn in path if turn.role is Role.ASSISTANT]
    if received and (path[-1].role is Role.ASSISTANT or session.transcript.unanswered()):
        return received[-1]
    return NEXT


def _steps(session: Session) -> list[tuple[str, str]]:
    """The steps that can be repeated, newest first: turn id and words."""
    out = [(NEXT, "The next request")]
    path = session.transcript.path
    for number in range(len(path), 0, -1):
        turn = path[number - 1]
        if turn.role is Role.ASSISTANT and turn.id not in session.growing:
            text = show_hidden(" ".join(turn.text.split())[:48])
            names = ", ".join(shown_name(call.name) for call in turn.calls[:3]) or text
            out.append((turn.id, f"The request that led to turn {number}" + (f": {names}" * bool(names))))
            if len(out) > MOST_STEPS:
                break
    return out


def _spin(says: str, value: int) -> QSpinBox:
    spin = QSpinBox()
    spin.setRange(1, MOST_SAMPLES)
    spin.setValue(value)
    spin.setAccessibleName(says)
    spin.setToolTip(f"{says}: 1 to {MOST_SAMPLES}")
    spin.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    spin.setFixedWidth(56)
    return spin


def _row(*widgets: QWidget | None, stretch: QWidget | None = None) -> QHBoxLayout:
    """Widgets side by side; None is a gap that grows."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for widget in widgets:
        if widget is None:
            row.addStretch(1)
        else:
            row.addWidget(widget, 1 if widget is stretch else 0)
    return row
