"""Fields and headers that no other setting covers, merged into the request last.

The gateway's own are shown in grey above the experiment's. The panel holds no truth.
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
from playground.ui.features.extra_fields.headers import ExtraHeaders
from playground.ui.features.extra_fields.reasoning import IncludeReasoning
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.json_field import FRAME, JsonField
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import Gap, in_column
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip

MERGED = "Merged into the body last; overrides all other settings."
MERGE_RULES = (
    "Objects are merged member by member (RFC 7396); any other value replaces the one in the request.\n"
    "null is sent as null. To omit a parameter, set it back to default."
)
MOST_INHERITED_LINES = 10
EMPTY: JSONObject = {}


@dataclass(frozen=True, slots=True)
class Inherited:
    """Fields and headers that the gateway's settings add. Secret headers have only names here."""

    gateway: str = ""
    body: JSONObject = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    secret_headers: tuple[str, ...] = ()


class ExtraFieldsPanel(QWidget):
    """``body_changed`` and ``headers_changed`` report what is to be sent.

    ``unsent_changed`` gives text of the body that cannot be sent yet, to be stored with the experiment; empty for none.
    ``unsent_headers_changed`` does so for headers.
    """

    body_changed = Signal(object)
    unsent_changed = Signal(str)
    headers_changed = Signal(object)
    unsent_headers_changed = Signal(object)
    settings_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sent: JSONObject = {}
        self._last_read = "", _Read({})  # the text read last, and the result
        self._inherited = Inherited()
        self.reasoning = IncludeReasoning()
        self.inherited_says = paragraph("", "small")
        self.inherited_body = styled(CodeEditor(read_only=True, json=False), "inherited")
        self.inherited_body.setAccessibleName("Extra body from the gateway's settings")
        self.inherited_body.set_wheel_needs_focus()
        self.replaced = paragraph("", "flag")
        self.body = JsonField("Extra body fields", root="body", placeholder='{"top_k": 40}', least=5)
        self.body_state = paragraph("", "flag-error")
        self.inherited_headers = paragraph("", "inherited")
        self.inherited_headers_says = paragraph("", "small")
        self.headers = ExtraHeaders()
        self.settings_button = styled(QPushButton("Open gateway settings"), "quiet")
        self._arrange()
        self.body.edited.connect(self._typed)
        self.headers.sent_changed.connect(self.headers_changed)
        self.headers.unsent_changed.connect(self.unsent_headers_changed)
        self.settings_button.clicked.connect(self.settings_asked)
        self.set_value(EMPTY, {}, Inherited())

    def _arrange(self) -> None:
        merged = paragraph(MERGED, "small")
        merged.setToolTip(tip(MERGE_RULES))
        self.body.editor.setAccessibleDescription(f"{MERGED}\n{MERGE_RULES}")
        in_column(
            self.reasoning,
            Gap(6),
            self.body,
            self.body_state,
            merged,
            self.inherited_says,
            self.inherited_body,
            self.replaced,
            Gap(6),
            paragraph("Extra headers", "group"),
            paragraph("A name that the app sends, too, is overridden.", "small"),
            self.headers,
            self.inherited_headers_says,
            self.inherited_headers,
            Gap(6),
            paragraph("Keys belong in the gateway's settings.", "small"),
            (self.settings_button, 0, Qt.AlignmentFlag.AlignLeft),
            parent=self,
            margins=(0, 6, 0, 0),
            spacing=6,
        )

    def set_value(
        self,
        body: JSONObject,
        headers: dict[str, str],
        inherited: Inherited,
        *,
        unsent: str = "",
        unsent_headers: JSON = None,
        fresh: bool = False,
    ) -> None:
        """Show an experiment's extras and the gateway's. What is typed stays while the same would be sent.

        ``unsent`` and ``unsent_headers`` are the stored values of the signals; ``fresh`` is set for another experiment.
        """
        if fresh or body != self._sent:
            self._sent = body
            text = unsent if unsent and not body else (pretty_value(body) if body else "")
            self.body.set_text(text)
        self.headers.show_headers(headers, unsent=unsent_headers, fresh=fresh)
        if inherited != self._inherited or fresh:
            self._show_inherited(inherited)
        self._judge()

    def field_for(self, place: str) -> QWidget:
        """Return the field for "headers", "reasoning_return" or anything in the body. Adds a row for a first header."""
        if place == "reasoning_return":
            return self.reasoning.when
        if place != "headers":
            return self.body.editor
        if not self.headers.edits:
            self.headers.add_row()
        return self.headers.edits[0].name

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
        """Return the value of the text; the same text is read once."""
        text = self.body.text
        if text != self._last_read[0]:
            self._last_read = text, _read(text)
        return self._last_read[1]

    def _judge(self) -> None:
        read, text = self._read(), self.body.text
        problems: list[Problem] = []
        if read.unreadable and text.lstrip()[:1] != "{":
            problems = [Problem(("body",), "must be a JSON object, in braces")]
        self.body.show_problems(problems, is_json=not read.unreadable)
        self.body_state.setText(read.why)
        self.body_state.setVisible(bool(read.why))
        both = [".".join(path) for path in clashes(self._inherited.body, read.body)]
        self.replaced.setText(f"Overridden by this experiment: {show_hidden(', '.join(both))}")
        self.replaced.setVisible(bool(both))


class _Read(NamedTuple):
    """The body to send, and the reason if the text is not sent."""

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
        return _Read({}, "Not a JSON object yet, so it is not sent.", unreadable=True)
    if name := secret_in(body, text):
        return _Read(
            {},
            f"“{show_hidden(name)}” looks like a key, so this is neither sent nor saved. "
            "Put keys into the gateway's settings.",
        )
    return _Read(body)
