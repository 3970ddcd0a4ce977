"""The Listen page while nothing is listed: what it does, its options, and the lines to paste into a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from playground.ui.features.listen import texts
from playground.ui.features.listen.options import ListenOptions, option_hints
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.scroll_page import ScrollPage

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile

WIDEST: Final = 640  # pixels of the column
LABELS: Final = 110  # pixels of the names of options


class StartPage(ScrollPage):
    """Explains Listen and has its options. ``changed`` is emitted after an edit; ``problem`` may not be empty then."""

    changed = Signal()

    def __init__(self, options: ListenOptions, gateways: Callable[[], Sequence[Profile]]) -> None:
        super().__init__()
        self._gateways = gateways
        self._listed: tuple[tuple[str, str], ...] = ()
        self._options = options
        self._form: Form[ListenOptions] | None = None
        column = self.fill(16)
        content = QWidget()
        content.setMaximumWidth(WIDEST)
        self.heading = text_label(texts.HEADING, "heading", wrap=True)
        self.words = text_label(texts.EXPLANATION, "muted", wrap=True)
        self.words.setObjectName("listenExplanation")
        self._card = styled(QWidget(), "surface")
        self._form_place = in_column(parent=self._card, margins=0, spacing=0)
        in_column(
            self.heading,
            self.words,
            self._card,
            parent=content,
            margins=(0, 24, 0, 16),
            spacing=16,
        )
        row = in_row((content, 100), margins=0)
        row.setAlignment(content, Qt.AlignmentFlag.AlignTop)
        row.insertStretch(0, 1)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self.refresh()

    @property
    def options(self) -> ListenOptions:
        """The options as edited."""
        return self._options

    @property
    def problem(self) -> str:
        """The first problem of the options; empty without one."""
        return self._form.problem if self._form is not None else ""

    def refresh(self) -> None:
        """List the gateways again, if there are others than before."""
        profiles = tuple(self._gateways())
        listed = tuple((profile.id, profile.name) for profile in profiles)
        if listed == self._listed:
            return
        self._listed = listed
        if self._options.gateway not in dict(listed):
            self._options = self._options.model_copy(update={"gateway": listed[0][0]})
        if self._form is not None:
            discard(self._form_place, self._form)
        form = self._form = form_for(ListenOptions, hints=option_hints(profiles), label_width=LABELS)
        form.set_value(self._options)
        form.changed.connect(self._edited)
        self._form_place.addWidget(form)

    def set_options(self, options: ListenOptions) -> None:
        """Show other options."""
        self._options = options
        if self._form is not None:
            self._form.set_value(options)

    def _edited(self, options: ListenOptions, _problems: dict[str, str]) -> None:
        self._options = options
        self.changed.emit()
