"""A question of a tool server: a form to fill in, or the address of a page to go to. Nothing is told before a button.

Closed, it goes on waiting with what was typed: only the buttons answer the server.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QPushButton, QScrollArea, QWidget

from playground.domain.tool_servers import Elicitation
from playground.engine.files.images import is_address
from playground.jsonkit.texts import cut
from playground.ui.features.server_asks.form import AskForm
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import paragraph, push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.theme import code_font

SIZE = 520, 480  # pixels
PAGE_SIZE = 520, 320
LONGEST = 8_000  # characters of what is asked that are shown
LONGEST_ADDRESS = 2_000
GOES = "What you fill in goes to this server. Do not give it passwords or keys."
OPENS = "The page opens in your browser when you press the button; what you do there, the server may see."
NO_PAGE = "This is no http or https address, so it is not opened from here."


class ElicitationDialog(QDialog):
    """``answered`` tells "accept", "decline" or "cancel", and what was filled in; ``page_wanted`` is to be opened."""

    answered = Signal(str, object)
    page_wanted = Signal(str)

    def __init__(self, ask: Elicitation, parent: QWidget) -> None:
        super().__init__(parent)
        self.ask = ask
        server = shown_name(ask.server)
        self.setWindowTitle(f"{server} asks")
        self.setObjectName("serverFormDialog")
        self.message = paragraph(show_hidden(cut(ask.message, LONGEST)))
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.form: AskForm | None = None
        self._sends = False  # as soon as it is known that nothing is wrong
        self.accept_button = styled(QPushButton(), "primary")
        self.accept_button.clicked.connect(self._accept)
        self.decline_button = push_button("Decline")
        self.decline_button.setToolTip("Tell the server that you do not want to answer")
        self.decline_button.clicked.connect(lambda: self._tell("decline"))
        self.cancel_button = push_button("Cancel")
        self.cancel_button.setToolTip("Tell the server that it was put aside, neither answered nor declined")
        self.cancel_button.clicked.connect(lambda: self._tell("cancel"))
        content = QWidget()
        column = in_column(self.message, of=content, margins=0, spacing=12)
        column.addWidget(self._page() if ask.url else self._made_form())
        column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        for widget in (content, area.viewport()):
            widget.setAutoFillBackground(False)
        note = text_label(OPENS if ask.url else GOES, "small", wrap=True)
        title = text_label(f"The server {server} asks you", "heading", wrap=True)
        buttons = in_row(1, self.cancel_button, self.decline_button, self.accept_button, spacing=8)
        in_column(title, (area, 1), note, buttons, of=self, margins=MARGINS, spacing=10)
        room = parent.window().size()
        wide, high = PAGE_SIZE if ask.url else SIZE
        self.resize(min(wide, room.width() - 40), min(high, room.height() - 60))
        self._focus_first()

    def _made_form(self) -> QWidget:
        self.form = AskForm(self.ask.form)
        self.form.judged.connect(self._judged)
        self.accept_button.setText("Send")
        self.accept_button.setToolTip("Send the server what is filled in")
        return self.form

    def _focus_first(self) -> None:
        """Put the cursor into the first field: in the area around it what is typed goes nowhere."""
        if self.form is not None and self.form.rows:
            self.form.rows[0].focus()

    def _page(self) -> QWidget:
        page, address = QWidget(), show_hidden(cut(self.ask.url, LONGEST_ADDRESS))
        shown = paragraph(address)
        shown.setFont(code_font())
        shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        shown.setAccessibleName(f"Address: {address}")
        copy = push_button("Copy address", "quiet")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.ask.url))
        host = QUrl(self.ask.url).host()
        where = text_label(f"On {show_hidden(host)}:" if host else "", "strong", wrap=True)
        opens = is_address(self.ask.url)
        refused = text_label("" if opens else NO_PAGE, "flag-error", wrap=True)
        if opens:
            refused.hide()
        in_column(where, shown, in_row(copy, 1), refused, of=page, margins=0, spacing=6)
        self.accept_button.setText("Open in the browser")
        self.accept_button.setToolTip(tip(f"Open {self.ask.url[:LONGEST_ADDRESS]}, and tell the server so"))
        self.accept_button.setEnabled(opens)
        return page

    def _accept(self) -> None:
        if self.ask.url:
            self.page_wanted.emit(self.ask.url)
            self._tell("accept")
        elif self.form is not None:
            self._sends = not self.form.known
            if self.form.sound:
                self._tell("accept", self.form.content)
            else:
                self.form.show_all()

    def _judged(self) -> None:
        if self._sends and self.form is not None and self.form.known:
            self._accept()

    def _tell(self, action: str, content: object = None) -> None:
        self.hide()
        self.answered.emit(action, content)
