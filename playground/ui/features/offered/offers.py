"""Prompts, resources and resource templates of tool servers, as rows of a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from playground.domain.sizes import size_words
from playground.domain.tool_servers import PromptArgument, ServerPrompt, ServerResource
from playground.engine.tool_servers.content import fill, names_of
from playground.engine.tool_servers.events import ServerSnapshot
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import tokens

PROMPTS, RESOURCES = 0, 1
NAME, SERVER = 0, 1
SEARCHED: Final = 2_000  # characters of a description

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Offer:
    """A prompt or resource of a server; ``can`` are the server's capabilities."""

    server_id: str
    server: str
    value: ServerPrompt | ServerResource
    can: frozenset[str] = frozenset()
    words: str = field(default="", compare=False, repr=False)  # searched text in lower case

    @property
    def key(self) -> tuple[str, str]:
        """Server id and address or name, unique among its kind."""
        return self.server_id, self.value.uri if isinstance(self.value, ServerResource) else self.value.name

    @property
    def name(self) -> str:
        """Display name."""
        fallback = self.value.uri if isinstance(self.value, ServerResource) else ""
        return self.value.title or self.value.name or fallback

    @property
    def template(self) -> bool:
        """True if its address has values to fill in."""
        return isinstance(self.value, ServerResource) and self.value.template

    @property
    def arguments(self) -> tuple[PromptArgument, ...]:
        """Arguments to fill in."""
        if isinstance(self.value, ServerPrompt):
            return self.value.arguments
        names = names_of(self.value.uri) if self.value.template else ()
        return tuple(PromptArgument(name=name) for name in names)

    @property
    def about(self) -> str:
        """Details in one line: address, type, size, server."""
        value = self.value
        if isinstance(value, ServerPrompt):
            return f"prompt {value.name} of {self.server}"
        facts = [value.uri, value.mime, size_words(value.size) if value.size is not None else "", f"of {self.server}"]
        return " · ".join(filter(None, facts))

    def uri(self, values: dict[str, str]) -> str:
        """Return the address of a resource with the values filled in; empty for a prompt."""
        value = self.value
        if isinstance(value, ServerPrompt):
            return ""
        return fill(value.uri, values) if value.template else value.uri

    def matches(self, words: Iterable[str]) -> bool:
        """Return whether the searched text contains every word; words are in lower case."""
        return all(word in self.words for word in words)


def offers_of(lives: Iterable[ServerSnapshot], kind: int) -> Iterator[Offer]:
    """Yield the prompts or the resources of servers."""
    for live in lives:
        values = live.prompts if kind == PROMPTS else live.resources
        for value in values:
            where = value.uri if isinstance(value, ServerResource) else ""
            texts = (value.title, value.name, where, value.description[:SEARCHED], live.server.name)
            yield Offer(live.server.id, live.server.name, value, live.can, " ".join(texts).lower())


def find(lives: Iterable[ServerSnapshot], kind: int, key: tuple[str, str]) -> Offer | None:
    """Return the offer of a kind with this key, or None."""
    return next((offer for offer in offers_of(lives, kind) if offer.key == key), None)


class OfferModel(QAbstractTableModel):
    """Model of the list; ``show`` replaces its rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.offers: list[Offer] = []

    def show(self, offers: list[Offer]) -> None:
        """Show offers."""
        self.beginResetModel()
        self.offers = offers
        self.endResetModel()

    def row_of(self, key: tuple[str, str]) -> int:
        """Return the row of a key, or -1."""
        return next((row for row, offer in enumerate(self.offers) if offer.key == key), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.offers)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        offer, column = self.offers[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line_of(offer.name if column == NAME else offer.server)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(f"{offer.name}\n{offer.about}")
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(tokens().text if column == NAME else tokens().muted)
        return None
