"""Scenes of what will be sent: whose each field is, what is odd about it, and what an extra body does to it."""

from __future__ import annotations

from PySide6.QtCore import Qt

from playground.engine.gateways.profiles import Profile
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


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
    stage.window.action("view.raw").trigger()
    stage.window.resizeDocks([stage.window.bottom_dock], [380], Qt.Orientation.Vertical)
    await stage.settle()
