"""Import of tool servers from the configuration of another application, pasted or from its file, with a preview.

Nothing is started here. A recognised secret is hidden at once, and goes to the keyring.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import shiboken6
from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QDialog, QGridLayout, QLineEdit, QPushButton, QWidget

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.command_line import command_text, shown_address
from playground.engine.tool_servers.config_file import Place, places_here
from playground.engine.tool_servers.imports import (
    Imported,
    ImportedServer,
    ImportRefusedError,
    OpenValue,
    Settled,
    read_servers,
    settle,
)
from playground.engine.tool_servers.registry import ServerRegistry, ServerRegistryError
from playground.engine.tool_servers.secret_values import forget, keep, words_of
from playground.jsonkit.reading import READ_AT_MOST
from playground.system.named_file import read_named
from playground.ui.features.tool_servers.rows import FolderRow
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.dialogs import ask_which
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import look, push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.outline_tree import OutlineTree
from playground.ui.widgets.pasted_secrets import PastedSecrets
from playground.ui.widgets.plain_text import short_name, show_hidden, tip
from playground.ui.widgets.scroll_page import FittingArea

WIDE, TALL = 800, 700  # pixels
KINDS: Final = "Settings (*.json *.jsonc *.toml *.yaml *.yml);;All (*)"
READ_AFTER_MS: Final = 200
UNFOLDED: Final = 6  # with more servers, each is one line
_MOST_ASKED: Final = 60
_EMPTY: Final = (
    "Paste the configuration of another application: JSON of Claude, VS Code, Cursor, LM Studio, Gemini CLI, opencode "
    "or Zed, TOML of Codex, YAML of Continue or Goose. A piece of it from a page of instructions is enough."
)


class _Field:
    """The field of an open value."""

    def __init__(self, open_value: OpenValue, changed: Callable[[], None]) -> None:
        self.open_value = open_value
        self.label = text_label(show_hidden(open_value.label), wrap=False)
        self.help = text_label(show_hidden(open_value.help), "small", wrap=True)
        self.help.setVisible(bool(open_value.help))
        self.folder: FolderRow | None = None
        self.choice: QComboBox | None = None
        self.line: QLineEdit | None = None
        field: QWidget
        if open_value.folder:
            field = self.folder = FolderRow(open_value.default, open_value.label)
            self.folder.changed.connect(changed)
        elif open_value.choices:
            field = self.choice = QComboBox()
            self.choice.addItems([show_hidden(choice) for choice in open_value.choices])
            if open_value.default in open_value.choices:
                self.choice.setCurrentIndex(open_value.choices.index(open_value.default))
            self.choice.activated.connect(changed)
        else:
            field = self.line = QLineEdit(open_value.default)
            if open_value.secret:
                self.line.setEchoMode(QLineEdit.EchoMode.Password)
                self.line.setPlaceholderText("For the keyring")
            self.line.textChanged.connect(changed)
        field.setAccessibleName(show_hidden(open_value.label))
        self.field = field
        self.label.setBuddy(field)

    def value(self) -> str:
        """Return the entered value."""
        if self.folder is not None:
            return self.folder.path.text().strip()
        if self.choice is not None:
            return self.open_value.choices[max(self.choice.currentIndex(), 0)]
        return self.line.text() if self.line is not None else ""


class ImportServersDialog(QDialog):
    """The import dialog. ``imported`` carries the ids of the added servers."""

    imported = Signal(object)

    def __init__(self, book: ServerRegistry, keys: Keys, spawn: Callable[..., Any], parent: QWidget) -> None:
        super().__init__(parent)
        self._book, self._keys, self._spawn = book, keys, spawn
        self._secrets = PastedSecrets()
        self._found: Imported | None = None
        self._settled: list[Settled | str] = []
        self._looks = 0
        self._left_out: set[int] = set()
        self._adding = False
        self.fields: list[_Field] = []
        self.place_buttons: list[QPushButton] = []
        self.setWindowTitle("Import tool servers")
        self.setObjectName("importServersDialog")
        self.text = CodeEditor(json=False)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Text to import from")
        self.text.setPlaceholderText(_EMPTY)
        self.paste_button = push_button("Paste")
        self.file_button = push_button("Open a file…")
        self.places_words = text_label("Where other applications keep theirs:", "small")
        self._places = FlowLayout(gap=6)
        self.verdict = text_label("Nothing to read yet.", "heading", wrap=True)
        self.asked_words = text_label("Required values", "group")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.asked_words.hide()  # until there are open values
        self.asked_area = FittingArea(most=260, least=80)
        self.asked_area.hide()
        self.preview = OutlineTree("Servers in it")
        self.note = text_label("", "small", wrap=True)
        self.message = text_label("", "error", wrap=True)
        self.message.hide()
        self.add_button = push_button("Add", "primary")
        self.cancel_button = push_button("Cancel")
        self._later = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._later.timeout.connect(self.read_now)
        self._again = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._again.timeout.connect(self._settle)
        self._arrange()
        self._show_found()
        self.text.setFocus()
        self.text.textChanged.connect(self._later.start)
        self.paste_button.clicked.connect(self.paste)
        self.file_button.clicked.connect(lambda: self._spawn(self._ask_for_file(), name="open a file of servers"))
        self.preview.itemChanged.connect(self._checked)
        self.add_button.clicked.connect(self.add)
        self.cancel_button.clicked.connect(self.reject)
        spawn(self._look_for_places(), name="look for servers of other applications")

    # ---- commands

    def paste(self) -> None:
        """Read the text of the clipboard."""
        self.set_text(QGuiApplication.clipboard().text())

    def set_text(self, text: str) -> None:
        """Read a text."""
        self.text.setPlainText(text)
        self.read_now()

    def open_file(self, path: Path) -> None:
        """Read a file."""
        self._spawn(self._read_file(path), name="read a file of servers")

    def read_now(self) -> None:
        """Read the text, hide its secrets, and show its servers."""
        self._later.stop()
        pasted = self._secrets.reveal(self.text.text())
        self._found, self._settled, self._left_out = None, [], set()
        if not pasted.strip():
            self._show_fields(())
            self._show_found()
            return
        try:
            imported = read_servers(pasted)
        except ImportRefusedError as error:
            self._show_fields(())
            self._show_found(str(error))
            return
        self._found = imported
        open_values: dict[str, OpenValue] = {
            value.key: value for server in imported.servers for value in server.open_values
        }
        self._show_fields(tuple(open_values.values())[:_MOST_ASKED])
        self._settle()

    def add(self) -> None:
        """Add the checked servers."""
        if self._later.isActive():  # typed a moment ago
            self.read_now()
        if not self._adding and self._found is not None:
            self._adding = True
            self.add_button.setEnabled(False)
            self._spawn(self._add(self._found), name="import tool servers")

    # ---- reading

    async def _look_for_places(self) -> None:
        places = await asyncio.to_thread(places_here)
        if shiboken6.isValid(self):
            self.show_places(places)

    def show_places(self, places: tuple[Place, ...]) -> None:
        """Offer the configuration files of other applications."""
        for place in places:
            button = push_button(place.application)
            button.setToolTip(tip(str(place.path)))
            button.setAccessibleName(f"Open the file of {place.application}")
            button.clicked.connect(partial(self.open_file, place.path))
            self._places.addWidget(button)
            self.place_buttons.append(button)
        self.places_words.setVisible(bool(places))

    async def _ask_for_file(self) -> None:
        path = await ask_which(self, "Open a file of tool servers", str(Path.home()), KINDS)
        if path is not None and shiboken6.isValid(self):
            await self._read_file(path)

    async def _read_file(self, path: Path) -> None:
        try:
            data = await asyncio.to_thread(read_named, path, READ_AT_MOST)
        except OSError as error:
            if shiboken6.isValid(self):
                say(self.message, f"{short_name(str(path))} cannot be read: {error.strerror or error}.")
            return
        if shiboken6.isValid(self):
            self.set_text(data.decode("utf-8", "replace"))

    def _settle(self) -> None:
        """Convert the servers of the text, with the entered values."""
        self._again.stop()
        if self._found is None:
            return
        self._looks += 1
        self._spawn(self._settle_in_thread(self._found, self._looks), name="look at servers to import")

    async def _settle_in_thread(self, imported: Imported, look_number: int) -> None:
        answers = self.answers()
        settled = await asyncio.to_thread(lambda: [_settled(server, answers) for server in imported.servers])
        if not shiboken6.isValid(self) or look_number != self._looks or imported is not self._found:
            return
        if not self._settled:
            existing = {self._book.fingerprint(server) for server in self._book.servers}
            self._left_out = {
                number
                for number, (server, result) in enumerate(zip(imported.servers, settled, strict=True))
                if isinstance(result, str) or not server.enabled or self._book.fingerprint(result.server) in existing
            }
        self._settled = settled
        self._conceal()
        self._show_found()

    def answers(self) -> dict[str, str]:
        """Return the entered values by the keys of open values."""
        return {field.open_value.key: field.value() for field in self.fields}

    def _conceal(self) -> None:
        secrets = [
            secret for result in self._settled if isinstance(result, Settled) for secret in result.secrets.values()
        ]
        self._secrets.take_off(self.text, secrets)

    # ---- adding

    async def _add(self, imported: Imported) -> None:
        added: list[str] = []
        words = ""
        try:
            answers = self.answers()
            for number, server in enumerate(imported.servers):
                if number in self._left_out:
                    continue
                result = await asyncio.to_thread(_settled, server, answers)
                if isinstance(result, str):
                    continue
                words = await self._add_one(result) or words
                added.append(result.server.id)
        except ServerRegistryError as error:
            if shiboken6.isValid(self):
                say(self.message, str(error))
        finally:
            self._adding = False
        if not shiboken6.isValid(self):
            return
        self.add_button.setEnabled(True)
        if added:
            self.imported.emit(added)
        if self.message.isHidden():
            self.accept()

    async def _add_one(self, settled: Settled) -> str:
        server = settled.server.model_copy(update={"name": self._book.free_name(settled.server.name)})
        words = await keep(server, self._keys, settled.secrets)
        try:
            self._book.add(server)
        except ServerRegistryError:
            await forget(server.id, self._keys, settled.secrets)
            raise
        return words

    # ---- display

    def _checked(self) -> None:
        self._left_out = {
            number
            for number in range(self.preview.topLevelItemCount())
            if (item := self.preview.topLevelItem(number)) is not None and item.checkState(0) != Qt.CheckState.Checked
        }
        self._show_button()

    def _show_fields(self, open_values: tuple[OpenValue, ...]) -> None:
        if [field.open_value for field in self.fields] == list(open_values):
            return
        self.fields = [_Field(value, self._again.start) for value in open_values]
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for field in self.fields:
            row = grid.rowCount()
            grid.addWidget(field.label, row, 0)
            grid.addWidget(field.field, row, 1)
            grid.addWidget(field.help, row + 1, 1)
        self.asked_area.hold(content)
        self.asked_area.setVisible(bool(open_values))
        self.asked_words.setVisible(bool(open_values))

    def _show_found(self, problem: str = "") -> None:
        number = len(self._settled)
        kind = self._found.kind if self._found is not None else ""
        words = problem or (
            f"{number} server{'' if number == 1 else 's'}, in the form of {kind}:" if number else "Nothing to read yet."
        )
        self.verdict.setText(show_hidden(words))
        look(self.verdict, "error" if problem else "heading")
        say(self.message, "")
        servers = self._found.servers if self._found is not None else ()
        self.preview.blockSignals(True)
        self.preview.show_groups(
            (server.name, _line(result), _rows(server, result, self._book))
            for server, result in zip(servers, self._settled, strict=False)
        )
        for place, result in enumerate(self._settled):
            item = self.preview.topLevelItem(place)
            if item is None:
                continue
            item.setExpanded(number <= UNFOLDED)
            if isinstance(result, str):
                continue
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(0, Qt.CheckState.Unchecked if place in self._left_out else Qt.CheckState.Checked)
        self.preview.blockSignals(False)
        self.preview.setVisible(bool(number))
        say(
            self.note,
            "Nothing is started now. Each is shown in full before it runs for the first time." if number else "",
        )
        self._show_button()

    def _show_button(self) -> None:
        number = len(self._settled) - len(self._left_out)
        self.add_button.setText(f"Add {number} servers" if number > 1 else "Add")
        self.add_button.setEnabled(number > 0 and not self._adding)

    def _arrange(self) -> None:
        caption = text_label("From", "group")
        caption.setBuddy(self.text)
        top = in_row(caption, 1, self.file_button, self.paste_button, spacing=6)
        places = in_row(self.places_words, (self._places, 1), spacing=8)
        self.places_words.hide()
        bottom = in_row(1, self.cancel_button, self.add_button, spacing=8)
        in_column(
            top,
            (self.text, 2),
            places,
            self.verdict,
            self.asked_words,
            self.asked_area,
            (self.preview, 3),
            self.note,
            self.message,
            bottom,
            of=self,
            margins=(14, 12, 14, 12),
            spacing=8,
        )
        above: QWidget = self
        while (parent := above.parentWidget()) is not None:  # the dialog below may be smaller
            above = parent
        room = above.window().size() if above is not self else QSize(WIDE + 40, TALL + 40)
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))


def _settled(imported: ImportedServer, answers: dict[str, str]) -> Settled | str:
    try:
        return settle(imported, answers)
    except ImportRefusedError as error:
        return str(error)


def _line(result: Settled | str) -> str:
    if isinstance(result, str):
        return "cannot be imported"
    return command_text(result.server) if result.server.via is Via.STDIO else shown_address(result.server)


def _rows(imported: ImportedServer, result: Settled | str, book: ServerRegistry) -> list[tuple[str, str]]:
    """Return the details of a server as names and values."""
    if isinstance(result, str):
        return [("Why", result)]
    server = result.server
    plain = server.environment if server.via is Via.STDIO else server.headers
    what = "Variables" if server.via is Via.STDIO else "Headers"
    rows = [
        ("Folder", server.folder),
        ("Read from", imported.env_file or ""),
        (what, "; ".join(f"{name}={value}" for name, value in plain.items())),
        ("To the keyring", "; ".join(words_of(name) for name in result.secrets)),
        *(("Note", note) for note in result.notes),
        ("Note", _existing_note(server, book)),
    ]
    return [(name, value) for name, value in rows if value]


def _existing_note(server: ToolServer, book: ServerRegistry) -> str:
    """Return a note if the server exists already, or another one has its name."""
    print_ = book.fingerprint(server)
    same = next((it for it in book.servers if book.fingerprint(it) == print_), None)
    if same is not None:
        return f"Already set up as “{same.name}”."
    free = book.free_name(server.name)
    return f"Another server has this name; this one becomes “{free}”." if free != server.name else ""
