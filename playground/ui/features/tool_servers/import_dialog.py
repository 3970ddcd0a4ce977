"""Tool servers out of what another application keeps, looked over before any is taken: pasted, or from its file.

Nothing is started here. A secret is taken off the screen as soon as it is recognised, and goes to the keyring.
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
from playground.named_file import read_named
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
UNFOLDED: Final = 6  # servers; where there are more, each is a line
_MOST_ASKED: Final = 60
_EMPTY: Final = (
    "Paste the configuration of another application: JSON of Claude, VS Code, Cursor, LM Studio, Gemini CLI, opencode "
    "or Zed, TOML of Codex, YAML of Continue or Goose. A piece of it from a page of instructions is enough."
)


class _Field:
    """Where something is asked for."""

    def __init__(self, asked: OpenValue, changed: Callable[[], None]) -> None:
        self.asked = asked
        self.label = text_label(show_hidden(asked.label), wrap=False)
        self.help = text_label(show_hidden(asked.help), "small", wrap=True)
        self.help.setVisible(bool(asked.help))
        self.folder: FolderRow | None = None
        self.choice: QComboBox | None = None
        self.line: QLineEdit | None = None
        field: QWidget
        if asked.folder:
            field = self.folder = FolderRow(asked.default, asked.label)
            self.folder.changed.connect(changed)
        elif asked.choices:
            field = self.choice = QComboBox()
            self.choice.addItems([show_hidden(choice) for choice in asked.choices])
            if asked.default in asked.choices:
                self.choice.setCurrentIndex(asked.choices.index(asked.default))
            self.choice.activated.connect(changed)
        else:
            field = self.line = QLineEdit(asked.default)
            if asked.secret:
                self.line.setEchoMode(QLineEdit.EchoMode.Password)
                self.line.setPlaceholderText("For the keyring")
            self.line.textChanged.connect(changed)
        field.setAccessibleName(show_hidden(asked.label))
        self.field = field
        self.label.setBuddy(field)

    def value(self) -> str:
        """What was typed or chosen."""
        if self.folder is not None:
            return self.folder.path.text().strip()
        if self.choice is not None:
            return self.asked.choices[max(self.choice.currentIndex(), 0)]
        return self.line.text() if self.line is not None else ""


class ImportServersDialog(QDialog):
    """``imported`` carries the ids of the servers that were added."""

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
        self.asked_words = text_label("It asks for:", "group")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.asked_words.hide()  # until there is something that is asked for
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

    # ---- what a person does

    def paste(self) -> None:
        """Take the clipboard's text."""
        self.set_text(QGuiApplication.clipboard().text())

    def set_text(self, text: str) -> None:
        """Read this text instead."""
        self.text.setPlainText(text)
        self.read_now()

    def open_file(self, path: Path) -> None:
        """Read that file instead."""
        self._spawn(self._read_file(path), name="read a file of servers")

    def read_now(self) -> None:
        """Read the text, take its secrets off the screen, and show which servers are in it."""
        self._later.stop()
        pasted = self._secrets.reveal(self.text.text())
        self._found, self._settled, self._left_out = None, [], set()
        if not pasted.strip():
            self._show_fields(())
            self._show_found()
            return
        try:
            found = read_servers(pasted)
        except ImportRefusedError as error:
            self._show_fields(())
            self._show_found(str(error))
            return
        self._found = found
        asked: dict[str, OpenValue] = {one.key: one for server in found.servers for one in server.open_values}
        self._show_fields(tuple(asked.values())[:_MOST_ASKED])
        self._settle()

    def add(self) -> None:
        """Add those that are ticked."""
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
        """Offer the files of these applications."""
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
        """Have ours made of those in the text, with what is typed in the fields."""
        self._again.stop()
        if self._found is None:
            return
        self._looks += 1
        self._spawn(self._settle_aside(self._found, self._looks), name="look at servers to import")

    async def _settle_aside(self, found: Imported, look: int) -> None:
        answers = self.answers()
        settled = await asyncio.to_thread(lambda: [_settled(server, answers) for server in found.servers])
        if not shiboken6.isValid(self) or look != self._looks or found is not self._found:
            return
        if not self._settled:
            there = {self._book.fingerprint(server) for server in self._book.servers}
            self._left_out = {
                number
                for number, (server, one) in enumerate(zip(found.servers, settled, strict=True))
                if isinstance(one, str) or not server.enabled or self._book.fingerprint(one.server) in there
            }
        self._settled = settled
        self._conceal()
        self._show_found()

    def answers(self) -> dict[str, str]:
        """What was typed into the fields, by what it answers."""
        return {field.asked.key: field.value() for field in self.fields}

    def _conceal(self) -> None:
        secrets = [secret for one in self._settled if isinstance(one, Settled) for secret in one.secrets.values()]
        self._secrets.take_off(self.text, secrets)

    # ---- adding

    async def _add(self, found: Imported) -> None:
        added: list[str] = []
        words = ""
        try:
            answers = self.answers()
            for number, server in enumerate(found.servers):
                if number in self._left_out:
                    continue
                one = await asyncio.to_thread(_settled, server, answers)
                if isinstance(one, str):
                    continue
                words = await self._add_one(one) or words
                added.append(one.server.id)
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

    async def _add_one(self, one: Settled) -> str:
        server = one.server.model_copy(update={"name": self._book.free_name(one.server.name)})
        words = await keep(server, self._keys, one.secrets)
        try:
            self._book.add(server)
        except ServerRegistryError:
            await forget(server.id, self._keys, one.secrets)
            raise
        return words

    # ---- what is shown

    def _checked(self) -> None:
        self._left_out = {
            number
            for number in range(self.preview.topLevelItemCount())
            if (item := self.preview.topLevelItem(number)) is not None and item.checkState(0) != Qt.CheckState.Checked
        }
        self._show_button()

    def _show_fields(self, asked: tuple[OpenValue, ...]) -> None:
        if [field.asked for field in self.fields] == list(asked):
            return
        self.fields = [_Field(one, self._again.start) for one in asked]
        held = QWidget()
        grid = QGridLayout(held)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for field in self.fields:
            row = grid.rowCount()
            grid.addWidget(field.label, row, 0)
            grid.addWidget(field.field, row, 1)
            grid.addWidget(field.help, row + 1, 1)
        self.asked_area.hold(held)
        self.asked_area.setVisible(bool(asked))
        self.asked_words.setVisible(bool(asked))

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
            (found.name, _line(one), _rows(found, one, self._book))
            for found, one in zip(servers, self._settled, strict=False)
        )
        for place, one in enumerate(self._settled):
            item = self.preview.topLevelItem(place)
            if item is None:
                continue
            item.setExpanded(number <= UNFOLDED)
            if isinstance(one, str):
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
        while (parent := above.parentWidget()) is not None:  # a dialog below may be smaller
            above = parent
        room = above.window().size() if above is not self else QSize(WIDE + 40, TALL + 40)
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))


def _settled(found: ImportedServer, answers: dict[str, str]) -> Settled | str:
    try:
        return settle(found, answers)
    except ImportRefusedError as error:
        return str(error)


def _line(one: Settled | str) -> str:
    if isinstance(one, str):
        return "cannot be imported"
    return command_text(one.server) if one.server.via is Via.STDIO else shown_address(one.server)


def _rows(found: ImportedServer, one: Settled | str, book: ServerRegistry) -> list[tuple[str, str]]:
    """What is to be known of a server before it is taken, a line each."""
    if isinstance(one, str):
        return [("Why", one)]
    server = one.server
    plain = server.environment if server.via is Via.STDIO else server.headers
    what = "Variables" if server.via is Via.STDIO else "Headers"
    rows = [
        ("Folder", server.folder),
        ("Read from", found.env_file or ""),
        (what, "; ".join(f"{name}={value}" for name, value in plain.items())),
        ("To the keyring", "; ".join(words_of(name) for name in one.secrets)),
        *(("Note", note) for note in one.notes),
        ("Note", _there(server, book)),
    ]
    return [(name, value) for name, value in rows if value]


def _there(server: ToolServer, book: ServerRegistry) -> str:
    """Whether it is set up already, or another one has its name."""
    print_ = book.fingerprint(server)
    same = next((it for it in book.servers if book.fingerprint(it) == print_), None)
    if same is not None:
        return f"It is set up already, as “{same.name}”."
    free = book.free_name(server.name)
    return f"Another server is called so; this one becomes “{free}”." if free != server.name else ""
