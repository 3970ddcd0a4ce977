"""A window that compares two exchanges: requests, answers, metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QDialog, QWidget

from playground.ui.features.inspector.compare_page import REQUEST, ComparePage
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.dialogs import fit_to_window
from playground.ui.widgets.form_parts import push_button, thin_line
from playground.ui.widgets.layouts import in_column, in_row

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange
    from playground.ui.features.inspector.traces import Trace

SIZE: Final = 900, 620  # pixels


class CompareDialog(QDialog):
    """The window."""

    def __init__(
        self, first: Exchange, second: Exchange, trace_of: Callable[[Exchange], Trace], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("listenCompare")
        self.setWindowTitle("Compare requests")
        self.page = ComparePage()
        close = push_button("Close")
        close.clicked.connect(self.accept)
        in_column(
            in_row(self.page.bar, margins=(12, 10, 12, 6)),
            thin_line(),
            (self.page, 1),
            thin_line(),
            in_row(1, close, margins=(12, 8, 12, 8)),
            parent=self,
            margins=0,
            spacing=0,
        )
        fit_to_window(self, *SIZE)
        self.page.show_exchange(ExchangeView(second, trace_of, siblings=(first, second)))
        self.page.choose(REQUEST, first.id)
