"""Prompts and resources of tool servers on their way into the conversation; the server is the demo's own."""

from __future__ import annotations

from collections.abc import Callable

from playground.engine.tool_servers.live import State
from playground.ui.features.offered.dialog import OfferedDialog
from playground.ui.features.offered.offers import PROMPTS, Offer
from playground.ui.shell.features import OFFERED
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage


@scene()
async def prompt_filled_in(stage: Stage) -> None:
    """A prompt, its arguments filled in, the messages it gives, and where they may go."""
    dialog, offer = await _opened(stage, "servers.prompts", lambda offer: bool(offer.arguments))
    dialog.choose(PROMPTS, offer.key)
    for name, field in dialog.form.fields.items():
        field.setText("Welcome" if name == "title" else "plain")
    dialog.ask()
    await stage.until(lambda: bool(dialog.text.text() or dialog.problem.text()), "the messages")


async def _opened(stage: Stage, action: str, wanted: Callable[[Offer], bool]) -> tuple[OfferedDialog, Offer]:
    """The dialog with what the demo's own server offers, and the first offer wanted: lists come one by one."""
    servers = stage.app.workspace.tool_servers
    stage.act(action)
    dialog = stage.app.actions.of(OFFERED).dialog
    if dialog is None:
        raise SceneError("the dialog did not open")
    dialog.start_button.click()
    await stage.until(lambda: servers.live("demo").state is State.READY, "the demo's server")
    await stage.until(lambda: any(map(wanted, dialog.model.offers)), "what it offers")
    return dialog, next(filter(wanted, dialog.model.offers))
