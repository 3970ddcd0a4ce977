"""Window "Get code": the request as code in a chosen language, updated while the conversation changes.

The code never contains a key: every secret is replaced by the name of a variable.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QShowEvent, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)
from shiboken6 import isValid

from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import StoreError
from playground.engine.requests.snippets import LANGUAGES, Language
from playground.engine.session.changes import Change, DebugChanged, TitleChanged, TurnGrew
from playground.engine.session.session import Session
from playground.ui.features.code.request_preview import is_light
from playground.ui.features.conversation.document import code_colour
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.session_window import SessionWindow
from playground.ui.widgets.theme import code_font, tokens

if TYPE_CHECKING:
    from playground.engine.requests.snippets import Snippet
    from playground.engine.session.session import Exchange

EVERY_MS = 150
WIDE, TALL = 900, 620
SHORTENED = "Very long texts are shortened here. Copy and Save have all of it."

NEXT = ""  # id of the next request, which has no exchange yet
MOST_EXCHANGES = 100

LONGEST_LINE = 5_000  # characters of one line that are shown
MOST = 300_000  # characters shown in all
MOST_LINES = 4_000  # lines shown in all: a short line costs as much as a long one
COLOURED_AT_MOST = 60_000  # characters
COLOURED_AT_ONCE = 5_000  # characters; the colours of a longer text are computed in a thread
PREFIX_LENGTH, SUFFIX_LENGTH = 400, 60

Row = list[tuple[str, str]]


class CodeView(CodeEditor):
    """Show highlighted code; the scroll position is kept while the language stays the same."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, read_only=True, json=False)
        self._lexer = ""
        self._colours = _Colours(self.document())
        self._lexing = Aside(self)
        self.shortened = False

    def show_code(self, text: str, lexer: str) -> None:
        """Show code; ``lexer`` is Pygments' name of the language. Sets ``shortened`` if a part is left out."""
        excerpt, self.shortened = shorten(text)
        excerpt = show_hidden(excerpt)
        bar = self.verticalScrollBar()
        scroll_value = bar.value() if lexer == self._lexer else 0
        self._lexer = lexer
        if excerpt != self.text():
            self._colours.rows = []
            self.setPlainText(excerpt)
            work = partial(_coloured_rows, excerpt, lexer)
            self._lexing.do(work, self._colour, large=len(excerpt) > COLOURED_AT_ONCE)
        bar.setValue(scroll_value)

    def _colour(self, rows: list[Row]) -> None:
        self._colours.rows = rows
        with QSignalBlocker(self.document()):
            self._colours.rehighlight()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour(self._colours.rows)


class _Colours(QSyntaxHighlighter):
    """Colour each line by its row in ``rows``."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.rows: list[Row] = []

    def highlightBlock(self, text: str) -> None:
        number, start = self.currentBlock().blockNumber(), 0
        row = self.rows[number] if number < len(self.rows) else []
        if "".join([piece for _, piece in row]) != text:
            return
        for kind, piece in row:
            width = units(piece)
            if kind:
                form = QTextCharFormat()
                form.setForeground(QColor(code_colour(kind)))
                self.setFormat(start, width, form)
            start += width


def _coloured_rows(text: str, language: str) -> list[Row]:
    """Return the rows of a text in that language; none for a long text, or one at which the lexer fails."""
    from playground.engine.files.lexers import lexer_for
    from playground.ui.widgets.highlight import rows

    lexer = lexer_for(language) if len(text) <= COLOURED_AT_MOST else None
    try:
        return list(rows(lexer, text)) if lexer is not None else []
    except Exception:  # noqa: BLE001 - a lexer that fails on hostile input must not cost the text
        return []


def shorten(text: str) -> tuple[str, bool]:
    """Return the part of a text that the window can display, and whether something was left out."""
    out: list[str] = []
    size = start = 0
    left_out = False
    while start <= len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        line = _short(text, start, end)
        left_out |= len(line) != end - start
        size += len(line) + 1
        if size > MOST + 1 or len(out) >= MOST_LINES:
            return "\n".join([*out, "…"]), True
        out.append(line)
        start = end + 1
    return "\n".join(out), left_out


def _short(text: str, start: int, end: int) -> str:
    """Return a line of the text; a very long one without its middle."""
    if end - start <= LONGEST_LINE:
        return text[start:end]
    left_out = end - start - PREFIX_LENGTH - SUFFIX_LENGTH
    return f"{text[start : start + PREFIX_LENGTH]} … {left_out:,} characters … {text[end - SUFFIX_LENGTH : end]}"


@dataclass(frozen=True, slots=True)
class Code:
    """A snippet and its target; ``refusal`` is the reason why there is none in any language."""

    url: str = ""
    protocol: str = ""
    snippet: Snippet | None = None
    refusal: str = ""

    @property
    def text(self) -> str:
        """The code; empty if there is none."""
        return self.snippet.text if self.snippet is not None else ""

    @property
    def why_not(self) -> str:
        """The reason why there is no code; empty if there is code."""
        return self.refusal or (self.snippet.refusal if self.snippet is not None else "")


def writer(session: Session, exchange: Exchange | None, language: str, secrets: Iterable[Secret]) -> Callable[[], Code]:
    """Return a function that writes the code of an exchange, or of the next request if there is none.

    The function does not use the session, so that a thread may call it.
    """
    secret_list = tuple(secrets)
    if exchange is not None:
        return lambda: _recorded(exchange, language, secret_list)
    profile, request = session.profile, session.next_request.build(*session.next_request.to_add())
    if profile is None:
        return lambda: Code(refusal="There is no gateway to send this to.")
    if not request.turns:
        return lambda: Code(refusal="Write a message first; its request is then shown here as code.")

    def write_next() -> Code:
        from playground.engine.requests.snippets import prepare_snippet_request, write

        try:
            sent = prepare_snippet_request(profile, request, secret_list)
        except (ValueError, RecursionError) as error:
            return Code(refusal=str(error))
        return Code(sent.url, sent.protocol, write(language, sent))

    return write_next


def _recorded(exchange: Exchange, language: str, secrets: tuple[Secret, ...]) -> Code:
    from playground.engine.requests.snippets import read_recorded_request, write

    if exchange.dropped and not exchange.request_body:
        return Code(exchange.url, refusal="Its data was discarded to save memory. Only its times are left.")
    try:
        headers, body = exchange.request_headers, exchange.request_body
        sent = read_recorded_request(exchange.protocol, exchange.url, headers, body, secrets)
    except (ValueError, RecursionError) as error:
        return Code(exchange.url, refusal=str(error))
    return Code(sent.url, sent.protocol, write(language, sent))


def sources(session: Session) -> list[tuple[str, str]]:
    """Return (id, label) of every request with code: the next one first, then the sent ones, newest first."""
    sent = [exchange for exchange in session.exchanges.values() if exchange.protocol and exchange.method == "POST"]
    newest = sent[: -MOST_EXCHANGES - 1 : -1]
    return [(NEXT, "Next request"), *((exchange.id, _words(exchange)) for exchange in newest)]


def _words(exchange: Exchange) -> str:
    clock_time = time.strftime("%H:%M:%S", time.localtime(exchange.started_at))
    outcome = str(exchange.status) if exchange.status else "failed" if exchange.failure else "under way"
    return f"As sent at {clock_time} · {outcome}"


class GetCodeWindow(SessionWindow):
    """Window with the code of a request; ``language_chosen`` carries the id of the chosen language."""

    language_chosen = Signal(str)

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(session, parent)
        self._secrets: Callable[[], Iterable[Secret]] = tuple
        self._code = Code()
        self._writing = Aside(self)
        self.setWindowTitle("Get code")
        self.source = QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.source.setAccessibleName("Request")
        self.address = ElidedLabel("Goes to")
        self.languages = styled(QListWidget(), "choices")
        self.languages.setAccessibleName("Languages")
        self.languages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.languages.setMinimumWidth(150)
        for row in LANGUAGES:
            self.languages.addItem(QListWidgetItem(row.title))
        self.languages.setCurrentRow(0)
        self.view = CodeView()
        self.view.setAccessibleName("Code")
        self.refusal = _label("muted")
        self.refusal.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.refusal.setContentsMargins(40, 24, 40, 24)
        self.notes = _label("small")
        self.install = styled(QLineEdit(readOnly=True), "field")
        self.install.setFont(code_font())
        self.install.setAccessibleName("Command that installs what the code needs")
        self.install_copy = IconButton("copy", "Copy the install command")
        self.status = ElidedLabel()
        self.copy_button = CopyButton("Copy", "primary")
        self.copy_button.setAccessibleName("Copy the code")
        self.save_button = QPushButton("Save…")
        self.save_button.setAccessibleName("Save the code as a file")
        self._arrange()
        self._throttle = Throttle(self._refresh, self, EVERY_MS)
        self.poke = self._throttle.poke
        self.source.activated.connect(self.poke)
        self.languages.currentRowChanged.connect(self._picked)
        self.copy_button.clicked.connect(self.copy)
        self.save_button.clicked.connect(self.save)
        self.install_copy.clicked.connect(self._copy_install)

    def _arrange(self) -> None:
        caption = QLabel("Code of")
        caption.setBuddy(self.source)
        top = in_row(caption, self.source, (self.address, 1), spacing=8)
        needs = text_label("Needs", "small")
        needs.setBuddy(self.install)
        self._install_row = QWidget()
        in_row(needs, self.install, self.install_copy, 1, parent=self._install_row, margins=0, spacing=6)
        self._stack = in_pages(self.view, self.refusal)
        right = QWidget()
        in_column((self._stack, 1), self.notes, self._install_row, parent=right, margins=(8, 0, 0, 0), spacing=6)
        halves = split(self.languages, right, sizes=[176, 700])
        halves.setStretchFactor(1, 1)
        close = QPushButton("Close")
        close.clicked.connect(self.close)
        bottom = in_row((self.status, 1), close, self.save_button, self.copy_button, spacing=8)
        for button in (close, self.save_button, self.copy_button):
            button.setAutoDefault(False)
        in_column(top, (halves, 1), bottom, parent=self, margins=(14, 12, 14, 12), spacing=10)
        self.fit_into_window(WIDE, TALL)

    # Display

    def open_on(self, secrets: Callable[[], Iterable[Secret]], exchange_id: str = NEXT) -> None:
        """Show the code of an exchange, or of the next request. ``secrets`` returns the secrets to mask."""
        self._secrets = secrets
        self._list_sources()
        self.source.setCurrentIndex(max(self.source.findData(exchange_id), 0))
        self.poke()

    @property
    def language(self) -> Language:
        """The chosen language."""
        return LANGUAGES[max(self.languages.currentRow(), 0)]

    def set_language(self, id_: str) -> None:
        """Choose a language by its id; an unknown id changes nothing."""
        ids = [row.id for row in LANGUAGES]
        if id_ in ids:
            self.languages.setCurrentRow(ids.index(id_))

    @property
    def code(self) -> str:
        """The complete code, as copied and saved; empty if there is none."""
        return self._code.text

    def _session_changed(self) -> None:
        self._writing.call_off()
        self.source.clear()
        self.poke()

    def _changed(self, change: Change) -> None:
        if not isinstance(change, TurnGrew | TitleChanged | DebugChanged):
            self.poke()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.poke()

    def _picked(self) -> None:
        self.language_chosen.emit(self.language.id)
        self.poke()

    def _refresh(self) -> None:
        if not self.isVisible():
            return  # `showEvent` refreshes the window
        self._list_sources()
        session, exchange = self._session, self._exchange()
        if exchange is not None and session.experiment.may_fetch(exchange):
            self._writing.call_off()
            spawn(self._fetch(session, exchange), name="get code")
        else:
            self._write(session, exchange)

    async def _fetch(self, session: Session, exchange: Exchange) -> None:
        """Read the bodies of an exchange from the store, and write its code."""
        chosen = exchange.id
        with contextlib.suppress(StoreError):  # the window then says why there is no code
            exchange = await session.experiment.with_bodies(exchange)
        if isValid(self) and session is self._session and self.source.currentData() == chosen:
            self._write(session, exchange)

    def _write(self, session: Session, exchange: Exchange | None) -> None:
        work = writer(session, exchange, self.language.id, self._secrets())
        self._writing.do(work, self._show, large=not is_light(session))

    def _exchange(self) -> Exchange | None:
        return self._session.exchanges.get(str(self.source.currentData() or NEXT))

    def _list_sources(self) -> None:
        entries = sources(self._session)
        if entries == [(self.source.itemData(n), self.source.itemText(n)) for n in range(self.source.count())]:
            return
        chosen = self.source.currentData()
        self.source.clear()
        for id_, words in entries:
            self.source.addItem(words, id_)
        self.source.setCurrentIndex(max(self.source.findData(chosen), 0))

    def _show(self, code: Code) -> None:
        self._code = code
        self.address.set_text(f"POST {code.url}" if code.url else "")
        self._mark_languages(code.protocol)
        why_not = code.why_not
        notes: list[str] = []
        if code.snippet is not None and not why_not:
            self.view.show_code(code.snippet.text, self.language.lexer)
            notes = [note for note in code.snippet.notes if not note.startswith("Needs: ")]  # shown in the install row
        if not why_not and self.view.shortened:
            notes.append(SHORTENED)
        self.refusal.setText(show_hidden(why_not))
        self._stack.setCurrentWidget(self.refusal if why_not else self.view)
        self.notes.setText(show_hidden("\n".join(notes)))
        self.notes.setVisible(bool(notes))
        self.install.setText(self.language.install)
        self.install.setFixedWidth(self.install.fontMetrics().horizontalAdvance(self.language.install) + 24)
        self._install_row.setVisible(bool(self.language.install) and not why_not)
        for button in (self.copy_button, self.save_button):
            button.setEnabled(bool(code.text))

    def _mark_languages(self, protocol: str) -> None:
        """Grey out the languages that do not support the request's protocol, with the reason as a tooltip."""
        for number, row in enumerate(LANGUAGES):
            fits = not protocol or protocol in row.protocols
            item = self.languages.item(number)
            item.setForeground(QColor(tokens().text if fits else tokens().muted))
            item.setToolTip("" if fits else tip("Does not speak this request's protocol"))
            name = row.title if fits else f"{row.title}, not for this request's protocol"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, name)

    # Commands

    def copy(self) -> None:
        """Copy the complete code to the clipboard."""
        self.copy_button.copy(self.code)

    def save(self) -> None:
        """Ask for a file and write the current code to it."""
        code, suffix = self.code, self.language.suffix
        name, kind = f"request{suffix}", suffix.removeprefix(".")
        work = save_as(self, "Save the code", name, kind, lambda: code, self._secrets(), self.status.set_text)
        spawn(work, name="save code")

    def _copy_install(self) -> None:
        QGuiApplication.clipboard().setText(self.install.text())
        self.status.set_text("The install command is on the clipboard.")


def _label(kind: str) -> QLabel:
    label = QLabel(
        textFormat=Qt.TextFormat.PlainText,
        wordWrap=True,
        textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
    )
    label.setProperty("kind", kind)
    return label
