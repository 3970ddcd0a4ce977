"""The tabs about frames and differences. The page of each is imported and made when it is first looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.inspector.late_view import LateView
from playground.ui.features.inspector.view import ExchangeView

if TYPE_CHECKING:
    from playground.ui.features.inspector.diff_page import DiffPage
    from playground.ui.features.inspector.lint_page import LintPage
    from playground.ui.features.inspector.next_request import Preview
    from playground.ui.features.inspector.timeline.page import TimelinePage


class TimelineView(LateView["TimelinePage"]):
    """Where the time went, and every frame."""

    title = "Timeline"

    def _make(self) -> TimelinePage:
        from playground.ui.features.inspector.timeline.page import TimelinePage

        return TimelinePage()

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_trace(exchange.trace() if exchange is not None else None)


class DiffView(LateView["DiffPage"]):
    """The request against another one. ``wants_next`` says whether that is the next one, and seen."""

    title = "Diff"

    @property
    def wants_next(self) -> bool:
        page = self.made
        return page is not None and page.isVisible() and page.against_next

    def _make(self) -> DiffPage:
        from playground.ui.features.inspector.diff_page import DiffPage

        return DiffPage()

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_exchange(exchange)

    def show_preview(self, preview: Preview) -> None:
        self.page.show_preview(preview.whole or (lambda: preview.view.text))


class LintView(LateView["LintPage"]):
    """What the answer does differently from the specification."""

    title = "Lint"

    def _make(self) -> LintPage:
        from playground.ui.features.inspector.lint_page import LintPage

        return LintPage()

    def show(self, exchange: ExchangeView | None) -> None:
        self.page.show_trace(exchange.trace() if exchange is not None else None)
