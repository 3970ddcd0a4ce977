"""Dialog that imports conversations from a file or a text, with a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtWidgets import QTreeWidgetItem, QWidget

from playground.domain.roles import Role
from playground.engine.files.messages import Conversation, ImportedConversations, MessagesImportError, open_file, read
from playground.engine.requests.pasted import Imported
from playground.jsonkit.texts import cut, quantity
from playground.ui.widgets.import_dialog import ImportDialog, ImportKind, Preview, Source
from playground.ui.widgets.import_outline import outline
from playground.ui.widgets.outline_tree import Item
from playground.ui.widgets.role_words import ROLE_WORDS

LONGEST = 90  # characters of a conversation's name in the list
NO_GATEWAY = "Base URL"  # an item of the outline that messages never fill


class ImportMessagesDialog(ImportDialog[ImportedConversations]):
    """Import of conversations; ``imported`` carries the checked ones as a tuple.

    Conversations that are valid in several protocols get ``protocol``.
    """

    kind = ImportKind(
        title="Import messages",
        placeholder=(
            "Paste or drop here: a list of messages, a request's body, or JSON Lines with a message or a conversation "
            "a line, in the shape of chat completions, of Messages, or of common libraries and exports."
        ),
        files="Messages (*.json *.jsonl *.ndjson)",
        noun="conversation",
        reads_files=True,
        refused=(MessagesImportError,),
    )

    def __init__(self, protocol: str, parent: QWidget) -> None:
        self._protocol = protocol
        super().__init__(parent)
        self.preview.itemDoubleClicked.connect(self._import_one)

    def reader(self) -> Callable[[Source], Preview[ImportedConversations]]:
        """Return the function that reads conversations."""
        return partial(_read, self._protocol)

    def add_content(self, content: ImportedConversations, checked: tuple[int, ...]) -> None:
        """Import the checked conversations, or the only one."""
        conversations = content.conversations
        single = len(conversations) == 1
        self.imported.emit(conversations if single else tuple(conversations[number] for number in checked))
        self.accept()

    def _import_one(self, item: QTreeWidgetItem) -> None:
        """Import the conversation that was clicked and no other."""
        if item in self.preview.checkable:
            place = self.preview.indexOfTopLevelItem(item)
            self.preview.check(lambda number: number == place)
            self.add()


def _read(protocol: str, source: Source) -> Preview[ImportedConversations]:
    imported = open_file(source.path, protocol) if source.path is not None else read(source.text, protocol)
    conversations, total = imported.conversations, imported.total
    words = f"{total:,} conversations: {imported.words}." if total != 1 else f"{imported.words.capitalize()}."
    if len(conversations) < total:
        words += f" The first {len(conversations):,} can be imported; split the file for the others."
    if len(conversations) == 1:
        notes = (*_problems(imported), *conversations[0].notes)
        return Preview(imported, words, tuple(_outline(conversations[0])), notes)
    items = [Item(*_title(it), partial(_below, it), checked=True) for it in conversations]
    return Preview(imported, words, items, tuple(_problems(imported)))


def _problems(imported: ImportedConversations) -> Iterator[str]:
    count = len(imported.problems)
    if count:
        subject = f"{count:,} places could not be read and are" if count > 1 else "One place could not be read and is"
        yield f"{subject} left out:"
        yield from imported.problems


def _below(conversation: Conversation) -> Iterator[Item]:
    yield from _outline(conversation)
    yield from (Item("Note", note) for note in conversation.notes)


def _outline(conversation: Conversation) -> Iterator[Item]:
    """Yield the turns and the settings of a conversation."""
    for item in outline(Imported(conversation.request)):
        if item.name == NO_GATEWAY or (item.value == "none" and not item.below):
            continue
        named = item.name != "Model" or conversation.request.model
        yield item if named else Item(item.name, "current model")


def _title(conversation: Conversation) -> tuple[str, str]:
    turns = conversation.request.turns
    first = next((turn for turn in turns if turn.role is Role.USER and turn.text.strip()), None)
    name = conversation.title or (first.text if first is not None else "") or f"Conversation {conversation.number}"
    roles = ", ".join(ROLE_WORDS[role].lower() for role in dict.fromkeys(turn.role for turn in turns))
    words = cut(" ".join(name[: LONGEST * 2].split()), LONGEST)
    return words, f"{quantity(len(turns), 'message')}: {roles}"
