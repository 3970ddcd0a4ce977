"""Measure the cost of showing one more token in a long answer, relative to a short one.

It goes the real way from the fragment to the pixels: card, Markdown, document, layout, scroll, paint. CPU time of this
thread, so that a busy machine changes both sides of a ratio alike.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from itertools import count, cycle
from statistics import mean
from typing import NoReturn, cast

from PySide6.QtCore import QEvent, QEventLoop
from PySide6.QtWidgets import QApplication

from playground.app import make_application
from playground.domain.accumulator import GrowingChoice
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Role, make_turn
from playground.engine.session.session import Experiment
from playground.ui.features.conversation.commands import Growth
from playground.ui.features.conversation.pane import ConversationPane
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.widgets.theme import Theme
from tests.benchmarks.pacing import tokens
from tests.benchmarks.registry import Figure, at_most

SMALL, LARGE, SHORT_LARGE = 1_000, 200_000, 100_000  # characters
STEPS = 480  # tokens: several chunks of a table and of code
ROUNDS = 3
TIMES = 2
SENTENCE = "the window draws what is new and all that came before it stays as it was until nobody looks"
WORDS = SENTENCE.split()


def prose() -> Iterator[str]:
    """Paragraphs of some lines."""
    for number in count():
        yield " ".join(WORDS[(number + index) % len(WORDS)] for index in range(60)) + ".\n\n"


def code() -> Iterator[str]:
    """One code block that never ends."""
    yield "```python\n"
    for number in count():
        yield f"    value_{number} = measure(window, {number})  # {WORDS[number % len(WORDS)]}\n"


def items() -> Iterator[str]:
    """One list, an item a line."""
    for number in count():
        yield f"- item {number} " + " ".join(WORDS[(number + index) % len(WORDS)] for index in range(12)) + "\n"


def one_line() -> Iterator[str]:
    """A text without a break."""
    for word in cycle(WORDS):
        yield f" {word}"


def table() -> Iterator[str]:
    """One table of four columns."""
    yield "| step | cost | share | note |\n|---|---:|---:|---|\n"
    for number in count():
        yield f"| step {number} | {number % 97} µs | {number % 13} % | {WORDS[number % len(WORDS)]} and more |\n"


SHAPES = {"prose": prose, "one code block": code, "one list": items, "one line": one_line, "one table": table}


def run(short: bool) -> list[Figure]:
    """Return the cost of a token in a large answer, times that in a small one, for each shape."""
    qt = cast(QApplication, QApplication.instance() or make_application())
    theme = Theme(qt, "light")
    figures: list[Figure] = []
    sizes = (SMALL, SHORT_LARGE if short else LARGE)
    gc.collect()
    gc.disable()  # as in the application, which collects between events
    pane = ConversationPane(
        Experiment(_refuse, profile_id="").main, lambda _profile, _model: None
    )  # the owner of cards
    _cost(pane, "prose", SMALL, 50)  # imports and compiles
    for shape in SHAPES:
        # Alternate, so that a slow moment of the machine is not one size's alone.
        rounds = [[_cost(pane, shape, size, STEPS) for size in sizes] for _ in range(ROUNDS)]
        small, large = map(min, zip(*rounds, strict=True))
        figures.append(at_most(f"{shape}, large to small", large / small, "×", TIMES))
        figures.append(Figure(f"{shape}, small", small, "µs/token"))
    pane.deleteLater()
    theme.deleteLater()
    return figures


def _cost(pane: ConversationPane, shape: str, size: int, steps: int) -> float:
    """CPU microseconds a token, mean over ``steps`` tokens added to an answer of ``size`` characters."""
    text = SHAPES[shape]()
    choice = GrowingChoice(0)
    start, length = [], 0
    while length < size:
        start.append(next(text))
        length += len(start[-1])
    choice.open("text").append("".join(start))
    turn = make_turn(Role.ASSISTANT, "")
    view = TranscriptView(pane.commands, lambda _: Growth(choice, 1.0))
    view.resize(900, 600)
    view.show()
    view.set_rows([Row(turn, (turn.id,), {}, True)], ())
    view.draw_growing_turn(turn.id)
    _paint()
    while any(text.shown.is_behind for text in view.findChildren(TextView)):  # drawn in several frames
        _paint()
    spent: list[float] = []
    pieces = (piece for line in text for piece in tokens(line))
    for _, piece in zip(range(steps), pieces, strict=False):
        choice.open("text").append(piece)
        before = time.thread_time()
        view.draw_growing_turn(turn.id)
        _paint()
        spent.append(time.thread_time() - before)
    view.close()
    view.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    return mean(spent) * 1e6


async def _refuse(_profile_id: str) -> NoReturn:
    raise RunRefusedError("Nothing is run here.")


def _paint() -> None:
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
