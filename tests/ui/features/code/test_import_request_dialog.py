"""The dialog that imports a request: reading, gateways and hidden keys."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QMainWindow, QTreeWidgetItem, QWidget

from playground.engine.gateways.profiles import Profile
from playground.ui.features.code.gateway_choice import NEW
from playground.ui.features.code.import_request_dialog import Import, ImportRequestDialog

CANARY = "sk-canary-never-to-be-seen-42"
BODY = {
    "model": "gpt-x",
    "temperature": 0.3,
    "top_k": 40,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "description": "Weather"}}],
}
CURL = f"curl https://gateway.example/v1/chat/completions -H 'Authorization: Bearer {CANARY}' -d '{json.dumps(BODY)}'"
DEMO = Profile(id="demo", name="Demo gateway", base_url="http://127.0.0.1:9/v1", demo=True)
SECOND = Profile(id="other", name="Other", base_url="https://other.example/v1")
TEAM = Profile(id="team", name="Team & co", base_url="https://gateway.example/v1")


def open_dialog(main: QMainWindow, *profiles: Profile) -> ImportRequestDialog:
    dialog = ImportRequestDialog((DEMO, *profiles), "demo", main)
    dialog.open()
    return dialog


def read_rows(dialog: ImportRequestDialog) -> dict[str, str]:
    results: dict[str, str] = {}

    def take(item: QTreeWidgetItem) -> None:
        results[item.text(0)] = item.text(1)
        for number in range(item.childCount()):
            child = item.child(number)
            assert child is not None
            take(child)

    for number in range(dialog.preview.topLevelItemCount()):
        top = dialog.preview.topLevelItem(number)
        assert top is not None
        take(top)
    return results


def everything_said(dialog: ImportRequestDialog) -> str:
    messages = [dialog.text.text(), *read_rows(dialog).keys(), *read_rows(dialog).values()]
    for widget in dialog.findChildren(QWidget):
        messages += [widget.accessibleName(), widget.accessibleDescription(), widget.toolTip()]
        messages += [widget.text()] if isinstance(widget, QLabel) else []
        messages += [widget.itemText(n) for n in range(widget.count())] if isinstance(widget, QComboBox) else []
    return "\n".join(messages)


def test_pasted_command_is_read_and_its_key_hidden(main: QMainWindow) -> None:
    dialog = open_dialog(main)
    assert not dialog.add_button.isEnabled()
    QGuiApplication.clipboard().setText(CURL)
    QTest.mouseClick(dialog.paste_button, Qt.MouseButton.LeftButton)
    result = read_rows(dialog)
    assert result["Model"] == "gpt-x"
    assert result["Protocol"] == "Chat Completions API"
    assert result["Base URL"] == "https://gateway.example/v1"
    assert (result["System"], result["User"]) == ("Be brief.", "Hello")
    assert (result["temperature"], result["top_k"], result["get_weather"]) == ("0.3", "40", "Weather")
    assert CANARY not in everything_said(dialog)
    dialog.text.undo()
    assert CANARY not in dialog.text.text(), "nor does undo bring it back"
    dialog.read_now()
    values: list[Import] = []
    dialog.imported.connect(values.append)
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    (expected,) = values
    assert expected.request.key is not None
    assert expected.request.key.get_secret_value() == CANARY, "an edit of the text loses nothing"
    assert (expected.profile_id, expected.keep) == (NEW, True)
    assert CANARY not in repr(expected)


def test_key_is_offered_to_the_gateway_of_its_address(main: QMainWindow) -> None:
    dialog = open_dialog(main, SECOND, TEAM)
    dialog.set_text(CURL)
    choice = dialog.gateway
    assert choice.profile_id == "team"
    assert choice.keep_box.isVisible()
    assert "Team & co" in choice.keep_box.accessibleName()
    assert "Authorization: Bearer" in choice.note.text()
    saved = {}
    for gateway in ("team", NEW, "other", "demo"):
        choice.gateway.setCurrentIndex(choice.gateway.findData(gateway))
        saved[gateway] = (choice.keep, "left out" in choice.note.text())
    assert saved == {"team": (True, False), NEW: (True, False), "other": (False, True), "demo": (False, True)}
    dialog.reject()


def test_stored_key_is_replaced_only_on_request(main: QMainWindow) -> None:
    stored = TEAM.model_copy(update={"key_origin": TEAM.origin})
    dialog = open_dialog(main, stored)
    dialog.set_text(CURL)
    assert dialog.gateway.profile_id == "team"
    assert not dialog.gateway.keep
    assert dialog.gateway.keep_box.text().startswith("Replace the key stored")
    dialog.reject()


def test_unreadable_command_gives_its_reason(main: QMainWindow) -> None:
    dialog = open_dialog(main)
    for text in ("curl https://x.example -d @body.json", "some words", '{"model": "m"}', '{"model": '):
        dialog.set_text(text)
        assert not dialog.add_button.isEnabled()
        assert dialog.verdict.property("kind") == "error"
        assert dialog.verdict.text()
        assert not dialog.gateway.isVisible()
        assert dialog.preview.topLevelItemCount() == 0
    dialog.set_text("")
    assert dialog.verdict.text() == "Nothing to read yet."
    dialog.reject()
