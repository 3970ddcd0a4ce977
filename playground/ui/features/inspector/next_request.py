"""The next request before it is sent: its fields with their origins, and its body, both editable by hand.

It holds no truth. An edit is read while it is typed and applied when a person says so; what it means is decided by
whoever was given with ``set_editor``. Text that is not applied yet is told, and comes back with its experiment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSplitter, QWidget

from playground.domain.hidden import short_name
from playground.jsonkit.layout import locate
from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.reading import read_typed
from playground.jsonkit.tokens import TOKEN
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.inspector.excerpt import excerpt
from playground.ui.features.inspector.field_table import FieldTable
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, styled
from playground.ui.widgets.json_highlight import LONGEST_LINE
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import escape_hidden, show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.inspect.compare import Sent
    from playground.engine.requests.view import RequestView

READ_AFTER_MS = 250
EDITED_AT_MOST = 300_000  # characters, long strings folded; more than that is for reading
TOO_LONG = "This request is too long to be changed here: change it in the panels and in the conversation."
PENDING = "Not applied yet: a run sends what the panels say."
#: What an edited body comes to, as sentences for people. Raises ValueError, in words.
Edit = Callable[[str], tuple[str, ...]]
LONGEST = 20_000  # characters of a string that is shown whole
LONGEST_DATA = 2_000  # the same for data: addresses
KEPT = 40
_WHOLE = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')


def put_lines(editor: CodeEditor, text: str) -> None:
    """Show ``text``. What was there before cannot be brought back by undoing."""
    shown = editor.text()
    if text == shown:
        return
    old, new = shown.split("\n"), text.split("\n")
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    tail = next((n for n in range(least - head) if old[-n - 1] != new[-n - 1]), least - head)
    if head + tail == least:  # nothing but whole lines came or went: take one that stays along
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    changed = new[head : len(new) - tail]
    put = "\n".join(changed)
    if head + tail <= 0 or any(len(line) > LONGEST_LINE for line in changed):
        editor.setPlainText(text)
        return
    editor.clear_marks()
    document = editor.document()
    cursor = QTextCursor(document.findBlockByNumber(head))
    last = document.findBlockByNumber(len(old) - tail - 1)
    cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(put)
    document.clearUndoRedoStacks()


def typed_value(text: str) -> JSON:
    """What is typed as a value: JSON, or else the text itself. Raises ValueError for JSON that was only begun."""
    try:
        return read_typed(text)
    except ValueError:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise ValueError("This is not JSON yet. Close every quote and bracket.") from None
        return text


def with_field(body: str, path: MemberPath, value: JSON) -> str:
    """The body with the field at ``path`` set. Raises ValueError."""
    whole = _object(body)
    at = whole
    for step in path[:-1]:
        inner = at.get(step)
        at[step] = at = dict(inner) if isinstance(inner, dict) else {}
    at[path[-1]] = value
    return json.dumps(whole, ensure_ascii=False)


def without_field(body: str, path: MemberPath) -> str:
    """The body without that field, and without the objects that held only it. Raises ValueError."""
    whole = _object(body)
    for depth in range(len(path), 0, -1):
        at = at_path(whole, path[: depth - 1])
        if isinstance(at, dict):
            at.pop(path[depth - 1], None)
        if at:
            break
    return json.dumps(whole, ensure_ascii=False)


def _object(body: str) -> JSONObject:
    value = read_typed(body, most=len(body))  # with its images
    if not isinstance(value, dict):
        raise ValueError("The body is not a JSON object.")
    return value


class FoldedText:
    """``shown`` is what may be edited; ``unfold`` gives the whole text of what it was edited to."""

    def __init__(self, text: str) -> None:
        self._folded: dict[str, str] = {}
        lines = text.split("\n")  # no string of JSON goes over a line's end, and few lines are long
        self.shown = "\n".join([escape_hidden(self._folded_line(line)) for line in lines])

    def unfold(self, shown: str) -> str:
        """The text with every mark that is still there replaced by what it stands for."""
        for mark, token in self._folded.items():
            shown = shown.replace(mark, token)
        return shown

    def _folded_line(self, line: str) -> str:
        return TOKEN.sub(self._fold, line) if len(line) > LONGEST_DATA else line

    def _fold(self, match: re.Match[str]) -> str:
        token = match[0]
        longest = LONGEST_DATA if token.startswith('"data:') else LONGEST
        if not token.startswith('"') or len(token) <= longest:
            return token
        beginning = _WHOLE.match(escape_hidden(token[1 : KEPT + 1]))
        start = beginning[0] if beginning else ""
        mark = f'"{start}… ‹{len(self._folded) + 1}: {len(token) - 2:,} characters, kept as they are›"'
        self._folded[mark] = token
        return mark


@dataclass(frozen=True)
class Preview:
    """The next request of the experiment ``key``; ``gateway`` is the name of the one it goes to.

    ``writing`` says that a message stands in the composer that cannot be sent as things are. ``whole`` writes all of a
    body whose long texts are shown by their beginning; it may take a second. ``base`` gives, for a lane, the next
    request of the first one, likewise. ``edit`` is what the body is being edited
    to, empty where it is not. What is shown of the body is worked out once, when it is first asked for: of a long one
    on another thread, by ``prepared``.
    """

    key: str
    view: RequestView
    gateway: str = ""
    writing: bool = False
    whole: Callable[[], str] | None = None
    base: Callable[[], Preview] | None = None
    edit: str = ""

    @property
    def about(self) -> str:
        """One line on it: where it goes, and what is not in it yet."""
        where = f"{self.view.method} {self.view.url}" if self.view.url else self.view.problem
        return f"{where} · the message being written cannot be sent yet" if self.writing else where

    @cached_property
    def body(self) -> bytes:
        """The body that would be sent, laid out."""
        return self.view.text.encode("utf-8", errors="surrogatepass")

    @cached_property
    def folded(self) -> FoldedText:
        """The body as it may be edited. To be copied by whoever changes it."""
        return FoldedText(self.view.text)

    @property
    def too_long(self) -> bool:
        """Whether the body is for reading only."""
        return self.view.cut or len(self.folded.shown) > EDITED_AT_MOST

    @cached_property
    def shown(self) -> str:
        """The text for the editor: all that may be edited, or the beginning of what is too long for that."""
        return excerpt(self.body, laid_out=True, events=False).text if self.too_long else self.folded.shown

    def sent(self) -> Sent:
        """All of it, to be compared. For another thread."""
        from playground.engine.inspect.compare import Sent

        headers = tuple((row.name, row.value) for row in self.view.headers)
        return Sent(self.view.url, headers, self.whole() if self.whole is not None else self.view.text)

    def prepared(self) -> Preview:
        """Itself, with everything worked out."""
        _ = self.shown, self.body
        return self


class NextRequest(QSplitter):
    """``show_preview`` brings it up to date; ``set_editor`` says what becomes of edits.

    ``left`` carries the key of an experiment and the text that its body is being edited to; empty: it is not any more.
    ``rules_asked``: the rules of the gateway that change something are to be seen.
    """

    left = Signal(str, str)
    rules_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._preview: Preview | None = None
        self._folded = FoldedText("")
        self._read: Edit | None = None
        self._apply: Edit | None = None
        self._showing = False
        self.fields = FieldTable()
        self.rules_said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.rules_button = QPushButton("Show")
        self.rules_button.setAccessibleName("Show the rules")
        self.rules_button.setToolTip(tip("Open the gateway's settings where its rules stand"))
        self.rules_button.clicked.connect(self.rules_asked)
        self.editor = _BodyEditor()
        self.editor.setAccessibleName("Body of the next request")
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.discard_button = QPushButton("Discard")
        self.discard_button.setToolTip(tip("Show again what the panels say"))
        self.apply_button = styled(QPushButton("Apply"), "primary")
        self.apply_button.setToolTip(tip("Take the edit over into the panels and the conversation (Ctrl+Enter)"))
        self._later = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._later.timeout.connect(self.read_now)
        self._arrange()
        self.fields.edited.connect(self._field_edited)
        self.fields.asked.connect(self.go_to)
        self.editor.textChanged.connect(self._typed)
        self.editor.apply_asked.connect(self.apply)
        self.discard_button.clicked.connect(self.discard)
        self.apply_button.clicked.connect(self.apply)

    def _arrange(self) -> None:
        self._bar = styled(QFrame(), "undo")
        in_row((self.said, 1), self.discard_button, self.apply_button, of=self._bar, margins=(12, 4, 8, 4), spacing=8)
        self._bar.hide()
        right = QWidget()
        in_column((self.editor, 1), self._bar, of=right, margins=0, spacing=0)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        left = QWidget()
        self.rules_bar = styled(QFrame(), "undo")
        in_row((self.rules_said, 1), self.rules_button, of=self.rules_bar, margins=(12, 4, 8, 4), spacing=8)
        self.rules_bar.hide()
        in_column((self.fields, 1), self.rules_bar, of=left, margins=0, spacing=0)
        self.addWidget(left)
        self.addWidget(right)
        self.setSizes([420, 420])

    def set_editor(self, read: Edit, apply: Edit) -> None:
        """How an edited body is read, and applied."""
        self._read, self._apply = read, apply

    # What is shown

    @property
    def edited(self) -> bool:
        """Whether the text is not what the panels say."""
        return not self.editor.isReadOnly() and self.editor.text() != self._folded.shown

    @property
    def body(self) -> bytes:
        """The body that would be sent, for copying."""
        return self._preview.body if self._preview is not None else b""

    def show_preview(self, preview: Preview) -> None:
        """Show that request. Text that is being edited stays, and comes back with its experiment."""
        other = self._preview is None or self._preview.key != preview.key
        edited = self.edited and not other
        self._preview = preview
        self.fields.show_preview(preview.view, preview.gateway)
        self._show_rules(preview.view.rules, short_name(preview.gateway))
        if edited:
            return  # the panels may say something else meanwhile; Apply puts back what stands here
        self._show_text(preview)
        if other:
            self._say("")
            self._bring_back(preview.edit)

    def _show_rules(self, count: int, gateway: str) -> None:
        self.rules_said.setText(f"{count} rule{'s' * (count != 1)} at work")
        whose = f"Rules in the settings of “{gateway}” that change this request"
        self.rules_said.setToolTip(tip(whose))
        self.rules_bar.setVisible(bool(count))

    def _show_text(self, preview: Preview) -> None:
        self._showing = True
        self._folded = FoldedText("") if preview.too_long else copy(preview.folded)
        if self.editor.isReadOnly() != preview.too_long:
            self.editor.setReadOnly(preview.too_long)
        place = self.editor.verticalScrollBar().value()
        put_lines(self.editor, preview.shown)
        self.editor.verticalScrollBar().setValue(place)
        self._showing = False

    def _bring_back(self, edit: str) -> None:
        if edit and not self.editor.isReadOnly():
            folded = FoldedText(edit)
            text, folded.shown = folded.shown, self._folded.shown
            self._folded = folded  # knows the marks in the text
            self.editor.setPlainText(text)

    def go_to(self, path: MemberPath) -> None:
        """Put the cursor where a field stands in the text."""
        place = locate(self.editor.text(), path)
        if place is not None:
            self.editor.go_to(*place)

    # Edits

    def read_now(self) -> None:
        """Say what the edit comes to."""
        self._later.stop()
        if not self.edited or self._read is None:
            self._say("")
            return
        try:
            notes = self._read(self._folded.unfold(self.editor.text()))
        except ValueError as error:
            self._mark(error)
            return
        self.editor.clear_marks()
        self._say(" ".join([PENDING, *notes]), pending=True)

    def apply(self) -> None:
        """Take the edit over."""
        if self.edited:
            self._apply_text(self._folded.unfold(self.editor.text()))

    def discard(self) -> None:
        """Show again what the panels say."""
        self._say("")
        if self._preview is not None:
            self.left.emit(self._preview.key, "")
            self.editor.clear_marks()
            self._show_text(self._preview)

    def _apply_text(self, text: str) -> None:
        self._later.stop()
        if self._apply is None:
            return
        try:
            notes = self._apply(text)
        except ValueError as error:
            self._mark(error)
            return
        self.editor.clear_marks()
        # What was applied is what the panels say now; until they tell so, nothing here is an edit.
        self._folded.shown = self.editor.text()
        if self._preview is not None:
            self.left.emit(self._preview.key, "")
        self._say(" ".join(["Applied.", *notes]))

    def _field_edited(self, path: MemberPath, typed: str) -> None:
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

    def _typed(self) -> None:
        if not self._showing:
            edited = self.edited
            if edited and self._preview is not None:
                self.left.emit(self._preview.key, self._folded.unfold(self.editor.text()))
            if edited and not self._bar.isVisibleTo(self):
                self._say(PENDING, pending=True)
            elif not edited:
                self.discard()
            self._later.start()

    def _mark(self, error: ValueError) -> None:
        self.editor.clear_marks()
        if (problem := self.editor.problem()) is not None:
            self.editor.mark(problem.line, problem.column, problem.message)
            self._say(f"Line {problem.line}: {problem.message}.", error=True, pending=True)
        else:
            self._say(str(error), error=True, pending=self.edited)

    def _say(self, words: str, *, pending: bool = False, error: bool = False) -> None:
        self.said.setText(show_hidden(words))
        look(self.said, "flag-error" if error else "small-text")
        self.discard_button.setVisible(pending)
        self.apply_button.setVisible(pending)
        self.apply_button.setEnabled(not error)
        self.editor.pending = pending
        self._bar.setVisible(bool(words))


class _BodyEditor(CodeEditor):
    """The editor, with Ctrl+Enter applying what was typed rather than running what is not applied."""

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
