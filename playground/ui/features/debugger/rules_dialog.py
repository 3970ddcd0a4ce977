"""The rules for tool calls of one experiment: the tools on the left, the rule of the one selected on the right.

Not modal: it stands beside the conversation and follows it. All truth is in ``session.debugger``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from playground.domain.debugging import Debugging, Policy, ToolRule
from playground.domain.parts import ToolCall
from playground.engine.files.answer_table import LARGEST_TABLE, read_answers, write_answers
from playground.engine.gateways.redacted_output import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.session.changes import Change, DebugChanged, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.named_file import read_named
from playground.ui.features.debugger.number_field import NumberField
from playground.ui.features.debugger.rule_editor import RuleEditor
from playground.ui.features.debugger.texts import rule_words
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import look, paragraph, styled, text_label, thin_line
from playground.ui.widgets.layouts import Gap, in_column, in_row, split
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import show_hidden, shown_name
from playground.ui.widgets.session_window import SessionWindow
from playground.ui.widgets.theme import SMALL_PX, code_font, tokens

WIDE, TALL = 1080, 700
DEFAULT = ""  # the name under which the default rule stands
FILES = "Answer tables (*.json);;All files (*)"
NAME, WORDS = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1

HEIGHT = 46
MARGIN = 12


class ToolNameDelegate(QStyledItemDelegate):
    """``name`` and ``words`` are the roles under which the two lines are found; an empty name is the default."""

    def __init__(self, name: int, words: int, parent: QObject) -> None:
        super().__init__(parent)
        self._name, self._words = name, words

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = tokens()
        rect: QRect = option.rect
        state = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(rect, QColor(t.accent_background if chosen else t.surface))
        if chosen and state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), QColor(t.accent))
        name = shown_name(str(index.data(self._name) or ""))
        words = str(index.data(self._words) or "")
        inner = rect.adjusted(MARGIN, 5, -MARGIN, -5)
        half = inner.height() // 2
        font = code_font() if name else QFont(painter.font())
        font.setBold(True)
        self._line(painter, font, t.text, QRect(inner.left(), inner.top(), inner.width(), half), name or "Default")
        small = QFont(option.font)
        small.setPixelSize(SMALL_PX)
        below = QRect(inner.left(), inner.top() + half, inner.width(), half)
        self._line(painter, small, t.muted, below, words)
        painter.restore()

    def _line(self, painter: QPainter, font: QFont, colour: str, rect: QRect, text: str) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        fitting = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, fitting)


def read_tables(path: Path) -> Debugging:
    """The rules a file asks for. Raises ValueError in words."""
    try:
        text = read_named(path, LARGEST_TABLE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    return read_answers(text)


def write_tables(path: Path, debugging: Debugging, known: Iterable[Secret]) -> None:
    """Write the tables to a file, without the secrets in ``known``. Raises ValueError in words."""
    try:
        write_output(path, write_answers(debugging), known)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def laid_over(debugging: Debugging, found: Debugging) -> Debugging:
    """The rules with a file's tables in them: its tools answer from its rows; their conditions and all others stay."""
    out = debugging.model_copy(update={"step_limit": found.step_limit})
    for name, rule in found.rules.items():
        out = out.with_rule(name, _with_table(debugging.rule(name), rule))
    if found.default.rows:
        out = out.with_default(_with_table(debugging.default, found.default))
    return out


def table_words(found: Debugging) -> str:
    """What a file holds: ``2 tables with 5 rows``."""
    tables = [rule for rule in (*found.rules.values(), found.default) if rule.rows]
    rows = sum(len(rule.rows) for rule in tables)
    return f"{len(tables)} table{'s' * (len(tables) != 1)} with {rows} row{'s' * (rows != 1)}"


def _with_table(rule: ToolRule, found: ToolRule) -> ToolRule:
    return rule.model_copy(update={"policy": Policy.TABLE, "rows": found.rows})


class RulesDialog(SessionWindow):
    """``open_on`` shows the rule of a tool, "" the default's. ``known_secrets`` gives those that no file may hold."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(session, parent)
        self.setWindowTitle("Rules for tool calls")
        self.known_secrets: Callable[[], Iterable[Secret]] = tuple
        self._name = DEFAULT
        self._before: Debugging | None = None  # what Undo brings back after an import
        self.list = QListWidget()
        self.list.setAccessibleName("Tools")
        self.list.setItemDelegate(ToolNameDelegate(NAME, WORDS, self.list))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMinimumWidth(150)
        self.title = text_label("", "heading")
        self.title.setMinimumWidth(40)
        self.origin = paragraph("", "small")
        self.default_button = styled(QPushButton("Use the default rule"), "quiet")
        # Made where it stands, since Qt dresses anew what is put elsewhere; in the order in which the focus goes.
        self._halves = split(self.list, of=self)
        self._scroll = QScrollArea(self._halves, widgetResizable=True)
        content = styled(QWidget(self._scroll.viewport()), "surface")
        head = in_row((self.title, 1), self.default_button)
        column = in_column(head, self.origin, Gap(6), of=content, margins=(16, 12, 16, 12), spacing=6)
        self.editor = RuleEditor(content)
        column.addWidget(self.editor, 1)
        self._scroll.setWidget(content)
        self.limit = NumberField("Step limit: requests without a stop; none at 0", "none", whole=True, most=1_000_000)
        self.import_button = QPushButton("Import…")
        self.export_button = QPushButton("Export…")
        self.close_button = QPushButton("Close")
        self.notice = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.undo_button = styled(QPushButton("Undo"), "quiet")
        self._notice_bar = QFrame()
        self._arrange()
        self._connect()
        self._draw = Throttle(self._refresh, self)
        self._refresh()

    @property
    def tool(self) -> str:
        """The tool whose rule is shown; "" for the default."""
        return self._name

    def open_on(self, name: str = DEFAULT) -> None:
        """Show the rule of a tool, whether or not it is on offer."""
        self._name = name
        self._refresh()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # Commands

    def use_default(self) -> None:
        """The tool follows the default again."""
        self._set(self._debugging.with_rule(self._name, None))

    def import_tables(self) -> None:
        """Ask for a file with answer tables."""
        dialog = file_dialog(self, "Import answer tables", "", FILES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_file)
        dialog.open()

    def open_file(self, name: str) -> None:
        """Take the tables of a file, or say why not."""
        path = Path(name)
        try:
            found = read_tables(path)
        except ValueError as error:
            self._say(f"{path.name} cannot be used: {error}.", "error")
            return
        before = self._debugging
        self._set(laid_over(before, found))
        self._say(f"Took {table_words(found)} from {path.name}.")
        self._before = before
        self.undo_button.show()

    def export_tables(self) -> None:
        """Ask for a file to write the answer tables to."""
        dialog = file_dialog(self, "Export answer tables", "answers.json", FILES, write="json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.write_file)
        dialog.open()

    def write_file(self, name: str) -> None:
        """Write the tables to a file, or say why not."""
        path = Path(name)
        try:
            write_tables(path, self._debugging, self.known_secrets())
        except ValueError as error:
            self._say(f"{path.name} cannot be written: {error}.", "error")
        else:
            self._say(f"{path.name} written: {table_words(self._debugging)}. Policies and conditions are not in it.")

    def undo_import(self) -> None:
        """The rules as they were before the import."""
        if self._before is not None:
            self._set(self._before)
            self._say("")

    # Inside

    def _session_changed(self) -> None:
        self._name = DEFAULT
        self._say("")
        self._refresh()

    @property
    def _debugging(self) -> Debugging:
        return self._session.debugger.debugging

    def _arrange(self) -> None:
        scroll, halves = self._scroll, self._halves
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setMinimumWidth(340)
        halves.addWidget(scroll)
        halves.setSizes([210, WIDE - 210])
        halves.setStretchFactor(1, 1)
        in_row((self.notice, 1), self.undo_button, of=self._notice_bar, margins=(12, 4, 8, 4))
        self._notice_bar.setProperty("kind", "undo")
        limit = QLabel("Step limit")
        limit.setBuddy(self.limit)
        foot = in_row(limit, self.limit, 1, margins=(12, 8, 12, 10), spacing=6)
        for button in (self.import_button, self.export_button, self.close_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        in_column((halves, 1), self._notice_bar, thin_line(), foot, of=self, margins=0, spacing=0)
        for quiet in (self.default_button, self.undo_button, *self.editor.findChildren(QPushButton)):
            quiet.setAutoDefault(False)
        self.import_button.setAccessibleName("Import answer tables")
        self.export_button.setAccessibleName("Export answer tables")
        self.fit_into_window(WIDE, TALL)
        self._say("")

    def _connect(self) -> None:
        self.list.currentItemChanged.connect(self._selected)
        self.editor.changed.connect(self._edited)
        self.default_button.clicked.connect(self.use_default)
        self.limit.edited.connect(self._limit_edited)
        self.import_button.clicked.connect(self.import_tables)
        self.export_button.clicked.connect(self.export_tables)
        self.close_button.clicked.connect(self.close)
        self.undo_button.clicked.connect(self.undo_import)

    def _edited(self, rule: ToolRule) -> None:
        debugging = self._debugging
        self._set(debugging.with_rule(self._name, rule) if self._name else debugging.with_default(rule))

    def _limit_edited(self) -> None:
        self._set(self._debugging.model_copy(update={"step_limit": int(self.limit.value)}))

    def _set(self, debugging: Debugging) -> None:
        self._forget_import()
        self._session.change(debugging=debugging)

    def _forget_import(self) -> None:
        self._before = None
        self.undo_button.hide()

    def _selected(self, now: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if now is not None and now.data(NAME) != self._name:
            self._name = str(now.data(NAME))
            self._refresh()

    def _changed(self, change: Change) -> None:
        if isinstance(change, DebugChanged | PathChanged | SettingsChanged | TurnChanged):
            self._draw.poke()

    def _names(self) -> list[str]:
        """The default, the tools in their order, and names that have a rule and no tool."""
        tools = [tool.name for tool in self._session.settings.tools if tool.name]
        names = dict.fromkeys((DEFAULT, *tools, *self._debugging.rules, self._name))
        return list(names)

    def _latest(self) -> ToolCall | None:
        """The latest call on the path that this rule is for."""
        debugging = self._debugging
        for turn in reversed(self._session.transcript.path):
            for call in reversed(turn.calls):
                if call.name == self._name or (not self._name and call.name not in debugging.rules):
                    return call
        return None

    def _refresh(self) -> None:
        debugging, name = self._debugging, self._name
        self._fill_list()
        own = name in debugging.rules
        known = {tool.name for tool in self._session.settings.tools}
        self.title.setText(shown_name(name) or "Default")
        if not name:
            words = "For every tool that has no rule of its own."
        elif own:
            words = "A rule of its own." if name in known else "A rule of its own; no tool of this name is on offer."
        else:
            words = "Follows the default. A change here gives it a rule of its own."
        self.origin.setText(words)
        self.default_button.setVisible(own)
        latest = self._latest()
        self.editor.set_rule(debugging.rule(name), latest.arguments_json if latest is not None else None)
        self.limit.show_value(debugging.step_limit)

    def _fill_list(self) -> None:
        debugging, names = self._debugging, self._names()
        blocked = self.list.blockSignals(True)
        while self.list.count() > len(names):
            self.list.takeItem(self.list.count() - 1)
        while self.list.count() < len(names):
            self.list.addItem(QListWidgetItem())
        for at, name in enumerate(names):
            item = self.list.item(at)
            follows = bool(name) and name not in debugging.rules
            words = "default" if follows else rule_words(debugging.rule(name))
            item.setData(NAME, name)
            item.setData(WORDS, words)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{shown_name(name) or 'Default'}: {words}")
        self.list.setCurrentRow(names.index(self._name))
        self.list.blockSignals(blocked)
        self.list.viewport().update()

    def _say(self, words: str, kind: str = "") -> None:
        self._forget_import()
        self.notice.setText(show_hidden(words))
        look(self.notice, kind)
        self._notice_bar.setVisible(bool(words))
