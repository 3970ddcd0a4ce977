"""The request itself in the real window: as code, from a pasted command, and edited by hand before it goes out."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QPlainTextEdit

from playground.domain.tools import ToolDefinition
from playground.engine.gateways.profiles import Profile
from playground.ui.features.code.get_code_window import GetCodeWindow
from playground.ui.features.code.import_request_dialog import ImportRequestDialog
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.features.inspector.views import RequestView
from playground.ui.shell.features import TOOLS_PANEL
from playground.ui.widgets.elided_label import ElidedLabel
from tests.flows.conftest import Person, Stage

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


async def import_dialog(person: Person, text: str) -> ImportRequestDialog:
    """Open the dialog and paste, as a person would."""
    await person.do(person.app.window.action("experiment.import").trigger)
    (dialog,) = person.app.window.findChildren(ImportRequestDialog)
    QGuiApplication.clipboard().setText(text)
    await person.press("Paste", dialog)
    await person.until(dialog.import_button.isEnabled, "something understood")
    return dialog


def test_the_code_follows_what_is_set_and_what_was_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        await person.run("Hello")
        await person.idle(turns=2)
        await person.press("Get code", person.app.window.bar)
        code = person.app.window.findChildren(GetCodeWindow)[0]
        await person.until(lambda: '"demo-chat"' in code.code, "the code")
        assert f"{person.server.base_url}/chat/completions" in code.code
        await person.do(lambda: person.session.change(model="demo-reasoner"))
        await person.until(lambda: '"demo-reasoner"' in code.code, "the new model in the code")
        source = await person.seen(QComboBox, "Request", code)
        source.setCurrentIndex(1)
        code.poke()
        await person.until(lambda: '"demo-chat"' in code.code, "the request that was sent")
        sent = code.code.partition("--data-raw '")[2].rpartition("'")[0]
        assert json.loads(sent) == person.body()
        assert "Authorization: Bearer $GATEWAY_API_KEY" in code.code
        await person.press("Copy the code", code)
        assert QGuiApplication.clipboard().text() == code.code
        await person.press("Close", code)
        await person.until(lambda: not code.isVisible(), "the window to close")
        await person.press("Get the code of this request")
        await person.until(code.isVisible, "the window again")
        assert source.currentIndex() == 1, "the exchange that the tab shows"
        await person.press("Close", code)

    stage.play(scene)


def test_a_pasted_command_is_an_experiment_that_sends_the_same_body_with_the_key(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        app = person.app
        await person.until(lambda: bool(app.gateways.get("demo").base_url), "the demo gateway")
        app.gateways.store.add_profile(Profile(id="team", name="Team", base_url=person.server.base_url))
        before = len(app.workspace.sessions)
        dialog = await import_dialog(person, command(person.server.base_url))
        assert dialog.gateway.profile_id == "demo", "the one in use, of two that fit"
        await person.do(lambda: dialog.gateway.gateway.setCurrentIndex(dialog.gateway.gateway.findData("team")))
        assert dialog.gateway.keep
        assert CANARY not in dialog.text.text()
        await person.click(dialog.import_button)
        await person.until(lambda: bool(app.gateways.get("team").key_origin), "the key to be stored")
        assert len(app.workspace.sessions) == before, "an untouched experiment is used"
        assert [turn.text for turn in person.path] == ["Be brief.", "What is a token?"]
        assert person.session.settings.extra_body == {"top_k": 40}
        await person.do(person.pane.run)
        await person.idle(turns=3)
        assert person.body() == BODY
        sent = next(request for request in reversed(person.server.requests) if request.method == "POST")
        assert dict(sent.headers)["authorization"] == f"Bearer {CANARY}"
        for file in app.gateways.store.path.parent.rglob("*"):
            assert not file.is_file() or CANARY.encode() not in file.read_bytes()

    stage.play(scene)


def test_a_command_for_a_new_address_fills_the_gateways_form_and_saves_nothing_by_itself(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        dialog = await import_dialog(person, command("https://gateway.example/v1"))
        await person.click(dialog.import_button)
        await person.until(lambda: bool(person.app.window.findChildren(ProfileDialog)), "the gateways' dialog")
        (gateways,) = person.app.window.findChildren(ProfileDialog)
        draft = gateways.form.draft()
        assert draft.profile.base_url == "https://gateway.example/v1"
        assert draft.key == CANARY
        assert gateways.list.count() == 1
        assert not person.app.gateways.store.profiles
        assert [turn.text for turn in person.path] == ["Be brief.", "What is a token?"]
        await person.press("Close", gateways)
        await person.press("Discard", gateways)
        assert not person.app.gateways.store.profiles

    stage.play(scene)


def test_the_composer_and_the_tools_count_tokens_the_same_way(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = person.app.window
        schema = {"type": "object", "properties": {"ort": {"type": "string", "description": "ど" * 40}}}
        tools = [ToolDefinition(name=f"f{n}", description="Wo ist es schön?" * n, parameters=schema) for n in range(7)]
        person.session.change(tools=(*tools, tools[-1].model_copy(update={"name": "off", "enabled": False})))
        await person.until(
            lambda: "tokens" in window.panels.of(TOOLS_PANEL).head.summary.text(), "the size in the panel"
        )
        counted = window.panels.of(TOOLS_PANEL).head.summary.text().rpartition("≈ ")[2].removesuffix(" tokens")
        composer = await person.seen(ElidedLabel, "Estimated size", person.pane.composer)
        await person.until(lambda: composer.text.partition(" of ")[0] == f"≈ {counted}", f"{counted} in the composer")
        await person.do(lambda: person.pane.composer.set_text("漢字かな"))
        more = f"{int(counted.replace(',', '')) + 4:,}"
        await person.until(lambda: composer.text.partition(" of ")[0] == f"≈ {more}", "four more")

    stage.play(scene)


def test_a_request_edited_by_hand_is_what_goes_out(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        await person.type_into(person.message, "Hello")
        tab = next(view for view in person.app.window.inspector.views if isinstance(view, RequestView))
        page = tab.next
        await person.until(lambda: '"Hello"' in page.editor.text(), "what is typed in the next request")
        await person.keys(" there")
        await person.until(lambda: '"Hello there"' in page.editor.text(), "it live")
        assert "being written" not in tab.pane.note.text
        edited = page.editor.text().replace("Hello there", "Hello")
        await person.click(page.editor)
        await person.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        await person.do(lambda: page.editor.insertPlainText(edited))
        await person.press("Apply", page)
        await person.until(lambda: person.pane.composer.text == "Hello", "the edit in the composer")
        assert not person.path
        await person.press("Add", person.pane.composer)
        await person.until(lambda: len(person.path) == 1, "the turn")
        await person.until(lambda: '"Hello"' in page.editor.text(), "the turn in the next request")
        editor = await person.seen(QPlainTextEdit, "Body of the next request")
        edited = page.editor.text().replace("Hello", "Good morning").replace('"stream": true', '"min_p": 0.1')
        await person.click(editor)
        await person.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        await person.do(lambda: editor.insertPlainText(edited))
        await person.seen(QAbstractButton, "Apply", page)
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.until(
            lambda: not page.edited and bool(person.session.settings.extra_body), "the edit to be applied"
        )
        assert not person.server.requests or person.server.requests[-1].method != "POST", "applied, and not run"
        assert person.path[0].text == "Good morning"
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await person.idle(turns=2)
        body = person.body()
        assert body["messages"] == [{"role": "user", "content": "Good morning"}]
        assert body["min_p"] == 0.1
        assert "stream" not in body

    stage.play(scene)
