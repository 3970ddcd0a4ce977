"""Dialog that imports conversations from a file or the clipboard, after a preview.

The dialog reads nothing itself: ``file_asked`` and ``text_given`` request it, ``show_conversations`` and
``show_problem`` show the result.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from playground.domain.roles import Role
from playground.engine.files.messages import Conversation, ImportedConversations
from playground.engine.requests.pasted import Imported
from playground.jsonkit.texts import cut
from playground.ui.features.conversation.documents import documents
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.import_outline import outline
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.outline_tree import Group, OutlineTree
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.role_words import ROLE_WORDS

WIDE, TALL = 820, 620
LONGEST = 90  # characters of a conversation's name in the list
NOTHING = (
    "Choose a file or paste: a list of messages, a request's body, or JSON Lines with a message or a conversation a "
    "line, in the shape of chat completions, of Messages, or of common libraries and exports."
)
MOST_PROBLEMS = 4  # problems that are shown in full
NO_GATEWAY = "Base URL"  # a group of the outline that messages never fill


class ImportMessagesDialog(QDialog):
    """Choose conversations to import; ``imported`` carries the chosen ones as a tuple."""

    file_asked = Signal()
    files_dropped = Signal(object)
    text_given = Signal(str)
    imported = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._imported: ImportedConversations | None = None
        self.setAcceptDrops(True)
        self.setWindowTitle("Import messages")
        self.source = text_label("Nothing chosen yet", "heading")
        self.verdict, self.notes = QLabel(NOTHING), QLabel()
        self.notes.setProperty("kind", "small")
        self.notes.setContentsMargins(8, 0, 8, 0)
        for label in (self.source, self.verdict, self.notes):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.file_button = QPushButton("Choose file…")
        self.paste_button = QPushButton("Paste")
        self.paste_button.setAccessibleName("Paste from the clipboard")
        self.list = QListWidget()
        self.list.setAccessibleName("Conversations found; Space picks one or leaves it out")
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.preview = OutlineTree("What is in the conversation")
        self._rest = QWidget()  # fills the space while there is no preview
        self.all_button = styled(QPushButton("Pick none"), "quiet")
        self.import_button = styled(QPushButton("Import"), "primary")
        self._arrange()
        self._refresh()
        self.file_button.clicked.connect(self.file_asked)
        self.paste_button.clicked.connect(self.paste)
        self.list.currentRowChanged.connect(self._show_conversation)
        self.list.itemChanged.connect(self._update_buttons)
        self.list.doubleClicked.connect(self._import_one)
        self.all_button.clicked.connect(self._toggle_all)
        self.import_button.clicked.connect(self._import)

    def _arrange(self) -> None:
        top = in_row((self.source, 1), self.paste_button, self.file_button, spacing=8)
        status = in_row((self.verdict, 1), self.all_button)
        right = QWidget()
        in_column((self.preview, 1), self.notes, of=right, margins=0, spacing=6)
        self.split = split(self.list, right, sizes=[290, 500])
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        bottom = in_row(1, cancel, self.import_button, spacing=8)
        for button in (self.paste_button, self.file_button, self.all_button, cancel):
            button.setAutoDefault(False)
        in_column(top, status, (self.split, 1), (self._rest, 1), bottom, of=self, margins=(14, 12, 14, 12), spacing=8)
        window = self.parentWidget()
        room = window.window().size() if window is not None else self.size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))

    # Content

    def paste(self) -> None:
        """Read the text of the clipboard."""
        self.text_given.emit(QGuiApplication.clipboard().text())

    def show_reading(self, source: str) -> None:
        """Show that a source is being read."""
        self._imported = None
        self.source.setText(show_hidden(source))
        self._show_status("Reading…")
        self._refresh()

    def show_conversations(self, source: str, imported: ImportedConversations) -> None:
        """Show the conversations of a file or of the clipboard, all selected."""
        self._imported = imported
        self.source.setText(show_hidden(source))
        listed, total = len(imported.conversations), imported.total
        words = f"{total:,} conversations: {imported.words}." if total != 1 else f"{imported.words.capitalize()}."
        if listed < total:
            words += f" The first {listed:,} can be imported; split the file for the others."
        self._show_status("\n".join([words, *_left_out(imported)]))
        self._refresh()

    def show_problem(self, source: str, problem: str) -> None:
        """Show why a source cannot be imported."""
        self._imported = None
        self.source.setText(show_hidden(source))
        self._show_status(show_hidden(problem), problem=True)
        self._refresh()

    def _show_status(self, words: str, *, problem: bool = False) -> None:
        self.verdict.setText(words)
        look(self.verdict, "error" if problem else "muted")

    def _refresh(self) -> None:
        conversations = self._imported.conversations if self._imported is not None else ()
        self.list.blockSignals(True)
        self.list.clear()
        for conversation in conversations:
            self.list.addItem(_item(conversation))
        self.list.blockSignals(False)
        self.list.setVisible(len(conversations) > 1)
        self.all_button.setVisible(len(conversations) > 1)
        self.split.setVisible(bool(conversations))
        self._rest.setVisible(not conversations)
        self._update_buttons()
        if conversations:
            self.list.setCurrentRow(0)
            (self.list if len(conversations) > 1 else self.import_button).setFocus()
        self._show_conversation(0)

    def _show_conversation(self, row: int) -> None:
        conversations = self._imported.conversations if self._imported is not None else ()
        conversation = conversations[row] if 0 <= row < len(conversations) else None
        self.preview.show_groups(_groups(conversation) if conversation is not None else ())
        notes = conversation.notes if conversation is not None else ()
        self.notes.setText("\n".join(f"· {show_hidden(note)}" for note in notes))
        self.notes.setVisible(bool(notes))

    # Selection

    @property
    def picked(self) -> tuple[Conversation, ...]:
        """The selected conversations."""
        conversations = self._imported.conversations if self._imported is not None else ()
        if len(conversations) < 2:
            return conversations
        checked = Qt.CheckState.Checked
        return tuple(
            conversation
            for row, conversation in enumerate(conversations)
            if self.list.item(row).checkState() == checked
        )

    def pick(self, *rows: int) -> None:
        """Select these conversations and no others."""
        for row in range(self.list.count()):
            self.list.item(row).setCheckState(Qt.CheckState.Checked if row in rows else Qt.CheckState.Unchecked)

    def _toggle_all(self) -> None:
        self.pick(*(() if self.picked else range(self.list.count())))

    def _update_buttons(self) -> None:
        count = len(self.picked)
        self.import_button.setEnabled(count > 0)
        self.import_button.setText("Import" if count < 2 else f"Import {count:,} as experiments")
        self.all_button.setText("Pick none" if count else "Pick all")

    def _import_one(self, index: QModelIndex) -> None:
        self.pick(index.row())
        self._import()

    def _import(self) -> None:
        picked = self.picked
        if picked:
            self.imported.emit(picked)
            self.accept()

    # Dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if documents(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if files := documents(event.mimeData()):
            event.acceptProposedAction()
            self.files_dropped.emit(files)


def _groups(conversation: Conversation) -> Iterator[Group]:
    """Yield the outline of a conversation: its turns and its settings."""
    for group in outline(Imported(conversation.request)):
        if group.title == NO_GATEWAY or (group.value == "none" and not group.rows):
            continue
        value = "as it is set now" if group.title == "Model" and not conversation.request.model else group.value
        yield group.title, value, group.rows


def _left_out(imported: ImportedConversations) -> Iterator[str]:
    """Yield lines about unreadable places, the first ones in full."""
    if imported.problems:
        count = len(imported.problems)
        subject = f"{count:,} places could not be read and are" if count > 1 else "One place could not be read and is"
        yield f"{subject} left out:"
        yield from (f"· {show_hidden(problem)}" for problem in imported.problems[:MOST_PROBLEMS])
        if count > MOST_PROBLEMS:
            yield f"· and {count - MOST_PROBLEMS:,} more"


def _item(conversation: Conversation) -> QListWidgetItem:
    turns = conversation.request.turns
    first = next((turn for turn in turns if turn.role is Role.USER and turn.text.strip()), None)
    name = conversation.title or (first.text if first is not None else "") or f"Conversation {conversation.number}"
    name = show_hidden(" ".join(name[: LONGEST * 2].split()))
    name = cut(name, LONGEST)
    roles = ", ".join(ROLE_WORDS[role].lower() for role in dict.fromkeys(turn.role for turn in turns))
    item = QListWidgetItem(f"{name}\n{len(turns):,} turn{'s' * (len(turns) != 1)}: {roles}")
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(Qt.CheckState.Checked)
    return item
