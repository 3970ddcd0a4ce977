"""What is set in the panels beside the conversation is what goes over the wire, and nothing else does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QTabBar

from playground.domain.tools import ToolDefinition
from playground.ui.shell.features import PARAMETER_PANEL, TOOLS_PANEL
from playground.ui.widgets.rows.row import FieldRow
from tests.flows.conftest import Person, Stage, click_at


async def open_tab(person: Person, title: str) -> None:
    tabs: QTabBar = person.app.window.side.tabs
    at = next(n for n in range(tabs.count()) if tabs.tabText(n).split()[0] == title)
    await person.do(lambda: click_at(tabs, tabs.tabRect(at).center()))
    await person.until(lambda: tabs.currentIndex() == at, f"the tab {title}")


def test_a_parameter_typed_is_sent_and_one_reset_is_not(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_tab(person, "Parameters")
        field = await person.seen(QLineEdit, "Temperature", person.app.window.panels.of(PARAMETER_PANEL))
        await person.type_into(field, "1.3")
        await person.run("Hello")
        await person.idle(turns=2)
        assert person.body()["temperature"] == 1.3

        row = next(row for row in person.find(FieldRow) if row.isAncestorOf(field))
        assert row.reset.isVisible()
        await person.click(row.reset)
        await person.run("Hello again")
        await person.idle(turns=4)
        assert set(person.body()) == {"model", "messages", "stream", "stream_options"}
        assert field.text() == ""

        await person.type_into(field, "7")
        await person.run("A value outside the documented range")
        await person.idle(turns=6)
        assert person.body()["temperature"] == 7, "odd values are flagged and sent all the same"
        assert row.flag_label.isVisible()

    stage.play(scene)


def test_a_choice_among_no_tools_is_flagged_and_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_tab(person, "Parameters")
        row = person.app.window.panels.of(PARAMETER_PANEL).rows["tool_choice"]
        person.app.window.panels.of(PARAMETER_PANEL).ensureWidgetVisible(row)
        field = await person.seen(QComboBox, "Tool choice", person.app.window.panels.of(PARAMETER_PANEL))
        await person.type_into(field, "required")
        await person.until(row.flag_label.isVisible, "the flag")
        assert "no tool is sent to choose from" in row.flag_label.text()
        await person.run("Hello")
        await person.idle(turns=2)
        assert person.body()["tool_choice"] == "required"
        person.session.change(tools=(ToolDefinition(name="look", parameters={"type": "object"}),))
        await person.until(lambda: not row.flag_label.isVisible(), "no flag")

    stage.play(scene)


def test_a_tool_written_in_the_panel_is_offered_and_called(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        panel = person.app.window.panels.of(TOOLS_PANEL)
        await open_tab(person, "Tools")
        await person.press("Add one", panel)
        name = await person.seen(QLineEdit, "Tool name", panel)
        await person.type_into(name, "find_train")
        await person.type_into(await person.seen(QPlainTextEdit, "Tool description", panel), "Trains between cities")
        schema = '{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}'
        await person.press("JSON", panel)
        editor = await person.seen(QPlainTextEdit, "Parameters, JSON Schema", panel)
        await person.click(editor)
        await person.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        await person.key(Qt.Key.Key_Delete)
        await person.do(lambda: editor.insertPlainText(schema))  # as pasted; typing would close brackets by itself
        await person.use_model("demo-tools")
        await person.run("A train to Porto?")
        await person.idle(turns=2)
        tool = person.body()["tools"][0]["function"]
        assert (tool["name"], tool["description"]) == ("find_train", "Trains between cities")
        assert tool["parameters"]["required"] == ["to"]
        assert [call.name for call in person.path[-1].calls] == ["find_train"]
        (call,) = person.card(-1).calls
        assert call.waiting

        await person.run("And now?")
        await person.until(lambda: "Still open: find_train" in person.pane.notice.words, "the reason why not")
        assert person.session.active_run is None
        await person.type_into(person.message, " ")
        await person.press("Send as error", call)
        await person.until(lambda: len(person.path) >= 4, "the next request")
        await person.idle()
        assert person.find(QAbstractButton, "Send as error") == []

    stage.play(scene)
