"""Scenes of what will be sent: whose each field is, what is odd about it, and what an extra body does to it."""

from __future__ import annotations

from tests.scenes.registry import scene
from tests.scenes.stage import Stage


@scene()
async def programs_own(stage: Stage) -> None:
    """A fresh experiment: streaming is the program's own, in the panel and on the Request page."""
    stage.window.bottom_dock.show()
    stage.window.inspector.show_tab("Request")
    await show_row(stage, "user")


async def show_row(stage: Stage, name: str) -> None:
    """Scroll the panel of parameters until a row is in view."""
    await stage.settle()
    panel = stage.window.parameters
    panel.ensureWidgetVisible(panel.rows[name])
    await stage.settle()
