"""Check this gateway: what may be asked, lines that came, one that is looked at, refusals, changes, a dead gateway."""

from __future__ import annotations

from playground.domain.prices import Price
from playground.engine.gateways.offered import DEMO_ID
from playground.ui.features.gateway_check.window import CheckWindow
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage


async def _opened(stage: Stage) -> CheckWindow:
    stage.act("gateway.check")
    found = stage.window.findChild(CheckWindow)
    if found is None:
        raise SceneError("there is no window of checks")
    await stage.until(lambda: bool(found.lines.wanted), "the checks")
    return found


async def _made(stage: Stage) -> CheckWindow:
    window = await _opened(stage)
    window.begin()
    await stage.until(lambda: not window.running and window.report is not None, "the report")
    return window


@scene()
async def check_before(stage: Stage) -> None:
    """What can be asked, with its price; two checks are not ticked."""
    stage.fresh("demo-reasoner")
    stage.app.gateways.set_price(DEMO_ID, "demo-reasoner", Price(input=2.0, output=8.0))
    window = await _opened(stage)
    window.lines.tick(("image", "chat"), False)
    window.lines.tick(("reasoning", "chat"), False)


@scene()
async def check_made(stage: Stage) -> None:
    """All lines of the demo gateway, the stream looked at."""
    stage.fresh("demo-messages")
    window = await _made(stage)
    window.lines.choose(("stream", "messages"))
