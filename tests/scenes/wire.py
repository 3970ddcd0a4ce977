"""Scenes of the inspector: timeline, response, maximised, comparison, spec check."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView

from tests.flows.pages.inspector import Comparison, Inspector
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage

ROOMY = 400  # pixels of the inspector when it is what one looks at


@scene(tokens_per_second=120)
async def timeline_with_a_stall(stage: Stage) -> None:
    """Where the time went: reasoning, then an answer that stalled; nothing is chosen yet."""
    stage.fresh("demo-reasoner")
    roomy(stage)
    await stage.ask("Tell me about rivers in a few sentences. !stall=1")
    await timeline(stage)


@scene(tokens_per_second=0, sizes=BOTH)
async def response_assembled(stage: Stage) -> None:
    """A streamed answer with two tool calls as one body, with the badge of its spec check."""
    await stage.sample()
    stage.window.bottom_dock.show()  # a low window starts without it
    roomy(stage)
    inspector = Inspector(stage.person)
    await inspector.show_tab("Response", "Assembled")
    await stage.until(lambda: "tool_calls" in inspector.text_of("Assembled response"), "the answer")


@scene(tokens_per_second=0)
async def inspector_maximised(stage: Stage) -> None:
    """The events of an answer in the place of the conversation."""
    stage.fresh("demo-reasoner")
    await stage.ask("Hello there. !nodone")
    inspector = Inspector(stage.person)
    await inspector.show_tab("Response", "Events")
    await inspector.press("Maximise the inspector")
    await stage.settle()


@scene(tokens_per_second=0)
async def request_diff(stage: Stage) -> None:
    """The additions of the second request to the first."""
    stage.fresh("demo-chat", temperature=0.7)
    await stage.ask("Name three rivers in Europe, with a sentence about each of them.")
    stage.fresh("demo-chat", temperature=0.2, top_p=0.9)
    await stage.ask("Now three in Asia.")
    roomy(stage)
    stage.act("wire.diff")
    await stage.until(lambda: bool(Comparison(stage.person).summary), "the differences")


@scene(tokens_per_second=0)
async def lint_report(stage: Stage) -> None:
    """Departures of a stream from the specification and from what was asked, frame by frame."""
    stage.fresh("demo-reasoner", max_completion_tokens=2000)
    roomy(stage)
    await stage.ask("Hello there. !nodone !think !length")
    stage.act("wire.lint")
    tables = stage.person.find
    await stage.until(
        lambda: any(table.model().rowCount() > 2 for table in tables(QTableView, "Problems")), "deviations"
    )


def roomy(stage: Stage) -> None:
    """Make the inspector as large as a person who reads it would."""
    window = stage.window
    window.resizeDocks([window.bottom_dock], [min(ROOMY, window.height() // 2)], Qt.Orientation.Vertical)


async def timeline(stage: Stage) -> None:
    """Bring the timeline forward, with all there is in it."""
    stage.act("wire.timeline")
    stage.window.inspector.draw_now()
    await stage.settle()
