"""Dialog of an elicitation: a form to fill in, or the address of a page to open (MCP, "Elicitation").

Only the buttons answer the server. A closed dialog keeps its input, and its request stays pending.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QPushButton, QScrollArea, QWidget

from playground.domain.tool_servers import Elicitation
from playground.engine.files.images import is_address
from playground.jsonkit.texts import cut
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import paragraph, push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.rows.schema_form import SchemaForm
from playground.ui.widgets.theme import code_font

SIZE = 520, 480  # pixels
PAGE_SIZE = 520, 320
MAX_MESSAGE = 8_000  # characters of the message that are shown
MAX_ADDRESS = 2_000
GOES = "This server receives what you enter. Do not enter passwords or keys."
OPENS = "The page opens in your browser. The server may see what you do there."
NO_PAGE = "Only http and https addresses can be opened."


class ElicitationDialog(QDialog):
    """Form or page of a request. ``answered`` carries the action "accept", "decline" or "cancel", and the content."""

    answered = Signal(str, object)
    page_requested = Signal(str)

    def __init__(self, request: Elicitation, parent: QWidget) -> None:
        super().__init__(parent)
        self.ask = request
        server = shown_name(request.server)
        self.setWindowTitle(f"{server} asks")
        self.setObjectName("serverFormDialog")
        self.message = paragraph(show_hidden(cut(request.message, MAX_MESSAGE)))
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.form: SchemaForm | None = None
        self._send_when_checked = False  # True if Send was pressed before the check ended
        self.accept_button = styled(QPushButton(), "primary")
        self.accept_button.clicked.connect(self._accept)
        self.decline_button = push_button("Decline")
        self.decline_button.setToolTip("Tell the server that you refuse")
        self.decline_button.clicked.connect(lambda: self._send_answer("decline"))
        self.cancel_button = push_button("Cancel")
        self.cancel_button.setToolTip("Tell the server that you gave no answer")
        self.cancel_button.clicked.connect(lambda: self._send_answer("cancel"))
        content = QWidget()
        column = in_column(self.message, parent=content, margins=0, spacing=12)
        column.addWidget(self._create_page() if request.url else self._create_form())
        column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        for widget in (content, area.viewport()):
            widget.setAutoFillBackground(False)
        note = text_label(OPENS if request.url else GOES, "small", wrap=True)
        title = text_label(f"The server {server} asks you", "heading", wrap=True)
        buttons = in_row(1, self.cancel_button, self.decline_button, self.accept_button, spacing=8)
        in_column(title, (area, 1), note, buttons, parent=self, margins=MARGINS, spacing=10)
        window_size = parent.window().size()
        width, height = PAGE_SIZE if request.url else SIZE
        self.resize(min(width, window_size.width() - 40), min(height, window_size.height() - 60))
        self._focus_first()

    def _create_form(self) -> QWidget:
        self.form = SchemaForm(self.ask.form)
        self.form.checked.connect(self._send_if_requested)
        self.accept_button.setText("Send")
        self.accept_button.setToolTip("Send these values to the server")
        return self.form

    def _focus_first(self) -> None:
        """Focus the first field; otherwise the scroll area has the focus and typed text is lost."""
        if self.form is not None:
            self.form.focus()

    def _create_page(self) -> QWidget:
        page, address = QWidget(), show_hidden(cut(self.ask.url, MAX_ADDRESS))
        address_label = paragraph(address)
        address_label.setFont(code_font())
        address_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        address_label.setAccessibleName(f"Address: {address}")
        copy_button = push_button("Copy address", "quiet")
        copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.ask.url))
        host = QUrl(self.ask.url).host()
        host_label = text_label(f"On {show_hidden(host)}:" if host else "", "strong", wrap=True)
        is_openable = is_address(self.ask.url)
        problem = text_label("" if is_openable else NO_PAGE, "flag-error", wrap=True)
        if is_openable:
            problem.hide()
        in_column(host_label, address_label, in_row(copy_button, 1), problem, parent=page, margins=0, spacing=6)
        self.accept_button.setText("Open in the browser")
        self.accept_button.setToolTip(tip(f"Open {self.ask.url[:MAX_ADDRESS]} and accept the request"))
        self.accept_button.setEnabled(is_openable)
        return page

    def _accept(self) -> None:
        if self.ask.url:
            self.page_requested.emit(self.ask.url)
            self._send_answer("accept")
        elif self.form is not None:
            self._send_when_checked = not self.form.is_checked
            if self.form.is_valid:
                self._send_answer("accept", self.form.value)
            else:
                self.form.show_missing()

    def _send_if_requested(self) -> None:
        if self._send_when_checked and self.form is not None and self.form.is_checked:
            self._accept()

    def _send_answer(self, action: str, content: object = None) -> None:
        self.hide()
        self.answered.emit(action, content)
