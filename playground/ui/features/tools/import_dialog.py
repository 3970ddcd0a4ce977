"""Dialog that imports tools from text: pasted, dropped or read from a file, with a preview.

The text is parsed, never executed. ``imported`` carries the selected tools once the user confirms.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from playground.domain.tools import ToolDefinition, definition_tokens
from playground.system.named_file import read_named
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.plain_text import show_hidden, tip

READ_AFTER_MS = 200
LARGEST_FILE = 8 * 1024 * 1024  # bytes


class ImportDialog(QDialog):
    """Import dialog: the text, and below it the tools recognized in it. ``existing_names`` are the names in use."""

    imported = Signal(object)

    def __init__(self, existing_names: Iterable[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._existing_names = tuple(existing_names)
        self._tools: tuple[ToolDefinition, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Import tools")
        self.setAcceptDrops(True)
        self.text = _DropEditor()
        self.text.setAccessibleName("Text to import from")
        self.text.setPlaceholderText(
            "Paste or drop here: tool definitions of any vendor or MCP server, Python functions or classes, or an "
            "OpenAPI document."
        )
        self.paste_button = QPushButton("Paste")
        self.paste_button.setAccessibleName("Paste from the clipboard")
        self.file_button = QPushButton("Open file…")
        self.verdict = text_label("Nothing to read yet.", "heading")
        self.notes = text_label("", "small")
        for label in (self.verdict, self.notes):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.list = QListWidget()
        self.list.setAccessibleName("Tools found; Space picks one or leaves it out")
        self.preview = CodeEditor(read_only=True)
        self.preview.setAccessibleName("Parameters of the tool, JSON Schema")
        self.all_button = styled(QPushButton("None"), "quiet")
        self.group = styled(QLineEdit(placeholderText="none"), "field")
        self.group.setMaximumWidth(180)
        self.group.setAccessibleName("Group for the imported tools")
        self.import_button = styled(QPushButton("Import"), "primary")
        self.import_button.setEnabled(False)
        self._read_timer = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._read_timer.timeout.connect(self.read_now)
        self._arrange()
        self.text.textChanged.connect(self._read_timer.start)
        self.text.dropped.connect(self.take_dropped)
        self.paste_button.clicked.connect(self.paste)
        self.file_button.clicked.connect(self.choose_file)
        self.list.currentRowChanged.connect(self._preview)
        self.list.itemChanged.connect(self._count)
        self.all_button.clicked.connect(self._toggle_all)
        self.import_button.clicked.connect(self._import)

    def _arrange(self) -> None:
        caption = text_label("From", "group")
        caption.setBuddy(self.text)
        top = in_row(caption, 1, self.paste_button, self.file_button)
        result_bar = in_row((self.verdict, 1), self.all_button)
        halves = split(self.list, self.preview, sizes=[300, 380])
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        cancel.setAutoDefault(False)
        group = QLabel("Into the group")
        group.setBuddy(self.group)
        bottom = in_row(group, self.group, 1, cancel, self.import_button, spacing=8)
        for button in (self.paste_button, self.file_button, self.all_button):
            button.setAutoDefault(False)
        in_column(
            top,
            (self.text, 2),
            result_bar,
            self.notes,
            (halves, 3),
            bottom,
            of=self,
            margins=(14, 12, 14, 12),
            spacing=8,
        )
        window = self.parentWidget()
        available = window.window().size() if window is not None else self.size()
        self.resize(min(760, available.width() - 40), min(680, available.height() - 40))

    # -- sources of text ---------------------------------------------------------------------------------------

    def paste(self) -> None:
        """Read the text of the clipboard."""
        self.set_text(QGuiApplication.clipboard().text())

    def set_text(self, text: str) -> None:
        """Replace the text and read it."""
        self.text.setPlainText(text)
        self.read_now()

    def choose_file(self) -> None:
        """Open a file dialog."""
        dialog = file_dialog(self, "Import tools from a file", "")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_file)
        dialog.open()

    def open_file(self, name: str) -> None:
        """Read the text of a file, or show why it cannot be read."""
        try:
            text = read_named(Path(name), LARGEST_FILE).decode("utf-8-sig")
        except UnicodeDecodeError:
            self._show_verdict(f"{Path(name).name} cannot be read: it is not UTF-8 text", "error")
        except (OSError, ValueError) as error:
            words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._show_verdict(f"{Path(name).name} cannot be read: {words}", "error")
        else:
            self.set_text(text)

    def take_dropped(self, data: QMimeData) -> None:
        """Read the text, or the first file, of a drop."""
        files = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
        if files:
            self.open_file(files[0])
        elif data.hasText():
            self.set_text(data.text())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasText() or event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.take_dropped(event.mimeData())
        event.acceptProposedAction()

    # -- recognized tools --------------------------------------------------------------------------------------

    @property
    def picked(self) -> tuple[ToolDefinition, ...]:
        """Checked tools."""
        ticked = Qt.CheckState.Checked
        return tuple(tool for row, tool in enumerate(self._tools) if self.list.item(row).checkState() == ticked)

    def read_now(self) -> None:
        """Parse the text and show the recognized tools."""
        from playground.engine.files.tool_import import import_tools
        from playground.engine.files.tool_import.collector import KIND_WORDS

        self._read_timer.stop()
        text = self.text.text()
        result = import_tools(text, self._existing_names)
        self._tools = result.tools
        self.list.clear()
        for tool in result.tools:
            item = QListWidgetItem(show_hidden(tool.name))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            first = tool.description.strip().splitlines()[0] if tool.description.strip() else "no description"
            item.setToolTip(
                tip(f"{tool.name}\n{tool.description or 'no description'}\n≈ {definition_tokens(tool):,} tokens")
            )
            item.setText(f"{show_hidden(tool.name)} — {show_hidden(first)}")
            self.list.addItem(item)
        if result.tools:
            many = "1 tool" if len(result.tools) == 1 else f"{len(result.tools)} tools"
            self._show_verdict(f"Understood as {KIND_WORDS[result.kind]}: {many}", "heading")
            self.list.setCurrentRow(0)
        elif not text.strip():
            self._show_verdict("Nothing to read yet.", "heading")
        else:
            self._show_verdict(result.problem or "No tools were found in this text.", "error")
        self.notes.setText("\n".join(f"· {show_hidden(note)}" for note in result.notes[:8]))
        if len(result.notes) > 8:
            self.notes.setText(f"{self.notes.text()}\n· and {len(result.notes) - 8} more")
        self.notes.setToolTip(tip("\n".join(result.notes)))
        self.notes.setVisible(bool(result.notes))
        self._count()

    def _show_verdict(self, words: str, kind: str) -> None:
        self.verdict.setText(words)
        look(self.verdict, kind)

    def _preview(self, row: int) -> None:
        tool = self._tools[row] if 0 <= row < len(self._tools) else None
        if tool is None:
            self.preview.show_text("")
            return
        body = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        if tool.output is not None:
            body["output"] = tool.output
        self.preview.show_text(pretty_value(body))

    def _count(self, _item: object = None) -> None:
        count = len(self.picked)
        self.import_button.setText(f"Import {count}" if len(self._tools) > 1 else "Import")
        self.import_button.setEnabled(count > 0)
        self.all_button.setVisible(len(self._tools) > 1)
        self.all_button.setText("None" if count == len(self._tools) else "All")
        self.all_button.setAccessibleName(f"Pick {self.all_button.text().lower()} of the tools")

    def _toggle_all(self) -> None:
        checked = len(self.picked) < len(self._tools)
        for row in range(self.list.count()):
            self.list.item(row).setCheckState(Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)

    def _import(self) -> None:
        group = self.group.text().strip()
        self.imported.emit(tuple(tool.model_copy(update={"group": group}) if group else tool for tool in self.picked))
        self.accept()


class _DropEditor(CodeEditor):
    """Editor that emits dropped files instead of inserting their addresses."""

    dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if any(url.isLocalFile() for url in source.urls()):
            self.dropped.emit(source)
        else:
            super().insertFromMimeData(source)
