"""Prompts and resources of tool servers on their way into the conversation; the server is the demo's own."""

from __future__ import annotations

from playground.engine.tool_servers.events import State
from playground.ui.shell.features import OFFERED
from tests.scenes.registry import scene
from tests.scenes.stage import SceneError, Stage


@scene()
async def prompt_filled_in(stage: Stage) -> None:
    """A prompt, its arguments filled in, the messages it gives, and where they may go."""
    servers = stage.app.workspace.tool_servers
    stage.act("servers.prompts")
    dialog = stage.app.actions.of(OFFERED).dialog
    if dialog is None:
        raise SceneError("the dialog did not open")
    dialog.start_button.click()
    await stage.until(lambda: servers.live("demo").state is State.READY, "the demo's server")
    await stage.until(lambda: any(offer.arguments for offer in dialog.model.offers), "an offer")
    offer = next(offer for offer in dialog.model.offers if offer.arguments)
    dialog.choose(0, offer.key)
    for name, field in dialog.form.fields.items():
        field.setText("Welcome" if name == "title" else "plain")
    dialog.ask()
    await stage.until(lambda: bool(dialog.text.text() or dialog.problem.text()), "the messages")
