"""Tools made in the form, grouped and imported in the real window: what goes over the wire is exactly the schema."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from playground.ui.features.tools.field_row import FieldRow
from playground.ui.features.tools.import_dialog import ImportDialog
from playground.ui.shell.features import TOOLS_PANEL
from tests.flows.conftest import Person, Stage
from tests.flows.test_panels import open_tab

MAIL = {
    "name": "send_mail",
    "description": "Sends a mail.",
    "input_schema": {"type": "object", "properties": {"to": {"type": "string", "description": "Whom"}}},
}


def test_a_parameter_made_in_the_form_is_what_is_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        panel = person.app.window.panels.of(TOOLS_PANEL)
        await open_tab(person, "Tools")
        await person.press("Add one", panel)
        await person.type_into(await person.seen(QLineEdit, "Tool name", panel), "find_train")
        await person.press("Add parameter", panel)
        name = await person.seen(QLineEdit, "Parameter name", panel)
        await person.until(name.hasFocus, "the name to type over")
        await person.keys("to")
        await person.key(Qt.Key.Key_Return)
        await person.type_into(await person.seen(QPlainTextEdit, "Description", panel), "Where to")
        block = panel.editor.form.block
        assert block is not None
        await person.click(block.required)
        await person.click(await person.seen(FieldRow, "to,", panel))
        assert panel.editor.form.block is None
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


def test_an_imported_tool_in_a_group_is_offered_without_the_group(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        panel = person.app.window.panels.of(TOOLS_PANEL)
        await open_tab(person, "Tools")
        QGuiApplication.clipboard().setText(json.dumps(MAIL))
        await person.press("Import tools", panel)
        await person.until(lambda: panel.findChild(ImportDialog) is not None, "the dialog")
        dialog = panel.findChild(ImportDialog)
        assert dialog is not None
        await person.press("Paste from the clipboard", dialog)
        await person.click(dialog.group)
        await person.do(lambda: dialog.group.setText("Letters"))
        await person.press("Import", dialog)
        await person.until(lambda: len(person.session.settings.tools) == 1, "the tool")
        assert person.session.settings.tools[0].group == "Letters"
        assert panel.model.rows == ["Letters", 0]
        await person.do(person.app.window.activateWindow)  # a desktop does so when a dialog closes
        await person.run("Write to Ada")
        await person.idle(turns=2)
        (sent,) = person.body()["tools"]
        assert sent["function"]["parameters"] == MAIL["input_schema"]
        assert "Letters" not in json.dumps(person.body())

    stage.play(scene)
