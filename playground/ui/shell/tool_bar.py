"""The top row: pages, the path gateway › API › model, code, settings.

Other pages than the conversation put a bar of their own in the place of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QToolButton, QWidget

from playground.engine.gateways.reach import WORDS, Reach
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.reach_dot import dot
from playground.ui.shell.centre import PAGE_ICONS, PAGE_TIPS, PAGES
from playground.ui.shell.docks import COMPACT
from playground.ui.widgets.form_parts import ElidedButton, styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import shown_name, tip
from playground.ui.widgets.segments import Segments

CODE = "Get code"
SPACING = 8
NARROW = 900  # pixels of width below which the code button is its icon
LEAST_PART = 72  # pixels of a part of the path whose text is cut


class PathPart(ElidedButton):
    """A menu button in the joined path; a long name is elided and complete in the tooltip."""

    def __init__(self, name: str, menu: QMenu) -> None:
        super().__init__("path", least=LEAST_PART)
        self._name = name
        self.setAccessibleName(name)
        self.setMenu(menu)

    def set_text(self, text: str, state: str = "") -> None:
        """Show ``text``; ``state`` describes it in the tooltip and for screen readers."""
        text = shown_name(text)
        about = f"{text} · {state}" if state else text
        self.setToolTip(tip(f"{self._name}: {about}"))
        self.setAccessibleDescription(about)
        self.set_full_text(text)


class ToolBar(QFrame):
    """Show what is chosen, and emit what a person chooses.

    ``menu`` opens from the button at the far left; ``preferences`` is the action of the one at the far right.
    ``list_action`` and ``side_action`` show the side panels; they have buttons while the window is compact.
    """

    gateway_chosen = Signal(str)
    gateways_asked = Signal()
    check_asked = Signal()
    test_asked = Signal()
    connect_asked = Signal()
    protocol_chosen = Signal(str)
    model_chosen = Signal(str)
    models_asked = Signal()
    page_chosen = Signal(int)  # of the centre
    code_asked = Signal()

    def __init__(
        self,
        menu: QMenu,
        preferences: QAction,
        list_action: QAction,
        side_action: QAction,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._reach = Reach.UNKNOWN
        self._gateways: list[tuple[str, str]] = []
        self._gateway_id = ""
        self._compact: bool | None = None
        self.setObjectName("tool-bar")
        self.setProperty("kind", "surface")
        self.setFixedHeight(46)
        self.gateways = QMenu("Gateway", self)
        self.gateways.aboutToShow.connect(self._list_gateways)
        self._gateway = PathPart("Gateway", self.gateways)
        self._gateway.setProperty("place", "first")
        self.protocols = QMenu("API", self)
        for name, title in TITLES.items():
            action = self.protocols.addAction(title)
            action.setCheckable(True)
            action.triggered.connect(partial(self.protocol_chosen.emit, name))
        self._protocol = PathPart("API", self.protocols)
        self.model = styled(ModelPicker(LEAST_PART), "path")
        self.model.chosen.connect(self.model_chosen)
        self.model.refresh_asked.connect(self.models_asked)
        self.pages = Segments(PAGES, "Page", tall=True)
        self.pages.chosen.connect(self.page_chosen)
        self.code = QPushButton(icon("code"), CODE)
        self.code.setAccessibleName(CODE)
        self.code.setToolTip("The request as curl, Python or JavaScript (Ctrl+Shift+C)")
        self.code.clicked.connect(self.code_asked)
        self._list = _panel_button("panel-left", list_action)
        self._side = _panel_button("panel-right", side_action)
        self._path = QWidget()
        path = in_row(self._gateway, self._protocol, self.model, margins=0, spacing=0)
        in_row((path, 1), self.model.unlisted, parent=self._path, margins=0, spacing=SPACING)
        self.page = PAGES[0]  # of the centre, that is shown
        self._page_bar: QWidget | None = None
        menu_button = _icon_button("menu", "Menu")
        menu_button.setMenu(menu)
        menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        keys = preferences.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        gear = _icon_button("settings", f"Preferences ({keys})")
        gear.clicked.connect(preferences.trigger)
        self._row = in_row(
            menu_button,
            self._list,
            self.pages,
            self._path,
            1,
            self.code,
            self._side,
            gear,
            parent=self,
            spacing=SPACING,
        )
        self._row.setContentsMargins(8, 7, 10, 7)

    def show_page(self, page: str, bar: QWidget | None = None) -> None:
        """Mark a page, with ``bar`` in the place of the path; None: the path."""
        self.page = page
        self.pages.set_index(PAGES.index(page))
        if bar is self._page_bar:
            return
        if self._page_bar is not None:
            self._row.removeWidget(self._page_bar)
            self._page_bar.hide()
        self._page_bar = bar
        if bar is not None:
            self._row.insertWidget(self._row.indexOf(self._path), bar, 1000)
            bar.show()
        self._path.setVisible(bar is None)

    def show_gateways(self, gateways: Sequence[tuple[str, str]], current: str) -> None:
        """Show (id, name) of every gateway; ``current`` is the id of the one in use."""
        self._gateways = [*gateways]
        self._gateway_id = current
        self._show_gateway()

    def _show_gateway(self) -> None:
        name = dict(self._gateways).get(self._gateway_id, "")
        self._gateway.set_text(name, WORDS[self._reach])

    def _list_gateways(self) -> None:
        menu = self.gateways
        menu.clear()
        for gateway_id, name in self._gateways:
            action = menu.addAction(shown_name(name).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(gateway_id == self._gateway_id)
            action.triggered.connect(partial(self.gateway_chosen.emit, gateway_id))
        menu.addSeparator()
        for text, symbol, signal in (
            ("Check gateway…", "evaluate", self.check_asked),
            ("Test connection", "refresh", self.test_asked),
            ("Settings of this gateway…", "settings", self.gateways_asked),
            ("Connect another gateway…", "plus", self.connect_asked),
        ):
            menu.addAction(icon(symbol), text).triggered.connect(partial(signal.emit))

    def show_state(self, reach: Reach) -> None:
        """Show the state of the gateway, as a dot and in words."""
        self._reach = reach
        self._gateway.setIcon(dot(reach))
        self._show_gateway()

    def show_protocol(self, name: str) -> None:
        """Show the protocol in use."""
        self._protocol.set_text(TITLES[name])
        for protocol, action in zip(TITLES, self.protocols.actions(), strict=True):
            action.setChecked(protocol == name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.code.setText(CODE if self.width() >= NARROW else "")
        compact = self.width() < COMPACT
        if compact is not self._compact:
            self._compact = compact
            self._list.setVisible(compact)
            self._side.setVisible(compact)
            for button, page, symbol, words in zip(self.pages.buttons, PAGES, PAGE_ICONS, PAGE_TIPS, strict=True):
                button.setText("" if compact else page)
                button.setIcon(icon(symbol) if compact else QIcon())
                button.setToolTip(f"{page}: {words}" if compact else words)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_row"):
            self.show_state(self._reach)


def _icon_button(symbol: str, words: str) -> QToolButton:
    button = styled(QToolButton(), "quiet")
    button.setIcon(icon(symbol))
    button.setToolTip(words)
    button.setAccessibleName(words)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setMinimumSize(30, 30)
    return button


def _panel_button(symbol: str, action: QAction) -> QToolButton:
    """Return a button that shows and hides a side panel, seen in a narrow window."""
    button = styled(QToolButton(), "quiet")
    action.setIcon(icon(symbol))
    button.setDefaultAction(action)
    button.setAccessibleName(action.text())
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setMinimumSize(30, 30)
    button.hide()
    return button
