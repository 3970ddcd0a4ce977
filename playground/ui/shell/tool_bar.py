"""The top row: gateway, protocol, model, code, settings. Says what is chosen and passes on what a person chooses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QMenu, QPushButton, QToolButton, QWidget

from playground.engine.gateways.reach import WORDS, Reach
from playground.engine.requests.spoken import TITLES
from playground.ui.features.compare import PAGES
from playground.ui.features.gateways.model_picker import ModelPicker
from playground.ui.features.gateways.reach_dot import dot
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import shown_name, tip
from playground.ui.widgets.segments import Segments

CODE = "Get code"
UNLISTED = "not listed"
SPACING = 8
ROOMY = 980  # pixels from which on there is a switch of pages; the menu always has it
NARROW = 900  # pixels below which the code button is its icon alone


class ToolBar(QFrame):
    """``menu`` is what the button at the far left opens; ``settings`` what the one at the far right does."""

    gateway_chosen = Signal(str)
    gateways_asked = Signal()
    connect_asked = Signal()
    protocol_chosen = Signal(str)
    model_chosen = Signal(str)
    models_asked = Signal()
    page_chosen = Signal(int)  # of the centre
    code_asked = Signal()

    def __init__(self, menu: QMenu, settings: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reach = Reach.UNKNOWN
        self.setObjectName("tool-bar")
        self.setProperty("kind", "surface")
        self.setFixedHeight(46)
        main = _menu_button("menu", "Menu", menu)
        self._gateway = QPushButton()
        self._gateway.setAccessibleName("Gateway")
        self._gateways = QMenu(self._gateway)
        self._gateway.setMenu(self._gateways)
        _calm_after(self._gateways, self._gateway)
        self._protocol = Segments(tuple(TITLES.values()), "Protocol", tall=True)
        self._protocol.chosen.connect(self._protocol_picked)
        self.model = ModelPicker()
        self.model.chosen.connect(self.model_chosen)
        self.model.refresh_asked.connect(self.models_asked)
        self.unlisted = styled(QToolButton(), "flag")
        self.unlisted.setIcon(icon("warning", "tool"))
        self.unlisted.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unlisted.setText(UNLISTED)
        self.unlisted.clicked.connect(self.model.showPopup)
        self.unlisted.hide()
        self.pages = Segments(PAGES, "Page of the centre", tall=True)
        self.pages.setToolTip("The same question in several ways at once, side by side (Ctrl+Shift+K)")
        self.pages.chosen.connect(self.page_chosen)
        self.code = QPushButton(icon("code"), CODE)
        self.code.setAccessibleName(CODE)
        self.code.setToolTip("The request as curl, Python or JavaScript (Ctrl+Shift+C)")
        self.code.clicked.connect(self.code_asked)
        gear = _menu_button("settings", "Settings", settings)
        in_row(
            main,
            self._gateway,
            self._protocol,
            self.model,
            self.unlisted,
            1,
            self.pages,
            self.code,
            gear,
            of=self,
            margins=(8, 7, 10, 7),
            spacing=SPACING,
        )

    def show_gateways(self, gateways: Sequence[tuple[str, str]], current: str) -> None:
        """(id, name) of every gateway, and the id of the one in use."""
        self._gateways.clear()
        for gateway_id, whole_name in gateways:
            name = shown_name(whole_name)
            action = self._gateways.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(gateway_id == current)
            action.triggered.connect(partial(self.gateway_chosen.emit, gateway_id))
            if gateway_id == current:
                self._gateway.setText(f"{name.replace('&', '&&')}   ")
        self._gateways.addSeparator()
        self._gateways.addAction(icon("plus"), "Connect a gateway…").triggered.connect(self.connect_asked)
        self._gateways.addAction(icon("settings"), "Gateway settings…").triggered.connect(self.gateways_asked)

    def show_state(self, reach: Reach) -> None:
        """What is known of the gateway, as its dot and in words."""
        self._reach = reach
        self._gateway.setIcon(dot(reach))
        self._gateway.setToolTip(f"Gateway: {WORDS[reach]}")
        self._gateway.setAccessibleDescription(WORDS[reach])

    def show_model(self, model: str, missing_at: str = "") -> None:
        """The model in use. ``missing_at`` names the gateway whose list does not have it; it is asked for all the same.

        What a person is typing just now is left alone.
        """
        self.model.show_model(model)
        self.unlisted.setVisible(bool(missing_at))
        words = f"“{model}” is not in the list of {missing_at}."
        self.unlisted.setToolTip(tip(f"{words} It is asked for all the same. Click for the list."))
        self.unlisted.setAccessibleName(f"{words} Show the list")

    def show_protocol(self, name: str) -> None:
        """Mark the protocol in use."""
        self._protocol.set_index(list(TITLES).index(name))

    def _protocol_picked(self, index: int) -> None:
        self.protocol_chosen.emit(list(TITLES)[index])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.pages.setVisible(event.size().width() >= ROOMY)
        self.code.setText(CODE if event.size().width() >= NARROW else "")
        self.unlisted.setText(UNLISTED if event.size().width() >= NARROW else "")

    def minimumSizeHint(self) -> QSize:
        """As narrow as without what gives way."""
        least = super().minimumSizeHint()
        gives_way = self.pages.minimumSizeHint().width() + SPACING if self.pages.isVisible() else 0
        return QSize(least.width() - gives_way, least.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "model"):
            self.show_state(self._reach)


def _calm_after(menu: QMenu, button: QAbstractButton) -> None:
    """Take the look of being pointed at from a button when its menu closes: a dialog that an action of the menu opens
    keeps back the word that the pointer has left.
    """

    def look() -> None:
        if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            button.update()

    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, button, look))


def _menu_button(symbol: str, words: str, menu: QMenu) -> QToolButton:
    button = styled(QToolButton(), "quiet")
    button.setIcon(icon(symbol))
    button.setToolTip(words)
    button.setAccessibleName(words)
    button.setMenu(menu)
    _calm_after(menu, button)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setMinimumSize(30, 30)
    return button
