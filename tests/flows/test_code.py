"""The request itself in the real window: as code, from a pasted command, and edited by hand before it goes out."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import Person, flow
from tests.flows.pages.code import CodeWindow, ImportRequestWindow
from tests.flows.pages.gateways import GatewaysWindow
from tests.flows.pages.inspector import RequestPage
from tests.flows.pages.page import read_label
from tests.flows.pages.steps import open_tab

CANARY = "sk-canary-from-the-clipboard-77"
BODY = {
    "model": "demo-chat",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a token?"}],
    "temperature": 0.25,
    "stream": True,
    "top_k": 40,
}


def command(base: str) -> str:
    return f"curl {base}/chat/completions -H 'Authorization: Bearer {CANARY}' -d '{json.dumps(BODY)}'"


@flow()
async def test_code_window_follows_settings_and_sent_requests(person: Person) -> None:
    await person.use_model("demo-chat")
    await person.run("Hello")
    await person.idle(turns=2)
    await person.press("Get code")
    code = await CodeWindow.opened(person)
    await person.until(lambda: '"demo-chat"' in code.text, "the code")
    assert f"{person.server.base_url}/chat/completions" in code.text
    await person.do(lambda: person.session.change(model="demo-reasoner"))
    await person.until(lambda: '"demo-reasoner"' in code.text, "the new model in the code")
    await code.choose_request(1)
    await person.until(lambda: '"demo-chat"' in code.text, "the request that was sent")
    sent = code.text.partition("--data-raw '")[2].rpartition("'")[0]
    assert json.loads(sent) == person.body()
    assert "Authorization: Bearer $GATEWAY_API_KEY" in code.text
    await code.press("Copy the code")
    assert QGuiApplication.clipboard().text() == code.text
    await code.press("Close")
    await person.until(lambda: not code.visible, "the window to close")
    await person.press("Get the code of this request")
    await person.until(lambda: code.visible, "the window again")
    assert code.request == 1, "the exchange that the tab shows"
    await code.press("Close")


@flow()
async def test_pasted_command_becomes_an_experiment_that_sends_the_same_body(person: Person) -> None:
    dialog = await ImportRequestWindow.opened(person, "experiment.import")
    await dialog.paste(command("https://gateway.example/v1"))
    await dialog.press(dialog.load)
    gateways = await GatewaysWindow.opened(person)
    assert gateways.value("Base URL") == "https://gateway.example/v1"
    assert gateways.value("Key") == CANARY
    assert gateways.names == ["gateway.example"]
    assert not person.app.gateways.store.profiles
    assert [turn.text for turn in person.path] == ["Be brief.", "What is a token?"]
    await person.press("Close", gateways.widget)
    await person.press("Discard", gateways.widget)
    assert not person.app.gateways.store.profiles

    # A gateway of that address is offered the key
    await person.trigger("experiment.new")
    app = person.app
    await person.until(lambda: bool(app.gateways.get("demo").base_url), "the demo gateway")
    app.gateways.store.add_profile(Profile(id="team", name="Team", base_url=person.server.base_url))
    before = len(app.workspace.sessions)
    dialog = await ImportRequestWindow.opened(person, "experiment.import")
    await dialog.paste(command(person.server.base_url))
    gateway = await dialog.wait_for(QComboBox, dialog.gateway)
    await person.until(lambda: gateway.currentText() == "Demo gateway", "the gateway in use, of two that fit")
    await dialog.select(dialog.gateway, "Team")
    assert (await dialog.wait_for(QCheckBox, "Store the key")).isChecked()
    assert CANARY not in dialog.text
    await dialog.press(dialog.load)
    await person.until(lambda: bool(app.gateways.get("team").key_origin), "the key to be stored")
    assert len(app.workspace.sessions) == before, "an untouched experiment is used"
    assert [turn.text for turn in person.path] == ["Be brief.", "What is a token?"]
    assert person.session.settings.extra_body == {"top_k": 40}
    await person.do(person.pane.run)
    await person.idle(turns=3)
    assert person.body() == BODY
    assert dict(person.posts[-1].headers)["authorization"] == f"Bearer {CANARY}"
    for file in app.gateways.store.path.parent.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes()


def composer_size(person: Person) -> str:
    """The estimated tokens beside the message."""
    sizes = person.find(QWidget, "Estimated size", person.pane.composer)
    return "".join(size.accessibleName().partition("≈ ")[2].partition(" ")[0].rstrip(".") for size in sizes)


def tools_summary(person: Person) -> str:
    """The line above the list of tools."""
    return read_label(person, "toolsSummary")


@flow()
async def test_next_request_is_counted_edited_by_hand_and_sent(person: Person) -> None:
    await person.use_model("demo-chat")
    await person.type_into(person.message, "Hello")
    page = RequestPage(person)
    await person.until(lambda: '"Hello"' in page.next_text, "what is typed in the next request")
    await person.keys(" there")
    await person.until(lambda: '"Hello there"' in page.next_text, "it live")
    assert not person.find(QWidget, "the message being written cannot")
    await page.edit_next(page.next_text.replace("Hello there", "Hello"))
    await page.press("Apply")
    await person.until(lambda: person.message.toPlainText() == "Hello", "the edit in the composer")
    assert not person.path
    await person.press("Add", person.pane.composer)
    await person.until(lambda: len(person.path) == 1, "the turn")
    await person.until(lambda: '"Hello"' in page.next_text, "the turn in the next request")
    edited = page.next_text.replace("Hello", "Good morning").replace('"stream": true', '"min_p": 0.1')
    await page.edit_next(edited)
    await page.wait_for(QAbstractButton, "Apply")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: person.session.settings.extra_body, "the edit to be applied")
    await person.until(lambda: not page.has_button("Apply"), "nothing left to apply")
    assert not person.server.requests or person.server.requests[-1].method != "POST", "applied, and not run"
    assert person.path[0].text == "Good morning"
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.idle(turns=2)
    body = person.body()
    assert body["messages"] == [{"role": "user", "content": "Good morning"}]
    assert body["min_p"] == 0.1
    assert "stream" not in body

    # The composer and the panel of tools count the same tokens
    await person.trigger("experiment.new")
    schema = {"type": "object", "properties": {"ort": {"type": "string", "description": "ど" * 40}}}
    tools = [ToolDefinition(name=f"f{n}", description="Wo ist es schön?" * n, parameters=schema) for n in range(7)]
    person.session.change(tools=(*tools, tools[-1].model_copy(update={"name": "off", "enabled": False})))
    await open_tab(person, "Tools")
    await person.until(lambda: "tokens" in tools_summary(person), "the size in the panel")
    counted = tools_summary(person).rpartition("≈ ")[2].removesuffix(" tokens")
    await person.until(lambda: composer_size(person) == counted, f"{counted} in the composer")
    await person.do(lambda: person.message.setPlainText("漢字かな"))
    more = f"{int(counted.replace(',', '')) + 4:,}"
    await person.until(lambda: composer_size(person) == more, "four more")
