"""The next request: origins of fields, edits by hand and limits."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.requests.view import request_view
from playground.engine.session.session import Experiment, Session
from playground.ui.features.inspector.field_table import FROM, VALUE
from playground.ui.features.inspector.next_request import NextRequest, Preview
from tests.support.editors import no_gateway

PROFILE = Profile(
    id="p",
    name="Team",
    base_url="https://gateway.example/v1",
    key_origin="https://gateway.example:443",
    headers={"X-Team": "weather"},
    extra_body={"cache": True, "top_k": 20},
)


def make_session() -> Session:
    session = Experiment(no_gateway, profile_id="p", model="m", profile_of=lambda _id: PROFILE).main
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    session.set_parameters(session.settings.current.with_value("temperature", 9))
    session.change(extra_body={"top_k": 40})
    return session


class RequestPage:
    """The page, following a session as the main window has it do."""

    def __init__(self, page: NextRequest, qtbot: QtBot) -> None:
        self.page = page
        self.qtbot = qtbot
        self.session = make_session()
        self.left: dict[str, str] = {}
        page.set_editor(lambda text: read_edit(self.session, text).notes, self.apply)
        page.edit_changed.connect(self.left.__setitem__)

    def apply(self, text: str) -> tuple[str, ...]:
        edited = read_edit(self.session, text)
        apply_edit(self.session, edited)
        return edited.notes

    def look(self) -> None:
        edit = self.left.get(self.session.id, "")
        self.page.show_preview(Preview(self.session.id, request_view(self.session), PROFILE.name, edit=edit))

    def words(self, name: str) -> tuple[str, str]:
        item = self.page.fields.line(name)
        assert item is not None, name
        return item.text(VALUE), item.text(FROM)

    def replace(self, old: str, new: str) -> None:
        text = self.page.editor.text()
        assert old in text
        self.page.editor.setPlainText(text.replace(old, new))


@pytest.fixture
def request_page(qtbot: QtBot) -> Iterator[RequestPage]:
    page = NextRequest()
    qtbot.addWidget(page)
    page.resize(1000, 500)
    page.show()
    request_page = RequestPage(page, qtbot)
    request_page.look()
    yield request_page
    page.hide()


def test_broken_json_is_marked_and_cannot_be_applied(request_page: RequestPage) -> None:
    request_page.replace('"temperature": 9', '"temperature": ')
    request_page.page.read_now()
    assert request_page.page.message.text().startswith("Line ")
    assert len(request_page.page.editor.marks) == 1
    assert not request_page.page.apply_button.isEnabled()
    request_page.page.apply()
    assert request_page.session.settings.current.to_wire()["temperature"] == 9
    QTest.mouseClick(request_page.page.discard_button, Qt.MouseButton.LeftButton)
    assert json.loads(request_page.page.editor.text()) == request_page.session.next_request.body()
    assert not request_page.page.message.isVisible()


def type_value(request_page: RequestPage, name: str, text: str) -> None:
    table = request_page.page.fields
    item = request_page.page.fields.line(name)
    assert item is not None
    table.setCurrentItem(item)
    QTest.keyClick(table, Qt.Key.Key_Return)
    (field,) = [line for line in table.findChildren(QLineEdit) if line.isVisible()]
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    request_page.qtbot.waitUntil(lambda: table.state() != QTreeWidget.State.EditingState)
    request_page.look()


def test_value_is_edited_and_removed_in_the_table(request_page: RequestPage) -> None:
    type_value(request_page, "top_p", "0.5")
    assert request_page.session.settings.current.to_wire()["top_p"] == 0.5
    assert request_page.words("top_p") == ("0.5", "You: Parameters")
    type_value(request_page, "reasoning_effort", "low")
    assert request_page.words("reasoning_effort") == ('"low"', "You: Parameters")
    item = request_page.page.fields.line("temperature")
    assert item is not None
    request_page.page.fields.setCurrentItem(item)
    QTest.keyClick(request_page.page.fields, Qt.Key.Key_Delete)
    request_page.look()
    assert request_page.words("temperature") == ("", "Default")
    type_value(request_page, "top_k", "[1")
    assert "not JSON yet" in request_page.page.message.text()
    assert request_page.session.settings.extra_body == {"top_k": 40}
