"""The Raw tab: fields and headers that no other tab knows, merged into the request last.

What comes from the gateway's settings is shown greyed above what is the experiment's own. It holds no truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.gateways.secrets import secret_in
from playground.jsonkit.merge import clashes
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.raw.header_rows import ExtraHeaders
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.json_field import FRAME, JsonField
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.plain_text import show_hidden, shown_name
from playground.ui.widgets.scroll_page import ScrollPage

MERGED = (
    "Merged into the body last; wins over every other tab. Objects merge member by member (RFC 7396), anything else "
    "replaces what was there. null is sent as null: to leave a field out, put it back to default in its own tab."
)
MOST_INHERITED_LINES = 10
EMPTY: JSONObject = {}


@dataclass(frozen=True, slots=True)
class Inherited:
    """What the gateway's settings add by themselves. Of secret headers only the names are known here."""

    gateway: str = ""
    body: JSONObject = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    secret_headers: tuple[str, ...] = ()


class RawPanel(ScrollPage):
    """``set_value`` shows an experiment's extras. ``body_changed`` and ``headers_changed`` tell what is to be sent.

    ``unsent_changed`` gives text of the body that cannot be sent yet, to be kept with the experiment; empty for none.
    """

    body_changed = Signal(object)
    unsent_changed = Signal(str)
    headers_changed = Signal(object)
    headers_left = Signal(object)  # those that cannot be sent yet, to be kept likewise
    settings_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sent: JSONObject = {}
        self._known = "", _Read({})  # a text, and what it says
        self._inherited = Inherited()
        self.inherited_says = paragraph("", "small")
        self.inherited_body = styled(CodeEditor(read_only=True, json=False), "inherited")
        self.inherited_body.setAccessibleName("Extra body from the gateway's settings")
        self.inherited_body.set_wheel_needs_focus()
        self.replaced = paragraph("", "flag")
        self.body = JsonField("This experiment", root="body", placeholder='{"top_k": 40}', least=5)
        self.body_state = paragraph("", "flag-error")
        self.inherited_headers = paragraph("", "inherited")
        self.inherited_headers_says = paragraph("", "small")
        self.headers = ExtraHeaders()
        self.settings_button = styled(QPushButton("Open gateway settings"), "quiet")
        self._arrange()
        self.body.edited.connect(self._typed)
        self.headers.changed.connect(self.headers_changed)
        self.headers.left.connect(self.headers_left)
        self.settings_button.clicked.connect(self.settings_asked)
        self.set_value(EMPTY, {}, Inherited())

    def _arrange(self) -> None:
        column = self.fill(6)
        column.addWidget(paragraph("Extra body", "group"))
        column.addWidget(paragraph(MERGED, "small"))
        column.addWidget(self.inherited_says)
        column.addWidget(self.inherited_body)
        column.addWidget(self.replaced)
        column.addWidget(self.body)
        column.addWidget(self.body_state)
        column.addSpacing(12)
        column.addWidget(paragraph("Extra headers", "group"))
        column.addWidget(paragraph("Sent with this experiment's runs; the same name replaces one of ours.", "small"))
        column.addWidget(self.inherited_headers_says)
        column.addWidget(self.inherited_headers)
        column.addWidget(self.headers)
        column.addSpacing(12)
        column.addWidget(
            paragraph("Keys, and what goes with every request, belong into the gateway's settings.", "small")
        )
        column.addWidget(self.settings_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def set_value(
        self,
        body: JSONObject,
        headers: dict[str, str],
        inherited: Inherited,
        *,
        unsent: str = "",
        left: JSON = None,
        fresh: bool = False,
    ) -> None:
        """Show an experiment's extras and the gateway's. What is typed stays while it sends the same.

        ``unsent`` is what ``unsent_changed`` gave for this experiment, ``left`` what ``headers_left`` did; ``fresh``
        says that it is another one.
        """
        if fresh or body != self._sent:
            self._sent = body
            text = unsent if unsent and not body else (pretty_value(body) if body else "")
            self.body.set_text(text)
        self.headers.show_headers(headers, left=left, fresh=fresh)
        if inherited != self._inherited or fresh:
            self._show_inherited(inherited)
        self._judge()

    def show_place(self, place: str) -> None:
        """Bring the "headers" or the "body" into view, ready to be typed in; without a header, with an empty row."""
        if place == "headers":
            if not self.headers.rows:
                self.headers.add_header()
            field: QWidget = self.headers.rows[0].name
        else:
            field = self.body.editor
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(field)

    def _show_inherited(self, inherited: Inherited) -> None:
        self._inherited = inherited
        says = f"From the settings of “{shown_name(inherited.gateway)}”:"
        self.inherited_says.setText(says)
        self.inherited_says.setVisible(bool(inherited.body))
        self.inherited_body.setVisible(bool(inherited.body))
        text = pretty_value(inherited.body)
        self.inherited_body.setPlainText(text)
        lines = min(text.count("\n") + 1, MOST_INHERITED_LINES)
        self.inherited_body.setFixedHeight(lines * self.inherited_body.fontMetrics().lineSpacing() + FRAME)
        rows = [f"{name}: {value}" for name, value in inherited.headers.items()]
        rows += [f"{name}: •••• (in the keyring)" for name in inherited.secret_headers]
        self.inherited_headers.setText(show_hidden("\n".join(rows)))
        self.inherited_headers.setVisible(bool(rows))
        self.inherited_headers_says.setText(says)
        self.inherited_headers_says.setVisible(bool(rows))

    def _typed(self) -> None:
        read = self._read()
        if read.body != self._sent:
            self._sent = read.body
            self.body_changed.emit(read.body)
        self.unsent_changed.emit(self.body.text if read.unreadable else "")
        self._judge()

    def _read(self) -> _Read:
        """What is sent of the text; it is read once, however often it is asked for."""
        text = self.body.text
        if text != self._known[0]:
            self._known = text, _read(text)
        return self._known[1]

    def _judge(self) -> None:
        read, text = self._read(), self.body.text
        problems: list[Problem] = []
        if read.unreadable and text.lstrip()[:1] != "{":
            problems = [Problem(("body",), "must be a JSON object, in braces")]
        self.body.show_problems(problems, is_json=not read.unreadable)
        self.body_state.setText(read.why)
        self.body_state.setVisible(bool(read.why))
        both = [".".join(path) for path in clashes(self._inherited.body, read.body)]
        self.replaced.setText(f"Replaced by this experiment: {show_hidden(', '.join(both))}")
        self.replaced.setVisible(bool(both))


class _Read(NamedTuple):
    """What is sent of a text, and why it is not all."""

    body: JSONObject
    why: str = ""
    unreadable: bool = False


def _read(text: str) -> _Read:
    if not text.strip():
        return _Read({})
    try:
        body = read_typed(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return _Read({}, "This is not a JSON object yet. It is kept, and not sent.", unreadable=True)
    if name := secret_in(body, text):
        return _Read(
            {},
            f"“{show_hidden(name)}” holds what looks like a key, so nothing of this is sent or kept. "
            "A key belongs into the gateway's settings.",
        )
    return _Read(body)
