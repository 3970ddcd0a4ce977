"""Forms made of the annotated fields of a model, used as a person does."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget

from playground.domain.hints import hints_of, setting
from playground.domain.values import Value
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.rows.kinds import CheckRow, LineRow, NumberRow, PickRow, SegmentsRow
from playground.ui.widgets.scroll_page import DownArea
from tests.ui.conftest import ShowWidget


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark_blue"


class Waits(Value):
    connect: Annotated[float | None, setting("Connect", unit="seconds", placeholder="off")] = Field(default=10.0, gt=0)


class Settings(Value):
    id: str = "one"
    name: Annotated[str, setting("&Name", check=lambda name: "" if name else "Enter a name.")] = ""
    via: Annotated[str, setting("Connection", editor="segments", choices=(("command", "Command"), ("url", "URL")))] = (
        "command"
    )
    token: Annotated[str, setting("Token", secret=True, visible_when=lambda value: value.via == "url")] = ""
    waits: Annotated[Waits, setting("Time-outs", group="Time-outs")] = Waits()
    retries: Annotated[int, setting("Retries", group="Limits", help="After a failure.")] = Field(default=4, ge=0, le=20)
    colour: Annotated[Colour, setting("Colour", group="Limits")] = Colour.RED
    folder: Annotated[str | None, setting("Folder", editor="folder", after="name", most=5)] = None
    trusted: Annotated[bool, setting("Trust it", help="Nothing is verified.")] = False


Edits = list[tuple[Settings, dict[str, str]]]


def open_form(show_widget: ShowWidget, value: Settings | None = None, width: int = 500) -> tuple[Form[Settings], Edits]:
    form = form_for(Settings)
    form.set_value(value or Settings())
    edits: Edits = []
    form.changed.connect(lambda new, errors: edits.append((new, errors)))
    area = show_widget(DownArea(form), width, 220)
    area.activateWindow()
    QTest.qWaitForWindowActive(area)
    return form, edits


def field(form: QWidget, name: str) -> Any:
    fields: list[Any] = [*form.findChildren(QLineEdit), *form.findChildren(QAbstractButton)]
    (match,) = (item for item in fields if name in (item.accessibleName(), item.text()))
    return match


def type_into(line: QLineEdit, text: str) -> None:
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)


def test_hints_are_completed_from_type_default_and_constraints() -> None:
    hints = hints_of(Settings)
    assert list(hints) == ["name", "folder", "via", "token", "waits.connect", "retries", "colour", "trusted"]
    retries, waits, colour = hints["retries"], hints["waits.connect"], hints["colour"]
    assert (retries.editor, retries.start, retries.low, retries.high) == ("integer", 4, 0, 20)
    assert (waits.editor, waits.start, waits.nullable, waits.group) == ("number", 10.0, True, "Time-outs")
    assert (colour.editor, colour.start, colour.choices) == (
        "pick",
        "red",
        (("red", "red"), ("dark_blue", "dark blue")),
    )


def test_rows_have_the_control_of_their_type_and_accessible_names(show_widget: ShowWidget) -> None:
    form, _ = open_form(show_widget)
    kinds = {name: type(row) for name, row in form.rows.items()}
    assert kinds == {
        "name": LineRow,
        "folder": LineRow,
        "via": SegmentsRow,
        "token": LineRow,
        "waits.connect": NumberRow,
        "retries": NumberRow,
        "colour": PickRow,
        "trusted": CheckRow,
    }
    assert {row.main_field().accessibleName() for row in form.rows.values()} >= {"Name", "Token", "Connect", "Colour"}
    assert field(form, "Token").echoMode() is QLineEdit.EchoMode.Password
    assert "After a failure." in field(form, "Retries").accessibleDescription()


def test_each_edit_emits_once_with_the_value_and_the_problems(show_widget: ShowWidget) -> None:
    form, edits = open_form(show_widget)
    type_into(field(form, "Name"), "A")
    assert [(value.name, errors) for value, errors in edits] == [("A", {})]
    field(form, "Trust it").click()
    assert edits[-1][0].trusted
    assert len(edits) == 2
    type_into(field(form, "Retries"), "33")
    assert [(value.retries, errors) for value, errors in edits[2:]] == [(3, {}), (3, {"retries": "from 0 to 20"})]
    type_into(field(form, "Retries"), "5")
    assert edits[-1] == (Settings(name="A", trusted=True, retries=5), {})
    QTest.keyClick(form.rows["colour"].main_field(), Qt.Key.Key_Down)
    assert form.value.colour is Colour.DARK_BLUE, "the model's own type, not its text"


def test_set_value_emits_nothing_and_forgets_unfinished_text(show_widget: ShowWidget) -> None:
    form, edits = open_form(show_widget)
    type_into(field(form, "Retries"), "x")
    assert form.errors["retries"] == "not a whole number"
    edits.clear()
    form.set_value(Settings(id="two", name="B", folder="/x"))
    assert (field(form, "Retries").text(), field(form, "Folder").text(), edits, form.errors) == ("4", "/x", [], {})


def test_empty_nullable_field_is_none_and_others_their_default(show_widget: ShowWidget) -> None:
    form, _ = open_form(show_widget, Settings(folder="/x", retries=7))
    for name in ("Connect", "Folder", "Retries"):
        line = field(form, name)
        line.selectAll()
        QTest.keyClick(line, Qt.Key.Key_Backspace)
    assert (form.value.waits.connect, form.value.folder, form.value.retries) == (None, None, 4)
    type_into(field(form, "Connect"), "0")
    assert form.errors["waits.connect"] == "more than 0"
    type_into(field(form, "Connect"), "off")
    assert form.value.waits.connect is None
    assert "waits.connect" not in form.errors


def test_problem_of_an_untouched_field_waits_until_it_is_asked_for(show_widget: ShowWidget) -> None:
    form, edits = open_form(show_widget)
    assert form.errors == {"name": "Enter a name."}
    assert form.problem == "Name: Enter a name."
    label = form.rows["name"].flag_label
    assert label.isHidden(), "nobody has typed yet"
    form.show_problems()
    assert (label.text(), label.isHidden(), edits) == ("Enter a name.", False, [])
    assert field(form, "Name").hasFocus()


def test_row_is_shown_and_checked_only_when_the_value_needs_it(show_widget: ShowWidget) -> None:
    form, _ = open_form(show_widget)
    assert form.rows["token"].isHidden()
    assert form.rows["via"].main_field().isVisible()
    field(form, "URL").click()
    assert field(form, "Token").isVisible()


def test_help_of_a_check_box_is_shown_while_it_is_on(show_widget: ShowWidget) -> None:
    form, _ = open_form(show_widget)
    (words,) = (label for label in form.findChildren(QLabel) if label.text() == "Nothing is verified.")
    assert words.isHidden()
    field(form, "Trust it").click()
    assert words.isVisible()


def test_focused_field_scrolls_into_view_and_nothing_is_cut(show_widget: ShowWidget) -> None:
    form, _ = open_form(show_widget, Settings(name="a" * 300), width=330)
    (area,) = (widget for widget in QApplication.topLevelWidgets() if widget.isAncestorOf(form))
    last = form.rows["colour"].main_field()
    last.setFocus()
    assert last.mapTo(area, QPoint(0, last.height())).y() <= area.height()
    assert form.width() <= area.width()
    for name in ("Name", "Retries", "Connect"):
        line = field(form, name)
        assert line.mapTo(form, QPoint(line.width(), 0)).x() <= form.width(), name


def test_control_of_its_own_is_shown_and_its_edits_count(show_widget: ShowWidget) -> None:
    class Control(QWidget):
        changed = Signal()

    control = Control()
    form = form_for(Settings, {"retries": control})
    edits: Edits = []
    form.changed.connect(lambda value, errors: edits.append((value, errors)))
    form.set_value(Settings(retries=7))
    show_widget(form, 500, 300)
    control.changed.emit()
    assert edits == [(Settings(retries=7), {"name": "Enter a name."})]
    assert form.rows["retries"].label.text() == "Retries"
    assert control.isVisible()
