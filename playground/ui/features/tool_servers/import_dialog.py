"""Import of tool servers from the configuration of another application, pasted or from its file, with a preview.

Nothing is started here. A recognised secret goes to the keyring.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QPushButton, QWidget
from shiboken6 import isValid

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.gateways.secrets import Keys
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
from playground.engine.tool_servers.secret_values import command_text, forget, keep, shown_address, words_of
from playground.ui.features.tool_servers.rows import FolderRow
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.import_dialog import ImportDialog, ImportKind, Preview, Source
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.outline_tree import group
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.scroll_page import FittingArea

_MOST_ASKED = 60


@dataclass(frozen=True)
class Servers:
    """The servers of a text and, for each, what is added or why it cannot be."""

    imported: Imported
    settled: tuple[Settled | str, ...]


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


class ImportServersDialog(ImportDialog[Servers]):
    """Import of tool servers; ``imported`` carries the ids of the added servers."""

    kind = ImportKind(
        title="Import tool servers",
        placeholder=(
            "Paste the configuration of another application: JSON of Claude, VS Code, Cursor, LM Studio, Gemini CLI, "
            "opencode or Zed, TOML of Codex, YAML of Continue or Goose. A piece of it from a page of instructions is "
            "enough."
        ),
        files="Settings (*.json *.jsonc *.toml *.yaml *.yml)",
        button="Add",
        noun="server",
        size=(800, 700),
        at_once=0,  # reading opens files of variables
        refused=(ImportRefusedError,),
    )

    def __init__(self, book: ServerRegistry, keys: Keys, parent: QWidget) -> None:
        self._book, self._keys = book, keys
        self.fields: list[_Field] = []
        self.place_buttons: list[QPushButton] = []
        self._places = QWidget()
        self._places_row = FlowLayout(gap=6)
        in_row(
            text_label("Files of other applications:", "small"),
            (self._places_row, 1),
            parent=self._places,
            margins=0,
            spacing=8,
        )
        self.asked_words = text_label("Required values", "group")
        self.asked_area = FittingArea(most=260, least=130)
        note = text_label("Nothing is started now. Each is shown in full before it runs for the first time.", "small")
        note.setWordWrap(True)
        super().__init__(parent, sources=(self._places,), options=(note, self.asked_words, self.asked_area))
        self.setObjectName("importServersDialog")
        self._places.hide()
        spawn(self._look_for_places(), name="look for servers of other applications")

    def reader(self) -> Callable[[Source], Preview[Servers]]:
        """Return the function that reads servers with the entered values."""
        return partial(_read, {field.open_value.key: field.value() for field in self.fields}, self._book)

    def show_content(self, content: Servers | None) -> None:
        """Show a field for each value that the configuration leaves open."""
        servers = content.imported.servers if content is not None else ()
        open_values = {value.key: value for server in servers for value in server.open_values}
        self._show_fields(tuple(open_values.values())[:_MOST_ASKED])

    def add_content(self, content: Servers, checked: tuple[int, ...]) -> None:
        """Add the checked servers."""
        self.add_button.setEnabled(False)
        chosen = [it for n in checked if isinstance(it := content.settled[n], Settled)]
        spawn(self._add(chosen), name="import tool servers")

    async def _look_for_places(self) -> None:
        places = await asyncio.to_thread(places_here)
        if isValid(self):
            self.show_places(places)

    def show_places(self, places: tuple[Place, ...]) -> None:
        """Offer the configuration files of other applications."""
        for place in places:
            button = push_button(place.application)
            button.setToolTip(tip(str(place.path)))
            button.setAccessibleName(f"Open the file of {place.application}")
            button.clicked.connect(partial(self.open_file, place.path))
            self._places_row.addWidget(button)
            self.place_buttons.append(button)
        self._places.setVisible(bool(places))

    async def _add(self, chosen: list[Settled]) -> None:
        added: list[str] = []
        problem = ""
        try:
            for settled in chosen:
                await self._add_server(settled)
                added.append(settled.server.id)
        except ServerRegistryError as error:
            problem = str(error)
        if not isValid(self):
            return
        if added:
            self.imported.emit(added)
        if problem:
            say(self.message, problem)
            self.read_now()
        else:
            self.accept()

    async def _add_server(self, settled: Settled) -> None:
        server = settled.server.model_copy(update={"name": self._book.free_name(settled.server.name)})
        await keep(server, self._keys, settled.secrets)
        try:
            self._book.add(server)
        except ServerRegistryError:
            await forget(server.id, self._keys, settled.secrets)
            raise

    def _show_fields(self, open_values: tuple[OpenValue, ...]) -> None:
        if [field.open_value for field in self.fields] != list(open_values):
            self.fields = [_Field(value, self.read_soon) for value in open_values]
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


def _read(answers: Mapping[str, str], book: ServerRegistry, source: Source) -> Preview[Servers]:
    imported = read_servers(source.text)
    settled = tuple(_settled(server, answers) for server in imported.servers)
    existing = {book.fingerprint(server) for server in book.servers}
    items = []
    for server, result in zip(imported.servers, settled, strict=True):
        details = group(server.name, _line(result), _rows(server, result, book))
        new = not isinstance(result, str) and server.enabled and book.fingerprint(result.server) not in existing
        items.append(replace(details, checked=None if isinstance(result, str) else new))
    count = f"{len(items):,} server{'' if len(items) == 1 else 's'}"
    secrets = [secret for result in settled if isinstance(result, Settled) for secret in result.secrets.values()]
    return Preview(Servers(imported, settled), f"{count}, in the form of {imported.kind}:", items, (), secrets)


def _settled(imported: ImportedServer, answers: Mapping[str, str]) -> Settled | str:
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
