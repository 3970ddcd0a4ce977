"""The window: regions and docks, and the wiring between them. The actions are carried out by ``window_actions``.

The frame with the tool bar and empty regions is made first, for the first paint; ``populate`` fills the regions.
Nothing heavy may be imported at the top of this file.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMainWindow,
    QProgressBar,
    QStatusBar,
    QVBoxLayout,
    QWidget,
)

from playground.domain.durations import countdown
from playground.engine.gateways.reach import WORDS, Reach
from playground.ui.features.action import Action
from playground.ui.features.conversation.measures import SMALLEST
from playground.ui.features.files.drop_place import DropTarget
from playground.ui.features.gateways.reach_dot import dot
from playground.ui.shell.actions import (
    ACTIONS,
    FLOAT_INSPECTOR,
    FLOAT_LIST,
    FLOAT_SIDE,
    PAGES,
    SHOW_INSPECTOR,
    SHOW_LIST,
)
from playground.ui.shell.docks import LEAST_LEFT, Dock, Docks, Region
from playground.ui.shell.focus import Centre, EnterKey, reveal
from playground.ui.shell.main_menu import MainMenu
from playground.ui.shell.tool_bar import ToolBar
from playground.ui.widgets.form_parts import styled, thin_line
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.side_panel import SidePanel
from playground.ui.widgets.tab_order import order_tab_stops

if TYPE_CHECKING:
    from playground.domain.usage import Usage
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.session import RateLimits
    from playground.ui.features.conversation.composer import Composer
    from playground.ui.features.conversation.pane import ConversationPane
    from playground.ui.features.inspector.inspector import Inspector
    from playground.ui.shell.features import Panels

FRAME = QSize(16, 48)  # pixels of the desktop's frame around a window
SMALLEST_WIDTH = 760  # pixels
DOT_SIZE = 16  # pixels of the sign of the gateway


class StatusBar(QStatusBar):
    """Shows values it is given; the countdown goes on by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self._gateway, self._usage = MarkLabel(), MarkLabel()
        for label in (self._gateway, self._usage):
            label.setMinimumWidth(1)  # gives way to the rate limit
            label.setContentsMargins(0, 0, 16, 0)
        self._usage.setAccessibleName("Tokens of the last run")
        self._limit_name, self._limit = _label(), _label()
        self._listening = styled(_label(), "chip")
        self._listening.setObjectName("listeningState")
        self._listening.hide()
        self._meter = QProgressBar()
        self._meter.setRange(0, 1000)
        self._meter.setTextVisible(False)
        self._meter.setFixedWidth(90)
        self._meter.setAccessibleName("Rate limit, share left")
        self._dot = QLabel()
        self._dot.setContentsMargins(8, 0, 0, 0)
        self._dot.setMinimumHeight(DOT_SIZE)  # the bar is as high before the dot comes
        self.setContentsMargins(0, 0, 8, 0)
        self.addWidget(self._dot)
        self.addWidget(self._gateway)
        self.addWidget(self._usage)
        self.addPermanentWidget(self._listening)
        for widget in (self._limit_name, self._meter, self._limit):
            self.addPermanentWidget(widget)
        self._limits: RateLimits | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._show_limit)
        self.show_limits(None)

    def show_gateway(self, words: str, reach: Reach) -> None:
        """The gateway in use, where it is, and what is known of it; in words where that is not just good."""
        self._reach = reach
        self._dot.setPixmap(dot(reach).pixmap(DOT_SIZE, DOT_SIZE))
        state = "" if reach in (Reach.OK, Reach.UNKNOWN) else f" · {WORDS[reach]}"
        self._gateway.setText(f"{words}{state}")
        for label in (self._dot, self._gateway):
            label.setToolTip(tip(f"{words}\nGateway: {WORDS[reach]}"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_reach"):
            self._dot.setPixmap(dot(self._reach).pixmap(DOT_SIZE, DOT_SIZE))

    def show_usage(
        self, usage: Usage | None, cost: str = "", total: str = "", *, choices: int = 1, context: int | None = None
    ) -> None:
        """Token counts of the last request with all its choices, what it cost, and what the whole experiment did.

        ``context`` is how many tokens the model takes, by the gateway's list; None where it does not tell.
        """
        from playground.ui.widgets.figures import share_line, usage_line

        in_all = f"{total} in all" if total and total != cost else ""
        words = [usage_line(usage, choices), share_line(usage, choices, context), cost, in_all]
        self._usage.setText(" · ".join(word for word in words if word))

    def show_limits(self, limits: RateLimits | None) -> None:
        """Show the rate limits of the last answer's headers."""
        self._limits = limits
        window = limits.tightest if limits else None
        for widget in (self._limit_name, self._meter, self._limit):
            widget.setVisible(window is not None)
        if window is not None:
            self._timer.start()
            self._show_limit()
        else:
            self._timer.stop()

    def show_listening(self, words: str) -> None:
        """Show that Listen is on; nothing for an empty text."""
        self._listening.setText(words)
        self._listening.setVisible(bool(words))

    def _show_limit(self) -> None:
        limits = self._limits
        window = limits.tightest if limits else None
        if limits is None or window is None:
            return

        self._limit_name.setText((window.dimension or "requests").capitalize())
        self._meter.setValue(round((window.share if window.share is not None else 1) * 1000))
        words = []
        if window.remaining is not None:
            limit = f" / {int(window.limit):,}" if window.limit is not None else ""
            words.append(f"{int(window.remaining):,}{limit} left")
        if window.reset_in is not None:
            rest = max(window.reset_in - (time.time() - limits.read_at), 0)
            words.append(f"resets in {countdown(rest)}")
            if rest <= 0:
                words[-1] = "limit reset"
                self._timer.stop()
        self._limit.setText(" · ".join(words) + "  ")
        sent = "As sent: limit {}, remaining {}, reset {}".format(*(raw or "—" for raw in window.raw))
        self._limit.setToolTip(tip(sent))


def _label() -> QLabel:
    """For words from elsewhere, which must not be taken for rich text."""
    return QLabel(textFormat=Qt.TextFormat.PlainText)


class MainWindow(QMainWindow):
    """All regions in their places. ``close_asked`` is emitted instead of closing; ``let_close`` then allows it.

    Without a workspace the regions are empty until ``populate`` is called. ``opening`` says that stored experiments
    are still to be read.
    """

    close_asked = Signal()
    page_shown = Signal(str)  # another page of the centre

    pane: ConversationPane
    composer: Composer
    panels: Panels
    inspector: Inspector

    def __init__(self, workspace: Workspace | None, settings: QSettings, *, opening: bool = False) -> None:
        super().__init__()
        self._settings = settings
        self._may_close = False
        self._opening = opening
        self.setWindowTitle("Gateway Playground")
        self.setMinimumSize(SMALLEST_WIDTH, SMALLEST)
        self.resize(1440, 900)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._actions = {spec.id: _new_action(spec, self) for spec in ACTIONS}
        self.side = SidePanel(PAGES)
        self.left, self._centre, self._bottom = Region("surface"), Centre(), Region("surface")
        self._build()
        self.left.setMinimumWidth(LEAST_LEFT)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self.docks = Docks(self, self._centre, self.left_dock, self.right_dock, self.bottom_dock)
        self._place_actions()
        self._restore()
        self._show_remembered()
        self.drops = DropTarget(self)
        self.setFocus()  # Qt would give it to a tab at the side until the composer is there
        if workspace is not None:
            self.populate(workspace)

    def populate(self, workspace: Workspace) -> None:
        """Fill the regions, in the order of the Tab key: list, conversation, inspector, side panel."""
        from playground.ui.features.conversation.pane import ConversationPane
        from playground.ui.features.experiments.panel import ExperimentsPanel
        from playground.ui.features.inspector.inspector import Inspector
        from playground.ui.shell.features import Panels
        from playground.ui.widgets.copied import CopiedNotice

        experiments = ExperimentsPanel(self.left)
        experiments.set_opening(not workspace.listed)
        self.left.fill(experiments)
        self.pane = ConversationPane(workspace.current, workspace.gateways.price)
        self.pane.welcome_page.set_opening(self._opening)
        self.pane.sizes.keep_in(self._settings)
        self.composer = self.pane.composer
        self._centre.fill(self.pane)
        CopiedNotice(partial(self.pane.notice.say, stays=False), self)
        self._centre.set_home(self.composer, self.pane.view)
        EnterKey(self)
        self.inspector = Inspector(self._bottom)
        self._bottom.fill(self.inspector)
        self.inspector.maximise_toggled.connect(self.docks.maximise_inspector)
        self.bottom_dock.visibilityChanged.connect(self._inspector_visible)
        self.bottom_dock.topLevelChanged.connect(self.inspector.restore)
        if self._bottom.window() is self.side.window():  # neither floats
            QWidget.setTabOrder(self._bottom.end, self.side.tabs)
        self.panels = Panels(self, workspace, experiments)

    # Building

    def _build(self) -> None:
        self.left_dock = Dock("Experiments", self.left, self)
        self.right_dock = Dock("Parameters and tools", self.side, self)
        self.bottom_dock = Dock("Inspector", self._bottom, self)
        top = QWidget(self)
        panels = self.left_dock.toggleViewAction(), self.right_dock.toggleViewAction()
        self.menu = MainMenu(self._actions, self)
        self.bar = ToolBar(self.menu, self._actions["settings.open"], *panels, top)
        column = self._top = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(thin_line())
        self.setMenuWidget(top)
        self.setCentralWidget(self._centre)
        self.setDockNestingEnabled(False)
        area, corner = Qt.DockWidgetArea, Qt.Corner
        self.setCorner(corner.BottomLeftCorner, area.LeftDockWidgetArea)
        self.setCorner(corner.BottomRightCorner, area.RightDockWidgetArea)

    def show_page(self, page: str, bar: QWidget | None = None) -> None:
        """Show a page in the centre, with ``bar`` in the tool bar. Each page remembers its visible docks."""
        before = self.bar.page
        self.bar.show_page(page, bar)
        if page != before:
            self.docks.note()
            self.inspector.restore()
            self.menu.show_page(page)
            self.docks.show_page(page)
            self.page_shown.emit(page)

    def show_listening(self, words: str) -> None:
        """Show on every page that Listen is on, in ``words``; nothing for an empty text."""
        self.status.show_listening(words)

    def add_banner(self, banner: QWidget) -> None:
        """Put a line of the whole window's width below the tool bar."""
        self._top.addWidget(banner)

    def come_forward(self, activation: str = "") -> None:
        """Raise the window and give it the focus; ``activation`` is the permission that Wayland asks for."""
        if activation:
            os.environ["XDG_ACTIVATION_TOKEN"] = activation  # Qt takes it from there, and away
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        if not activation and not self.isActiveWindow():
            QApplication.alert(self)  # Wayland gives no focus without it: the desktop marks the window for the person

    def fit_screen(self) -> None:
        """Shrink to the screen without the desktop's frame, as far as the smallest size."""
        room = self.screen().availableSize() - FRAME
        self.resize(self.size().boundedTo(room).expandedTo(self.minimumSize()))

    def reset_layout(self) -> None:
        """Show every region in its usual place."""
        self.docks.reset()

    def _place_actions(self) -> None:
        for spec in ACTIONS:
            self.addAction(self._actions[spec.id])
        for spec, dock in ((SHOW_LIST, self.left_dock), (SHOW_INSPECTOR, self.bottom_dock)):
            action = self._actions[spec.id]
            dock.visibilityChanged.connect(action.setChecked)
            action.triggered.connect(partial(_follow, dock, action))
        for spec, dock in (
            (FLOAT_LIST, self.left_dock),
            (FLOAT_SIDE, self.right_dock),
            (FLOAT_INSPECTOR, self.bottom_dock),
        ):
            action = self._actions[spec.id]
            dock.topLevelChanged.connect(action.setChecked)
            action.triggered.connect(partial(self._float, dock, action))

    def action(self, action_id: str, /) -> QAction:
        """The action of that id. Raises KeyError."""
        return self._actions[action_id]

    # Layout remembered

    def _restore(self) -> None:
        geometry = self._settings.value("window/geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        self.docks.restore(self._settings)

    def remember_layout(self) -> None:
        """Write size, place and docks to the settings."""
        self._settings.setValue("window/geometry", self.saveGeometry())
        self.docks.save(self._settings)
        self._settings.sync()

    def remember_gateway(self, name: str, model: str) -> None:
        """Write the gateway and model to the settings; the first frame of the next start shows them."""
        for key, value in (("name", name), ("model", model)):
            self._settings.setValue(f"gateway/{key}", value)
        self._settings.sync()

    def _show_remembered(self) -> None:
        name = str(self._settings.value("gateway/name", "Demo gateway"))
        self.bar.show_gateways([("", name)], "")
        self.bar.show_state(Reach.UNKNOWN)
        self.bar.model.show_model(str(self._settings.value("gateway/model", "")))

    def _float(self, dock: Dock, action: QAction) -> None:
        self.docks.float(dock, action.isChecked())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.docks.fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.docks.begin()

    def event(self, event: QEvent) -> bool:
        """Note a height that a person has chosen: the separators between docks belong to the window."""
        done = super().event(event)
        if event.type() == QEvent.Type.MouseButtonRelease:
            self.docks.note_height()
        return done

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move to the next widget by its place, and scroll to it."""
        for area in (self.left, self._bottom, self.side):
            if area.window() is self:
                order_tab_stops(area)
        moved = super().focusNextPrevChild(next)
        reveal(self.focusWidget())
        return moved

    def _inspector_visible(self, visible: bool) -> None:
        if not visible:
            self.inspector.restore()

    def let_close(self) -> None:
        """The next close event is obeyed."""
        self._may_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_asked.emit()


def _new_action(spec: Action[Any], window: MainWindow) -> QAction:
    action = QAction(spec.text, window)
    action.setObjectName(spec.id)
    action.setShortcuts([QKeySequence(keys) for keys in spec.keys.split()])
    action.setCheckable(spec.checkable)
    return action


def _follow(dock: Dock, action: QAction) -> None:
    """Show the dock or hide it, as the action says. PySide hands ``triggered``'s argument to no such slot."""
    dock.setVisible(action.isChecked())
