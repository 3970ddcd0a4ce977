"""A tab of the inspector whose page is made when somebody first looks: most people start without ever doing so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.ui.features.inspector.views import InspectorView

P = TypeVar("P", bound=QWidget)


class LateView(InspectorView, Generic[P]):
    """``when_made`` is called with the page once there is one, at once if there is one already."""

    def __init__(self) -> None:
        self.widget = QWidget()
        self._column = QVBoxLayout(self.widget)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._page: P | None = None
        self._told: list[Callable[[P], None]] = []

    @property
    def page(self) -> P:
        """The page, made if there is none yet."""
        if self._page is None:
            made = self._make()
            self._page = made
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
    def _make(self) -> P:
        """A new page. What it needs is imported here."""
