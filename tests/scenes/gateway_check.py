"""The check of a gateway: its list of checks, and its report."""

from __future__ import annotations

from playground.domain.prices import Price
from playground.engine.gateways.gateways import DEMO_ID
from tests.flows.pages.gateways import CheckWindow
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


@scene()
async def check_before(stage: Stage) -> None:
    """The list of checks with their price; two are not ticked."""
    stage.fresh("demo-reasoner")
    stage.app.gateways.set_price(DEMO_ID, "demo-reasoner", Price(input=2.0, output=8.0))
    window = await CheckWindow.opened(stage.person, "gateway.check")
    await stage.until(lambda: bool(window.checks), "the checks")
    await stage.settle()  # the list is made again when more is known of the model
    await window.tick_only(window.ticked - {("Image", "Chat Completions API"), ("Reasoning", "Chat Completions API")})


@scene()
async def check_made(stage: Stage) -> None:
    """All lines of the demo gateway, the stream looked at."""
    stage.fresh("demo-messages")
    window = await CheckWindow.opened(stage.person, "gateway.check")
    await stage.until(lambda: bool(window.checks), "the checks")
    await window.begin(window.ticked)
    await window.wait_for_report()
    await window.select_check(("Stream", "Messages API"))
