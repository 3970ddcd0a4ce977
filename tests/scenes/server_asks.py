"""Scenes of what tool servers ask of the person: a form, a page to go to, a model to be asked."""

from __future__ import annotations

import contextlib

from PySide6.QtWidgets import QLineEdit

from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.servers import ServerError
from playground.jsonkit.values import JSONObject
from playground.ui.features.server_asks.control import AsksControl
from playground.ui.features.server_asks.elicitation_dialog import ElicitationDialog
from playground.ui.features.server_asks.sampling_dialog import SamplingDialog
from playground.ui.shell.features import SERVER_ASKS
from playground.ui.widgets.loop import spawn
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


async def _asked(stage: Stage, tool: str, arguments: JSONObject) -> AsksControl:
    """The demo's server works at a call, and asks something."""
    servers = stage.app.workspace.tool_servers
    await servers.start("demo")

    async def call() -> None:
        with contextlib.suppress(ServerError):  # the scene ends before it is answered
            await servers.call("demo", tool, arguments, Ticket())

    spawn(call(), name="a call that asks")
    control = stage.app.actions.of(SERVER_ASKS)
    await stage.until(lambda: bool(control.waiting), "the server to ask")
    return control


@scene()
async def server_form(stage: Stage) -> None:
    """The form of a server, with something missing and something wrong."""
    stage.fresh("demo-chat")
    control = await _asked(stage, "book_table", {"restaurant": "The Blue Door"})
    control.open_first()
    (dialog,) = control.dialogs.values()
    assert isinstance(dialog, ElicitationDialog)
    assert dialog.form is not None
    for row in dialog.form.rows:
        if row.field.name == "email" and isinstance(row.line, QLineEdit):
            row.line.setText("nowhere")
    dialog.accept_button.click()
    await stage.settle()


@scene()
async def server_wants_a_model(stage: Stage) -> None:
    """What a server wants a model to be asked, and the answer, which the server does not have yet."""
    stage.fresh("demo-chat")
    control = await _asked(stage, "sum_up_notes", {"words": 40})
    control.open_first()
    (dialog,) = control.dialogs.values()
    assert isinstance(dialog, SamplingDialog)
    dialog.ask_button.click()
    await stage.until(dialog.send_button.isEnabled, "the answer")
    await stage.settle()
