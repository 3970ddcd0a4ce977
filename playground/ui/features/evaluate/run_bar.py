"""The line above an evaluation: run and stop it, how far it is, what it took and what it will take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QProgressBar, QPushButton, QSizePolicy, QWidget

from playground.domain.durations import span
from playground.engine.evaluation.runner import Progress, State
from playground.ui.features.evaluate.look import Look
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import tokens

if TYPE_CHECKING:
    pass

OFTEN_MS = 250  # between two looks at how far a run is


class RunBar(QWidget):
    """``asked`` tells what is to be done: "run", "stop", "pause", "failed", "all", "checks"."""

    asked = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.run = push_button("Run", "primary")
        self.run.clicked.connect(lambda: self.asked.emit("run"))
        self.stop = push_button("Stop", "danger")
        self.stop.setToolTip("End it; what came is kept (Esc)")
        self.stop.clicked.connect(lambda: self.asked.emit("stop"))
        self.pause = push_button("Pause")
        self.pause.setToolTip("Ask for no more for now; what is under way still comes")
        self.pause.clicked.connect(lambda: self.asked.emit("pause"))
        self.again = styled(QPushButton("Run again"), "primary")
        menu = QMenu(self.again)
        self._failed = menu.addAction("What failed to answer")
        self._failed.triggered.connect(lambda: self.asked.emit("failed"))
        menu.addAction("Everything…").triggered.connect(lambda: self.asked.emit("all"))
        self.again.setMenu(menu)
        for button in (self.run, self.again, self.stop, self.pause):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.size_words = text_label("", "strong")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setProperty("kind", "progress")
        self.bar.setAccessibleName("Answers that came")
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
        self._showing = Throttle(self.show_state, self, OFTEN_MS)
        self._ticking = QTimer(self, interval=1000)
        self._ticking.timeout.connect(self.show_state)
        look.planned.connect(self.show_state)
        look.estimated.connect(self.show_state)
        look.arrived.connect(lambda _answers: self._showing.poke())
        look.moved.connect(self.show_state)
        self.show_state()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "words"):
            self._colour()

    def _colour(self) -> None:
        self.run.setIcon(icon("run", tokens().on_accent))
        self.stop.setIcon(icon("stop", tokens().error))

    def show_state(self) -> None:
        """Say how far it is."""
        look, resolved = self._look, self._look.resolved
        repeats = resolved.plan.repeats
        counts = [(len(resolved.cases), "case"), (len(resolved.columns), "variant"), (repeats, "repeat")]
        said = " × ".join(f"{count:,} {word}{'s' * (count != 1)}" for count, word in counts)
        self.size_words.setText(said)
        total, done = look.total, look.results.count
        going = look.under_way
        progress = look.progress
        self._ticking.start() if going else self._ticking.stop()
        self.stop.setVisible(going)
        self.pause.setVisible(going)
        paused = progress is not None and progress.state is State.PAUSED
        self.pause.setText("Go on" if paused else "Pause")
        complete = look.ready and total > 0 and done == total
        self.run.setVisible(not going and not complete)
        self.again.setVisible(not going and complete)
        self.run.setText("Continue" if done else "Run")
        why = next((problem.words for problem in look.problems), "")
        self.run.setEnabled(look.ready and not why)
        self.run.setToolTip(tip(why) if why else "Ask for the answers that are missing (Ctrl+Return)")
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        self.bar.setVisible(going or 0 < done < total)
        say(self.words, self._said(done, total, progress, going=going), "muted")
        self._failed.setEnabled(bool(look.results.failed))

    def _said(self, done: int, total: int, progress: Progress | None, *, going: bool) -> str:
        parts = [f"{done:,} of {total:,}"] if done or going else []
        if going and progress is not None:
            if progress.state is State.PAUSED:
                parts.append("paused")
            parts.append(f"{progress.under_way} under way")
            parts += [progress.left_words] if progress.left_words else []
        elif progress is not None and progress.requests and done:
            parts.append(span(round(progress.seconds, 1)))
        failed = self._look.results.failed
        parts += [f"{failed:,} failed to answer"] if failed else []
        parts += [progress.price] if progress is not None and progress.price else []
        estimate = self._look.estimate
        if not going and done < total and estimate is not None:
            parts.append(estimate.words if not done else f"the rest {estimate.words}")
        return " · ".join(parts)
