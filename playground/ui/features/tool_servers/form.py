"""The form of a tool server: shows a draft and returns the edited draft."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.domain.hints import hints_of, setting
from playground.domain.tool_servers import ToolServer
from playground.engine.tool_servers.secret_values import named_in, split, to_lines
from playground.ui.features.tool_servers.draft import Draft, PlaceSecret, ServerHeader, Variable
from playground.ui.features.tool_servers.rows import FolderRows
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import one_line_of
from playground.ui.widgets.rows.form import form_for
from playground.ui.widgets.value_table import ValueTable

KEYRING: Final = "Values with a key icon are secrets: they are stored in the keyring, never in a file."
_MOST_LINES: Final = 8
_DEMO: Final = (
    "This is the demo server of this app: nothing to install, and it changes nothing outside its process. Start it, "
    "then add its tools to an experiment in the panel “Tools”. Add other servers with “New”, or with “Import…” from "
    "another application."
)


class ServerForm(QWidget):
    """The fields of ``ToolServer``; arguments, variables, headers and secrets are as typed in the draft."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._base = Draft.new()
        self._showing = False
        self.about_demo = text_label(_DEMO, "", wrap=True)
        self.arguments = GrowingField(code=True, most=_MOST_LINES)
        self.arguments.setAccessibleName("Arguments, one per line")
        self.arguments.setPlaceholderText("One per line, without quotes")
        self.environment = ValueTable(Variable, secret_hint=KEYRING)
        self.headers = ValueTable(ServerHeader, secret_hint=KEYRING)
        self.places = ValueTable(PlaceSecret, secret_hint="Replaces {{secret:…}} in the command line.", fixed=True)
        self.roots = FolderRows()
        controls: dict[str, QWidget] = {
            "arguments": self.arguments,
            "environment": self.environment,
            "headers": self.headers,
            "places": self.places,
            "roots": self.roots,
        }
        hints = {**hints_of(ToolServer), "places": setting("Secrets", after="oauth")}
        self.fields = form_for(ToolServer, controls, hints)
        self.line, self.focus = self.fields.line, self.fields.focus
        self.split_note = text_label("", "small", wrap=True)
        self.split_button = push_button("Split")
        self.fields.rows["command"].body.addLayout(in_row((self.split_note, 1), self.split_button, spacing=8))
        in_column(self.about_demo, (self.fields, 1), parent=self, margins=(24, 12, 24, 20), spacing=0)
        self.arguments.textChanged.connect(self._edited)
        self.fields.changed.connect(self._edited)
        self.split_button.clicked.connect(self.split_command)

    @property
    def value(self) -> Draft:
        """The content of the fields."""
        return replace(
            self._base,
            server=self.fields.value.model_copy(update={"roots": self.roots.rows()}),
            arguments=self.arguments.text(),
            environment=self.environment.rows(),
            headers=self.headers.rows(),
            places=self._places(),
        )

    def set_value(self, draft: Draft) -> None:
        """Put a draft into the fields."""
        self._base, self._showing = draft, True
        try:
            self.fields.set_value(draft.server)
            self.arguments.set_text(draft.arguments)
            self.environment.set_rows(draft.environment)
            self.headers.set_rows(draft.headers)
            self.places.set_rows(draft.places)
            self.roots.set_rows(draft.server.roots)
        finally:
            self._showing = False
        self._describe()

    def split_command(self) -> None:
        """Move the arguments of a command line from the field of the command to theirs."""
        words = self._words()
        if len(words) > 1:
            self.arguments.set_text(to_lines(words[1:]))
            self.line("command").setText(words[0])
            self.arguments.setFocus()

    def _edited(self, *_: object) -> None:
        if self._showing:
            return
        places = self._places()
        if [row.name for row in self.places.rows()] != [row.name for row in places]:
            self.places.set_rows(places)
        self._describe()
        self.changed.emit()

    def _places(self) -> tuple[PlaceSecret, ...]:
        """Return the secrets named in the arguments or the address."""
        rows = {row.name: row for row in (*self._base.places, *self.places.rows())}
        named = named_in((self.arguments.text(), self.fields.value.url))
        return tuple(rows.get(name) or PlaceSecret(name) for name in named)

    def _describe(self) -> None:
        """Show the texts and rows that follow from the draft."""
        draft = self.value
        self.fields.rows["places"].setVisible(bool(draft.places))
        self.about_demo.setVisible(draft.server.demo)
        name = replace(draft, server=draft.server.model_copy(update={"name": ""})).title
        self.line("name").setPlaceholderText(name)
        words = self._words() if not draft.arguments.strip() else ()
        others = "1 argument" if len(words) == 2 else f"{len(words) - 1:,} arguments"
        say(self.split_note, f"Command line: {one_line_of(words[0])} with {others}." if len(words) > 1 else "")
        self.split_button.setVisible(len(words) > 1)

    def _words(self) -> tuple[str, ...]:
        """Return the words of a whole command line in the field of the command."""
        text = self.fields.value.command.strip()
        try:
            return split(text) if " " in text else ()
        except ValueError:
            return ()
