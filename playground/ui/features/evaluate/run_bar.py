"""The run bar of an evaluation: run, pause and stop, progress, time and cost."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QProgressBar, QPushButton, QSizePolicy, QWidget

from playground.domain.durations import span
from playground.engine.evaluation.runner import Progress, State
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import tokens

UPDATE_MS = 250


class RunBar(QWidget):
    """The run bar. ``asked`` carries "run", "stop", "pause", "failed" or "all"."""

    asked = Signal(str)

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self.run = push_button("Run", "primary")
        self.run.clicked.connect(lambda: self.asked.emit("run"))
        self.stop = push_button("Stop", "danger")
        self.stop.setToolTip("Stop; received answers are kept (Esc)")
        self.stop.clicked.connect(lambda: self.asked.emit("stop"))
        self.pause = push_button("Pause")
        self.pause.setToolTip("Send no more requests for now; those under way are completed")
        self.pause.clicked.connect(lambda: self.asked.emit("pause"))
        self.again = styled(QPushButton("Run again"), "primary")
        menu = QMenu(self.again)
        self._failed = menu.addAction("Failed answers")
        self._failed.triggered.connect(lambda: self.asked.emit("failed"))
        menu.addAction("Everything…").triggered.connect(lambda: self.asked.emit("all"))
        self.again.setMenu(menu)
        for button in (self.run, self.again, self.stop, self.pause):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.size_words = text_label("", "strong")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setProperty("kind", "progress")
        self.bar.setAccessibleName("Received answers")
        self.words = text_label("", "muted")
        self.words.setObjectName("runProgress")
        self.words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        in_row(
            self.run,
            self.again,
            self.stop,
            self.pause,
            self.size_words,
            (self.bar, 1),
            (self.words, 0),
            of=self,
            margins=(18, 9, 18, 9),
            spacing=12,
        )
        self._colour()
        self._showing = Throttle(self.show_state, self, UPDATE_MS)
        self._ticking = QTimer(self, interval=1000)
        self._ticking.timeout.connect(self.show_state)
        evaluation.planned.connect(self.show_state)
        evaluation.estimated.connect(self.show_state)
        evaluation.arrived.connect(lambda _answers: self._showing.poke())
        evaluation.moved.connect(self.show_state)
        self.show_state()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "words"):
            self._colour()

    def _colour(self) -> None:
        self.run.setIcon(icon("run", tokens().on_accent))
        self.stop.setIcon(icon("stop", tokens().error))

    def show_state(self) -> None:
        """Show the state of the run."""
        evaluation, resolved = self._evaluation, self._evaluation.resolved
        repeats = resolved.plan.repeats
        counts = [(len(resolved.cases), "case"), (len(resolved.columns), "variant"), (repeats, "repeat")]
        size = " × ".join(f"{count:,} {word}{'s' * (count != 1)}" for count, word in counts)
        self.size_words.setText(size)
        total, done = evaluation.total, evaluation.results.count
        under_way = evaluation.under_way
        progress = evaluation.progress
        self._ticking.start() if under_way else self._ticking.stop()
        self.stop.setVisible(under_way)
        self.pause.setVisible(under_way)
        paused = progress is not None and progress.state is State.PAUSED
        self.pause.setText("Resume" if paused else "Pause")
        complete = evaluation.ready and total > 0 and done == total
        self.run.setVisible(not under_way and not complete)
        self.again.setVisible(not under_way and complete)
        self.run.setText("Continue" if done else "Run")
        why = next((problem.words for problem in evaluation.problems), "")
        self.run.setEnabled(evaluation.ready and not why)
        self.run.setToolTip(tip(why) if why else "Request the missing answers (Ctrl+Return)")
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        self.bar.setVisible(under_way or 0 < done < total)
        say(self.words, self._progress_words(done, total, progress, under_way=under_way), "muted")
        self._failed.setEnabled(bool(evaluation.results.failed))

    def _progress_words(self, done: int, total: int, progress: Progress | None, *, under_way: bool) -> str:
        parts = [f"{done:,} of {total:,}"] if done or under_way else []
        if under_way and progress is not None:
            if progress.state is State.PAUSED:
                parts.append("paused")
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
