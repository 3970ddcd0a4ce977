"""The dialog of a sweep: a variant for each step of one or two parameters."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QLineEdit, QPushButton, QWidget

from playground.domain.parameters import Hint
from playground.engine.evaluation.variants import ParameterRange, SweepError, over_parameters, steps, sweepable
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import look, push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.numbers import plain_number

WIDE = 440  # pixels
NONE = "none"
_WITHOUT_STEP = 5  # default steps of a range


class RangeForm(QWidget):
    """A parameter with its range and step, or with a list of values."""

    edited = Signal()

    def __init__(self, hints: dict[str, Hint], *, first: bool) -> None:
        super().__init__()
        self._hints = hints
        self.parameter: QComboBox = CompactCombo(120, 220)
        self.parameter.setAccessibleName("Parameter" if first else "Second parameter")
        if not first:
            self.parameter.addItem(NONE, "")
        for name, hint in hints.items():
            self.parameter.addItem(hint.label, name)
        self.low, self.high, self.step = (self._field(name) for name in ("From", "To", "Step"))
        self.words = self._field("Values, separated by commas")
        self._numbers, self._texts = QWidget(), QWidget()
        low, high, step = text_label("from"), text_label("to"), text_label("step")
        in_row(
            low, (self.low, 1), high, (self.high, 1), step, (self.step, 1), parent=self._numbers, margins=0, spacing=6
        )
        in_row(text_label("values"), (self.words, 1), parent=self._texts, margins=0, spacing=6)
        what = in_row(text_label("Parameter" if first else "Second"), self.parameter, 1, spacing=8)
        in_column(what, self._numbers, self._texts, parent=self, margins=0, spacing=6)
        self.parameter.currentIndexChanged.connect(self._show)
        self._show()

    def _field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setAccessibleName(name)
        field.textEdited.connect(self.edited)
        return field

    def show_parameter(self, name: str) -> None:
        """Select a parameter."""
        self.parameter.setCurrentIndex(max(self.parameter.findData(name), 0))

    @property
    def _hint(self) -> Hint | None:
        return self._hints.get(self.parameter.currentData())

    def _show(self) -> None:
        hint = self._hint
        choice = hint is not None and hint.editor == "choice"
        self._numbers.setVisible(hint is not None and not choice)
        self._texts.setVisible(choice)
        if hint is not None and choice:
            self.words.setText(", ".join(hint.suggestions))
        elif hint is not None:
            low = hint.low if hint.low is not None else 0
            high = hint.soft_high if hint.soft_high is not None else hint.high
            high = high if high is not None else low + _WITHOUT_STEP
            step = (high - low) / (_WITHOUT_STEP - 1) if hint.editor != "integer" else max((high - low) // 4, 1)
            for field, value in ((self.low, low), (self.high, high), (self.step, step)):
                field.setText(f"{value:g}")
        self.edited.emit()

    def range(self) -> ParameterRange | None:
        """Return the range, or None without a parameter. Raises SweepError."""
        hint = self._hint
        if hint is None:
            return None
        values: tuple[JSON, ...]
        if hint.editor == "choice":
            values = tuple(dict.fromkeys(word.strip() for word in self.words.text().split(",") if word.strip()))
        else:
            is_whole, numbers = hint.editor == "integer", []
            for field in (self.low, self.high, self.step):
                try:
                    numbers.append(plain_number(field.text(), is_whole))
                except ValueError as error:
                    raise SweepError(f"{hint.label}, {field.accessibleName().lower()}: {error}.") from None
            values = steps(*numbers)
        return ParameterRange(self.parameter.currentData(), values)


class SweepDialog(QDialog):
    """The dialog. ``existing`` is the number of variants now.

    ``submitted`` carries the variants, whether they replace the existing ones, and whether to include the current
    settings.
    """

    submitted = Signal(object, bool, bool)
    models_asked = Signal()

    def __init__(self, settings: ExperimentSettings, existing: int, as_set: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sweep")
        self.setObjectName("sweepDialog")
        self._settings = settings
        self.variants: tuple[Variant, ...] = ()
        hints = dict(sweepable(settings))
        self.first, self.second = RangeForm(hints, first=True), RangeForm(hints, first=False)
        self.first.show_parameter("temperature")
        self.instead = QCheckBox(
            f"Replace {existing} existing variants" if existing > 1 else "Replace existing variant"
        )
        self.instead.setVisible(bool(existing))
        self.as_set = QCheckBox("Include current settings")
        self.as_set.setChecked(as_set and bool(existing))
        self.as_set.setToolTip("The plot of a sweep uses variants with a value each")
        self.says = text_label("", "small", wrap=True)
        self.says.setObjectName("sweepSummary")
        self.says.setMinimumHeight(3 * self.says.fontMetrics().lineSpacing())
        models = push_button("Over models…", "quiet")
        models.clicked.connect(self._ask_models)
        cancel = push_button("Cancel")
        cancel.clicked.connect(self.reject)
        self.add = styled(QPushButton("Add"), "primary")
        self.add.setDefault(True)
        self.add.clicked.connect(self._add)
        buttons = in_row(models, 1, cancel, self.add, spacing=8)
        align = Qt.AlignmentFlag.AlignLeft
        ticks = in_column((self.instead, 0, align), (self.as_set, 0, align), spacing=4)
        in_column(self.first, self.second, ticks, self.says, 1, buttons, parent=self, margins=MARGINS, spacing=10)
        self.setMinimumWidth(min(WIDE, parent.window().width() - 40))
        for form in (self.first, self.second):
            form.edited.connect(self._show)
        self._show()

    def _show(self) -> None:
        try:
            ranges = [selected for form in (self.first, self.second) if (selected := form.range()) is not None]
            self.variants = over_parameters(self._settings, ranges)
        except SweepError as error:
            self.variants = ()
            self.says.setText(str(error))
        else:
            names = [variant.name for variant in self.variants]
            named = names if len(names) <= 4 else [*names[:3], "…", names[-1]]
            self.says.setText("; ".join(named))
        look(self.says, "small" if self.variants else "flag-error")
        count = len(self.variants)
        self.add.setText(f"Add {count} variants" if count > 1 else "Add a variant")
        self.add.setEnabled(bool(count))

    def _add(self) -> None:
        self.accept()
        self.submitted.emit(self.variants, self.instead.isChecked(), self.as_set.isChecked())

    def _ask_models(self) -> None:
        self.reject()
        self.models_asked.emit()
