"""What went over the wire: the timeline, the frame that carried a text, differences, deviations, a comparison."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QAbstractButton, QTableView, QTextEdit

from playground.engine.cassettes.cassette import save
from playground.ui.shell.features import CASSETTES
from tests.flows.pages.inspector import Diff, Timeline
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage

ROOMY = 400  # pixels of the inspector when it is what one looks at


@scene(tokens_per_second=120)
async def timeline_with_a_stall(stage: Stage) -> None:
    """Where the time went: reasoning, then an answer that stalled; nothing is chosen yet."""
    stage.fresh("demo-reasoner")
    roomy(stage)
    await stage.ask("Tell me about rivers in a few sentences. !stall=1")
    await timeline(stage)


@scene(tokens_per_second=0)
async def frame_of_a_text(stage: Stage) -> None:
    """Words selected in an answer chose the frames that carried them."""
    stage.fresh("demo-chat")
    await stage.ask("Explain tides with a heading, a list and a bit of **bold**. !long=120")
    await timeline(stage)
    view = stage.find(QTextEdit, inside=stage.person.conversation.message(1).widget)
    await stage.scroll_to_turn(1)
    at = view.document().find("the")
    cursor = QTextCursor(at)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    await stage.until(lambda: bool(Timeline(stage.person).selected), "frames of the selection")


@scene(tokens_per_second=0)
async def request_diff(stage: Stage) -> None:
    """What the second request has that the first had not."""
    stage.fresh("demo-chat", temperature=0.7)
    await stage.ask("Name three rivers in Europe, with a sentence about each of them.")
    stage.fresh("demo-chat", temperature=0.2, top_p=0.9)
    await stage.ask("Now three in Asia.")
    roomy(stage)
    stage.act("wire.diff")
    await stage.until(lambda: bool(Diff(stage.person).summary), "the differences")


@scene(tokens_per_second=0)
async def lint_report(stage: Stage) -> None:
    """What a stream does differently from the specification and from what was asked, frame by frame."""
    stage.fresh("demo-reasoner", max_completion_tokens=2000)
    roomy(stage)
    await stage.ask("Hello there. !nodone !think !length")
    stage.act("wire.lint")
    tables = stage.person.find
    await stage.until(
        lambda: any(table.model().rowCount() > 2 for table in tables(QTableView, "Deviations")), "deviations"
    )


@scene()
async def cassette_replayed(stage: Stage) -> None:
    """A cassette opened as an experiment: its answer, replayed frame by frame."""
    stage.fresh("demo-reasoner")
    await stage.ask("Tell me about rivers in two sentences.")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rivers.cassette.json"
        save(file, list(stage.session.exchanges.values()), "Rivers")
        await stage.app.actions.of(CASSETTES).open_file(file)
    player = stage.app.actions.of(CASSETTES).player(stage.session)
    if player is None:
        raise SceneError("the cassette did not open")
    stage.find(QAbstractButton, "Step", stage.window.pane).click()
    stage.window.pane.retry_last()
    await stage.until(lambda: len(stage.session.exchanges) == 2, "the replay to begin")
    player.clock.step(60)
    await timeline(stage)
    await stage.until(lambda: Timeline(stage.person).count >= 60, "the frames")


def roomy(stage: Stage) -> None:
    """Give the inspector as much room as somebody would who looks into it."""
    window = stage.window
    window.resizeDocks([window.bottom_dock], [min(ROOMY, window.height() // 2)], Qt.Orientation.Vertical)


async def timeline(stage: Stage) -> None:
    """Bring the timeline forward, with all there is in it."""
    stage.act("wire.timeline")
    stage.window.inspector.draw_now()
    await stage.settle()
