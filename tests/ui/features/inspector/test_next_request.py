"""The next request: origins of fields, edits by hand and limits."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot

from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.requests.view import request_view
from playground.engine.session.session import Session
from playground.ui.features.code.request_preview import is_light
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
    session = Session(no_gateway, profile_id="p", model="m", profile_of=lambda _id: PROFILE)
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
        page.left.connect(self.left.__setitem__)

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


def test_fields_show_their_origin(request_page: RequestPage) -> None:
    assert request_page.words("model") == ('"m"', "set · tool bar")
    assert request_page.words("messages") == ("1 message", "set · turns")
    value, origin = request_page.words("temperature")
    assert value == "9"
    assert origin.startswith("set · Parameters · above the documented maximum")
    assert request_page.words("cache") == ("true", "inherited")
    assert request_page.words("top_k")[1].startswith("extra · replaces")
    assert request_page.words("top_p") == ("", "default")
    assert request_page.words("X-Team") == ("weather", "inherited")
    assert "••••" in request_page.words("Authorization")[0]
    assert json.loads(request_page.page.editor.text()) == request_page.session.next_request.body()
    item = request_page.page.fields.line("cache")
    assert item is not None
    assert "“Team”" in item.data(FROM, Qt.ItemDataRole.AccessibleTextRole)


def test_broken_json_is_marked_and_cannot_be_applied(request_page: RequestPage) -> None:
    request_page.replace('"temperature": 9', '"temperature": ')
    request_page.page.read_now()
    assert request_page.page.said.text().startswith("Line ")
    assert len(request_page.page.editor.marks) == 1
    assert not request_page.page.apply_button.isEnabled()
    request_page.page.apply()
    assert request_page.session.settings.current.to_wire()["temperature"] == 9
    QTest.mouseClick(request_page.page.discard_button, Qt.MouseButton.LeftButton)
    assert json.loads(request_page.page.editor.text()) == request_page.session.next_request.body()
    assert not request_page.page.said.isVisible()


def test_typed_body_survives_changes_and_other_experiments(
    request_page: RequestPage,
) -> None:
    request_page.replace("Hello", "Typed by hand")
    request_page.session.change(model="changed-meanwhile")
    request_page.look()
    assert "Typed by hand" in request_page.page.editor.text()
    assert request_page.words("model") == ('"changed-meanwhile"', "set · tool bar")
    first, request_page.session = request_page.session, make_session()
    request_page.look()
    assert "Typed by hand" not in request_page.page.editor.text()
    request_page.session = first
    request_page.look()
    assert "Typed by hand" in request_page.page.editor.text()
    assert request_page.page.edited
    request_page.page.discard()
    assert "changed-meanwhile" in request_page.page.editor.text()


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
    assert request_page.words("top_p") == ("0.5", "set · Parameters")
    type_value(request_page, "reasoning_effort", "low")
    assert request_page.words("reasoning_effort") == ('"low"', "set · Parameters")
    item = request_page.page.fields.line("temperature")
    assert item is not None
    request_page.page.fields.setCurrentItem(item)
    QTest.keyClick(request_page.page.fields, Qt.Key.Key_Delete)
    request_page.look()
    assert request_page.words("temperature") == ("", "default")
    type_value(request_page, "top_k", "[1")
    assert "not JSON yet" in request_page.page.said.text()
    assert request_page.session.settings.extra_body == {"top_k": 40}


def test_inherited_field_can_only_be_replaced(request_page: RequestPage) -> None:
    type_value(request_page, "cache", "false")
    assert request_page.session.settings.extra_body["cache"] is False
    request_page.session.change(extra_body={})
    request_page.look()
    item = request_page.page.fields.line("cache")
    assert item is not None
    request_page.page.fields.setCurrentItem(item)
    QTest.keyClick(request_page.page.fields, Qt.Key.Key_Delete)
    request_page.look()
    assert "can only be taken out there" in request_page.page.said.text()
    assert request_page.words("cache") == ("true", "inherited")
    assert json.loads(request_page.page.editor.text()) == request_page.session.next_request.body()


def test_many_tools_are_outlined_and_copied_whole(request_page: RequestPage) -> None:
    names = [f"p{number}" for number in range(300)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tools = tuple(ToolDefinition(name=f"tool_{number}", parameters=schema) for number in range(250))
    request_page.session.change(tools=tools)
    assert not is_light(request_page.session), "it is written on another thread"
    view = request_view(request_page.session)
    assert view.cut
    shown = json.loads(view.text)["tools"]
    assert [tool["function"]["name"] for tool in shown] == [tool.name for tool in tools]
    assert shown[0]["function"]["parameters"]["properties"]["p0"] == "… ‹1 member›"
    request_page.look()
    assert request_page.page.editor.isReadOnly()
    assert request_page.words("tools")[0].startswith("250 tools: tool_0, tool_1,")
    whole = json.loads(request_view(request_page.session, whole_text=True).text)["tools"]
    assert [tool["function"]["parameters"] for tool in whole] == [schema] * len(tools)
