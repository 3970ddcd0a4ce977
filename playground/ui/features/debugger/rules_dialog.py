"""The results of tool calls of one experiment: tools on the left, the rule of the selected one on the right.

Not modal: it stays open beside the conversation and follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from playground.domain.debugging import MOST_STEPS, Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.hints import hints_of
from playground.domain.parts import ToolCall
from playground.engine.files.answer_table import LARGEST_TABLE, read_answers, write_answers
from playground.engine.gateways.redaction import write_output
from playground.engine.gateways.secrets import Secret
from playground.engine.session.changes import Change, DebugChanged, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.jsonkit.texts import quantity
from playground.system.named_file import read_named
from playground.ui.features.debugger.answer_table import AnswerTable
from playground.ui.features.debugger.fields import AnswerField, NumberField, PathRow
from playground.ui.features.debugger.texts import POLICIES, rule_words
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import paragraph, push_button, styled, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import short_name, show_hidden, shown_name
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.session_window import SessionWindow

WIDE, TALL = 1080, 700
LABEL_WIDTH = 128  # pixels
DEFAULT = ""  # the name of the default rule
FILES = "Mock tables (*.json);;All files (*)"
HINTS: Final = {
    Policy.PAUSE: "Every call needs your result. Rows of the mock table are suggested.",
    Policy.TABLE: "The first matching row answers. Calls without a matching row need your result.",
    Policy.FIXED: "Every call gets this reply.",
    Policy.SERVER: "The tool's server is called. Tools that declare changes or deletions always ask you first. "
    "Read-only tools of trusted servers run by themselves, others only by a rule of their own.",
}


def read_tables(path: Path) -> Debugging:
    """Return the rules of a file. Raises ValueError with the reason."""
    try:
        text = read_named(path, LARGEST_TABLE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    return read_answers(text)


def write_tables(path: Path, debugging: Debugging, secrets: Iterable[Secret]) -> None:
    """Write the tables to a file without secrets. Raises ValueError with the reason."""
    try:
        write_output(path, write_answers(debugging), secrets)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def with_tables(debugging: Debugging, imported: Debugging) -> Debugging:
    """Return the rules with imported tables; conditions and all other rules stay."""
    out = debugging.model_copy(update={"step_limit": imported.step_limit})
    for name, rule in imported.rules.items():
        out = out.with_rule(name, _with_table(debugging.rule(name), rule))
    if imported.default.rows:
        out = out.with_default(_with_table(debugging.default, imported.default))
    return out


def table_words(debugging: Debugging) -> str:
    """Return the number of tables and rows: `2 tables with 5 rows`."""
    tables = [rule for rule in (*debugging.rules.values(), debugging.default) if rule.rows]
    rows = sum(len(rule.rows) for rule in tables)
    return f"{quantity(len(tables), 'table')} with {quantity(rows, 'row')}"


def _with_table(rule: ToolRule, imported: ToolRule) -> ToolRule:
    return rule.model_copy(update={"policy": Policy.TABLE, "rows": imported.rows})


class RuleEditor(QWidget):
    """The rule of a tool: the source of results, and when to ask a person. `changed` carries the edited rule."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rule = ToolRule()
        self.policy = Segments(tuple(words for _, words in POLICIES), "Results")
        self.hint = paragraph("", "small")
        self.path = PathRow("pause_on_path", hints_of(ToolRule)["pause_on_path"])
        self.conditions: Form[ToolRule] = form_for(ToolRule, {"pause_on_path": self.path}, label_width=LABEL_WIDTH)
        self.conditions.set_value(self._rule)
        self.fixed = AnswerField("Fixed reply", least=4)
        self.table_title = text_label("Mock table", "group")
        self.table = AnswerTable()
        self._arrange()
        self.policy.chosen.connect(lambda index: self._change(policy=POLICIES[index][0]))
        self.conditions.changed.connect(lambda rule, _errors: self._set_rule(rule))
        self.fixed.changed.connect(self._set_fixed)
        self.table.changed.connect(self._set_rows)
        self._show_parts()

    @property
    def rule(self) -> ToolRule:
        """The rule as edited."""
        return self._rule

    def set_rule(self, rule: ToolRule, latest: str | None = None) -> None:
        """Show a rule without a signal; `latest` are the raw arguments of the tool's latest call, if any."""
        self._rule = rule
        self.policy.set_index([policy for policy, _ in POLICIES].index(rule.policy))
        self.path.show_latest(latest)
        self.fixed.set_answer(rule.fixed)
        self.table.set_rows(rule.rows, latest)
        self._show_parts()

    def _arrange(self) -> None:
        caption, line = text_label("When the model calls a tool", "group"), in_row(self.policy, 1)
        top = (caption, line, self.hint, self.conditions, Gap(8))
        in_column(*top, self.fixed, self.table_title, self.table, 1, parent=self, margins=0, spacing=6)

    def _set_fixed(self, answer: Answer) -> None:
        self._change(fixed=answer)

    def _set_rows(self, rows: tuple[AnswerRow, ...]) -> None:
        self._change(rows=rows)

    def _change(self, **changes: object) -> None:
        self._set_rule(self._rule.model_copy(update=changes))

    def _set_rule(self, rule: ToolRule) -> None:
        before, self._rule = self._rule, rule
        self._show_parts()
        if rule != before:
            self.changed.emit(rule)

    def _show_parts(self) -> None:
        policy = self._rule.policy
        if self.conditions.value != self._rule:
            self.conditions.set_value(self._rule)
        self.hint.setText(HINTS[policy])
        self.conditions.setVisible(policy is not Policy.PAUSE)
        self.fixed.setVisible(policy is Policy.FIXED)
        for widget in (self.table_title, self.table):
            widget.setVisible(policy in (Policy.PAUSE, Policy.TABLE))


class RulesDialog(SessionWindow):
    """The rules of all tools. `known_secrets` returns what no exported file may contain."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(session, parent)
        self.setWindowTitle("Tool results")
        self.known_secrets: Callable[[], Iterable[Secret]] = tuple
        self._name = DEFAULT
        self.setObjectName("rulesDialog")
        self.title = text_label("", "heading")
        self.title.setMinimumWidth(40)
        self.origin = paragraph("", "small")
        self.default_button = push_button("Use the default", "quiet")
        self.editor = RuleEditor()
        content = styled(QWidget(), "surface")
        head = in_row((self.title, 1), self.default_button)
        in_column(head, self.origin, Gap(6), (self.editor, 1), parent=content, margins=(16, 12, 16, 12), spacing=6)
        scroll = DownArea(content)
        scroll.setMinimumWidth(340)
        self.limit = NumberField("Max requests per run", "unlimited", whole=True, most=MOST_STEPS)
        limit = QLabel("Max requests per run")
        limit.setBuddy(self.limit)
        self.import_button, self.export_button = push_button("Import…"), push_button("Export…")
        self.import_button.setAccessibleName("Import mock tables")
        self.export_button.setAccessibleName("Export mock tables")
        self.close_button = push_button("Close")
        buttons = (limit, self.limit, 1, self.import_button, self.export_button, self.close_button)
        self.body = ListDetail("Tools", "tool", {"Rule": scroll}, (), parent=self, buttons=buttons)
        self.list, self.notice = self.body.list, self.body.notice
        in_row(self.body, parent=self, margins=0)
        for button in self.editor.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.fit_into_window(WIDE, TALL)
        self._connect()
        self._draw = Throttle(self._refresh, self)
        self._refresh()

    @property
    def tool(self) -> str:
        """The selected tool; "" for the default."""
        return self._name

    def open_on(self, name: str = DEFAULT) -> None:
        """Show the rule of a tool, defined or not."""
        self._name = name
        self._refresh()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def use_default(self) -> None:
        """Remove the tool's own rule."""
        self._set(self._debugging.with_rule(self._name, None))

    def import_tables(self) -> None:
        """Ask for a file with mock tables."""
        dialog = file_dialog(self, "Import mock tables", "", FILES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_file)
        dialog.open()

    def open_file(self, name: str) -> None:
        """Import the tables of a file, or show why it is not possible."""
        path = Path(name)
        try:
            imported = read_tables(path)
        except ValueError as error:
            self._notify(f"{path.name} cannot be used: {error}.")
            return
        before = self._debugging
        self._set(with_tables(before, imported))
        words = f"Imported {table_words(imported)} from {path.name}."
        self.notice.offer(show_hidden(words), ("Undo", partial(self._set, before)))

    def export_tables(self) -> None:
        """Ask for a file to write the mock tables to."""
        dialog = file_dialog(self, "Export mock tables", "answers.json", FILES, write="json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.write_file)
        dialog.open()

    def write_file(self, name: str) -> None:
        """Write the tables to a file, or show why it is not possible."""
        path = Path(name)
        try:
            write_tables(path, self._debugging, self.known_secrets())
        except ValueError as error:
            self._notify(f"{path.name} cannot be written: {error}.")
        else:
            self._notify(f"Exported {table_words(self._debugging)} to {path.name}, without conditions.")

    def _session_changed(self) -> None:
        self._name = DEFAULT
        self.notice.hide()
        self._refresh()

    @property
    def _debugging(self) -> Debugging:
        return self._session.debugger.debugging

    def _connect(self) -> None:
        self.body.selected.connect(self._select)
        self.body.entered.connect(self.editor.policy.setFocus)
        self.editor.changed.connect(self._set_rule)
        self.default_button.clicked.connect(self.use_default)
        self.limit.edited.connect(self._set_limit)
        self.import_button.clicked.connect(self.import_tables)
        self.export_button.clicked.connect(self.export_tables)
        self.close_button.clicked.connect(self.close)

    def _set_rule(self, rule: ToolRule) -> None:
        debugging = self._debugging
        self._set(debugging.with_rule(self._name, rule) if self._name else debugging.with_default(rule))

    def _set_limit(self) -> None:
        self._set(self._debugging.model_copy(update={"step_limit": int(self.limit.value())}))

    def _set(self, debugging: Debugging) -> None:
        self.notice.hide()
        self._session.change(debugging=debugging)

    def _select(self, entry_id: str) -> None:
        if entry_id and entry_id != _id_of(self._name):
            self._name = entry_id.removeprefix("tool:")
            self._refresh()

    def _changed(self, change: Change) -> None:
        if isinstance(change, DebugChanged | PathChanged | SettingsChanged | TurnChanged):
            self._draw.poke()

    def _names(self) -> list[str]:
        """Return the default, the tools in their order, and names with a rule but no tool."""
        tools = [tool.name for tool in self._session.settings.tools if tool.name]
        names = dict.fromkeys((DEFAULT, *tools, *self._debugging.rules, self._name))
        return list(names)

    def _latest(self) -> ToolCall | None:
        """Return the latest call on the path that the selected rule is for."""
        debugging = self._debugging
        for turn in reversed(self._session.transcript.path):
            for call in reversed(turn.calls):
                if call.name == self._name or (not self._name and call.name not in debugging.rules):
                    return call
        return None

    def _refresh(self) -> None:
        debugging, name = self._debugging, self._name
        self._fill_list()
        has_rule = name in debugging.rules
        defined = {tool.name for tool in self._session.settings.tools}
        self.title.setText(shown_name(name) or "Default")
        if not name:
            words = "For every tool without a rule of its own."
        elif has_rule:
            words = "" if name in defined else "No tool of this name is defined."
        else:
            words = "Follows the default. A change here gives this tool its own rule."
        self.origin.setText(words)
        self.origin.setVisible(bool(words))
        self.default_button.setVisible(has_rule)
        latest = self._latest()
        self.editor.set_rule(debugging.rule(name), latest.arguments_json if latest is not None else None)
        self.limit.show_value(debugging.step_limit)

    def _fill_list(self) -> None:
        self.body.show_entries(map(self._entry, self._names()), _id_of(self._name))

    def _entry(self, name: str) -> ListEntry:
        follows = bool(name) and name not in self._debugging.rules
        words = "default" if follows else rule_words(self._debugging.rule(name))
        return ListEntry(_id_of(name), short_name(name) or "Default", words)

    def _notify(self, words: str) -> None:
        self.notice.offer(show_hidden(words))


def _id_of(name: str) -> str:
    """Return the id of a tool's row; that of the default is not empty, too."""
    return f"tool:{name}"
