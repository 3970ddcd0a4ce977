"""Scenes of the request itself: as code, from a pasted command, and what is going to be sent."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit

from playground.ui.widgets.outline_tree import OutlineTree
from tests.flows.pages.code import CodeWindow, ImportRequestWindow
from tests.flows.pages.files import ImportWindow
from tests.flows.pages.inspector import Inspector
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage

CURL = """curl https://gateway.example.com/v1/chat/completions \\
  -H 'Content-Type: application/json' \\
  -H 'Authorization: Bearer sk-this-is-not-to-be-seen-anywhere' \\
  -H 'X-Team: weather' \\
  -d '{
    "model": "demo-tools",
    "temperature": 0.2,
    "max_completion_tokens": 2048,
    "stream": true,
    "top_k": 40,
    "messages": [
      {"role": "system", "content": "You are a terse travel assistant. Use the tools for facts."},
      {"role": "user", "content": "Is it warmer in Lisbon or Oslo right now?"}
    ],
    "tools": [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city",
      "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
  }'
"""


@scene(sizes=BOTH)
async def get_code(stage: Stage) -> None:
    """The next request as Python, with what to install and where the key comes from."""
    stage.open_sample()
    window = await CodeWindow.opened(stage.person, "run.code")
    stage.select("Languages", "Python", window.widget)
    await stage.until(lambda: "client.chat" in window.text, "the code")


@scene(sizes=BOTH)
async def import_request(stage: Stage) -> None:
    """A curl command with a key in it, understood; the key is off the screen and offered for a new gateway."""
    window = await ImportRequestWindow.opened(stage.person, "experiment.import")
    window.get(QPlainTextEdit, "Text to import from").setPlainText(CURL)
    await stage.until(lambda: window.get(QAbstractButton, window.load).isEnabled(), "something understood")


@scene(sizes=BOTH)
async def request_next(stage: Stage) -> None:
    """The next request: set, inherited from the gateway, extra, and left at the default; a value out of range."""
    gateways = stage.app.gateways
    more = {"extra_body": {"cache": True, "top_k": 20}, "headers": {"X-Team": "weather"}}
    gateways.update(gateways.get("demo").model_copy(update=more))
    stage.open_sample()
    session = stage.session
    session.set_parameters(session.settings.current.with_value("temperature", 2.5).with_value("seed", 7))
    session.change(extra_body={"top_k": 40, "repetition_penalty": 1.1})
    session.change(extra_headers={"X-Trace": "on"})
    stage.window.inspector.show_tab("Request")
    stage.window.resizeDocks([stage.window.bottom_dock], [420], Qt.Orientation.Vertical)
    inspector = Inspector(stage.person)
    await stage.until(lambda: "repetition_penalty" in inspector.text_of(""), "the next request")
    stage.person.pane.composer.setFocus()  # the notice of the sample may have it


@scene(sizes=BOTH)
async def messages_import(stage: Stage) -> None:
    """Three conversations of a text, one of them unfolded, and a line that cannot be read."""
    window = await ImportWindow.opened(stage.person, "file.import")
    turns = [{"role": "user", "content": "Is it warm in Oslo?"}, {"role": "assistant", "content": "No, 4 °C."}]
    lines = [json.dumps({"messages": turns, "title": title}) for title in ("One", "Two", "Three")]
    window.get(QPlainTextEdit, "Text to import from").setPlainText("\n".join([*lines, '{"messages": ']))
    await stage.until(lambda: window.count == 3, "the conversations")
    window.get(OutlineTree).lines[0].setExpanded(True)
