"""Scenes of the request itself: as code, from a pasted command, and what is going to be sent."""

from __future__ import annotations

from PySide6.QtCore import Qt

from playground.ui.features.code.get_code_window import GetCodeWindow
from playground.ui.features.code.import_request_dialog import ImportRequestDialog
from playground.ui.features.inspector.next_request import NextRequest
from playground.ui.features.inspector.views import RequestView
from tests.scenes.registry import BOTH, WIDE, scene
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


@scene(sizes=WIDE)
async def get_code_curl(stage: Stage) -> None:
    """A request that was sent, as curl."""
    stage.fresh("demo-chat", temperature=0.7)
    await stage.ask("What is a token?")
    code = _open_code(stage, "curl")
    await stage.until(lambda: code.source.count() > 1, "the exchange in the list")
    code.source.setCurrentIndex(1)
    code.poke()
    await stage.until(lambda: "curl" in code.code, "the code")


@scene(sizes=WIDE)
async def get_code_refused(stage: Stage) -> None:
    """A language that does not speak the protocol says what to use instead."""
    stage.fresh("demo-chat")
    await stage.ask("Hello")
    code = _open_code(stage, "python-anthropic")
    await stage.until(lambda: bool(code.refusal.text()), "the reason")


@scene(sizes=BOTH)
async def import_request(stage: Stage) -> None:
    """A curl command with a key in it, understood; the key is off the screen and offered for a new gateway."""
    dialog = _open_import(stage, CURL)
    if not dialog.import_button.isEnabled():
        raise SceneError(dialog.verdict.text())


@scene(sizes=WIDE)
async def import_request_refused(stage: Stage) -> None:
    """A command that names a file to read is refused, and says why."""
    _open_import(stage, "curl https://gateway.example.com/v1/chat/completions -d @body.json")


@scene(sizes=WIDE)
async def import_request_gateway(stage: Stage) -> None:
    """The gateways' dialog after loading: a new gateway filled in, the key behind dots, nothing saved yet."""
    _open_import(stage, CURL).import_button.click()
    dialog = stage.gateway_dialog()
    await stage.until(lambda: bool(dialog.form.key.key()), "the key in the form")


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


@scene(sizes=WIDE)
async def request_absent(stage: Stage) -> None:
    """The fields that are not sent, further down in the list."""
    page = await _next_request(stage)
    bar = page.fields.verticalScrollBar()
    bar.setValue(bar.maximum())


@scene(sizes=WIDE)
async def request_edited(stage: Stage) -> None:
    """The body edited by hand, before it is applied: what goes where."""
    page = await _next_request(stage)
    text = page.editor.text().replace('"temperature": 2.5', '"temperature": 0.1,\n  "min_p": 0.05')
    page.editor.setPlainText(text)
    page.read_now()
    page.go_to(("temperature",))


@scene(sizes=WIDE)
async def request_applied(stage: Stage) -> None:
    """After an edit was applied: the panels have it, and the rest is in the extra body."""
    page = await _next_request(stage)
    page.editor.setPlainText(page.editor.text().replace('"temperature": 2.5', '"temperature": 0.1,\n  "min_p": 0.05'))
    page.apply()
    stage.window.side.show_page("Raw")
    await stage.until(lambda: page.fields.line("min_p") is not None, "the field in the list")


@scene(sizes=WIDE)
async def request_sent(stage: Stage) -> None:
    """The recorded request beside it, byte for byte."""
    stage.fresh("demo-chat", temperature=0.7)
    await stage.ask("What is a token?")
    _request_tab(stage)
