"""The bars of the Evaluate page: the run with its findings, and the views of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QSize, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QMenu, QProgressBar, QPushButton, QSizePolicy, QWidget

from playground.domain.durations import span
from playground.engine.evaluation.runner import Progress, State
from playground.jsonkit.texts import quantity
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.theme import tokens

UPDATE_MS = 250
MOST_SENTENCES: Final = 2  # findings beside the run button
TABLE, PLOTS, BLIND, REPORT = "Table", "Plots", "Blind", "Report"
#: The views with their tooltips.
VIEWS: Final = {
    TABLE: "Each case in each variant",
    PLOTS: "Pass rates, times, tokens and cost as plots",
    BLIND: "Choose the better of two answers without names",
    REPORT: "Findings with their statistics, and the web page to save",
}
_FILTERS: Final = {
    "All": "All cases",
    "Failing": "Cases with a failed check or request",
    "Differing": "Cases where variants disagree",
    "Outdated": "Saved answers to earlier versions of the evaluation",
}


class RunBar(QWidget):
    """Runs the evaluation; shows its progress and what was found.

    ``asked`` carries "run", "stop", "pause", "failed" or "all", ``details_asked`` asks for the statistics.
    """

    asked = Signal(str)
    details_asked = Signal()

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self.run, self.stop, self.pause = push_button("Run", "primary"), push_button("Stop", "danger"), push_button("")
        self.stop.setToolTip("Stop; received answers are kept (Esc)")
        self.pause.setToolTip("Send no more requests for now; those under way are completed")
        for button, command in ((self.run, "run"), (self.stop, "stop"), (self.pause, "pause")):
            button.clicked.connect(partial(self._ask, command))
        self.again = styled(QPushButton("Run again"), "primary")
        menu = QMenu(self.again)
        self._failed = menu.addAction("Failed answers")
        self._failed.triggered.connect(partial(self._ask, "failed"))
        menu.addAction("Everything…").triggered.connect(partial(self._ask, "all"))
        self.again.setMenu(menu)
        for button in (self.run, self.again, self.stop, self.pause):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.summary = text_label("", "strong", wrap=True)
        self.summary.setObjectName("evaluationSummary")
        self.details = push_button("Details", "link")
        self.details.setToolTip("Show the statistics in the report")
        self.details.clicked.connect(self.details_asked)
        self.bar = styled(QProgressBar(textVisible=False), "progress")
        self.bar.setAccessibleName("Received answers")
        self.words = text_label("", "muted")
        self.words.setObjectName("runProgress")
        buttons = (self.run, self.again, self.stop, self.pause)
        in_row(
            *buttons,
            (self.summary, 2),
            self.details,
            (self.bar, 1),
            self.words,
            parent=self,
            margins=(18, 9, 18, 9),
            spacing=12,
        )
        self._colour()
        self._throttle = Throttle(self.show_state, self, UPDATE_MS)
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self.show_state)
        for signal in (evaluation.planned, evaluation.estimated, evaluation.figured, evaluation.moved):
            signal.connect(self.show_state)
        evaluation.arrived.connect(lambda _answers: self._throttle.poke())
        self.show_state()

    def _ask(self, command: str, _checked: bool = False) -> None:
        self.asked.emit(command)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "words"):
            self._colour()

    def _colour(self) -> None:
        self.run.setIcon(icon("run", tokens().on_accent))
        self.stop.setIcon(icon("stop", tokens().error))

    def show_state(self) -> None:
        """Show the state of the run."""
        evaluation = self._evaluation
        total, done = evaluation.total, evaluation.results.count
        under_way, progress = evaluation.under_way, evaluation.progress
        self._clock.start() if under_way else self._clock.stop()
        self.stop.setVisible(under_way)
        self.pause.setVisible(under_way)
        is_paused = progress is not None and progress.state is State.PAUSED
        self.pause.setText("Resume" if is_paused else "Pause")
        self.run.setVisible(not under_way and not evaluation.complete)
        self.again.setVisible(not under_way and evaluation.complete)
        self.run.setText("Continue" if done else "Run")
        problem = next((problem.words for problem in evaluation.problems), "")
        self.run.setEnabled(evaluation.ready and not problem)
        self.run.setToolTip(tip(problem) if problem else "Request the missing answers (Ctrl+Return)")
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        self.bar.setVisible(under_way or 0 < done < total)
        self._show_summary(under_way=under_way)
        say(self.words, self._progress_words(done, total, progress, under_way=under_way), "muted")
        self._failed.setEnabled(bool(evaluation.results.failed))

    def _show_summary(self, *, under_way: bool) -> None:
        """Show the findings in sentences; before there are any, how much is asked."""
        resolved, findings = self._evaluation.resolved, self._evaluation.findings
        sentences = findings.sentences if findings is not None and not under_way else []
        more = len(sentences) - MOST_SENTENCES
        words = [*sentences[:MOST_SENTENCES], *([f"{more:,} more in Details."] if more > 0 else [])]
        counts = [
            (len(resolved.cases), "case"),
            (len(resolved.columns), "variant"),
            (resolved.plan.repeats, "repeat"),
        ]
        size = " × ".join(quantity(count, word) for count, word in counts)
        self.summary.setText(" ".join(words) or size)
        self.summary.setToolTip(tip("\n".join([size, *sentences])))
        self.details.setVisible(bool(sentences))

    def _progress_words(self, done: int, total: int, progress: Progress | None, *, under_way: bool) -> str:
        parts = [f"{done:,} of {total:,}"] if done or under_way else []
        if under_way and progress is not None:
            parts += ["paused"] if progress.state is State.PAUSED else []
            parts.append(f"{progress.under_way} under way")
            parts += [progress.left_words] if progress.left_words else []
        elif progress is not None and progress.requests and done:
            parts.append(span(round(progress.seconds, 1)))
        failed = self._evaluation.results.failed
        parts += [f"{failed:,} failed to answer"] if failed else []
        parts += [progress.price] if progress is not None and progress.price else []
        estimate = self._evaluation.estimate
        if not under_way and done < total and estimate is not None:
            parts.append(estimate.words if not done else f"remaining {estimate.words}")
        return " · ".join(parts)


class ViewBar(QWidget):
    """The bar above the views: view, search, filter, import and export.

    ``shown`` carries the name of the view, ``filtered`` the number of the filter, ``searched`` the search text.
    ``import_asked`` is emitted for an import of cases, ``export_asked`` with the name of a format.
    """

    shown = Signal(str)
    filtered = Signal(int)
    searched = Signal(str)
    import_asked = Signal()
    export_asked = Signal(str)

    def __init__(self, formats: Sequence[tuple[str, str]]) -> None:
        """``formats`` are the names and labels of exports."""
        super().__init__()
        self.views = Segments(tuple(VIEWS), "View of the answers", tall=True)
        self.views.chosen.connect(lambda index: self.shown.emit(self.view))
        self.filters = Segments(tuple(_FILTERS), "Filter of cases", tall=True)
        self.filters.chosen.connect(self.filtered)
        for segments, tips in ((self.views, VIEWS), (self.filters, _FILTERS)):
            for button, words in zip(segments.buttons, tips.values(), strict=True):
                button.setToolTip(words)
        self.search = SearchField("Find case or answer…")
        self.search.setMaximumWidth(240)
        self.search.textChanged.connect(self.searched)
        import_button = push_button("Import cases…")
        import_button.setToolTip("From CSV, JSON, YAML or a promptfoo configuration")
        import_button.clicked.connect(self.import_asked)
        export = QPushButton("Export")
        menu = QMenu(export)
        for name, words in formats:
            menu.addAction(words).triggered.connect(partial(self._export, name))
        export.setMenu(menu)
        self._search_and_filter, self._files = QWidget(), QWidget()
        in_row((self.search, 100), self.filters, 1, parent=self._search_and_filter, margins=0, spacing=12)
        in_row(import_button, export, parent=self._files, margins=0, spacing=12)
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(18, 8, 18, 8)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self.views, 0, 0)
        grid.addWidget(self._search_and_filter, 0, 1)
        grid.addWidget(self._files, 0, 3)

    def _export(self, name: str, _checked: bool = False) -> None:
        self.export_asked.emit(name)

    @property
    def view(self) -> str:
        """The name of the view."""
        return tuple(VIEWS)[self.views.index]

    def show_counts(self, counts: Sequence[int | None]) -> None:
        """Show the number of cases of each filter; None while it is not known."""
        for button, title, count in zip(self.filters.buttons, _FILTERS, counts, strict=True):
            button.setText(f"{title} {count:,}" if count is not None else title)
        self._fit()

    def show_view(self, view: str) -> None:
        """Show which view is open; only the table has search and filter."""
        self.views.set_index(tuple(VIEWS).index(view))
        self._search_and_filter.setVisible(view == TABLE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the bar in two lines."""
        return QSize(self._width(self.views, self._files), super().minimumSizeHint().height())

    def _width(self, *parts: QWidget) -> int:
        return sum(part.sizeHint().width() + 12 for part in parts) + 36

    def _fit(self) -> None:
        """Move search and filter to a second line if the bar is too narrow."""
        if self.width() >= self._width(self.views, self._search_and_filter, self._files):
            self._grid.addWidget(self._search_and_filter, 0, 1)
        else:
            self._grid.addWidget(self._search_and_filter, 1, 0, 1, 4)
