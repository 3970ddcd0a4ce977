"""What is set in the panels beside the conversation is what goes over the wire, and nothing else does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QScrollArea

from playground.domain.tools import ToolDefinition
from tests.flows.conftest import Person, Stage
from tests.flows.pages.steps import open_tab, read_label
from tests.flows.pages.tools import ToolsPage

FLAG = "no tool is sent to choose from"


def test_parameters_are_sent_until_they_are_reset(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_tab(person, "Parameters")
        field = await person.seen(QLineEdit, "Temperature")
        await person.type_into(field, "1.3")
        await person.run("Hello")
        await person.idle(turns=2)
        assert person.body()["temperature"] == 1.3

        await person.press("Back to default: Temperature")
        await person.run("Hello again")
        await person.idle(turns=4)
        assert set(person.body()) == {"model", "messages", "stream", "stream_options"}
        assert field.text() == ""

        await person.type_into(field, "7")
        await person.run("A value outside the documented range")
        await person.idle(turns=6)
        assert person.body()["temperature"] == 7, "odd values are flagged and sent all the same"
        assert "above the documented maximum of 2" in read_label(person, "problem", person.app.window)

    stage.play(scene)


def test_tool_choice_without_tools_is_flagged_and_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await open_tab(person, "Parameters")
        field = await person.seen(QComboBox, "Tool choice")
        (area,) = [area for area in person.find(QScrollArea) if area.isAncestorOf(field)]
        area.ensureWidgetVisible(field)
        await person.type_into(field, "required")
        await person.until(lambda: FLAG in read_label(person, "problem", area), "the flag")
        await person.run("Hello")
        await person.idle(turns=2)
        assert person.body()["tool_choice"] == "required"
        person.session.change(tools=(ToolDefinition(name="look", parameters={"type": "object"}),))
        await person.until(lambda: FLAG not in read_label(person, "problem", area), "no flag")

    stage.play(scene)


def test_tools_from_the_panel_are_sent_and_called(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        tools = await ToolsPage.open(person)
        await tools.press("Add one")
        await person.type_into(await tools.wait_for(QLineEdit, "Tool name"), "find_train")
        await tools.fill("Tool description", "Trains between cities")
        schema = '{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}'
        await tools.press("JSON")
        editor = await tools.wait_for(QPlainTextEdit, "Parameters, JSON Schema")
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
        (call,) = await person.conversation.wait_for_calls()
        assert call.waiting

        await person.run("And now?")
        await person.conversation.notice.wait_for_text("Still open: find_train")
        assert person.session.active_run is None
        await person.type_into(person.message, " ")
        await call.press("Send as error")
        await person.until(lambda: len(person.path) >= 4, "the next request")
        await person.idle()
        assert person.find(QAbstractButton, "Send as error") == []

    stage.play(scene)
