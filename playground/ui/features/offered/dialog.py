"""Dialog for prompts and resources of tool servers: find, fill in, read, and insert into the conversation.

The dialog only reads from the servers; its signals carry the content to insert.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHeaderView, QPushButton, QTableView, QWidget

from playground.domain.tool_servers import Message, PromptArgument, ServerPrompt
from playground.engine.session.tool_calls import ToolCallError
from playground.engine.tool_servers.content import Content, content_of, turns_of
from playground.engine.tool_servers.events import Event, ServersChanged, ServerSnapshot, State
from playground.engine.tool_servers.servers import Servers
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.image_view import ImageStrip
from playground.ui.features.offered.offers import NAME, PROMPTS, SERVER, Offer, OfferModel, find, offers_of
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import paragraph, push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words, look_like_rows, set_row_height
from playground.ui.widgets.plain_text import few_lines_of, one_line_of, short_title
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.rows.schema_form import SchemaForm
from playground.ui.widgets.scroll_page import DownArea, FittingArea
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

WIDE, TALL = 860, 560
ROW: Final = 24
SERVER_WIDTH: Final = 120
SHOWN: Final = 40_000  # characters of the preview
NOTHING: Final = ("No running server offers prompts.", "No running server offers resources.")
NO_MATCH: Final = "No matches"
CHOOSE: Final = "Select an entry. {button} requests its content from the server."
ASK: Final = ("Get messages", "Read")
LIST_MS: Final = 50  # between two updates of the list


class OfferedDialog(QDialog):
    """Dialog of offers: ``written`` carries a ``Content`` for the message field, ``added`` turns for the conversation.

    The receiver closes the dialog, or calls ``refuse`` with the reason.
    """

    written = Signal(object, str)  # content, name of the offer
    added = Signal(object, str)

    def __init__(self, servers: Servers, watched: set[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("From tool servers")
        self.setObjectName("serverContentDialog")
        self._servers = servers
        self._watched = watched  # the watched addresses by server, owned by the caller
        self._offer: Offer | None = None
        self._to_choose: tuple[str, str] | None = None
        self._messages: tuple[Message, ...] = ()
        self._request: asyncio.Task[Any] | None = None
        self._completing: asyncio.Task[Any] | None = None
        self.model = OfferModel(self)
        self._sources: tuple[object, ...] = ()  # lists from which the offers were built
        self._all: list[Offer] = []
        self._build()
        self._connect()
        self.throttle = Throttle(self._list_offers, self, LIST_MS)
        self._soon = Throttle(self.refresh, self, 100)
        self._end = servers.subscribe(self._server_event)
        self.finished.connect(self._leave)
        self.show_kind(PROMPTS)
        self.finder.setFocus()

    def _build(self) -> None:
        self.kinds = Segments(("Prompts", "Resources"), "Kind of content", tall=True)
        self.finder = styled(SearchField("Search…", "Search prompts and resources"), "field")
        self.table = _table(self.model)
        self.none = empty_words("")
        self._list = in_pages(self.none, self.table)
        self.asleep = paragraph("", "small")
        self.asleep.setObjectName("stoppedServers")
        self.start_button = push_button("Start servers")
        list_side = QWidget()
        in_column(
            in_row(self.kinds, (self.finder, 1), spacing=8),
            (self._list, 1),
            self.asleep,
            in_row(self.start_button, 1),
            parent=list_side,
            margins=0,
            spacing=6,
        )
        self.title = text_label("", "group", wrap=True)
        self.about = text_label("", "small", wrap=True)
        self.description = text_label("", wrap=True)
        self.form = SchemaForm(checks=False)
        self.address = text_label("", "small", wrap=True)
        self.address.setObjectName("resourceAddress")
        self.ask_button = push_button(ASK[PROMPTS])
        self.watch = QCheckBox("Watch for changes")
        self.problem = paragraph("", "error")
        self.problem.setObjectName("requestProblem")
        self.text = CodeEditor(read_only=True, json=False)
        self.text.setAccessibleName("Preview")
        self.text.setMinimumHeight(120)
        self.strip = ImageStrip(large=False, fixed=True)
        self.pictures = FittingArea(most=130, least=60, by_width=True)
        self.pictures.hold(self.strip)
        self.outcome = paragraph("", "small")
        self.outcome.setObjectName("outcome")
        page = QWidget()
        in_column(
            self.title,
            self.about,
            self.description,
            self.form,
            self.address,
            in_row(self.ask_button, self.watch, 1, spacing=12),
            self.problem,
            (self.text, 100),
            self.pictures,
            self.outcome,
            1,
            parent=page,
            margins=(12, 0, 4, 0),
            spacing=6,
        )
        self.choose_words = empty_words("")
        self._page = in_pages(self.choose_words, DownArea(page))
        self.close_button = push_button("Close")
        self.add_button = push_button("Add to conversation")
        self.write_button = styled(QPushButton("Insert into message"), "primary")
        bottom = in_row(1, self.close_button, self.add_button, self.write_button, spacing=8)
        in_column(
            (split(list_side, self._page, sizes=[330, 500]), 1),
            bottom,
            parent=self,
            margins=(14, 12, 14, 12),
            spacing=10,
        )
        window = self.parentWidget()
        available = window.window().size() if window is not None else self.size()
        self.resize(min(WIDE, available.width() - 40), min(TALL, available.height() - 40))

    def _connect(self) -> None:
        self.kinds.chosen.connect(self.show_kind)
        self.finder.textChanged.connect(self.refresh)
        self.finder.results_asked.connect(self.table.setFocus)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self.table.activated.connect(self.ask)
        self.start_button.clicked.connect(self._start)
        self.form.changed.connect(self._filled)
        self.form.submitted.connect(self.ask)
        self.form.typed.connect(self._complete)
        self.ask_button.clicked.connect(self.ask)
        self.watch.clicked.connect(self._watch)
        self.close_button.clicked.connect(self.reject)
        self.add_button.clicked.connect(self._add)
        self.write_button.clicked.connect(self._write)

    # Offers

    @property
    def kind(self) -> int:
        """Kind of the listed offers: PROMPTS or RESOURCES."""
        return self.kinds.index

    def show_kind(self, kind: int) -> None:
        """List prompts, or resources."""
        self.kinds.set_index(kind)
        self.ask_button.setText(ASK[kind])
        self.choose_words.setText(CHOOSE.format(button=f"“{ASK[kind]}”"))
        self._show(None)
        self.model.show([])
        self.refresh()

    def choose(self, kind: int, key: tuple[str, str]) -> None:
        """Select the offer with this key as soon as it is listed."""
        self.show_kind(kind)
        self.finder.clear()
        self._to_choose = key
        if (offer := find(self._lives(), kind, key)) is not None:
            self._show(offer)

    def refresh(self, _words: str = "") -> None:
        """List the offers of all servers."""
        self._say_asleep(self._lives())
        self.throttle.poke()

    def _list_offers(self) -> None:
        lives, kind = self._lives(), self.kind
        sources = (kind, *(part for live in lives for part in (live.server, live.prompts, live.resources, live.can)))
        if sources != self._sources:
            all_offers: list[Offer] = []
            for live in sorted(lives, key=lambda live: live.server.name.casefold()):
                all_offers += sorted(offers_of((live,), kind), key=lambda offer: offer.name.casefold())
            self._sources, self._all = sources, all_offers
        words = self.finder.text().lower().split()
        offers = self._all
        if words:
            offers = [offer for offer in self._all if offer.matches(words)]
        self._show_offers(offers, words)

    def _show_offers(self, offers: list[Offer], words: list[str]) -> None:
        key = self._to_choose or (self._offer.key if self._offer is not None else None)
        self.table.selectionModel().blockSignals(True)
        if offers is not self.model.offers:
            self.model.show(offers)
        row = self.model.row_of(key) if key is not None else -1
        if row >= 0:
            self.table.selectRow(row)
        self.table.selectionModel().blockSignals(False)
        if row >= 0:
            self._to_choose = None
            self._renew(offers[row])
        self.none.setText(NO_MATCH if words else NOTHING[self.kind])
        self._list.setCurrentIndex(1 if offers else 0)
        self.table.setColumnHidden(SERVER, len({offer.server_id for offer in offers}) < 2)

    def _lives(self) -> list[ServerSnapshot]:
        return [self._servers.live(server.id) for server in self._servers.book.servers]

    def _say_asleep(self, lives: Sequence[ServerSnapshot]) -> None:
        """Show the servers that do not run, and a button if some can be started."""
        words = [sentence for live in lives if (sentence := _asleep(live))]
        say(self.asleep, few_lines_of("\n".join(words)))
        startable = [live for live in lives if live.state in (State.STOPPED, State.FAILED)]
        self.start_button.setText("Start server" if len(startable) == 1 else "Start servers")
        self.start_button.setVisible(bool(startable))

    def _start(self) -> None:
        for live in self._lives():
            if live.state in (State.STOPPED, State.FAILED):
                spawn(_started(self._servers, live.server.id), name="start a tool server")

    def _server_event(self, event: Event) -> None:
        if isinstance(event, ServersChanged):
            self._soon.poke()

    # Selected offer

    @property
    def offer(self) -> Offer | None:
        """Selected offer, or None."""
        return self._offer

    def _chosen(self, _chosen: QItemSelection, _before: QItemSelection) -> None:
        row = next((index.row() for index in self.table.selectionModel().selectedRows()), -1)
        offer = self.model.offers[row] if row >= 0 else None
        if offer is not self._offer:
            self._show(offer)

    def _renew(self, offer: Offer) -> None:
        """Show the current version of the selected offer; values stay, and so does the result if nothing else changed.

        The lists of a server arrive before its state is ready and before its capabilities.
        """
        before = self._offer
        if before is None or before.key != offer.key:
            self._show(offer)
            return
        self._offer = offer
        if offer != before:
            self._say_what(offer)
            self._show_watch(offer)
        if offer.arguments != before.arguments:
            self.form.set_schema(_schema_of(offer.arguments), keep=True)
            self._filled()

    def _show(self, offer: Offer | None) -> None:
        self._call_off()
        self._offer = offer
        self._page.setCurrentIndex(0 if offer is None else 1)
        self._clear()
        if offer is None:
            return
        self._say_what(offer)
        self.form.set_schema(_schema_of(offer.arguments))
        self._filled()

    def _say_what(self, offer: Offer) -> None:
        say(self.title, one_line_of(short_title(offer.name)))
        say(self.about, one_line_of(offer.about))
        say(self.description, few_lines_of(offer.value.description))

    @property
    def _values(self) -> dict[str, str]:
        """The values that are filled in, by the names of their arguments."""
        values = self.form.value or {}
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}

    def _filled(self) -> None:
        """Clear the result of the last request: the values have changed."""
        offer = self._offer
        if offer is None:
            return
        self._call_off()
        self._clear()
        uri = offer.uri(self._values)
        say(self.address, one_line_of(uri) if offer.template else "")
        self._update_ask_button()
        self._show_watch(offer)

    def _update_ask_button(self) -> None:
        """Enable the button if the selected offer is filled in and no request for it runs."""
        offer = self._offer
        is_filled = offer is not None and self.form.is_valid and (not offer.template or bool(self._values))
        self.ask_button.setEnabled(is_filled and self._request is None)

    def _show_watch(self, offer: Offer) -> None:
        uri = offer.uri(self._values)
        self.watch.setVisible(bool(uri) and "subscribe" in offer.can)
        self.watch.setChecked((offer.server_id, uri) in self._watched)

    def _clear(self) -> None:
        self._messages = ()
        self.text.setPlainText("")
        self.strip.show_images(())
        say(self.problem, "")
        say(self.outcome, "")
        for widget in (self.text, self.pictures):
            widget.hide()
        self.add_button.hide()
        self.write_button.setEnabled(False)

    def _complete(self, argument: str, text: str) -> None:
        """Ask the server for values of an argument; an earlier question is cancelled."""
        if self._completing is not None:
            self._completing.cancel()
        offer = self._offer
        if offer is None:
            return
        starts = any(live.server.id == offer.server_id and live.state is State.STARTING for live in self._lives())
        if starts or "completions" in offer.can:  # capabilities arrive when the server has started
            others = {name: value for name, value in self._values.items() if name != argument}
            self._completing = spawn(self._propose(offer, argument, text, others), name="complete an argument")

    async def _propose(self, offer: Offer, argument: str, text: str, others: dict[str, str]) -> None:
        try:
            values = await self._servers.complete(offer.server_id, offer.key[1], argument, text, others)
        except ToolCallError:
            return  # completion is optional
        self.form.propose(argument, text, values)

    def ask(self) -> None:
        """Request the messages of the prompt, or the content of the resource, from the server."""
        offer, values = self._offer, self._values
        if offer is None or not self.ask_button.isEnabled():
            return
        self._call_off()
        self._clear()
        say(self.outcome, f"Waiting for {one_line_of(short_title(offer.server))}…")
        self._request = spawn(self._ask(offer, values), name="ask a tool server")
        self._update_ask_button()

    async def _ask(self, offer: Offer, values: dict[str, str]) -> None:
        try:
            if isinstance(offer.value, ServerPrompt):
                self._messages = await self._servers.prompt(offer.server_id, offer.value.name, values)
            else:
                blocks = await self._servers.read(offer.server_id, offer.uri(values))
                self._messages = (Message(role="user", blocks=blocks),)
        except ToolCallError as error:
            self._clear()
            say(self.problem, few_lines_of(str(error)))
        else:
            self._show_messages()
        self._request = None
        self._update_ask_button()

    def _call_off(self) -> None:
        for task in (self._request, self._completing):
            if task is not None:
                task.cancel()
        self._request = self._completing = None

    def _show_messages(self) -> None:
        """Show a preview of the received messages."""
        say(self.outcome, "")
        turns = turns_of(self._messages)
        content = self._content()
        all_content = content_of(block for message in self._messages for block in message.blocks)
        alone = len(turns) == 1
        texts = [turn.text if alone else f"{ROLE_WORDS[turn.role]}:\n{turn.text}" for turn in turns]
        text = "\n\n".join(texts)
        more = f"\n… {len(text) - SHOWN:,} more characters" if len(text) > SHOWN else ""
        self.text.setPlainText("")
        self.text.show_text(text[:SHOWN] + more)
        self.text.setVisible(bool(text))
        self.strip.show_images(all_content.images)
        self.pictures.setVisible(bool(all_content.images))
        words = [f"{all_content.size[:1].upper()}{all_content.size[1:]}."]
        if len(turns) > 1:
            words = [f"{len(turns)} messages, {all_content.size}. Each can be added as a message of its role."]
            words.append("The message field takes those of the user.")
        say(self.outcome, " ".join((*words, *all_content.left_out)))
        self.write_button.setEnabled(bool(content.text or content.images))
        self.add_button.setVisible(bool(turns) and isinstance(self._offer and self._offer.value, ServerPrompt))

    def _content(self) -> Content:
        """Return the content for the message field: all parts of the role user."""
        return content_of(
            block for message in self._messages if message.role != "assistant" for block in message.blocks
        )

    def _write(self) -> None:
        if self._offer is not None and self.write_button.isEnabled():
            self.written.emit(self._content(), self._offer.name)

    def _add(self) -> None:
        if self._offer is not None:
            self.added.emit(turns_of(self._messages), self._offer.name)

    def refuse(self, words: str) -> None:
        """Show the reason why the receiver refused the content."""
        say(self.problem, words)

    def _watch(self, on: bool) -> None:
        if self._offer is not None:
            key = self._offer.server_id, self._offer.uri(self._values)
            spawn(self._set_watched(key, on), name="watch a resource")

    async def _set_watched(self, key: tuple[str, str], on: bool) -> None:
        try:
            await self._servers.watch(*key, on)
        except ToolCallError as error:
            say(self.problem, few_lines_of(str(error)))
            self.watch.setChecked(not on)
            return
        (self._watched.add if on else self._watched.discard)(key)

    def _leave(self, _result: int) -> None:
        self._call_off()
        self._offer = None  # ignore late completions
        self.throttle.cancel()
        self._end()


def _schema_of(arguments: Sequence[PromptArgument]) -> JSONObject:
    """Return the schema of a form for arguments, which are all texts."""
    properties = {item.name: {"type": "string", "description": item.description} for item in arguments}
    return {"properties": properties, "required": [item.name for item in arguments if item.required]}


def _table(model: OfferModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName("Prompts and resources")
    table.setAccessibleDescription("Arrow keys select an entry. Enter requests its content.")
    look_like_rows(table)
    set_row_height(table, ROW)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    header = table.horizontalHeader()
    header.hide()
    header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
    header.resizeSection(SERVER, SERVER_WIDTH)
    return table


def _asleep(live: ServerSnapshot) -> str:
    """Return why a server lists nothing; empty if it runs."""
    name = one_line_of(short_title(live.server.name))
    match live.state:
        case State.STOPPED:
            return f"{name} is stopped."
        case State.UNCONFIRMED:
            return f"{name} needs approval in “Tool servers…”."
        case State.STARTING:
            return f"{name} is starting…"
        case State.FAILED:
            return f"{name} failed: {live.problem}"
        case State.READY:
            return ""


async def _started(servers: Servers, server_id: str) -> None:
    try:
        await servers.start(server_id)
    except ToolCallError:
        return  # the event of its new state carries the reason
