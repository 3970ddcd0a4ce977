"""Passive parts of the tools panel: the bar and the search above the list, the page for no tools, the splitter."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QSplitter,
    QToolButton,
    QWidget,
)

from playground.domain.tools import ToolDefinition
from playground.jsonkit.texts import quantity
from playground.ui.features.tools.samples import SAMPLE
from playground.ui.features.tools.tool_editor import ToolEditor
from playground.ui.features.tools.tool_list import ToolList
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph, say, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.row_delegate import TWO_LINES
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.search_field import SearchField

SEARCH_FROM = 6  # tools; fewer are visible at once
#: Largest share of the height until the splitter is dragged; a long list gets more.
LIST_SHARE, LONG_SHARE = 0.45, 0.6
LONG = 10  # rows from which a list is long


class PanelHead(QWidget):
    """Buttons for new, imported and selected tools, the search, and the summary of enabled tools and their size."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.new_button = QPushButton("New")
        self.new_button.setAccessibleName("New tool")
        self.new_button.setToolTip("New tool")
        self.import_button = QPushButton("Import…")
        self.import_button.setAccessibleName("Import tools")
        self.servers_button = QPushButton("Servers")
        self.servers_button.hide()  # until there is a menu
        self.servers_button.setAccessibleName("Tool servers")
        self.servers_button.setToolTip("Tools that a server offers, and answers by itself")
        self.duplicate_button = IconButton("copy", "Duplicate (Ctrl+D in the list)", quiet=False)
        self.delete_button = IconButton("delete", "Delete (Delete in the list)", quiet=False)
        self.more_button = IconButton("more", "More to do with tools", quiet=False)
        self.more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.search = SearchField("Search tools…")
        self.summary = text_label("", "small")
        self.summary.setObjectName("toolsSummary")
        self.summary.setMinimumWidth(40)
        self.summary.setToolTip("Tokens are estimated from the length of the definitions.")
        self.all_button = styled(QPushButton("All off"), "quiet")
        buttons = FlowLayout()
        for button in (self.new_button, self.import_button, self.servers_button):
            button.setMinimumWidth(48)
            buttons.addWidget(button)
        bar = in_row((buttons, 1), spacing=4)
        for icon_button in (self.duplicate_button, self.delete_button, self.more_button):
            icon_button.setFixedSize(24, 24)
            bar.addWidget(icon_button)
        line = in_row((self.summary, 1), self.all_button)
        self.warnings = paragraph("", "flag")
        self.warnings.hide()
        in_column(bar, self.search, line, self.warnings, parent=self, margins=(12, 8, 12, 4), spacing=4)

    def show_warnings(self, words: str) -> None:
        """Show warnings that the model does not support tools; an empty text hides them."""
        say(self.warnings, words)

    def show_summary(self, tools: tuple[ToolDefinition, ...], sizes: list[int], blocked: int = 0) -> None:
        """Show ``12 of 50 on · ≈ 4,100 tokens``; the size is that of the tools that are sent.

        ``blocked`` of the tools that are off cannot be switched on together with all others.
        """
        on = sum(tool.enabled for tool in tools)
        words = [f"{on} of {len(tools)} on"]
        if len(sizes) == len(tools):
            total = sum(size for tool, size in zip(tools, sizes, strict=True) if tool.sendable)
            words.append(f"≈ {quantity(total, 'token')}")
        self.summary.setText(" · ".join(words))
        every = on == len(tools) or (on > 0 and on + blocked == len(tools))
        self.all_button.setText("All off" if every else "All on")
        self.all_button.setAccessibleName("Switch all tools off" if every else "Switch all tools on")
        self.search.setVisible(len(tools) >= SEARCH_FROM or bool(self.search.text()))


class EmptyPage(QWidget):
    """Page without tools: an explanation, and buttons that add the first tool."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.add_button = styled(QPushButton("Add one"), "primary")
        self.sample_button = QPushButton("Add a sample")
        self.sample_button.setToolTip(f"A complete example: {SAMPLE.name}")
        self.import_button = QPushButton("Import…")
        self.import_button.setAccessibleName("Import tools")
        self.servers_button = QPushButton("From a server")
        self.servers_button.hide()  # until there is a menu
        self.servers_button.setAccessibleName("Tools from a server")
        heading = text_label("No tools yet", "heading")
        explanation = QLabel(
            "Tools are functions the model may call. You describe them here; when the model calls one, "
            "you see its arguments, send a result, and continue."
        )
        sources = QLabel(
            "Import takes definitions of either protocol, a Python function, or an OpenAPI document. A tool server "
            "(Model Context Protocol) describes its tools itself and can answer their calls."
        )
        for label in (explanation, sources):
            label.setWordWrap(True)
            label.setProperty("kind", "muted")
        buttons = FlowLayout(gap=6)
        for button in (self.add_button, self.sample_button, self.import_button):
            button.setMinimumWidth(56)
            buttons.addWidget(button)
        rows = (heading, explanation, Gap(4), buttons, in_row(self.servers_button, 1), Gap(4), sources, 1)
        in_column(*rows, parent=self, margins=(16, 24, 16, 16), spacing=8)


class WorkArea(QWidget):
    """Splitter with the list above the editor."""

    def __init__(self, head: PanelHead, tools: ToolList, editor: ToolEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = tools
        self._dragged = False
        head.search.results_asked.connect(tools.setFocus)
        editor.setProperty("kind", "surface")
        editor.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = in_column(head, parent=self, margins=0, spacing=0)
        self.split = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        column.addWidget(self.split, 1)
        self.split.addWidget(tools)
        scroll = DownArea(editor, self.split)  # the splitter is its parent and adds it
        scroll.setMinimumHeight(120)
        tools.setMinimumHeight(TWO_LINES)
        self.split.setStretchFactor(0, 0)
        self.split.setStretchFactor(1, 1)
        self.split.splitterMoved.connect(self._moved)

    def fit(self) -> None:
        """Make the list as tall as its rows, up to its share of the height, unless the splitter was dragged."""
        content = max(self._list.content_height(), TWO_LINES)
        self._list.setMaximumHeight(content)
        if not self._dragged:
            share = LONG_SHARE if content >= LONG * TWO_LINES else LIST_SHARE
            height = min(content, max(int(self.split.height() * share), 2 * TWO_LINES))
            remaining = max(self.split.height() - height, 0)
            self.split.setSizes([height, remaining])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def _moved(self, _place: int, _index: int) -> None:
        self._dragged = True
