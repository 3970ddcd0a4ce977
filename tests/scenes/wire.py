"""What went over the wire: the timeline, the frame that carried a text, differences, deviations, a comparison."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from playground.engine.cassettes.cassette import save
from playground.ui.features.cassettes.replay_bar import ReplayBar
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.inspector.timeline.page import TimelinePage
from playground.ui.features.inspector.wire_views import DiffView, LintView, TimelineView
from playground.ui.shell.features import CASSETTES
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage

ROOMY = 400  # pixels of the inspector when it is what one looks at


@scene(tokens_per_second=120)
async def timeline_with_a_stall(stage: Stage) -> None:
    """Where the time went: reasoning, then an answer that stalled; nothing is chosen yet."""
    stage.fresh("demo-reasoner")
    roomy(stage)
    await stage.ask("Tell me about rivers in a few sentences. !stall=1")
    page = await timeline(stage)
    if not page.picture.stalls:
        raise SceneError("the timeline shows no stall")


@scene(tokens_per_second=0)
async def frame_of_a_text(stage: Stage) -> None:
    """Words selected in an answer chose the frames that carried them."""
    stage.fresh("demo-chat")
    await stage.ask("Explain tides with a heading, a list and a bit of **bold**. !long=120")
    page = await timeline(stage)
    view = text_of(stage, 1)
    await stage.scroll_to_turn(1)
    at = view.document().find("the")
    cursor = QTextCursor(at)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    await stage.until(lambda: len(page.table.chosen) > 0, "frames of the selection")


@scene(tokens_per_second=0)
async def request_diff(stage: Stage) -> None:
    """What the second request has that the first had not."""
    stage.fresh("demo-chat", temperature=0.7)
    await stage.ask("Name three rivers in Europe, with a sentence about each of them.")
    stage.fresh("demo-chat", temperature=0.2, top_p=0.9)
    await stage.ask("Now three in Asia.")
    roomy(stage)
    stage.act("wire.diff")
    page = stage.window.inspector.view(DiffView).page
    await stage.until(lambda: bool(page.says.text()), "the differences")


@scene(tokens_per_second=0)
async def lint_report(stage: Stage) -> None:
    """What a stream does differently from the specification and from what was asked, frame by frame."""
    stage.fresh("demo-reasoner", max_completion_tokens=2000)
    roomy(stage)
    await stage.ask("Hello there. !nodone !think !length")
    stage.act("wire.lint")
    page = stage.window.inspector.view(LintView).page
    await stage.until(lambda: len(page.found) > 2, "deviations")


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
    (step,) = [button for button in bar_of(stage).speed.buttons if button.text() == "Step"]
    step.click()
    stage.window.pane.retry_last()
    await stage.until(lambda: len(stage.session.exchanges) == 2, "the replay to begin")
    player.clock.step(60)
    page = await timeline(stage)
    await stage.until(lambda: page.table.frames.rowCount() >= 60, "the frames that were let through")


def bar_of(stage: Stage) -> ReplayBar:
    """The bar of a cassette."""
    found = stage.window.pane.findChild(ReplayBar)
    if found is None:
        raise SceneError("there is no bar")
    return found


def roomy(stage: Stage) -> None:
    """Give the inspector as much room as somebody would who looks into it."""
    window = stage.window
    window.resizeDocks([window.bottom_dock], [min(ROOMY, window.height() // 2)], Qt.Orientation.Vertical)


async def timeline(stage: Stage) -> TimelinePage:
    """Bring the timeline forward, with all there is in it."""
    stage.act("wire.timeline")
    stage.window.inspector.draw_now()
    page = stage.window.inspector.view(TimelineView).page
    await stage.settle()
    page.finish()
    return page


def text_of(stage: Stage, turn: int) -> TextView:
    """The text of a turn."""
    card = stage.window.pane.view.card(stage.session.transcript.path[turn].id)
    if card is None:
        raise SceneError(f"turn {turn} has no card")
    return next(view for view in card.body if isinstance(view, TextView))
