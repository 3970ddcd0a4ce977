"""The panels beside the conversation: parameters and tools are sent as they are set, and nothing else is."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QScrollArea, QWidget

from playground.domain.tools import ToolDefinition
from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import wait_for_dialog
from tests.flows.pages.page import read_label
from tests.flows.pages.steps import open_tab
from tests.flows.pages.tools import ToolsPage

FLAG = "no tool is sent to choose from"
MAIL = {
    "name": "send_mail",
    "description": "Sends a mail.",
    "input_schema": {"type": "object", "properties": {"to": {"type": "string", "description": "Whom"}}},
}


@flow()
async def test_parameters_are_sent_until_they_are_reset(person: Person) -> None:
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
    await person.until(lambda: field.text() == "", "an empty field")

    await person.type_into(field, "7")
    await person.run("A value outside the documented range")
    await person.idle(turns=6)
    assert person.body()["temperature"] == 7, "odd values are flagged and still sent"
    await person.until(lambda: "above the documented maximum of 2" in read_label(person, "problem"), "the flag")

    # A tool choice without tools is flagged and sent
    await person.press("More parameters")
    choice = await person.seen(QComboBox, "Tool choice")
    (area,) = [area for area in person.find(QScrollArea) if area.isAncestorOf(choice)]
    area.ensureWidgetVisible(choice)
    await person.type_into(choice, "required")
    await person.until(lambda: FLAG in read_label(person, "problem", area), "the flag")
    await person.run("Hello")
    await person.idle(turns=8)
    assert person.body()["tool_choice"] == "required"
    person.session.change(tools=(ToolDefinition(name="look", parameters={"type": "object"}),))
    await person.until(lambda: FLAG not in read_label(person, "problem", area), "no flag")


@flow()
async def test_tools_from_the_editor_the_form_and_an_import_are_sent(person: Person) -> None:
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
    assert not person.conversation.composer.main_button.isEnabled(), "the call needs a result first"
    assert person.session.active_run is None
    await person.type_into(person.message, " ")
    await call.type_result("no train today")
    await call.press("Send as error")
    await person.until(lambda: len(person.path) >= 4, "the next request")
    await person.idle()
    await person.until(lambda: person.find(QAbstractButton, "Send as error") == [], "no open call")

    # A parameter made in the form
    await person.trigger("experiment.new")
    await person.until(lambda: not person.path, "another experiment")
    await tools.press("Add one")
    await person.type_into(await tools.wait_for(QLineEdit, "Tool name"), "find_train")
    await tools.press("Form")
    await tools.press("Add parameter")
    name = await tools.wait_for(QLineEdit, "Parameter name")
    await person.until(name.hasFocus, "the name to type over")
    await person.keys("to")
    await person.key(Qt.Key.Key_Return)
    await tools.fill("Description", "Where to")
    await tools.press("Required")
    await person.click(await tools.wait_for(QWidget, "to,"))
    await person.until(lambda: not tools.has_button("Required"), "the parameter closed again")
    await person.use_model("demo-tools")
    await person.run("A train to Porto?")
    await person.idle(turns=2)
    properties = {"to": {"type": "string", "description": "Where to"}}
    parameters = {"type": "object", "properties": properties, "required": ["to"]}
    function = {"name": "find_train", "parameters": parameters}
    assert person.body()["tools"] == [{"type": "function", "function": function}]

    # A tool imported into a group
    await person.trigger("experiment.new")
    await person.until(lambda: not person.path, "another experiment")
    QGuiApplication.clipboard().setText(json.dumps(MAIL))
    await tools.press("Import tools")
    dialog = await wait_for_dialog(person, "Import tools")
    await dialog.press("Paste from the clipboard")
    group = await dialog.wait_for(QLineEdit, "Group for the imported tools")
    await person.do(lambda: group.setText("Letters"))
    await dialog.press("Import")
    await person.until(lambda: len(person.session.settings.tools) == 1, "the tool")
    assert person.session.settings.tools[0].group == "Letters"
    await person.until(lambda: [row.split(",")[0] for row in tools.rows] == ["group Letters", "send_mail"], "the rows")
    await person.run("Write to Ada")
    await person.idle(turns=2)
    (sent,) = person.body()["tools"]
    assert sent["function"]["parameters"] == MAIL["input_schema"]
    assert "Letters" not in json.dumps(person.body())
