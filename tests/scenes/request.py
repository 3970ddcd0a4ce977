"""Scenes of what will be sent: whose each field is, what is odd about it, and what an extra body does to it."""

from __future__ import annotations

from PySide6.QtCore import Qt

from playground.domain.tools import ToolDefinition
from playground.engine.gateways.profiles import Profile
from playground.ui.shell.features import PARAMETER_PANEL
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


@scene()
async def programs_own(stage: Stage) -> None:
    """A fresh experiment: streaming is the program's own, in the panel and on the Request page."""
    stage.window.bottom_dock.show()
    stage.window.inspector.show_tab("Request")
    await show_row(stage, "user")


@scene()
async def nested_origins(stage: Stage) -> None:
    """One object of the body, put together from a panel, the gateway's settings and the experiment's extra body."""
    team = Profile(
        name="Team gateway",
        base_url="http://127.0.0.1:9/v1",
        extra_body={"metadata": {"team": "research"}, "provider": {"order": ["near", "far"]}},
    )
    stage.session.change(profile_id=stage.app.gateways.store.add_profile(team).id)
    stage.fresh(
        "demo-messages",
        protocol="messages",
        user_id="u-17",
        thinking={"type": "enabled", "budget_tokens": 2048},
        effort="high",
    )
    stage.session.change(
        extra_body={"metadata": {"trace": True}, "provider": {"sort": "price"}, "thinking": {"budget_tokens": 8000}}
    )
    stage.window.bottom_dock.show()
    stage.window.inspector.show_tab("Request")
    stage.window.side.show_page("Raw")
    stage.window.resizeDocks([stage.window.bottom_dock], [380], Qt.Orientation.Vertical)
    await stage.settle()


@scene()
async def fields_that_clash(stage: Stage) -> None:
    """Flags beside the fields: a budget of thinking above the limit, a tool switched off, an overruled value."""
    thinking = {"type": "enabled", "budget_tokens": 8000}
    choice = {"type": "tool", "name": "get_weather"}
    stage.fresh("demo-messages", protocol="messages", thinking=thinking, tool_choice=choice, temperature=0.4, top_p=0.9)
    tools = ToolDefinition(name="get_weather", enabled=False), ToolDefinition(name="get_time")
    stage.session.change(tools=tools)
    stage.session.change(extra_body={"top_p": 0.5})
    stage.window.bottom_dock.show()
    stage.window.inspector.show_tab("Request")
    await stage.settle()


async def show_row(stage: Stage, name: str) -> None:
    """Scroll the panel of parameters until a row is in view."""
    await stage.settle()
    panel = stage.window.panels.of(PARAMETER_PANEL)
    panel.ensureWidgetVisible(panel.rows[name])
    await stage.settle()
