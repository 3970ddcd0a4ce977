"""Scenes of what tool servers ask of the person: a form, a page to go to, a model to be asked."""

from __future__ import annotations

import contextlib

from PySide6.QtWidgets import QLineEdit, QPushButton, QTableView

from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.servers import ServerError
from playground.jsonkit.values import JSONObject
from playground.ui.widgets.loop import spawn
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


async def _ask(stage: Stage, tool: str, arguments: JSONObject) -> None:
    """Call a tool of the demo's server, which asks something; open the question."""
    stage.fresh("demo-chat")
    servers = stage.app.workspace.tool_servers
    await servers.start("demo")

    async def call() -> None:
        with contextlib.suppress(ServerError):  # the scene ends before it is answered
            await servers.call("demo", tool, arguments, Ticket())

    spawn(call(), name="a call that asks")
    control = stage.app.actions.features.server_asks
    await stage.until(lambda: bool(control.waiting), "the server to ask")
    control.open_first()


@scene()
async def server_form(stage: Stage) -> None:
    """The form of a server, with something missing and something wrong."""
    await _ask(stage, "book_table", {"restaurant": "The Blue Door"})
    dialog = await stage.dialog("Demo tools asks")
    stage.find(QLineEdit, "E-mail", dialog).setText("nowhere")
    next(button for button in dialog.findChildren(QPushButton) if button.property("kind") == "primary").click()
    await stage.settle()


@scene()
async def server_prompt(stage: Stage) -> None:
    """A prompt of a server, its arguments filled in and its messages in view."""
    stage.fresh("demo-chat")
    await stage.app.workspace.tool_servers.start("demo")
    stage.act("servers.prompts")
    dialog = await stage.dialog("From tool servers")
    await stage.until(lambda: any(table.isVisible() for table in dialog.findChildren(QTableView)), "the prompts")
    stage.select("Prompts and resources", "Explain a note", dialog)
    await stage.settle()
    stage.find(QLineEdit, "title", dialog).setText("Welcome")
    next(button for button in dialog.findChildren(QPushButton) if button.text() == "Get messages").click()
    await stage.until(
        lambda: any(
            button.text() == "Add to conversation" and button.isVisible() for button in dialog.findChildren(QPushButton)
        ),
        "the messages",
    )


@scene()
async def server_model_request(stage: Stage) -> None:
    """A server requests an answer from a model; a setting is wrong."""
    await _ask(stage, "sum_up_notes", {"words": 20})
    dialog = await stage.dialog("Demo tools requests a model")
    stage.find(QLineEdit, "Max tokens", dialog).setFocus()
    await stage.settle()
