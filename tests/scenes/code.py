"""Scenes of the request itself: as code, from a pasted command, and what is going to be sent."""

from __future__ import annotations

from PySide6.QtCore import Qt

from playground.ui.features.code.get_code_window import GetCodeWindow
from playground.ui.features.code.import_request_dialog import ImportRequestDialog
from playground.ui.features.inspector.next_request import NextRequest
from playground.ui.features.inspector.views import RequestView
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import SceneError, Stage

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


def _open_code(stage: Stage, language: str) -> GetCodeWindow:
    stage.act("run.code")
    found = stage.window.findChildren(GetCodeWindow)
    if not found:
        raise SceneError("the window with the code did not open")
    found[0].set_language(language)
    return found[0]


def _open_import(stage: Stage, text: str) -> ImportRequestDialog:
    stage.act("experiment.import")
    found = stage.window.findChildren(ImportRequestDialog)
    if not found:
        raise SceneError("the dialog did not open")
    found[0].set_text(text)
    return found[0]


@scene(sizes=BOTH)
async def get_code(stage: Stage) -> None:
    """The next request as Python, with what to install and where the key comes from."""
    stage.open_sample()
    code = _open_code(stage, "python-openai")
    await stage.until(lambda: "client.chat" in code.code, "the code")


@scene(sizes=BOTH)
async def import_request(stage: Stage) -> None:
    """A curl command with a key in it, understood; the key is off the screen and offered for a new gateway."""
    dialog = _open_import(stage, CURL)
    if not dialog.import_button.isEnabled():
        raise SceneError(dialog.verdict.text())


def _request_tab(stage: Stage) -> RequestView:
    stage.window.inspector.show_tab("Request")
    return next(view for view in stage.window.inspector.views if isinstance(view, RequestView))


async def _next_request(stage: Stage) -> NextRequest:
    """The sample on a gateway whose settings add something, with extras and an odd value of its own."""
    gateways = stage.app.gateways
    more = {"extra_body": {"cache": True, "top_k": 20}, "headers": {"X-Team": "weather"}}
    gateways.update(gateways.get("demo").model_copy(update=more))
    stage.open_sample()
    session = stage.session
    session.set_parameters(session.settings.current.with_value("temperature", 2.5).with_value("seed", 7))
    session.change(extra_body={"top_k": 40, "repetition_penalty": 1.1})
    session.change(extra_headers={"X-Trace": "on"})
    page = _request_tab(stage).next
    stage.window.resizeDocks([stage.window.bottom_dock], [420], Qt.Orientation.Vertical)
    await stage.until(lambda: "repetition_penalty" in page.editor.text(), "the next request")
    return page


@scene(sizes=BOTH)
async def request_next(stage: Stage) -> None:
    """What will be sent: set, inherited from the gateway, extra, and left at the default; a value out of range."""
    await _next_request(stage)
