"""The inspector's tabs, one small class each. Which there are stands in ``inspector``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from PySide6.QtWidgets import (
    QWidget,
)

from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.inspector.next_request import NextRequest, Preview
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.segments import Segments

NEXT, SENT = 0, 1
PRETTY = 0


class InspectorView(ABC):
    """A tab: its title, its widget, and how it shows an exchange (None: there is none)."""

    title: ClassVar[str]
    widget: QWidget

    @abstractmethod
    def __init__(self, parent: QWidget | None = None) -> None: ...

    @abstractmethod
    def show(self, exchange: ExchangeView | None) -> None:
        """Show an exchange; called again while it grows."""

    def show_preview(self, preview: Preview) -> None:
        """The request that would be sent next; views that do not care ignore it."""
        return


class RequestView(InspectorView):
    """The next request, field by field and editable, or the body of the one that was sent.

    ``next`` is the page of the former. ``code_button`` asks for the code of the one that is shown.
    """

    title = "Request"

    def __init__(self, parent: QWidget | None = None) -> None:
        self.switch = Segments(("Next request", "As sent"), "Which request")
        self.pane = BodyPane(
            self.switch,
            "Request body",
            "The request will stand here, exactly as it is sent, once there is a model.",
            parent,
        )
        self.widget = self.pane
        self.next = NextRequest(self.pane.pages)
        self.pane.add_page(self.next)
        self.code_button = IconButton("code", "Get the code of this request")
        self.pane.add_button(self.code_button)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self._by_hand = False
        self.switch.chosen.connect(self._chosen)
        self.pane.bound_lifted.connect(self._draw)
        self._settle()

    def show(self, exchange: ExchangeView | None) -> None:
        if not same_request(exchange, self._exchange):
            self.pane.bound_again()
        self._exchange = exchange
        self._settle()
        self._draw()

    def show_preview(self, preview: Preview) -> None:
        self._preview = preview
        self.next.show_preview(preview)
        self._settle()
        self._draw()

    @property
    def shows_sent(self) -> bool:
        """Whether the request that was sent is shown, and not the next one."""
        return self.switch.index == SENT

    def _settle(self) -> None:
        """Until a person chooses, show what was sent where there is such a thing."""
        self.switch.buttons[SENT].setEnabled(self._exchange is not None)
        if self._exchange is None:
            self.switch.set_index(NEXT)
        elif not self._by_hand:
            self.switch.set_index(SENT)

    def _chosen(self, _index: int) -> None:
        self._by_hand = True
        self.pane.bound_again()
        self._draw()

    def _draw(self) -> None:
        if self.switch.index == SENT and self._exchange is not None:
            if self._exchange.request_body:
                self.pane.show_body(self._exchange.request_body, laid_out=True)
            else:
                self.pane.show_nothing("This request has no body.")
        elif self._preview is not None and self._preview.view.text:
            self.pane.show_page(self.next, self.next.body, self._preview.about, self._preview.whole)
        elif self._preview is not None:
            self.pane.show_nothing(self._preview.view.problem)
        else:
            self.pane.show_nothing()


class ResponseView(InspectorView):
    """What came back, while it comes: laid out, or byte for byte."""

    title = "Response"

    def __init__(self, parent: QWidget | None = None) -> None:
        self.switch = Segments(("Pretty", "Raw"), "How the response is shown")
        self.pane = BodyPane(self.switch, "Response body", NO_RESPONSE, parent)
        self.widget = self.pane
        self._exchange: ExchangeView | None = None
        self.switch.chosen.connect(self._chosen)
        self.pane.bound_lifted.connect(self._draw)

    def show(self, exchange: ExchangeView | None) -> None:
        if not same_request(exchange, self._exchange):
            self.pane.bound_again()
        self._exchange = exchange
        self._draw()

    def _chosen(self, _index: int) -> None:
        self._draw()

    def _draw(self) -> None:
        exchange = self._exchange
        self.pane.show_error(exchange.error if exchange is not None else "")
        body = exchange.body() if exchange is not None else b""
        if exchange is None:
            self.pane.show_nothing(NO_RESPONSE)
        elif body:
            events = exchange.content_type == "text/event-stream" or body[:64].lstrip()[:6] in (b"data: ", b"event:")
            live = exchange.duration is None
            self.pane.show_body(body, laid_out=self.switch.index == PRETTY, events=events, live=live)
        elif exchange.duration is None and not exchange.error:
            self.pane.show_nothing("Waiting for the first byte…")
        else:
            self.pane.show_nothing("No body came back.")


NO_RESPONSE = "No response yet. Run the conversation, and the bytes that come back stand here as they arrive."


def same_request(first: ExchangeView | None, second: ExchangeView | None) -> bool:
    """Whether two views show one exchange at different moments."""
    if first is None or second is None:
        return first is second
    return (
        first.url == second.url
        and first.request_body is second.request_body
        and first.request_headers == second.request_headers
    )
