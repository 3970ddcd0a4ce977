"""The top row: pages, gateway, protocol, model, code, settings. Says what is chosen, passes on what a person chooses.

Where another page than the conversation is shown, its own bar stands here in the place of what is chosen for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCursor, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QMenu, QPushButton, QToolButton, QWidget

from playground.engine.gateways.reach import WORDS, Reach
from playground.engine.requests.protocol_info import TITLES
from playground.ui.features.gateways.reach_dot import dot
from playground.ui.shell.centre import PAGES
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.segments import Segments

CODE = "Get code"
UNLISTED = "not listed"
SPACING = 8
ROOMY = 980  # pixels from which on there is a switch of pages; the menu always has it
NARROW = 900  # pixels below which a model that is not listed has a sign, and no words
CODED = 1100  # pixels below which the code button is its icon alone: no title of a protocol is cut for it
WIDE = 1200  # the same on other pages than the conversation
PAGE_TIPS = (
    "One conversation, turn by turn",
    "The same question in several ways at once, side by side (Ctrl+Shift+K)",
    "Many questions in several ways, held to checks (Ctrl+Shift+A)",
)


class ToolBar(QFrame):
    """``menu`` is what the button at the far left opens; ``preferences`` is the action of the one at the far right."""

    gateway_chosen = Signal(str)
    gateways_asked = Signal()
    check_asked = Signal()
    connect_asked = Signal()
    protocol_chosen = Signal(str)
    model_chosen = Signal(str)
    models_asked = Signal()
    page_chosen = Signal(int)  # of the centre
    code_asked = Signal()

    def __init__(self, menu: QMenu, preferences: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reach = Reach.UNKNOWN
        self.setObjectName("tool-bar")
        self.setProperty("kind", "surface")
        self.setFixedHeight(46)
        self._main = main = _icon_button("menu", "Menu")
        main.setMenu(menu)
        main.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        _calm_after(menu, main)
        self._gateway = QPushButton()
        self._gateway.setAccessibleName("Gateway")
        self.gateways = QMenu("Gateway", self._gateway)
        self._gateway.setMenu(self.gateways)
        _calm_after(self.gateways, self._gateway)
        self._listed: list[tuple[str, str]] = []
        self._chosen = ""
        self._protocol = Segments(tuple(TITLES.values()), "Protocol", tall=True)
        self._protocol.chosen.connect(self._protocol_picked)
        self.protocols = QMenu("Protocol", self)  # the same for a lane
        for name, title in TITLES.items():
            action = self.protocols.addAction(title)
            action.setCheckable(True)
            action.triggered.connect(partial(self.protocol_chosen.emit, name))
        self.model = ModelPicker()
        self.model.chosen.connect(self.model_chosen)
        self.model.refresh_asked.connect(self.models_asked)
        self.model.unlisted.setText(UNLISTED)
        self.pages = Segments(PAGES, "Page of the centre", tall=True)
        for button, words in zip(self.pages.buttons, PAGE_TIPS, strict=True):
            button.setToolTip(words)
        self.pages.chosen.connect(self.page_chosen)
        self.code = QPushButton(icon("code"), CODE)
        self.code.setAccessibleName(CODE)
        self.code.setToolTip("The request as curl, Python or JavaScript (Ctrl+Shift+C)")
        self.code.clicked.connect(self.code_asked)
        self._gear = gear = _icon_button("settings", f"Preferences ({preferences.shortcut().toString()})")
        gear.clicked.connect(preferences.trigger)
        self._asked = QWidget()
        chosen = (self._gateway, self._protocol, self.model, self.model.unlisted)
        in_row(*chosen, of=self._asked, margins=0, spacing=SPACING)
        self.page = PAGES[0]  # of the centre, that is shown
        self._other: QWidget | None = None
        row = in_row(main, self.pages, self._asked, 1, self.code, gear, of=self, spacing=SPACING)
        row.setContentsMargins(8, 7, 10, 7)
        self._row = row

    def show_page(self, page: str, bar: QWidget | None = None) -> None:
        """Mark a page, with ``bar`` in the place of what is chosen for the conversation; None: this."""
        self.page = page
        self.pages.set_index(PAGES.index(page))
        if bar is self._other:
            return
        if self._other is not None:
            self._row.removeWidget(self._other)
            self._other.hide()
        self._other = bar
        if bar is not None:
            self._row.insertWidget(self._row.indexOf(self._asked), bar, 1000)
            bar.show()
        self._asked.setVisible(bar is None)
        self._give_way()

    def show_gateways(self, gateways: Sequence[tuple[str, str]], current: str) -> None:
        """(id, name) of every gateway, and the id of the one in use."""
        if self._listed != [*gateways]:  # told with every setting; to make them takes longer than all else then
            self._listed = [*gateways]
            self._list_gateways()
        self._chosen = current
        self._mark_gateway()

    def _mark_gateway(self) -> None:
        for action, (gateway_id, name) in zip(self.gateways.actions(), self._listed, strict=False):
            action.setChecked(gateway_id == self._chosen)
            if gateway_id == self._chosen:
                self._gateway.setText(f"{_in_menu(name)}   ")

    def _gateway_picked(self, gateway_id: str) -> None:
        self._mark_gateway()  # a click takes the mark from what is chosen already
        self.gateway_chosen.emit(gateway_id)

    def _list_gateways(self) -> None:
        self.gateways.clear()
        for gateway_id, name in self._listed:
            action = self.gateways.addAction(_in_menu(name))
            action.setCheckable(True)
            action.triggered.connect(partial(self._gateway_picked, gateway_id))
        self.gateways.addSeparator()
        self.gateways.addAction(icon("plus"), "Connect a gateway…").triggered.connect(self.connect_asked)
        self.gateways.addAction(icon("check"), "Check this gateway…").triggered.connect(self.check_asked)
        self.gateways.addAction(icon("settings"), "Gateway settings…").triggered.connect(self.gateways_asked)

    def show_state(self, reach: Reach) -> None:
        """Show the state of the gateway, as a dot and in words."""
        self._reach = reach
        self._gateway.setIcon(dot(reach))
        self._gateway.setToolTip(f"Gateway: {WORDS[reach]}")
        self._gateway.setAccessibleDescription(WORDS[reach])

    def show_protocol(self, name: str) -> None:
        """Mark the protocol in use."""
        index = list(TITLES).index(name)
        self._protocol.set_index(index)
        for number, action in enumerate(self.protocols.actions()):
            action.setChecked(number == index)

    def _protocol_picked(self, index: int) -> None:
        self.protocol_chosen.emit(list(TITLES)[index])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        width = self.width()
        words = self.fontMetrics().horizontalAdvance(UNLISTED) + SPACING  # beside the sign
        spare = width - self._least()
        has_words = width >= NARROW and (self.model.unlisted.isHidden() or spare >= words)
        pages = width >= ROOMY and spare >= (words if has_words and not self.model.unlisted.isHidden() else 0)
        self.pages.setVisible(pages or self._other is not None)
        self.code.setText(CODE if width >= (CODED if self._other is None else WIDE) else "")
        self.model.unlisted.setText(UNLISTED if has_words else "")

    def _least(self) -> int:
        """Return the width of a conversation's bar with all parts, without words that have a sign as well."""
        parts = [self._main, self.pages, self._gateway, self._protocol, self.model, self.code, self._gear]
        if not self.model.unlisted.isHidden():
            parts.append(self._gear)  # as wide as any sign alone
        margins = self._row.contentsMargins()
        widths = sum(max(part.minimumSizeHint().width(), part.minimumWidth()) for part in parts)
        return int(widths + SPACING * len(parts) + margins.left() + margins.right())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and hasattr(self, "_row"):
            self._give_way()  # another name, or a sign more
        return super().event(event)

    def minimumSizeHint(self) -> QSize:
        """Return the size without the parts that can be hidden."""
        least = super().minimumSizeHint()
        may_go = self._other is None and self.pages.isVisible()
        gives_way = self.pages.minimumSizeHint().width() + SPACING if may_go else 0
        return QSize(least.width() - gives_way, least.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "model"):
            self.show_state(self._reach)


def _in_menu(name: str) -> str:
    """Return a foreign name for a menu or a button."""
    return shown_name(name).replace("&", "&&")


def _calm_after(menu: QMenu, button: QAbstractButton) -> None:
    """Take the look of being pointed at from a button when its menu closes: a dialog that an action of the menu opens
    keeps back the word that the pointer has left.
    """

    def look() -> None:
        if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            button.update()

    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, button, look))


def _icon_button(symbol: str, words: str) -> QToolButton:
    button = styled(QToolButton(), "quiet")
    button.setIcon(icon(symbol))
    button.setToolTip(words)
    button.setAccessibleName(words)
    button.setMinimumSize(30, 30)
    return button
