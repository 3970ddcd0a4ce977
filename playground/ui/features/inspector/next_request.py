"""The next request before it is sent: its fields with their origins, and its body, both editable.

An edit is read while it is typed and applied by a button; the functions given to ``set_editor`` do both. An edit that
is not applied yet is reported, and restored together with its experiment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSplitter, QWidget

from playground.domain.hidden import short_name
from playground.engine.inspect.compare import Sent
from playground.engine.requests.view import RequestView
from playground.jsonkit.layout import locate
from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.reading import read_typed
from playground.jsonkit.texts import quantity
from playground.jsonkit.tokens import TOKEN
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.inspector.excerpt import excerpt
from playground.ui.features.inspector.field_table import FieldTable
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, paragraph, push_button, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import escape_hidden, show_hidden, tip

READ_AFTER_MS = 250
MAX_EDITABLE = 300_000  # characters, long strings folded; above, the body is read-only
MAX_STRING = 20_000  # characters of a string that is shown whole
MAX_DATA = 2_000  # the same for data URLs
UNAPPLIED = "Unapplied changes"
_MEDIA_TYPE = re.compile(r'"data:([a-z]+/[a-z0-9.+-]+)')
TOO_LONG = "This request is too long to edit here. Edit it in the panels and the conversation."
#: Read or apply an edited body and return remarks as sentences. Raises ValueError with a sentence.
Edit = Callable[[str], tuple[str, ...]]


def typed_value(text: str) -> JSON:
    """Return typed text as JSON, or as a string. Raises ValueError for incomplete JSON."""
    try:
        return read_typed(text)
    except ValueError:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise ValueError("This is not JSON yet. Close every quote and bracket.") from None
        return text


def with_field(body: str, path: MemberPath, value: JSON) -> str:
    """Return the body with the field at ``path`` set. Raises ValueError."""
    root = _parse_object(body)
    parent = root
    for step in path[:-1]:
        inner = parent.get(step)
        parent[step] = parent = dict(inner) if isinstance(inner, dict) else {}
    parent[path[-1]] = value
    return json.dumps(root, ensure_ascii=False)


def without_field(body: str, path: MemberPath) -> str:
    """Return the body without that field, and without the objects that held only it. Raises ValueError."""
    root = _parse_object(body)
    for depth in range(len(path), 0, -1):
        parent = at_path(root, path[: depth - 1])
        if isinstance(parent, dict):
            parent.pop(path[depth - 1], None)
        if parent:
            break
    return json.dumps(root, ensure_ascii=False)


def _parse_object(body: str) -> JSONObject:
    value = read_typed(body, most=len(body))  # images included
    if not isinstance(value, dict):
        raise ValueError("The body is not a JSON object.")
    return value


class FoldedText:
    """A body whose long strings, such as images, are replaced by marks, so that the rest can be edited.

    ``text`` is the text to edit; ``unfold`` puts the long strings back.
    """

    def __init__(self, text: str) -> None:
        self._strings: dict[str, str] = {}
        lines = text.split("\n")  # a JSON string never spans lines
        self.text = "\n".join(
            escape_hidden(TOKEN.sub(lambda match: self._fold(match[0]), line) if len(line) > MAX_DATA else line)
            for line in lines
        )

    def unfold(self, edited: str) -> str:
        """Return an edited text with each mark that is left replaced by its string."""
        for mark, string in self._strings.items():
            edited = edited.replace(mark, string)
        return edited

    def _fold(self, token: str) -> str:
        limit = MAX_DATA if token.startswith('"data:') else MAX_STRING
        if not token.startswith('"') or len(token) <= limit:
            return token
        media_type = _MEDIA_TYPE.match(token)
        kind = media_type[1] if media_type is not None else "text"
        mark = f'"‹{kind}, {len(token) - 2:,} characters, #{len(self._strings) + 1}›"'
        self._strings[mark] = token
        return mark


@dataclass(frozen=True)
class Preview:
    """The next request of the experiment ``key``, which goes to the gateway of the name ``gateway``.

    ``has_unsendable_draft``: the composer holds a message that cannot be sent yet. ``load_whole`` returns the body with
    all texts, where the view has only their beginnings; it may take a second. ``base`` returns the next request of the
    first lane; None for that lane itself. ``edit`` is the text of an edit that is not applied, empty for none.
    """

    key: str
    view: RequestView
    gateway: str = ""
    has_unsendable_draft: bool = False
    load_whole: Callable[[], str] | None = None
    base: Callable[[], Preview] | None = None
    edit: str = ""

    @property
    def summary(self) -> str:
        """The target, and what is not included."""
        target = f"{self.view.method} {self.view.url}" if self.view.url else self.view.problem
        return f"{target} · without the message being written" if self.has_unsendable_draft else target

    @cached_property
    def folded(self) -> FoldedText:
        """The body to edit."""
        return FoldedText(self.view.text)

    @property
    def too_long(self) -> bool:
        """Return whether the body is read-only."""
        return self.view.cut or len(self.folded.text) > MAX_EDITABLE

    @cached_property
    def text(self) -> str:
        """The text of the editor: the whole body, or the beginning of one that is too long to edit."""
        if not self.too_long:
            return self.folded.text
        return excerpt(self.view.text.encode("utf-8", errors="surrogatepass"), laid_out=True).text

    @property
    def whole_text(self) -> str:
        """The whole body. It may take a second."""
        return self.load_whole() if self.load_whole is not None else self.view.text

    def sent(self) -> Sent:
        """Return the request for a comparison. It may take a second."""
        return Sent(self.view.url, tuple((row.name, row.value) for row in self.view.headers), self.whole_text)

    def prepared(self) -> Preview:
        """Compute the texts now, on the calling thread, and return the preview."""
        _ = self.text
        return self


class NextRequest(QSplitter):
    """``edit_changed`` carries the key of an experiment and the edited body, empty for none any more.

    ``rules_asked``: the rules of the gateway are to be shown.
    """

    edit_changed = Signal(str, str)
    rules_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._preview: Preview | None = None
        self._folded = FoldedText("")
        self._baseline = ""  # the text without an edit
        self._read: Edit | None = None
        self._apply: Edit | None = None
        self._filling = False
        self.fields = FieldTable()
        self.rules_label = paragraph()
        self.rules_button = push_button("Show")
        self.rules_button.setAccessibleName("Show the rules")
        self.rules_button.setToolTip(tip("Opens the gateway's settings"))
        self.editor = _BodyEditor()
        self.editor.setAccessibleName("Body of the next request")
        self.message = paragraph()
        self.discard_button = push_button("Discard")
        self.apply_button = push_button("Apply", "primary")
        self.apply_button.setToolTip(tip("Changes the panels and the conversation (Ctrl+Enter)"))
        self._read_timer = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._read_timer.timeout.connect(self.read_now)
        self._bar = styled(QFrame(), "undo")
        bar = self.message, 1
        in_row(bar, self.discard_button, self.apply_button, parent=self._bar, margins=(12, 4, 8, 4), spacing=8)
        self.rules_bar = styled(QFrame(), "undo")
        in_row((self.rules_label, 1), self.rules_button, parent=self.rules_bar, margins=(12, 4, 8, 4), spacing=8)
        fields_page, editor_page = QWidget(), QWidget()
        in_column((self.fields, 1), self.rules_bar, parent=fields_page, margins=0, spacing=0)
        in_column((self.editor, 1), self._bar, parent=editor_page, margins=0, spacing=0)
        self._bar.hide()
        self.rules_bar.hide()
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.addWidget(fields_page)
        self.addWidget(editor_page)
        self.setSizes([420, 420])
        self.rules_button.clicked.connect(self.rules_asked)
        self.fields.edited.connect(self._edit_field)
        self.fields.text_asked.connect(self.go_to)
        self.editor.textChanged.connect(self._text_changed)
        self.editor.apply_asked.connect(self.apply)
        self.discard_button.clicked.connect(self.discard)
        self.apply_button.clicked.connect(self.apply)

    def set_editor(self, read: Edit, apply: Edit) -> None:
        """Set the functions that read and apply an edited body."""
        self._read, self._apply = read, apply

    @property
    def edited(self) -> bool:
        """Return whether the text has unapplied changes."""
        return not self.editor.isReadOnly() and self.editor.text() != self._baseline

    def show_preview(self, preview: Preview) -> None:
        """Show a request. A text that is being edited stays, and is restored with its experiment."""
        new_experiment = self._preview is None or self._preview.key != preview.key
        edited = self.edited and not new_experiment
        self._preview = preview
        self.fields.show_preview(preview.view, preview.gateway)
        self._show_rules(preview.view.rules, short_name(preview.gateway))
        if edited:
            return
        self._show_text(preview)
        if new_experiment:
            self._say("")
            self._restore_edit(preview.edit)

    def _show_rules(self, count: int, gateway: str) -> None:
        self.rules_label.setText(f"{quantity(count, 'gateway rule')} applied")
        self.rules_label.setToolTip(tip(f"Rules in the settings of “{gateway}” that change this request"))
        self.rules_bar.setVisible(bool(count))

    def _show_text(self, preview: Preview) -> None:
        self._filling = True
        self._folded = FoldedText("") if preview.too_long else preview.folded
        self._baseline = preview.text
        self.editor.setReadOnly(preview.too_long)
        place, cursor = self.editor.verticalScrollBar().value(), self.editor.textCursor().position()
        self.editor.setPlainText(preview.text)
        restored = self.editor.textCursor()
        restored.setPosition(min(cursor, self.editor.document().characterCount() - 1))
        self.editor.setTextCursor(restored)
        self.editor.verticalScrollBar().setValue(place)
        self._filling = False

    def _restore_edit(self, edit: str) -> None:
        if edit and not self.editor.isReadOnly():
            self._folded = FoldedText(edit)
            self.editor.setPlainText(self._folded.text)

    def go_to(self, path: MemberPath) -> None:
        """Put the cursor at a field in the text."""
        place = locate(self.editor.text(), path)
        if place is not None:
            self.editor.go_to(*place)

    # Edits

    def read_now(self) -> None:
        """Check the edit, and show what is wrong with it or the remarks."""
        self._read_timer.stop()
        if not self.edited or self._read is None:
            self._say("")
            return
        try:
            notes = self._read(self._folded.unfold(self.editor.text()))
        except ValueError as error:
            self._mark(error)
            return
        self.editor.clear_marks()
        self._say(" ".join([f"{UNAPPLIED}.", *notes]), pending=True)

    def apply(self) -> None:
        """Apply the edit to the panels and the conversation."""
        if self.edited:
            self._apply_text(self._folded.unfold(self.editor.text()))

    def discard(self) -> None:
        """Show the request without the edit."""
        self._say("")
        if self._preview is not None:
            self.edit_changed.emit(self._preview.key, "")
            self.editor.clear_marks()
            self._show_text(self._preview)

    def _apply_text(self, text: str) -> None:
        self._read_timer.stop()
        if self._apply is None:
            return
        try:
            notes = self._apply(text)
        except ValueError as error:
            self._mark(error)
            return
        self.editor.clear_marks()
        self._baseline = self.editor.text()  # until the next preview arrives
        if self._preview is not None:
            self.edit_changed.emit(self._preview.key, "")
        self._say(" ".join(["Applied.", *notes]))

    def _edit_field(self, path: MemberPath, typed: str) -> None:
        if self._preview is None:
            return
        if self.edited:
            self._say("Apply or discard the edit of the text first.", error=True, pending=True)
            return
        if self._preview.view.cut:
            self._say(TOO_LONG, error=True)
            return
        body = self._preview.view.text
        try:
            text = with_field(body, path, typed_value(typed)) if typed else without_field(body, path)
        except ValueError as error:
            self._say(str(error), error=True)
            return
        self._apply_text(text)

    def _text_changed(self) -> None:
        if self._filling:
            return
        edited = self.edited
        if edited and self._preview is not None:
            self.edit_changed.emit(self._preview.key, self._folded.unfold(self.editor.text()))
        if edited and not self._bar.isVisibleTo(self):
            self._say(f"{UNAPPLIED}.", pending=True)
        elif not edited:
            self.discard()
        self._read_timer.start()

    def _mark(self, error: ValueError) -> None:
        self.editor.clear_marks()
        if (problem := self.editor.problem()) is not None:
            self.editor.mark(problem.line, problem.column, problem.message)
            self._say(f"Line {problem.line}: {problem.message}.", error=True, pending=True)
        else:
            self._say(str(error), error=True, pending=self.edited)

    def _say(self, words: str, *, pending: bool = False, error: bool = False) -> None:
        self.message.setText(show_hidden(words))
        look(self.message, "flag-error" if error else "small-text")
        self.discard_button.setVisible(pending)
        self.apply_button.setVisible(pending)
        self.apply_button.setEnabled(not error)
        self.editor.pending = pending
        self._bar.setVisible(bool(words))


class _BodyEditor(CodeEditor):
    """The editor of the body. Ctrl+Enter applies an edit instead of running the conversation."""

    apply_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pending = False

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._applies(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._applies(event):
            self.apply_asked.emit()
        else:
            super().keyPressEvent(event)

    def _applies(self, event: QKeyEvent) -> bool:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return enter and self.pending and event.modifiers() == Qt.KeyboardModifier.ControlModifier
