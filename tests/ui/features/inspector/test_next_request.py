"""The next request says where each field comes from, and an edit by hand ends up where it belongs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot

from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.requests.view import CUT_DATA_FROM, request_view
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient
from playground.ui.features.code.request_preview import is_light
from playground.ui.features.inspector.field_table import FROM, VALUE
from playground.ui.features.inspector.next_request import EDITED_AT_MOST, NextRequest, Preview

PROFILE = Profile(
    id="p",
    name="Team",
    base_url="https://gateway.example/v1",
    key_origin="https://gateway.example:443",
    headers={"X-Team": "weather"},
    extra_body={"cache": True, "top_k": 20},
)


async def connect(_id: str) -> GatewayClient:
    raise RunRefusedError("not in this test")


def made() -> Session:
    session = Session(connect, profile_id="p", model="m", profile_of=lambda _id: PROFILE)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    session.set_parameters(session.settings.current.with_value("temperature", 9))
    session.change(extra_body={"top_k": 40})
    return session


class Desk:
    """The page, following a session as the main window has it do."""

    def __init__(self, page: NextRequest, qtbot: QtBot) -> None:
        self.page = page
        self.qtbot = qtbot
        self.session = made()
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
def desk(qtbot: QtBot) -> Iterator[Desk]:
    page = NextRequest()
    qtbot.addWidget(page)
    page.resize(1000, 500)
    page.show()
    desk = Desk(page, qtbot)
    desk.look()
    yield desk
    page.hide()


def test_every_field_says_where_it_comes_from(desk: Desk) -> None:
    assert desk.words("model") == ('"m"', "set · tool bar")
    assert desk.words("messages") == ("1 message", "set · turns")
    value, origin = desk.words("temperature")
    assert value == "9"
    assert origin.startswith("set · Parameters · above the documented maximum")
    assert desk.words("cache") == ("true", "inherited")
    assert desk.words("top_k")[1].startswith("extra · replaces")
    assert desk.words("top_p") == ("", "default")
    assert desk.words("X-Team") == ("weather", "inherited")
    assert "••••" in desk.words("Authorization")[0]
    assert json.loads(desk.page.editor.text()) == desk.session.next_request.body()
    item = desk.page.fields.line("cache")
    assert item is not None
    assert "“Team”" in item.data(FROM, Qt.ItemDataRole.AccessibleTextRole)


def test_an_edit_of_the_text_goes_into_the_panels_and_the_rest_into_the_extra_body(desk: Desk) -> None:
    desk.replace('"temperature": 9', '"temperature": 0.2,\n  "min_p": 0.1')
    assert desk.page.apply_button.isVisible()
    desk.page.read_now()
    assert "Kept in the extra body: min_p." in desk.page.said.text()
    assert desk.session.settings.current.to_wire()["temperature"] == 9, "nothing happens before Apply"
    QTest.mouseClick(desk.page.apply_button, Qt.MouseButton.LeftButton)
    assert desk.session.settings.current.to_wire()["temperature"] == 0.2
    assert desk.session.settings.extra_body == {"top_k": 40, "min_p": 0.1}
    desk.look()
    assert desk.words("min_p") == ("0.1", "extra")
    assert not desk.page.apply_button.isVisible()
    assert not desk.page.edited


def test_a_message_edited_by_hand_is_an_edit_of_the_turn(desk: Desk) -> None:
    desk.replace("Hello", "Good morning")
    QTest.keyClick(desk.page.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [turn.text for turn in desk.session.transcript.path] == ["Good morning"]


def test_broken_json_is_marked_and_cannot_be_applied(desk: Desk) -> None:
    desk.replace('"temperature": 9', '"temperature": ')
    desk.page.read_now()
    assert desk.page.said.text().startswith("Line ")
    assert len(desk.page.editor.marks) == 1
    assert not desk.page.apply_button.isEnabled()
    desk.page.apply()
    assert desk.session.settings.current.to_wire()["temperature"] == 9
    QTest.mouseClick(desk.page.discard_button, Qt.MouseButton.LeftButton)
    assert json.loads(desk.page.editor.text()) == desk.session.next_request.body()
    assert not desk.page.said.isVisible()


def test_what_is_typed_stays_while_the_panels_change_and_while_another_experiment_is_looked_at(desk: Desk) -> None:
    desk.replace("Hello", "Typed by hand")
    desk.session.change(model="changed-meanwhile")
    desk.look()
    assert "Typed by hand" in desk.page.editor.text()
    assert desk.words("model") == ('"changed-meanwhile"', "set · tool bar")
    first, desk.session = desk.session, made()
    desk.look()
    assert "Typed by hand" not in desk.page.editor.text()
    desk.session = first
    desk.look()
    assert "Typed by hand" in desk.page.editor.text()
    assert desk.page.edited
    desk.page.discard()
    assert "changed-meanwhile" in desk.page.editor.text()


def test_what_was_applied_does_not_change_what_the_panels_say(desk: Desk) -> None:
    preview = Preview(desk.session.id, request_view(desk.session), PROFILE.name).prepared()
    desk.page.show_preview(preview)
    desk.replace("Hello", "Applied")
    desk.page.apply()
    assert "Hello" in preview.shown
    desk.page.show_preview(preview)
    assert "Hello" in desk.page.editor.text(), "one and the same preview is shown as it was"
    assert not desk.page.edited


def test_typing_the_old_text_again_is_no_edit(desk: Desk) -> None:
    states = []
    for old, new in (("Hello", "Hallo"), ("Hallo", "Hello")):
        desk.replace(old, new)
        states.append((desk.page.edited, desk.page.apply_button.isVisible()))
    assert states == [(True, True), (False, False)]


def test_one_line_says_where_it_goes_and_what_is_not_in_it_yet(desk: Desk) -> None:
    view = request_view(desk.session)
    assert Preview("x", view).about == "POST https://gateway.example/v1/chat/completions"
    assert Preview("x", view, writing=True).about.endswith("the message being written cannot be sent yet")


def type_value(desk: Desk, name: str, text: str) -> None:
    table = desk.page.fields
    item = desk.page.fields.line(name)
    assert item is not None
    table.setCurrentItem(item)
    QTest.keyClick(table, Qt.Key.Key_Return)
    (field,) = [line for line in table.findChildren(QLineEdit) if line.isVisible()]
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: table.state() != QTreeWidget.State.EditingState)
    desk.look()


def test_a_value_is_typed_in_the_table_and_delete_takes_it_out(desk: Desk) -> None:
    type_value(desk, "top_p", "0.5")
    assert desk.session.settings.current.to_wire()["top_p"] == 0.5
    assert desk.words("top_p") == ("0.5", "set · Parameters")
    type_value(desk, "reasoning_effort", "low")
    assert desk.words("reasoning_effort") == ('"low"', "set · Parameters")
    item = desk.page.fields.line("temperature")
    assert item is not None
    desk.page.fields.setCurrentItem(item)
    QTest.keyClick(desk.page.fields, Qt.Key.Key_Delete)
    desk.look()
    assert desk.words("temperature") == ("", "default")
    type_value(desk, "top_k", "[1")
    assert "not JSON yet" in desk.page.said.text()
    assert desk.session.settings.extra_body == {"top_k": 40}


def test_an_inherited_field_is_replaced_and_cannot_be_taken_out(desk: Desk) -> None:
    type_value(desk, "cache", "false")
    assert desk.session.settings.extra_body["cache"] is False
    desk.session.change(extra_body={})
    desk.look()
    item = desk.page.fields.line("cache")
    assert item is not None
    desk.page.fields.setCurrentItem(item)
    QTest.keyClick(desk.page.fields, Qt.Key.Key_Delete)
    desk.look()
    assert "can only be taken out there" in desk.page.said.text()
    assert desk.words("cache") == ("true", "inherited")
    assert json.loads(desk.page.editor.text()) == desk.session.next_request.body()


def test_messages_are_looked_at_in_the_text(desk: Desk) -> None:
    item = desk.page.fields.line("messages")
    assert item is not None
    desk.page.fields.setCurrentItem(item)
    QTest.keyClick(desk.page.fields, Qt.Key.Key_Return)
    assert desk.page.editor.textCursor().block().text().lstrip().startswith('"messages"')


def test_a_folded_group_stays_folded(desk: Desk) -> None:
    top = desk.page.fields.topLevelItem(0)
    assert top is not None
    top.setExpanded(False)
    desk.session.change(model="other")
    desk.look()
    top = desk.page.fields.topLevelItem(0)
    assert top is not None
    assert not top.isExpanded()


def test_a_body_too_long_for_an_editor_is_for_reading(desk: Desk) -> None:
    for number in range(EDITED_AT_MOST // 10_000 + 1):
        desk.session.turns.add_turn(make_turn(Role.USER, f"{number} " + "x" * 10_000))
    desk.look()
    assert desk.page.editor.isReadOnly()
    assert not desk.page.edited
    assert len(desk.page.editor.text()) < EDITED_AT_MOST
    assert len(desk.page.body) > EDITED_AT_MOST
    type_value(desk, "top_p", "0.4")
    assert desk.words("top_p") == ("0.4", "set · Parameters")


def test_of_very_many_tools_the_outline_is_shown_and_all_of_them_are_copied(desk: Desk) -> None:
    names = [f"p{number}" for number in range(1_000)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tools = tuple(ToolDefinition(name=f"tool_{number}", parameters=schema) for number in range(70))
    desk.session.change(tools=tools)
    assert not is_light(desk.session), "it is written on another thread"
    view = request_view(desk.session)
    assert view.cut
    shown = json.loads(view.text)["tools"]
    assert [tool["function"]["name"] for tool in shown] == [tool.name for tool in tools]
    assert shown[0]["function"]["parameters"]["properties"]["p0"] == "… ‹1 member›"
    desk.look()
    assert desk.page.editor.isReadOnly()
    assert desk.words("tools")[0].startswith("70 tools: tool_0, tool_1,")
    whole = json.loads(request_view(desk.session, whole=True).text)["tools"]
    assert [tool["function"]["parameters"] for tool in whole] == [schema] * len(tools)


def test_tools_that_are_only_counted_are_counted_right(desk: Desk) -> None:
    tools = tuple(ToolDefinition(name=f"t{number}") for number in range(40_000))
    desk.session.change(tools=tools)
    desk.look()
    assert desk.words("tools")[0].startswith("40000 tools: …")


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_of_very_large_images_the_beginning_is_shown_and_all_of_them_is_copied(desk: Desk, protocol: str) -> None:
    url = "data:image/png;base64," + "A" * (CUT_DATA_FROM // 2)
    desk.session.change(protocol=protocol)
    desk.session.turns.add_turn(make_turn(Role.USER, "Look", Image(url=url)))
    if protocol == "chat":
        assert not request_view(desk.session).cut
    desk.session.turns.add_turn(make_turn(Role.USER, "And this", Image(url=url)))
    view = request_view(desk.session)
    assert view.cut
    assert len(view.text) < 10_000, "laid out and folded whole, it would hold the window"
    desk.look()
    assert desk.page.editor.isReadOnly()
    assert request_view(desk.session, whole=True).text.count("A" * (CUT_DATA_FROM // 2)) == 2
