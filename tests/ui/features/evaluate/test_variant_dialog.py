"""The dialog of a variant, used as a person does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from playground.domain.roles import Role
from playground.domain.transcript import make_turn
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from playground.ui.features.evaluate.panels.variant_dialog import VariantDialog
from playground.ui.widgets.rows.kinds import CheckRow, NumberRow
from tests.engine.session.test_session import make_session


def open_dialog(main: QMainWindow, session: Session, variant: Variant) -> tuple[VariantDialog, list[Variant]]:
    dialog = VariantDialog(session, variant, main)
    submitted: list[Variant] = []
    dialog.submitted.connect(submitted.append)
    dialog.open()
    return dialog, submitted


def test_edited_fields_become_differences_of_the_variant(main: QMainWindow) -> None:
    session = make_session()
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be short."))
    dialog, submitted = open_dialog(main, session, Variant(name="one"))
    own_system, temperature = dialog.fields.rows["has_system"], dialog.parameters.rows["temperature"]
    assert isinstance(own_system, CheckRow)
    assert isinstance(temperature, NumberRow)
    assert dialog.fields.rows["system"].isHidden()
    own_system.box.click()
    assert not dialog.fields.rows["system"].isHidden()
    assert dialog.fields.value.system == "Be short."
    dialog.model.setFocus()
    dialog.model.setEditText("")
    QTest.keyClicks(dialog.model, "typed-model")  # without Enter
    temperature.field.setFocus()
    QTest.keyClicks(temperature.field, "0.5")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    (variant,) = submitted
    own = variant.applied(session.settings)
    assert (variant.system, own.model, own.current.set_fields["temperature"]) == ("Be short.", "typed-model", 0.5)


def test_invalid_parameter_keeps_the_dialog_open_with_the_focus_in_it(main: QMainWindow) -> None:
    dialog, submitted = open_dialog(main, make_session(), Variant(name="one", system="Mine."))
    temperature = dialog.parameters.rows["temperature"]
    assert isinstance(temperature, NumberRow)
    temperature.field.setFocus()
    QTest.keyClicks(temperature.field, "warm")
    dialog.save.setFocus()
    dialog.save.click()
    assert not submitted
    assert dialog.isVisible()
    assert dialog.focusWidget() is temperature.field
    temperature.clear()
    dialog.save.click()
    assert [variant.system for variant in submitted] == ["Mine."]
