"""The form of a tool server: shows a draft and returns the edited draft."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLayout, QLineEdit, QWidget

from playground.domain.tool_servers import Via
from playground.engine.tool_servers.secret_values import ENVIRONMENT, HEADER, named_in, split, to_lines
from playground.ui.features.tool_servers.draft import Draft, Row, wait_of
from playground.ui.features.tool_servers.rows import FolderRow, FolderRows, ValueRows, variables
from playground.ui.widgets.form_parts import FIELD_HEIGHT, push_button, say, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.segments import Segments

LABEL_WIDTH: Final = 100
_MOST_LINES: Final = 8
_SHORT: Final = 140  # pixels
_TRUST: Final = (
    "Tools declared as read-only run without asking you if their response is “Call server”. Tools declared as "
    "destructive always wait for you. These declarations are not verified."
)
_DEMO: Final = (
    "This is the demo server of this app: nothing to install, and it changes nothing outside its process. Start it, "
    "then add its tools to an experiment in the panel “Tools”. Add other servers with “New”, or with “Import…” from "
    "another application."
)


class ServerForm(QWidget):
    """The form. ``changed`` is emitted for each edit by the user, never while a draft is being shown."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._base = Draft.new()
        self._showing = False
        self.setProperty("kind", "form")
        self.about_demo = text_label(_DEMO, "", wrap=True)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.via = Segments(("Command", "URL"), "Connection", tall=True)
        self.command = QLineEdit(placeholderText="npx, uvx, docker, or a program")
        self.command.setAccessibleName("Command")
        self.split_note = text_label("", "small", wrap=True)
        self.split_button = push_button("Split")
        self.arguments = GrowingField(code=True, most=_MOST_LINES)
        self.arguments.setAccessibleName("Arguments, one per line")
        self.arguments.setPlaceholderText("One per line, without quotes")
        self.folder = FolderRow("", "Working folder", hint="your home folder")
        self.environment = variables()
        self.places = ValueRows(ENVIRONMENT, "secret", "Replaces {{secret:…}} in the command line.", fixed=True)
        self.url = QLineEdit(placeholderText="https://…/mcp")
        self.url.setAccessibleName("Address")
        self.kind = Segments(("Streamable HTTP", "SSE (old)"), "Transport", tall=True)
        self.headers = ValueRows(HEADER, "header", "Values with a key icon are kept in the keyring, never in a file.")
        self.oauth = QCheckBox("Sign in with the browser when the server asks for it (OAuth)")
        self.oauth.setToolTip(tip("The sign-in is kept in the keyring. Clear this box and save to delete it."))
        self.roots = FolderRows()
        self.trusted = QCheckBox("Auto-run read-only tools")
        self.trusted.setToolTip(tip(_TRUST))
        self.trusted_note = text_label(_TRUST, "small", wrap=True)
        self.prefix = QLineEdit(placeholderText="none", maxLength=32)
        self.prefix.setAccessibleName("Prefix")
        self.wait = QLineEdit(maxLength=9)
        self.wait.setAccessibleName("Time-out in seconds")
        self.wait_problem = text_label("", "error", wrap=True)
        self._lay_out()
        self._connect()

    # ---- draft

    def show_draft(self, draft: Draft) -> None:
        """Put a draft into the fields."""
        self._showing = True
        try:
            self._base = draft
            server = draft.server
            self.name.setText(server.name)
            self.via.set_index(0 if server.via is Via.STDIO else 1)
            self.kind.set_index(1 if server.via is Via.SSE else 0)
            self.command.setText(server.command)
            self.arguments.set_text(draft.arguments)
            self.folder.path.setText(server.folder)
            self.environment.set_rows(draft.environment)
            self.url.setText(draft.url)
            self.headers.set_rows(draft.headers)
            self.places.set_rows(draft.places)
            self.oauth.setChecked(server.oauth)
            self.roots.set_folders(server.roots)
            self.trusted.setChecked(server.trusted)
            self.prefix.setText(server.prefix)
            self.wait.setText(f"{server.timeout:g}")
        finally:
            self._showing = False
        self._describe()

    def draft(self) -> Draft:
        """Return the content of the fields."""
        base = self._base.server
        wait = wait_of(self.wait.text())
        via = Via.STDIO if self.via.index == 0 else Via.SSE if self.kind.index == 1 else Via.HTTP
        server = base.model_copy(
            update={
                "name": self.name.text(),
                "via": via,
                "command": self.command.text(),
                "folder": self.folder.path.text().strip(),
                "oauth": self.oauth.isChecked(),
                "roots": self.roots.folders(),
                "trusted": self.trusted.isChecked(),
                "prefix": self.prefix.text().strip(),
                "timeout": base.timeout if wait is None else wait,
            }
        )
        return replace(
            self._base,
            server=server,
            arguments=self.arguments.text(),
            url=self.url.text(),
            environment=self.environment.rows(),
            headers=self.headers.rows(),
            places=self._places(),
        )

    def _places(self) -> tuple[Row, ...]:
        """Return the secrets named in the arguments or the address."""
        rows = {row.name: row for row in self.places.rows()}
        saved = {row.name: row for row in self._base.places}
        named = named_in((self.arguments.text(), self.url.text()))
        return tuple(rows.get(name) or saved.get(name) or Row(name) for name in named)

    # ---- edits

    def _edited(self, *_: object) -> None:
        if self._showing:
            return
        if tuple(row.name for row in self.places.rows()) != tuple(row.name for row in self._places()):
            self.places.set_rows(self._places())
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        draft, demo = self.draft(), self._base.server.demo
        stdio = draft.server.via is Via.STDIO
        for row in self._of_command:
            row.setVisible(stdio and not demo)
        for row in self._of_url:
            row.setVisible(not stdio)
        for row in self._of_places:
            row.setVisible(bool(draft.places))
        for row in self._of_others:
            row.setVisible(not demo)
        self.about_demo.setVisible(demo)
        self.name.setPlaceholderText(replace(draft, server=draft.server.model_copy(update={"name": ""})).title)
        words = self._words()
        offer = stdio and not demo and len(words) > 1 and not draft.arguments.strip()
        rest = "1 argument" if len(words) == 2 else f"{len(words) - 1:,} arguments"
        note = f"Command line: {one_line_of(words[0])} with {rest}." if offer else ""
        say(self.split_note, note)
        self.split_button.setVisible(offer)
        self.trusted_note.setVisible(draft.server.trusted)
        is_invalid = wait_of(self.wait.text()) is None
        say(self.wait_problem, "Enter a number of seconds, at most a day." if is_invalid else "")

    def _words(self) -> tuple[str, ...]:
        text = self.command.text().strip()
        if " " not in text:
            return ()
        try:
            return split(text)
        except ValueError:
            return ()

    def split_command(self) -> None:
        """Split the command line in the field of the command."""
        words = self._words()
        if len(words) > 1:
            self.command.setText(words[0])
            self.arguments.set_text(to_lines(words[1:]))
            self._edited()
            self.arguments.setFocus()

    # ---- widgets

    def _connect(self) -> None:
        for line in (self.name, self.command, self.url, self.prefix, self.wait):
            line.textChanged.connect(self._edited)
        self.arguments.textChanged.connect(self._edited)
        for rows in (self.environment, self.headers, self.places, self.roots, self.folder):
            rows.changed.connect(self._edited)
        for segments in (self.via, self.kind):
            segments.chosen.connect(self._edited)
        for box in (self.oauth, self.trusted):
            box.toggled.connect(self._edited)
        self.split_button.clicked.connect(self.split_command)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(24, 12, 24, 20)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        self._grid = grid
        grid.addWidget(self.about_demo, 0, 0, 1, 2)
        self._of_others = [
            *self._row("&Name", self.name, self.name),
            *self._row("Connection", in_row(self.via, 1), self.via),
        ]
        noted = in_row((self.split_note, 1), self.split_button, spacing=8)
        command = in_column(self.command, noted, spacing=4)
        self._of_command = [
            *self._row("&Command", command, self.command),
            *self._row("&Arguments", self.arguments, self.arguments),
            *self._row("&Folder", self.folder, self.folder.path),
            *self._row("&Variables", self.environment, self.environment.add),
        ]
        self._of_url = [
            *self._row("&Address", self.url, self.url),
            *self._row("Transport", in_row(self.kind, 1), self.kind),
            *self._row("&Headers", self.headers, self.headers.add),
            *self._row("", self.oauth, self.oauth),
        ]
        self._of_places = self._row("Secrets", self.places, self.places)
        self._section("Permissions")
        self._row("", in_column(self.trusted, self.trusted_note, spacing=4), self.trusted)
        self._row("&Roots", self.roots, self.roots.add)
        self._section("Calls")
        wait = in_row(self.wait, text_label("seconds without activity", "small"), 1, spacing=8)
        self.wait.setFixedWidth(_SHORT)
        self.prefix.setFixedWidth(_SHORT)
        self._row("&Time-out", in_column(wait, self.wait_problem, spacing=4), self.wait)
        words = "added to the names of its tools if another server has the same names"
        self._row("&Prefix", in_row(self.prefix, text_label(words, "small"), 1, spacing=8), self.prefix)
        grid.setRowStretch(grid.rowCount(), 1)

    def _section(self, title: str) -> None:
        label = text_label(title, "group")
        label.setContentsMargins(0, 12, 0, 0)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 2)

    def _row(self, title: str, field: QWidget | QLayout, buddy: QWidget) -> tuple[QWidget, QWidget]:
        """Add a row. Return its widgets, which are shown and hidden together."""
        label = text_label(title)
        label.setBuddy(buddy)
        label.setMinimumHeight(FIELD_HEIGHT if title else 0)
        if isinstance(field, QLayout):
            container = QWidget(self)
            field.setContentsMargins(0, 0, 0, 0)
            container.setLayout(field)
        else:
            container = field
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(container, row, 1)
        return label, container
