"""The window's main menu, made from the rows of actions."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from playground.ui.shell.actions import ACTIONS
from playground.ui.shell.centre import CONVERSATION


class MainMenu(QMenu):
    """All menus of the window. Actions of a page are hidden, and so disabled, while another page is shown."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget) -> None:
        super().__init__(parent)
        self._actions = actions
        self._menus: dict[str, QMenu] = {"": self}
        group = ("", 0)
        for row in ACTIONS:
            if not row.menu:
                continue
            title = row.menu.partition("/")[0]
            menu = self._menu(title)
            if not menu.isEmpty() and (title, row.position // 100) != group:
                menu.addSeparator()
            group = title, row.position // 100
            self._menu(row.menu).addAction(actions[row.id])
        self.show_page(CONVERSATION)

    def _menu(self, path: str) -> QMenu:
        """Return the menu of that path, added at the end of its parent if there is none yet."""
        if path not in self._menus:
            parent, _, title = path.rpartition("/")
            self._menus[path] = self._menu(parent).addMenu(title)
        return self._menus[path]

    def show_page(self, page: str) -> None:
        """Offer the actions of that page, and of no other."""
        for row in ACTIONS:
            if row.page:
                self._actions[row.id].setVisible(row.page == page)
        for path, menu in self._menus.items():
            if path:
                menu.menuAction().setVisible(any(action.isVisible() for action in menu.actions() if action.text()))
