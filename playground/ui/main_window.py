"""The window: regions and docks, and the wiring between them. What to do stands in ``window_actions``."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from playground.engine.workspace import Workspace
from playground.ui.actions import ACTIONS, CONVERSATION_ONLY, MENUS, make_actions
from playground.ui.conversation.pane import ConversationPane
from playground.ui.experiments.panel import ExperimentsPanel
from playground.ui.inspector.inspector import Inspector
from playground.ui.output.panel import OutputPanel
from playground.ui.parameters.panel import ParameterPanel
from playground.ui.raw.panel import RawPanel
from playground.ui.raw.reasoning_return import ReasoningReturnFields
from playground.ui.status_bar import StatusBar
from playground.ui.theme import tokens
from playground.ui.tool_bar import ToolBar
from playground.ui.tools.panel import ToolsPanel

STATE_VERSION = 1
GAP = "    "  # between a tab's title and its count
LEFT, RIGHT, BOTTOM = 240, 340, 215


class MainWindow(QMainWindow):
    """All regions in their places. ``close_asked`` is emitted instead of closing; ``let_close`` then allows it."""

    close_asked = Signal()

    def __init__(self, workspace: Workspace, settings: QSettings) -> None:
        super().__init__()
        self._settings = settings
        self._may_close = False
        self.setWindowTitle("Gateway Playground")
        self.setMinimumSize(760, 520)
        self.resize(1440, 900)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.actions_by_id = make_actions(self)
        self.pane = ConversationPane(workspace.current, workspace.gateways.price)
        self.experiments = ExperimentsPanel(workspace)
        self.parameters = ParameterPanel(without=("Output",))
        self.reasoning_return = ReasoningReturnFields(self)
        self.parameters.add_extra("Reasoning", "Send reasoning back", self.reasoning_return.when)
        self.parameters.add_extra("Reasoning", "Under the name", self.reasoning_return.field)
        self.tools = ToolsPanel()
        self.output = OutputPanel()
        self.raw = RawPanel()
        self.side = SidePanel()
        self.side.add("Parameters", self.parameters)
        self.side.add("Tools", self.tools)
        self.side.add("Output", self.output)
        self.side.add("Raw", self.raw)
        self.inspector = Inspector()
        self.bar = ToolBar(self._main_menu(), self._settings_menu())
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self._build()
        self._place_actions()
        self.reset_layout()
        self._restore()

    # Building

    def _build(self) -> None:
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(rule())
        self.setMenuWidget(top)
        self.setCentralWidget(self.pane)
        self.setDockNestingEnabled(False)
        area, corner = Qt.DockWidgetArea, Qt.Corner
        self.setCorner(corner.BottomLeftCorner, area.LeftDockWidgetArea)
        self.setCorner(corner.BottomRightCorner, area.RightDockWidgetArea)
        self.left_dock = Dock("Experiments", self.experiments, self)
        self.right_dock = Dock("Parameters and tools", self.side, self)
        self.bottom_dock = Dock("Inspector", self.inspector, self)

    def reset_layout(self) -> None:
        """Put every region where it belongs, shown."""
        area = Qt.DockWidgetArea
        for dock, place in (
            (self.left_dock, area.LeftDockWidgetArea),
            (self.right_dock, area.RightDockWidgetArea),
            (self.bottom_dock, area.BottomDockWidgetArea),
        ):
            dock.setFloating(False)
            self.addDockWidget(place, dock)
            dock.show()
        self.resizeDocks([self.left_dock, self.right_dock], [LEFT, RIGHT], Qt.Orientation.Horizontal)
        self.resizeDocks([self.bottom_dock], [min(BOTTOM, self.height() // 4)], Qt.Orientation.Vertical)

    def _place_actions(self) -> None:
        for spec in ACTIONS:
            action = self.actions_by_id[spec.id]
            if spec.id in CONVERSATION_ONLY:
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
                self.pane.view.addAction(action)
            else:
                self.addAction(action)
        for name, dock in (("view.experiments", self.left_dock), ("view.inspector", self.bottom_dock)):
            action = self.actions_by_id[name]
            dock.visibilityChanged.connect(action.setChecked)
            action.triggered.connect(partial(_follow, dock, action))

    def _main_menu(self) -> QMenu:
        menu = QMenu(self)
        for name in MENUS:
            inner = menu.addMenu(name)
            self._fill(inner, [spec.id for spec in ACTIONS if spec.menu == name])
        return menu

    def _settings_menu(self) -> QMenu:
        menu = QMenu(self)
        self._fill(menu, ["gateway.settings", "theme.system", "theme.light", "theme.dark", "settings.enter"])
        return menu

    def _fill(self, menu: QMenu, ids: list[str]) -> None:
        for spec in ACTIONS:
            if spec.id in ids:
                if spec.separated and not menu.isEmpty():
                    menu.addSeparator()
                menu.addAction(self.actions_by_id[spec.id])

    def action(self, action_id: str) -> QAction:
        """The action of that id. Raises KeyError."""
        return self.actions_by_id[action_id]

    # Layout remembered

    def _restore(self) -> None:
        geometry, state = self._settings.value("window/geometry"), self._settings.value("window/state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is not None:
            self.restoreState(state, STATE_VERSION)

    def remember_layout(self) -> None:
        """Write size, place and docks to the settings."""
        self._settings.setValue("window/geometry", self.saveGeometry())
        self._settings.setValue("window/state", self.saveState(STATE_VERSION))
        self._settings.sync()

    def let_close(self) -> None:
        """The next close event is obeyed."""
        self._may_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_asked.emit()


class SidePanel(QFrame):
    """Tabs over pages; a tab may carry a count."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "surface")
        self.tabs = _Tabs()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setAccessibleName("Side panel")
        self.setMinimumWidth(290)
        self._pages = QStackedWidget()
        self._titles: list[str] = []
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        row = QHBoxLayout()
        row.setContentsMargins(8, 0, 8, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(rule())
        layout.addWidget(self._pages, 1)

    def add(self, title: str, page: QWidget) -> None:
        """A page under a new tab."""
        self._titles.append(title)
        self._pages.addWidget(page)
        self.tabs.addTab(title)

    def set_count(self, title: str, number: int) -> None:
        """Show a count beside a tab's title; none for 0."""
        at = self._titles.index(title)
        self.tabs.setTabText(at, f"{title}{GAP}{number}" if number else title)

    def show_page(self, title: str) -> None:
        """Bring a page to the front."""
        self.tabs.setCurrentIndex(self._titles.index(title))


class _Tabs(QTabBar):
    """Tabs with a chip behind the number that follows a title."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().chip))
        metrics = self.fontMetrics()
        for at in range(self.count()):
            _, gap, number = self.tabText(at).partition(GAP)
            if gap:
                tab = self.tabRect(at)
                wide = metrics.horizontalAdvance(number)
                right = tab.center().x() + metrics.horizontalAdvance(self.tabText(at)) // 2 + 7
                chip = QRect(right - wide - 14, tab.center().y() - 8, wide + 14, 18)
                painter.drawRoundedRect(chip, 9, 9)
        painter.end()
        super().paintEvent(event)


class Dock(QDockWidget):
    """A region that can be moved, floated and closed by its slim grip."""

    def __init__(self, title: str, content: QWidget, window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(f"dock-{title.lower().replace(' ', '-')}")
        self.setWidget(content)
        self.setTitleBarWidget(_Grip(self))


class _Grip(QWidget):
    """A few pixels to take hold of: drag to move or float, double-click to float, right-click for a menu."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._dock = dock
        self._hover = False
        self.setToolTip(f"Drag to move “{dock.windowTitle()}”; double-click to float it")
        self.setAccessibleName(f"Move {dock.windowTitle()}")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        floating = self._dock.isFloating()
        menu.addAction("Put back" if floating else "Float").triggered.connect(self._float)
        menu.addAction("Close").triggered.connect(self._dock.close)
        menu.popup(self.mapToGlobal(at))

    def _float(self) -> None:
        self._dock.setFloating(not self._dock.isFloating())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self._hover = event.type() == QEvent.Type.Enter
            self.update()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(t.surface))
        if self._hover or self._dock.isFloating():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.muted))
            painter.drawRoundedRect(QRect(self.width() // 2 - 14, 2, 28, 3), 1.5, 1.5)


def _follow(dock: QDockWidget, action: QAction) -> None:
    """Show the dock or hide it, as the action says. PySide hands ``triggered``'s argument to no such slot."""
    dock.setVisible(action.isChecked())


def rule() -> QFrame:
    """A thin line across."""
    line = QFrame()
    line.setProperty("kind", "line")
    return line
