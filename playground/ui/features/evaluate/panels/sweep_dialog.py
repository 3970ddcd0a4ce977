"""The dialog of a sweep: a variant for each step of one or two parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.domain.hints import Hint, hints_of, setting
from playground.domain.values import Value
from playground.engine.evaluation.variants import ParameterRange, SweepError, over_parameters, steps, sweepable
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import Variant
from playground.ui.widgets.dialogs import MARGINS
from playground.ui.widgets.form_parts import look, push_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.scroll_page import FittingArea

WIDTH: Final = 440  # pixels
TALLEST, LEAST = 560, 150  # pixels of the form; a longer one scrolls
BELOW_FORM: Final = 140  # pixels of the dialog around the form
NO_PARAMETER: Final = ""
FIRST: Final = "temperature"  # the parameter of a new sweep, where the protocol has it
_STEPS: Final = 5  # values of a new range


def _has_range(axis: SweepAxis) -> bool:
    return axis.editor in ("number", "integer")


class SweepAxis(Value):
    """A parameter of a sweep with a range, or with a list of values. ``editor`` is that of the parameter's hint."""

    editor: str = ""
    parameter: Annotated[str, setting("Parameter", editor="pick")] = NO_PARAMETER
    low: Annotated[float, setting("From", visible_when=_has_range)] = 0
    high: Annotated[float, setting("To", visible_when=_has_range)] = 0
    step: Annotated[float, setting("Step", visible_when=_has_range)] = 0
    values: Annotated[tuple[str, ...], setting("Values", visible_when=lambda axis: axis.editor == "choice")] = ()

    @classmethod
    def for_parameter(cls, parameter: str, hint: Hint | None) -> SweepAxis:
        """Return the axis of a parameter with the range or the choices of its hint."""
        if hint is None:
            return cls()
        if hint.editor == "choice":
            return cls(editor=hint.editor, parameter=parameter, values=hint.suggestions)
        low = hint.low if hint.low is not None else 0
        high = hint.soft_high if hint.soft_high is not None else hint.high
        high = high if high is not None else low + _STEPS
        step = (high - low) / (_STEPS - 1) if hint.editor == "number" else max((high - low) // (_STEPS - 1), 1)
        return cls(editor=hint.editor, parameter=parameter, low=low, high=high, step=step)

    def range(self, hint: Hint) -> ParameterRange:
        """Return the values of the parameter with this hint. Raises SweepError."""
        if hint.editor == "choice":
            return ParameterRange(self.parameter, tuple(dict.fromkeys(self.values)))
        numbers = self.low, self.high, self.step
        if hint.editor == "integer" and not all(number.is_integer() for number in numbers):
            raise SweepError(f"{hint.label} takes whole numbers.")
        return ParameterRange(self.parameter, steps(*numbers))


class Sweep(Value):
    """The input of the dialog."""

    first: Annotated[SweepAxis, setting("First parameter")] = SweepAxis()
    second: Annotated[SweepAxis, setting("Second parameter", group="Second parameter")] = SweepAxis()
    replaces: Annotated[bool, setting("Replace existing variants", group="Variants")] = False
    includes_current: Annotated[
        bool,
        setting(
            "Include current settings", group="Variants", help="The plot of a sweep uses only variants with a value."
        ),
    ] = False


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
        self._parameters = dict(sweepable(settings))
        self.variants: tuple[Variant, ...] = ()
        self.form: Form[Sweep] = form_for(Sweep, hints=_hints(self._parameters, existing))
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
        self._area = FittingArea(most=min(TALLEST, parent.window().height() - BELOW_FORM), least=LEAST)
        self._area.hold(self.form)
        buttons = in_row(models, 1, cancel, self.add, spacing=8)
        in_column((self._area, 1), self.says, buttons, parent=self, margins=MARGINS, spacing=10)
        self.setMinimumWidth(min(WIDTH, parent.window().width() - 40))
        first = FIRST if FIRST in self._parameters else next(iter(self._parameters), NO_PARAMETER)
        self._chosen = first, NO_PARAMETER  # the parameters of the ranges in the form
        self.form.changed.connect(self._edited)
        self.form.set_value(Sweep(first=self._axis(first), includes_current=as_set and bool(existing)))
        self._show_variants()

    def _axis(self, parameter: str) -> SweepAxis:
        return SweepAxis.for_parameter(parameter, self._parameters.get(parameter))

    def _edited(self, sweep: Sweep, _errors: dict[str, str]) -> None:
        """Show the range of a newly chosen parameter, and the variants."""
        chosen = sweep.first.parameter, sweep.second.parameter
        if chosen != self._chosen:
            axes = [
                axis if axis.parameter == before else self._axis(axis.parameter)
                for axis, before in zip((sweep.first, sweep.second), self._chosen, strict=True)
            ]
            self._chosen = chosen
            self.form.set_value(sweep.model_copy(update={"first": axes[0], "second": axes[1]}))
            self._area.updateGeometry()
            self.resize(self.width(), max(self.height(), self.sizeHint().height()))
        self._show_variants()

    def _show_variants(self) -> None:
        sweep, problem, hints = self.form.value, self.form.problem, self._parameters
        axes = [axis for axis in (sweep.first, sweep.second) if axis.parameter in hints]
        try:
            ranges = [axis.range(hints[axis.parameter]) for axis in axes]
            self.variants = () if problem else over_parameters(self._settings, ranges)
        except SweepError as error:
            self.variants, problem = (), str(error)
        names = [variant.name for variant in self.variants]
        self.says.setText(problem or "; ".join(names if len(names) <= 4 else [*names[:3], "…", names[-1]]))
        look(self.says, "flag-error" if problem else "small")
        count = len(self.variants)
        self.add.setText(f"Add {count} variants" if count > 1 else "Add a variant")
        self.add.setEnabled(bool(count))

    def _add(self) -> None:
        self.accept()
        self.submitted.emit(self.variants, self.form.value.replaces, self.form.value.includes_current)

    def _ask_models(self) -> None:
        self.reject()
        self.models_asked.emit()


def _hints(parameters: dict[str, Hint], existing: int) -> dict[str, Hint]:
    """Return the hints of a sweep with the parameters to choose from, and the number of existing variants."""
    hints = hints_of(Sweep)
    choices = tuple((name, hint.label) for name, hint in parameters.items())
    words = f"Replace {existing} existing variants" if existing > 1 else "Replace existing variant"
    return {
        **hints,
        "first.parameter": replace(hints["first.parameter"], choices=choices),
        "second.parameter": replace(hints["second.parameter"], choices=((NO_PARAMETER, "none"), *choices)),
        "replaces": replace(hints["replaces"], label=words, visible_when=lambda _sweep: bool(existing)),
    }
