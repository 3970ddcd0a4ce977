"""Details of the selected model: the facts from the gateway's list, the id to copy, and the raw list entry."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from playground.engine.gateways.model_catalog import Model, ModelCatalog
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.models.fact_words import fact_lines, parameter_words
from playground.ui.widgets.plain_text import few_lines_of, one_line_of, show_hidden
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.theme import code_font

LONGEST_ABOUT: Final = 1_200  # characters of a description
LONGEST_LINE: Final = 400  # characters of one fact
LONGEST_FACTS: Final = 4_000  # characters of all facts
LONGEST_RAW: Final = 4_000  # characters of the raw entry
RAW_LINES: Final = 12
SHOW_RAW, HIDE_RAW = "Raw entry", "Hide the raw entry"


class ModelDetails(DownArea):
    """Pane with the details of a model, filled by ``show_model``; without a model it shows a hint."""

    def __init__(self) -> None:
        super().__init__()
        self._model: Model | None = None
        self._catalog = ModelCatalog()
        self.setAccessibleName("Details of the model")
        self.name = _selectable(text_label("", "heading", wrap=True))
        self.id = _selectable(text_label("", "muted", wrap=True))
        self.facts = _selectable(text_label("", wrap=True))
        self.about = _selectable(text_label("", "muted", wrap=True))
        self.source = text_label("", "small", wrap=True)
        self.copy = CopyButton("Copy the id", "quiet")
        self.raw_button = push_button(SHOW_RAW, "quiet")
        self.raw_button.setCheckable(True)
        self.raw = styled(QPlainTextEdit(readOnly=True), "code")
        self.raw.setFont(code_font())
        self.raw.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.raw.setAccessibleName("Raw entry of the model")
        self.raw.setFixedHeight(self.raw.fontMetrics().lineSpacing() * RAW_LINES)
        self.raw.setTabChangesFocus(True)
        self.raw.hide()
        inner = QWidget()
        buttons = in_row(self.copy, self.raw_button, 1, spacing=4, margins=0)
        rows = (self.name, self.id, buttons, self.raw, self.facts, self.about, self.source)
        in_column(*rows, 1, parent=inner, margins=(12, 8, 12, 8), spacing=6)
        self.setWidget(inner)
        styled(self, "field-block")
        for part in (self.viewport(), inner):
            part.setAutoFillBackground(False)
        self.copy.clicked.connect(self._copy)
        self.raw_button.toggled.connect(self._show_raw)

    def show_model(self, model: Model | None, catalog: ModelCatalog, note: str = "") -> None:
        """Show the facts of a model in ``catalog``, with ``note`` as first line."""
        self._model, self._catalog = model, catalog
        if model is None:
            say(self.name, "")
            say(self.id, "Select a model with the arrow keys to see its details.")
            for label in (self.facts, self.about, self.source):
                say(label, "")
        else:
            say(self.name, one_line_of(model.title))
            self.id.setText(one_line_of(model.id))
            lines = [f"{title}: {self._cut(words)}" for title, words in fact_lines(model.facts)]
            if supported := parameter_words(model.facts):
                lines.append(f"Supports: {self._cut(supported)}")
            words = catalog.displayed("\n".join([note, *lines] if note else lines), LONGEST_FACTS)
            say(self.facts, words)
            about = few_lines_of(catalog.displayed(model.facts.about, LONGEST_ABOUT))
            self.about.setText(about)
            self.about.setVisible(bool(about))
            has_facts = lines or model.facts.about
            source = f"the list of {show_hidden(catalog.gateway)}" if catalog.gateway else "the gateway’s list"
            self.source.setText(f"From {source}." if has_facts else f"No details in {source}.")
            self.source.show()
        self.copy.setVisible(model is not None)
        has_entry = model is not None and model.raw is not None
        self.raw_button.setVisible(has_entry)
        self._show_raw(self.raw_button.isChecked())
        self.verticalScrollBar().setValue(0)

    def _cut(self, words: str) -> str:
        return self._catalog.displayed(words, LONGEST_LINE) if len(words) > LONGEST_LINE else words

    def _copy(self) -> None:
        if self._model is not None:
            self.copy.copy(self._model.id)

    def _show_raw(self, on: bool) -> None:
        model = self._model
        visible = on and model is not None and model.raw is not None
        self.raw_button.setText(HIDE_RAW if on else SHOW_RAW)
        self.raw.setVisible(visible)
        if visible and model is not None:
            self.raw.setPlainText(show_hidden(self._catalog.entry_text(model, LONGEST_RAW)))


def _selectable(label: QLabel) -> QLabel:
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
