"""Editor of a tool: name, description, strict, group, and its parameters as a form and as JSON.

The editor receives a definition and emits the edited one; the caller provides its problems (``show_problems``). Both
views show the text of the JSON editor: the form parses it and edits it, so that undo covers both.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from playground.domain.tools import ToolDefinition
from playground.jsonkit.layout import locate, locate_all
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import problem_at
from playground.jsonkit.values import Path
from playground.ui.features.debugger.result_rules import ToolResultRow
from playground.ui.features.tools.schema_editor import READING, SchemaEditor
from playground.ui.features.tools.server_card import ServerCard
from playground.ui.features.tools.standings import Standings
from playground.ui.features.tools.tool_text import is_large, read_schema, schema_text, splice, whole_definition
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.choice_fields import SwitchPill
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.json_text import MARKED_AT_MOST
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.problem_line import MOST_MARKS, ProblemList
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.theme import code_font

FORM, TEXT = 0, 1
EXAMPLE = '{"type": "object", "properties": {}}'
SIDE_BY_SIDE = 440  # minimum width of each of the two views in pixels


class ToolEditor(QWidget):
    """Editor of a tool: ``show_tool`` shows a definition, ``edited`` carries the edited one.

    The dock shows either the form or the JSON; ``wide`` shows them side by side.
    """

    edited = Signal(object)
    large_asked = Signal()
    sample_asked = Signal()

    def __init__(self, parent: QWidget | None = None, *, wide: bool = False) -> None:
        super().__init__(parent)
        self._wide = wide
        self._tool: ToolDefinition | None = None
        self._showing = False
        self._pasted: ToolDefinition | None = None
        self._problems: list[Problem] = []  # as passed to `show_problems`
        self._listed_problems: list[Problem] = []  # with syntax errors added, as listed
        self._formatting = Aside(self)
        self.standings = Standings()
        self.origin = ServerCard()
        self.name = QLineEdit()
        self.name.setFont(code_font())
        self.name.setPlaceholderText("get_weather")
        self.name.setAccessibleName("Tool name")
        self.description = styled(ExactField(), "field")
        self.description.setPlaceholderText("What it does and when the model should call it")
        self.description.setAccessibleName("Tool description")
        self.description.setTabChangesFocus(True)
        self.description.document().setDocumentMargin(2)
        self.description.setFixedHeight(64)
        self.views = Segments(("Form", "JSON"), "Show the parameters as")
        self.form = SchemaEditor()
        self.schema = CodeEditor()
        self.schema.may_fold = True
        self.schema.setPlaceholderText(EXAMPLE)
        self.schema.setAccessibleName("Parameters, JSON Schema")
        self.schema.setMinimumHeight(96 if not wide else 200)
        self.strict = SwitchPill()
        self.strict.setAccessibleName("Strict")
        strict_help = "The gateway enforces the schema exactly. Not sent at default."
        self.strict.setToolTip(tip(strict_help))
        self.strict.setAccessibleDescription(strict_help)
        self.strict_reset = IconButton("close", "Strict back to default (Delete)", size=12)
        self.strict_reset.setFixedSize(20, 20)
        self.strict_reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.result_rule = ToolResultRow()
        self.group = styled(QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert), "field")
        self.group.setAccessibleName("Group")
        self.group.setToolTip(tip("The tool's heading in the list. It is not sent."))
        self.layout_button = IconButton("format", "Format JSON (Ctrl+Shift+F)")
        self.layout_button.setFixedSize(24, 24)
        self.sample_button = IconButton("sparkle", "Sample arguments…")
        self.sample_button.setFixedSize(24, 24)
        self.large_button = IconButton("expand", "Open large: form and JSON side by side")
        self.take_button = QPushButton("Use this definition's name, description and parameters")
        self.take_button.hide()
        self.problem_list = ProblemList()
        self.problem_list.chosen.connect(self.go_to)
        self._arrange()
        self._connect()
        self._show_view(FORM)

    def heightForWidth(self, width: int) -> int:
        """Return the minimum height: the schema can scroll and leaves room for the problems below it."""
        return self._column.minimumHeightForWidth(width)

    # -- building ----------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(4)
        column.addWidget(self.origin)
        column.addWidget(self.result_rule)
        column.addSpacing(8)
        column.addWidget(_caption("Name", self.name))
        column.addWidget(self.name)
        column.addSpacing(8)
        column.addWidget(_caption("Description", self.description))
        column.addWidget(self.description)
        column.addSpacing(8)
        caption = _caption("Parameters", self.schema)
        head = in_row(caption, 1, self.layout_button, self.sample_button, spacing=2)
        if self._wide:
            self.views.hide()
            self.large_button.hide()
        else:
            self.large_button.setFixedSize(24, 24)
            head.addWidget(self.large_button)
            head.addSpacing(4)
            head.addWidget(self.views)
        column.addLayout(head)
        if self._wide:
            column.addWidget(self._side_by_side(), 1)
        else:
            column.addWidget(self.form)
            column.addWidget(self.schema, 1)
            self._filler = QWidget()
            column.addWidget(self._filler, 1)
        column.addWidget(self.take_button)
        column.addWidget(self.problem_list)
        column.addSpacing(4)
        foot = in_row(
            _caption("Strict", self.strict), self.strict, self.strict_reset, 1, _caption("Group", self.group), spacing=4
        )
        self.group.setMinimumWidth(72)
        self.group.setMaximumWidth(148)
        self.group.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        foot.addWidget(self.group)
        column.addLayout(foot)

    def _side_by_side(self) -> QWidget:
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = styled(QWidget(), "surface")
        in_column(self.form, parent=holder, margins=(0, 0, 10, 0))
        self._scroll.setWidget(holder)
        side = QWidget()
        in_column(self.schema, parent=side, margins=(10, 0, 0, 0))
        return split(self._scroll, side, sizes=[SIDE_BY_SIDE, SIDE_BY_SIDE])

    def _connect(self) -> None:
        self.name.textEdited.connect(self._name_edited)
        self.description.textChanged.connect(self._description_edited)
        self.schema.textChanged.connect(self._schema_edited)
        self.strict.switched.connect(self._strict)
        self.strict.cleared.connect(self._strict_cleared)
        self.strict_reset.clicked.connect(self._strict_cleared)
        self.group.activated.connect(self._group_picked)
        line = self.group.lineEdit()
        if line is not None:
            line.setPlaceholderText("none")
            line.editingFinished.connect(self._group_typed)
        self.layout_button.clicked.connect(self.schema.format_json)
        self.take_button.clicked.connect(self._take_whole)
        self.views.chosen.connect(self._view_chosen)
        self.large_button.clicked.connect(self.large_asked)
        self.sample_button.clicked.connect(self.sample_asked)
        self.form.edited.connect(self._form_edited)
        self.form.json_asked.connect(self.show_in_json)
        self.form.undo_asked.connect(self.schema.undo)
        self.form.revealed.connect(self._reveal)
        undo = QShortcut(QKeySequence.StandardKey.Undo, self.form)
        undo.setContext(Qt.ShortcutContext.WidgetShortcut)
        undo.activated.connect(self.schema.undo)

    # -- showing -----------------------------------------------------------------------------------------------

    @property
    def tool(self) -> ToolDefinition | None:
        """Definition with all edits."""
        return self._tool

    @property
    def view(self) -> int:
        """View in the dock: ``FORM`` or ``TEXT``."""
        return self.views.index

    def show_view(self, view: int) -> None:
        """Show the parameters as a form or as JSON."""
        self.views.set_index(view)
        self._show_view(view)

    def show_tool(self, tool: ToolDefinition, *, another: bool = False) -> None:
        """Show a definition; an unchanged text keeps its cursor. ``another`` tool resets the folds of the form."""
        if another:
            self.form.reset()
            self.problem_list.reset()
        elif tool == self._tool:
            return
        self._set_read_only(bool(tool.server))
        self.origin.show_tool(tool, self.standings)
        self._showing = True
        if self.name.text() != tool.name:
            self.name.setText(tool.name)
        if self.description.text() != tool.description:
            self.description.set_text(tool.description)
        self._show_strict(tool.strict)
        if self.group.currentText() != tool.group:
            self.group.setEditText(tool.group)
            if (line := self.group.lineEdit()) is not None:
                line.setCursorPosition(0)
        self._tool = tool
        self._show_result_rule(tool)
        self._showing = False
        self._formatting.do(partial(schema_text, tool), self._show_schema, large=is_large(tool))
        if self._formatting.busy:
            self._show_schema("")
            self.schema.setEnabled(False)
            self.schema.setPlaceholderText(READING)
            self.form.wait()

    def _show_schema(self, text: str) -> None:
        waited = not self.schema.isEnabled()
        self.schema.setEnabled(True)
        self.schema.setPlaceholderText(EXAMPLE)
        self._showing = True
        self.schema.setPlainText(text)
        self._showing = False
        self._follow_text()
        self._offer_whole()
        if waited:
            self.show_problems(self._problems)

    def show_standings(self, standings: Standings) -> None:
        """Update the state of the tool's server."""
        self.standings = standings
        self.origin.show_tool(self._tool, standings)

    def _set_read_only(self, read_only: bool) -> None:
        """Make the definition read-only, as for a server's tool, or editable."""
        if read_only == self.name.isReadOnly():
            return
        for field in (self.name, self.description, self.schema):
            field.setReadOnly(read_only)
        self.form.fix(read_only)
        self.layout_button.setEnabled(not read_only)

    def set_groups(self, names: tuple[str, ...]) -> None:
        """Set the names in the list of groups."""
        if [self.group.itemText(index) for index in range(self.group.count())] != list(names):
            text = self.group.currentText()
            self.group.clear()
            self.group.addItems(list(names))
            self.group.setEditText(text)

    def show_problems(self, problems: list[Problem]) -> None:
        """List problems and mark their places in the schema and the form."""
        self._problems = problems
        text, tool = self.schema.text(), self._tool
        unread = tool is None or tool.source is not None  # parsed schemas are valid JSON
        syntax_error = problem_at(text) if unread and text.strip() else None
        listed = [p for p in problems if p.path or self._tool is None or self._tool.source is None]
        if self._tool is not None and self._tool.source is not None:
            message = (
                f"line {syntax_error.line}, column {syntax_error.column}: {syntax_error.message}; this tool is not sent"
                if syntax_error
                else "must be a JSON Schema object, in braces; this tool is not sent"
            )
            listed.insert(0, Problem(("parameters",), message))
        self.schema.clear_marks()
        if syntax_error is not None:
            self.schema.mark(syntax_error.line, syntax_error.column, syntax_error.message)
        else:
            paths = [item.path[1:] for item in listed if item.path[:1] == ("parameters",)]
            places = locate_all(text, paths) if paths and len(text) <= MARKED_AT_MOST else {}
            for item in listed[:MOST_MARKS]:
                if item.path[:1] == ("parameters",) and (place := places.get(item.path[1:])) is not None:
                    self.schema.mark(*place, item.message, item.severity)
        look(self.schema, "true" if any(m.severity == "error" for m in self.schema.marks) else "false", "bad")
        bad_name = any(p.path[:1] == ("name",) and p.severity == "error" for p in listed)
        look(self.name, "true" if bad_name else "false", "bad")
        self._listed_problems = listed
        self.form.show_problems(listed if syntax_error is None else [])
        self.problem_list.show_problems(listed)

    def go_to(self, problem: Problem) -> None:
        """Go to the place of a problem in the open view."""
        first = problem.path[0] if problem.path else ""
        syntax_error = self.schema.problem() if self._tool is not None and self._tool.source is not None else None
        if first == "name":
            self.name.setFocus(Qt.FocusReason.OtherFocusReason)
            self.name.selectAll()
        elif first == "description":
            self.description.setFocus(Qt.FocusReason.OtherFocusReason)
        elif syntax_error is not None:
            self.show_view(TEXT)
            self.schema.go_to(syntax_error.line, syntax_error.column)
        elif not self._wide and self.view == FORM:
            self.form.go_to(problem.path[1:])
        else:
            self.schema.go_to(*(self._place(problem) or (1, 1)))

    def show_in_json(self, path: Path) -> None:
        """Move the cursor to a path of the schema in the JSON view."""
        self.show_view(TEXT)
        self.schema.go_to(*(locate(self.schema.text(), path) or (1, 1)))

    def _place(self, problem: Problem) -> tuple[int, int] | None:
        return locate(self.schema.text(), problem.path[1:]) if problem.path[:1] == ("parameters",) else None

    def _view_chosen(self, view: int) -> None:
        self._show_view(view)

    def _show_view(self, view: int) -> None:
        if self._wide:
            return
        self.form.setVisible(view == FORM)
        self._filler.setVisible(view == FORM)
        self.schema.setVisible(view == TEXT)
        self.layout_button.setVisible(view == TEXT)
        self._follow_text()

    def _follow_text(self) -> None:
        """Update the form from the text if the form is visible."""
        if self._wide or self.view == FORM:
            self.form.show_text(self.schema.text())
            self.form.show_problems(self._listed_problems)

    def _reveal(self, widget: QWidget) -> None:
        """Scroll to a widget after its layout is complete."""
        area: QWidget | None = self._scroll if self._wide else self
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        inner = area.widget() if isinstance(area, QScrollArea) else None
        if isinstance(area, QScrollArea) and inner is not None:
            layout = inner.layout()
            if layout is not None:
                layout.activate()
            top = widget.mapTo(inner, QPoint(0, 0))
            area.ensureVisible(top.x(), top.y() + widget.height(), 0, 12)
            area.ensureVisible(top.x(), top.y(), 0, 12)

    # -- editing -----------------------------------------------------------------------------------------------

    def _apply_changes(self, **changes: Any) -> None:
        if self._showing or self._tool is None:
            return
        changed = self._tool.model_copy(update=changes)
        if changed != self._tool:
            self._tool = changed
            self.edited.emit(changed)
            self._show_result_rule(changed)

    def _show_result_rule(self, tool: ToolDefinition) -> None:
        self.result_rule.show_tool(tool.name, has_server=bool(tool.server))

    def _name_edited(self, text: str) -> None:
        self._apply_changes(name=text)

    def _description_edited(self) -> None:
        self._apply_changes(description=self.description.text())

    def _schema_edited(self) -> None:
        if self._showing or self._tool is None:
            return
        self._apply_changes(**read_schema(self.schema.text()))
        self._follow_text()
        self._offer_whole()

    def _form_edited(self, text: str) -> None:
        """Apply the form's text to the editor as one change, which undo reverts."""
        old = self.schema.text()
        start, end, piece = splice(old, text)
        cursor = QTextCursor(self.schema.document())
        cursor.setPosition(self.schema.place_of(start))
        cursor.setPosition(self.schema.place_of(end), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(piece)

    def _strict(self, state: bool) -> None:
        self._show_strict(state)
        self._apply_changes(strict=state)

    def _strict_cleared(self) -> None:
        self._show_strict(None)
        self._apply_changes(strict=None)

    def _show_strict(self, state: bool | None) -> None:
        self.strict.show_state(state)
        self.strict_reset.setVisible(state is not None)

    def _group_picked(self, _index: int) -> None:
        self._apply_changes(group=self.group.currentText().strip())

    def _group_typed(self) -> None:
        self._apply_changes(group=self.group.currentText().strip())

    def _offer_whole(self) -> None:
        """Show the button that splits a complete definition pasted as parameters."""
        tool = self._tool
        self._pasted = whole_definition(tool.parameters) if tool is not None and tool.source is None else None
        self.take_button.setVisible(self._pasted is not None and tool is not None and not tool.server)

    def _take_whole(self) -> None:
        if self._tool is None or self._pasted is None:
            return
        definition = self._pasted
        new = self._tool.model_copy(
            update={
                "name": definition.name,
                "description": definition.description,
                "parameters": definition.parameters,
                "strict": definition.strict,
                "source": None,
                "text": None,
            }
        )
        self.show_tool(new)
        self.edited.emit(new)


def _caption(text: str, field: QWidget) -> QLabel:
    label = text_label(text, "group")
    label.setMinimumWidth(40)  # cut the text rather than widen the panel
    label.setBuddy(field)
    return label
