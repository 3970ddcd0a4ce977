"""The field for the model: any text is one, and the panel below it finds, marks and tells of those that are listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.model_facts import ModelFacts
from playground.domain.prices import Price
from playground.engine.gateways.model_catalog import Model, ModelCatalog
from playground.engine.gateways.profiles import ProfileError
from playground.engine.gateways.secrets import Secret
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.models.listing import SORTING
from playground.ui.widgets.models.panel import CHOOSING, HINT, ModelPanel
from tests.support.event_loop import play
from tests.support.eventually import eventually
from tests.support.models import catalog_of

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def picker(qtbot: QtBot) -> Iterator[ModelPicker]:
    """In an active window, the focus elsewhere."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 640)
    row = QVBoxLayout(window)
    elsewhere = QPushButton("Elsewhere")
    picker = ModelPicker()
    row.addWidget(elsewhere)
    row.addWidget(picker)
    row.addStretch(1)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    elsewhere.setFocus()
    yield picker
    window.hide()
    SORTING.restore("", lambda _order: None)


def line_of(picker: ModelPicker) -> QLineEdit:
    line = picker.lineEdit()
    assert line is not None
    return line


def panel(picker: ModelPicker) -> ModelPanel:
    assert picker.panel is not None
    assert picker.open_now
    return picker.panel


def shown(picker: ModelPicker) -> list[str]:
    """The lines of the panel, headings as they are written."""
    rows = panel(picker).browser.rows
    return [str(rows.index(row).data()) for row in range(rows.rowCount())]


def leave(picker: ModelPicker) -> None:
    """Move the focus to the next field."""
    picker.window().findChildren(QPushButton)[0].setFocus()


def press(picker: ModelPicker, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(picker, key)


def test_escape_without_changes_belongs_to_the_window(picker: ModelPicker) -> None:
    picker.show_model("m-1")
    picker.setFocus()
    line = line_of(picker)
    QTest.keyClicks(picker, "frag")
    request = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    request.ignore()
    QApplication.sendEvent(picker, request)
    assert request.isAccepted(), "Stop does not get it while something is typed"
    QTest.keyClick(picker, Qt.Key.Key_Escape)
    assert (picker.currentText(), line.selectedText()) == ("m-1", "m-1")
    request.ignore()
    QApplication.sendEvent(picker, request)
    assert not request.isAccepted()
    picker.showPopup()
    request.ignore()
    QApplication.sendEvent(picker, request)
    assert request.isAccepted(), "it closes the panel, and stops nothing"


@pytest.mark.parametrize("model", ["m" * 1_000_000, "two\nlines", "ends in a blank ", "\u202eodd\u200b"])
def test_chosen_id_is_exactly_the_listed_one(picker: ModelPicker, model: str) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    second = f"{model[:900]}-{model[901:]}" if len(model) > 1_000 else "other"
    picker.show_catalog(catalog_of([second, model]))
    picker.open()
    assert all(len(line) < 2_100 for line in shown(picker))
    press(picker, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert chosen == [model]
    picker.show_model(model)
    picker.show_catalog(catalog_of(["another gateway's"]))
    leave(picker)
    assert set(chosen) == {model}, "leaving the field changes nothing"


CATALOG = ModelCatalog(
    (
        Model("plain"),
        Model("small", "Small one", {"id": "small"}, facts=ModelFacts(context=8_192, price=Price(input=1, output=2))),
        Model("embed", facts=ModelFacts(mode="embedding", context=512)),
        Model(
            "large",
            facts=ModelFacts(
                context=1_000_000,
                price=Price(input=0.1, output=0.2),
                created=1_700_000_000,
                inputs=frozenset(("text", "image")),
                tools=True,
                about="Knows <b>much</b>",
            ),
        ),
    ),
    "Gate\u202eway",
)


def test_details_of_the_current_model_are_shown(picker: ModelPicker) -> None:
    picker.show_catalog(CATALOG)
    picker.open()
    details = panel(picker).browser.details
    assert panel(picker).hint.text() == HINT
    press(picker, Qt.Key.Key_Down)
    assert details.source.text() == "No details in the list of Gate‹U+202E›way."
    assert details.raw_button.isHidden()
    press(picker, Qt.Key.Key_Down)
    assert (details.name.text(), details.id.text()) == ("Small one", "small")
    details.raw_button.click()
    assert details.raw.toPlainText() == '{\n  "id": "small"\n}'
    press(picker, Qt.Key.Key_Down)
    lines = details.facts.text().split("\n")
    assert "Context: 1,000,000 tokens" in lines
    assert "Input: image, text" in lines
    assert details.about.text() == "Knows <b>much</b>"
    assert details.about.textFormat() == Qt.TextFormat.PlainText
    assert panel(picker).hint.text() == CHOOSING
    details.copy.click()
    assert QGuiApplication.clipboard().text() == "large"


def test_secrets_in_the_list_are_not_shown(picker: ModelPicker) -> None:
    key = "sk-a-secret-of-many-letters"
    facts = ModelFacts(about=f"for {key} only", owner=key, context=1)
    model = Model("m", raw={"id": "m", "for": key}, facts=facts)
    picker.show_catalog(ModelCatalog((model,), "gateway", secrets=lambda: (Secret(key),)))
    picker.open()
    press(picker, Qt.Key.Key_Down)
    details = panel(picker).browser.details
    details.raw_button.click()
    texts = [details.about.text(), details.facts.text(), details.raw.toPlainText()]
    assert all(texts)
    assert key not in "".join(texts)


def test_favourites_and_recent_models_are_first(picker: ModelPicker, qapp: QApplication) -> None:
    starred: list[tuple[str, bool]] = []

    def star(model: str, on: bool) -> None:
        starred.append((model, on))

    ids = ["a", "b", "c"]
    picker.show_catalog(replace(catalog_of(ids), favourites=("c", "gone"), recent=("b",), star=star))
    picker.show_model("b")
    picker.open()
    browser = panel(picker).browser
    assert shown(picker) == ["Recent", "b", "Favourites", "c", "gone", "All", *ids]
    assert browser.list.currentIndex().row() == 1, "the model in use, where it is met first"
    removed = browser.rows.line(browser.rows.index(4))
    assert removed is not None
    assert removed.note == "not in the list"

    async def scene() -> None:
        QTest.keyClick(picker, Qt.Key.Key_D, CONTROL)
        await eventually(lambda: shown(picker) == ["Recent", "b", "Favourites", "c", "gone", "b", "All", *ids])
        assert browser.current == "b"
        row = browser.list.visualRect(browser.rows.index(3))
        on_star = QPoint(row.right() - 15, row.center().y())
        QTest.mouseClick(browser.list.viewport(), Qt.MouseButton.LeftButton, pos=on_star)
        await eventually(lambda: shown(picker) == ["Recent", "b", "Favourites", "gone", "b", "All", *ids])

    play(qapp, scene)
    assert starred == [("b", True), ("c", False)]
    assert picker.open_now, "a star chooses nothing"
    assert picker.currentText() == "b"


def test_favourite_that_cannot_be_saved_says_why(picker: ModelPicker, qapp: QApplication) -> None:
    def star(_model: str, _on: bool) -> None:
        raise ProfileError("The file cannot be written.")

    picker.show_catalog(replace(catalog_of(["a"]), star=star))
    picker.open()
    press(picker, Qt.Key.Key_Down)
    browser = panel(picker).browser

    async def scene() -> None:
        QTest.keyClick(picker, Qt.Key.Key_D, CONTROL)
        await eventually(lambda: browser.failed.text() == "The file cannot be written.")

    play(qapp, scene)
    assert shown(picker) == ["a"]


def test_click_chooses_and_focus_elsewhere_closes(picker: ModelPicker, qtbot: QtBot) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.show_catalog(catalog_of(["a", "b"]))
    picker.open()
    browser = panel(picker).browser
    row = browser.list.visualRect(browser.rows.index(1))
    QTest.mouseClick(browser.list.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    assert (chosen, picker.open_now, picker.currentText()) == (["b"], False, "b")
    picker.open()
    leave(picker)
    qtbot.waitUntil(lambda: not picker.open_now)
    picker.open()
    QTest.mouseClick(picker.window(), Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert not picker.open_now
    picker.open()
    picker.hide()
    assert not picker.open_now
    picker.open()
    assert not picker.open_now, "no panel of a field that is not seen"


def test_tab_enters_the_panel_and_escape_leaves_it(picker: ModelPicker, qtbot: QtBot) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.show_catalog(catalog_of(["alpha", "beta"]))
    picker.show_model("beta")
    picker.setFocus()
    QTest.keyClicks(picker, "al")
    press(picker, Qt.Key.Key_Tab)
    browser = panel(picker).browser
    qtbot.waitUntil(lambda: QApplication.focusWidget() is browser.list)
    assert chosen == [], "a fragment is no choice while one is still choosing"
    QTest.keyClick(browser.list, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is picker
    assert picker.currentText() == "beta"
    QTest.keyClicks(picker, "al")
    press(picker, Qt.Key.Key_Tab)
    QTest.keyClick(browser.list, Qt.Key.Key_Down)
    QTest.keyClick(browser.list, Qt.Key.Key_Return)
    assert (chosen, picker.open_now) == (["alpha"], False)


def test_typed_model_widens_the_field_and_is_shown_from_its_first_letter(picker: ModelPicker, qtbot: QtBot) -> None:
    line = line_of(picker)
    before = picker.sizeHint().width()
    line.setFocus()
    QTest.keyClicks(line, "W" * 60)
    assert picker.sizeHint().width() > before
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: line.cursorPosition() == 0)
    assert line.cursorPositionAt(QPoint(4, line.height() // 2)) == 0
