"""The strip on top of the Listen page: start and stop, the state in words, the address, and the breakpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from playground.domain.durations import span
from playground.engine.listen.pauses import TIME_LIMIT, Breakpoints
from playground.jsonkit.texts import quantity
from playground.ui.features.listen import texts
from playground.ui.features.listen.exchange_rows import count_words
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import one_line_of, short_title
from playground.ui.widgets.theme import tokens

TIME_LIMITS: Final = (30.0, 60.0, 120.0, TIME_LIMIT, 540.0)  # seconds; clients give up after 600
MOST_TOOLS: Final = 40  # names in the menu


def short_address(base_url: str) -> str:
    """Return an address without the secret of its path."""
    parts = urlsplit(base_url)
    segments = [segment for segment in parts.path.split("/") if segment]
    return f"{parts.scheme}://{parts.netloc}/{segments[0]}/…" if segments else f"{parts.scheme}://{parts.netloc}"


class BreakpointButton(QPushButton):
    """A menu of the breakpoints and the mock table.

    ``changed`` carries the new breakpoints. ``table_asked`` asks for a mock table, ``table_removed`` removes it.
    """

    changed = Signal(object)
    table_asked = Signal()
    table_removed = Signal()

    def __init__(self) -> None:
        super().__init__("Breakpoints", autoDefault=False)
        self._breakpoints = Breakpoints()
        self._tools: tuple[str, ...] = ()
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self._requests = self._check(menu, "Pause requests", self._set_requests)
        self._requests.setToolTip("Stop each request before it goes to the gateway")
        self._calls = self._check(menu, "Pause at tool calls", self._set_calls)
        self._calls.setToolTip("Stop each answer with tool calls before the program gets it")
        self._tool_menu = menu.addMenu("Tools")
        self._tool_menu.aboutToShow.connect(self._fill_tools)
        limits = menu.addMenu("Continue after")
        group = QActionGroup(limits)
        self._limits: dict[float, QAction] = {}
        for seconds in TIME_LIMITS:
            action = self._limits[seconds] = limits.addAction(span(seconds))
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(partial(self._change, time_limit=seconds))
        menu.addSeparator()
        menu.addAction("Answer from table…").triggered.connect(self.table_asked)
        self._remove_table = menu.addAction("Remove table")
        self._remove_table.triggered.connect(self.table_removed)
        self._table = ""
        self.setMenu(menu)
        self._show()

    @staticmethod
    def _check(menu: QMenu, text: str, act: object) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.toggled.connect(act)
        return action

    @property
    def breakpoints(self) -> Breakpoints:
        """The breakpoints that are set."""
        return self._breakpoints

    def show_table(self, name: str) -> None:
        """Show the file name of the mock table in use; empty for none."""
        self._table = name
        self._show()

    def show_tools(self, names: Sequence[str]) -> None:
        """Offer these names of tools, which requests have named so far."""
        self._tools = tuple(names)

    def _set_requests(self, on: bool) -> None:
        self._change(requests=on)

    def _set_calls(self, on: bool) -> None:
        self._change(calls=on)

    def _fill_tools(self) -> None:
        menu, chosen = self._tool_menu, self._breakpoints.tools
        menu.clear()
        every = menu.addAction("All tools")
        every.setCheckable(True)
        every.setChecked(not chosen)
        every.triggered.connect(partial(self._change, tools=frozenset()))
        menu.addSeparator()
        for name in sorted({*self._tools, *chosen})[:MOST_TOOLS]:
            action = menu.addAction(one_line_of(short_title(name)).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name in chosen)
            action.triggered.connect(partial(self._toggle_tool, name))
        if not self._tools and not chosen:
            menu.addAction("Tools appear with the first request").setEnabled(False)

    def _toggle_tool(self, name: str, _checked: bool = False) -> None:
        self._change(tools=self._breakpoints.tools ^ {name}, calls=True)

    def _change(self, _checked: bool = False, **fields: object) -> None:
        changed = replace(self._breakpoints, **fields)  # type: ignore[arg-type]
        if changed != self._breakpoints:
            self._breakpoints = changed
            self._show()
            self.changed.emit(changed)

    def _show(self) -> None:
        points = self._breakpoints
        for action, is_on in ((self._requests, points.requests), (self._calls, points.calls)):
            action.setChecked(is_on)
        for seconds, action in self._limits.items():
            action.setChecked(seconds == points.time_limit)
        tools = quantity(len(points.tools), "tool") if points.tools else "tool calls"
        self._remove_table.setVisible(bool(self._table))
        self._remove_table.setText(f"Remove table {one_line_of(short_title(self._table))}".replace("&", "&&"))
        names = ["requests"] * points.requests + [tools] * points.calls + ["table"] * bool(self._table)
        self.setText(f"Breakpoints: {', '.join(names)}" if names else "Breakpoints")
        self.setAccessibleName(self.text() if names else "Breakpoints: none")
        self.setIcon(icon("pause", tokens().tool if names else tokens().muted))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_limits"):
            self._show()


class ListenStrip(QWidget):
    """The strip. It shows what it is given.

    ``start_asked``, ``stop_asked``, ``connect_asked``, ``program_asked``, ``recordings_asked`` and ``close_asked``
    (of a recording) are the buttons.
    """

    start_asked = Signal()
    stop_asked = Signal()
    connect_asked = Signal()
    program_asked = Signal()
    recordings_asked = Signal()
    close_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._base_url = ""
        self.start = push_button(texts.START, "primary")
        self.stop = push_button(texts.STOP, "danger")
        self.back = push_button("Close recording")
        self.status = ElidedLabel("Listen", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.status.setObjectName("listenStatus")
        self.copy = CopyButton("Copy")
        self.copy.setToolTip("Copy the address with its secret")
        self.copy.setAccessibleName("Copy the address")
        self.breakpoints = BreakpointButton()
        self.program = QPushButton("Program", autoDefault=False)
        self.program.setAccessibleName("Program: connect or start one")
        menu = QMenu(self.program)
        menu.addAction("Connect a program…").triggered.connect(self.connect_asked)
        menu.addAction("Start a program…").triggered.connect(self.program_asked)
        self.program.setMenu(menu)
        self.recordings = push_button("Recordings…")
        for button in (self.start, self.stop, self.back, self.copy, self.program, self.breakpoints, self.recordings):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.start.clicked.connect(self.start_asked)
        self.stop.clicked.connect(self.stop_asked)
        self.back.clicked.connect(self.close_asked)
        self.copy.clicked.connect(lambda: self.copy.copy(self._base_url))
        self.recordings.clicked.connect(self.recordings_asked)
        in_row(
            self.start,
            self.stop,
            self.back,
            (self.status, 1),
            self.copy,
            self.program,
            self.breakpoints,
            self.recordings,
            parent=self,
            margins=(18, 9, 18, 9),
            spacing=8,
        )
        self._colour()
        self.show_stopped()

    def show_stopped(self, words: str = texts.STOPPED, *, can_start: bool = True, has_rows: bool = False) -> None:
        """Show that nothing listens; exchanges of the last start can be closed."""
        self._base_url = ""
        self._show(listening=False)
        self.start.setEnabled(can_start)
        self.back.setText("Close list")
        self.back.setVisible(has_rows)
        self.status.set_text(words)

    def show_listening(self, base_url: str, started_at: float, requests: int, paused: int) -> None:
        """Show the state while it listens: since when, on which address, and how many requests."""
        self._base_url = base_url
        self._show(listening=True)
        since = datetime.fromtimestamp(started_at).astimezone().strftime("%H:%M")
        waiting = f" · {paused:,} paused" if paused else ""
        self.status.set_text(f"Listening since {since} at {short_address(base_url)} · {count_words(requests)}{waiting}")

    def show_recording(self, words: str) -> None:
        """Show that an old recording is open."""
        self._base_url = ""
        self._show(listening=False)
        self.start.hide()
        self.back.setText("Close recording")
        self.back.show()
        self.status.set_text(words)

    def _show(self, *, listening: bool) -> None:
        self.start.setVisible(not listening)
        self.back.hide()
        self.recordings.setVisible(not listening)
        for button in (self.stop, self.copy, self.program, self.breakpoints):
            button.setVisible(listening)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "recordings"):
            self._colour()

    def _colour(self) -> None:
        self.start.setIcon(icon("run", tokens().on_accent))
        self.stop.setIcon(icon("stop", tokens().error))
