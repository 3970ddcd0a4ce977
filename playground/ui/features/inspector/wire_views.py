"""The tabs about headers, frames and differences. The page of each is imported and made when first looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import InspectorView

if TYPE_CHECKING:
    from playground.ui.features.inspector.diff_page import DiffPage
    from playground.ui.features.inspector.header_tables import HeaderTables
    from playground.ui.features.inspector.lint_page import LintPage
    from playground.ui.features.inspector.next_request import Preview
    from playground.ui.features.inspector.timeline.page import TimelinePage

P = TypeVar("P", bound=QWidget)


class LateView(InspectorView, Generic[P]):
    """``when_made`` is called with the page once there is one, at once if there is one already."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.widget = QWidget(parent)
        self._column = QVBoxLayout(self.widget)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._page: P | None = None
        self._told: list[Callable[[P], None]] = []

    @property
    def page(self) -> P:
        """The page, made if there is none yet."""
        if self._page is None:
            made = self._page = self._make(self.widget)
            self._column.addWidget(made)
            for tell in self._told:
                tell(made)
        return self._page

    @property
    def made(self) -> P | None:
        """The page if there is one."""
        return self._page

    def when_made(self, tell: Callable[[P], None]) -> None:
        """Call ``tell`` with the page."""
        self._told.append(tell)
        if self._page is not None:
            tell(self._page)

    @abstractmethod
    def _make(self, parent: QWidget) -> P:
        """A new page. What it needs is imported here."""


class HeadersView(LateView["HeaderTables"]):
    """The headers of both directions as received; secrets are masked before they get here."""

    title = "Headers"

    def _make(self, parent: QWidget) -> HeaderTables:
        from playground.ui.features.inspector.header_tables import HeaderTables

        return HeaderTables(parent)

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_headers(
            exchange.request_headers if exchange is not None else (),
            exchange.response_headers if exchange is not None else (),
        )


class TimelineView(LateView["TimelinePage"]):
    """Where the time went, and every frame."""

    title = "Timeline"

    def _make(self, parent: QWidget) -> TimelinePage:
        from playground.ui.features.inspector.timeline.page import TimelinePage

        return TimelinePage(parent)

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_trace(exchange.trace() if exchange is not None else None)


class DiffView(LateView["DiffPage"]):
    """The exchange against another one. ``wants_next`` says whether the next request is compared, and seen."""

    title = "Diff"

    @property
    def wants_next(self) -> bool:
        page = self.made
        return page is not None and page.isVisible() and page.against_next

    def _make(self, parent: QWidget) -> DiffPage:
        from playground.ui.features.inspector.diff_page import DiffPage

        return DiffPage(parent)

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_exchange(exchange)

    def show_preview(self, preview: Preview) -> None:
        self.page.show_preview(preview)


class LintView(LateView["LintPage"]):
    """What the answer does differently from the specification."""

    title = "Lint"

    def _make(self, parent: QWidget) -> LintPage:
        from playground.ui.features.inspector.lint_page import LintPage

        return LintPage(parent)

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_trace(exchange.trace() if exchange is not None else None)
