"""Tools made in the form, grouped and imported in the real window: what goes over the wire is exactly the schema."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from tests.flows.conftest import Person, Stage
from tests.flows.pages.conversation import wait_for_dialog
from tests.flows.pages.tools import ToolsPage

MAIL = {
    "name": "send_mail",
    "description": "Sends a mail.",
    "input_schema": {"type": "object", "properties": {"to": {"type": "string", "description": "Whom"}}},
}


def test_parameter_made_in_the_form_is_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        tools = await ToolsPage.open(person)
        await tools.press("Add one")
        await person.type_into(await tools.wait_for(QLineEdit, "Tool name"), "find_train")
        await tools.press("Add parameter")
        name = await tools.wait_for(QLineEdit, "Parameter name")
        await person.until(name.hasFocus, "the name to type over")
        await person.keys("to")
        await person.key(Qt.Key.Key_Return)
        await tools.fill("Description", "Where to")
        await tools.press("Required")
        await person.click(await tools.wait_for(QWidget, "to,"))
        assert not tools.has_button("Required"), "the parameter is closed again"
        await person.use_model("demo-tools")
        await person.run("A train to Porto?")
        await person.idle(turns=2)
        assert person.body()["tools"] == [
            {
                "type": "function",
                "function": {
                    "name": "find_train",
                    "parameters": {
                        "type": "object",
                        "properties": {"to": {"type": "string", "description": "Where to"}},
                        "required": ["to"],
                    },
                },
            }
        ]

    stage.play(scene)


def test_imported_tool_is_sent_without_its_group(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        tools = await ToolsPage.open(person)
        QGuiApplication.clipboard().setText(json.dumps(MAIL))
        await tools.press("Import tools")
        dialog = await wait_for_dialog(person, "Import tools")
        await dialog.press("Paste from the clipboard")
        group = dialog.get(QLineEdit, "Group for the imported tools")
        await person.do(lambda: group.setText("Letters"))
        await dialog.press("Import")
        await person.until(lambda: len(person.session.settings.tools) == 1, "the tool")
        assert person.session.settings.tools[0].group == "Letters"
        assert [row.split(",")[0] for row in tools.rows] == ["group Letters", "send_mail"]
        await person.do(person.app.window.activateWindow)  # a desktop does so when a dialog closes
        await person.run("Write to Ada")
        await person.idle(turns=2)
        (sent,) = person.body()["tools"]
        assert sent["function"]["parameters"] == MAIL["input_schema"]
        assert "Letters" not in json.dumps(person.body())

    stage.play(scene)
