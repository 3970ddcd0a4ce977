"""Where one writes: which key runs, and what never does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role
from playground.engine.session.changes import RunState
from playground.ui.features.conversation.composer import ROOMY, Composer

CONTROL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


class ComposerDriver:
    """A composer, the field in it, and what it asked for."""

    def __init__(self) -> None:
        self.composer = Composer()
        (self.field,) = self.composer.findChildren(QPlainTextEdit)
        self.asked: list[str] = []
        self.composer.run_asked.connect(lambda: self.asked.append("run"))
        self.composer.stop_asked.connect(lambda: self.asked.append("stop"))
        self.composer.add_asked.connect(lambda: self.asked.append("add"))

    def press(self, modifier: Qt.KeyboardModifier = NONE, key: Qt.Key = Qt.Key.Key_Return) -> None:
        QTest.keyClick(self.field, key, modifier)

    def compose(self, preedit: str, commit: str = "") -> None:
        event = QInputMethodEvent(preedit, [])
        event.setCommitString(commit)
        QApplication.sendEvent(self.field, event)

    def button(self, name: str) -> QPushButton:
        return next(b for b in self.composer.findChildren(QPushButton) if name in (b.accessibleName(), b.text()))


@pytest.fixture
def driver(qtbot: QtBot) -> ComposerDriver:
    driver = ComposerDriver()
    qtbot.addWidget(driver.composer)
    driver.composer.resize(600, 200)
    driver.composer.show()
    qtbot.waitExposed(driver.composer)
    return driver


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_makes_a_line_and_control_enter_runs(driver: ComposerDriver, key: Qt.Key) -> None:
    QTest.keyClicks(driver.field, "a")
    driver.press(key=key)
    QTest.keyClicks(driver.field, "b")
    assert driver.composer.text == "a\nb"
    assert driver.asked == []
    driver.press(CONTROL, key)
    assert driver.asked == ["run"]
    assert driver.composer.text == "a\nb"


def test_the_setting_swaps_them(driver: ComposerDriver) -> None:
    driver.composer.set_enter_runs(True)
    QTest.keyClicks(driver.field, "a")
    driver.press(CONTROL)
    driver.press(SHIFT)
    assert driver.composer.text.replace("\u2028", "\n") == "a\n\n"
    assert driver.asked == []
    driver.press()
    assert driver.asked == ["run"]
    assert "Enter" in driver.button("Run").text()
    assert "Ctrl" not in driver.button("Run").text()


def test_enter_that_ends_a_composition_never_runs(driver: ComposerDriver) -> None:
    driver.composer.set_enter_runs(True)
    driver.compose("にほ")
    driver.press()
    assert driver.asked == []
    driver.compose("", "日本")
    driver.press()  # delivered right behind the composition, as some systems do
    assert driver.asked == []
    assert "日本" in driver.composer.text
    QApplication.processEvents()
    QTest.qWait(5)
    driver.press()
    assert driver.asked == ["run"]


def test_it_grows_with_its_text_up_to_a_bound(driver: ComposerDriver) -> None:
    heights = []
    for lines in (1, 3, 8, 12, 40):
        driver.composer.set_text("\n".join("x" * lines))
        heights.append(driver.field.height())
    assert heights[0] < heights[1] < heights[2] < heights[3] == heights[4]
    driver.composer.set_text("word " * 60)
    wide = driver.field.height()
    driver.composer.resize(300, 300)
    QApplication.processEvents()
    assert driver.field.height() > wide


def test_while_it_runs_the_button_stops_and_the_key_that_runs_does_not(driver: ComposerDriver) -> None:
    driver.composer.set_state(RunState.STREAMING)
    stop = driver.button("Stop")
    assert "Stop" in stop.text()
    assert not driver.button("Add").isEnabled()
    QTest.keyClicks(driver.field, "the next message")
    driver.press(CONTROL)
    assert driver.asked == ["run"], (
        "whoever is asked says that a run is under way: pressed twice, it would stop at once"
    )
    assert driver.composer.text == "the next message"
    stop.click()
    assert driver.asked == ["run", "stop"]
    driver.composer.set_state(RunState.IDLE)
    driver.button("Add").click()
    driver.button("Run").click()
    assert driver.asked == ["run", "stop", "add", "run"]


def test_text_and_role_are_edits_only_when_they_change(driver: ComposerDriver, qtbot: QtBot) -> None:
    edits: list[None] = []
    driver.composer.edited.connect(lambda: edits.append(None))
    driver.composer.set_role(Role.USER)
    driver.composer.set_text("")
    assert edits == []
    driver.composer.set_role(Role.SYSTEM)
    driver.composer.set_text("words")
    assert len(edits) == 2
    assert driver.composer.role is Role.SYSTEM
    assert "System" in driver.button("Role of the message").text()


def test_why_it_did_not_run_is_said_as_plain_text(driver: ComposerDriver) -> None:
    driver.composer.say("<b>no</b> model")
    shown = [label for label in driver.composer.findChildren(QLabel) if label.text() == "<b>no</b> model"]
    assert shown[0].isVisible()
    assert shown[0].textFormat() is Qt.TextFormat.PlainText
    driver.composer.say("")
    assert not shown[0].isVisible()


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
@pytest.mark.parametrize("state", [RunState.IDLE, RunState.STREAMING])
def test_no_button_is_cut_at_any_width(driver: ComposerDriver, qtbot: QtBot, role: Role, state: RunState) -> None:
    composer = driver.composer
    composer.set_role(role)
    composer.set_state(state)
    composer.set_tokens([123_456], 12)
    place = QWidget()  # a window of its own would be as wide as its layout asks for
    composer.setParent(place)
    place.show()
    for width in range(composer.minimumSizeHint().width(), 720, 30):
        composer.resize(width, 200)
        qtbot.waitUntil(lambda width=width: composer.width() == width and whole(composer))  # type: ignore[misc]
    composer.setParent(None)
    place.close()


def whole(composer: Composer) -> bool:
    """Whether each button in view has the room for its words, beside the others and inside the frame."""
    buttons = [b for b in composer.findChildren(QPushButton) if b.isVisible()]
    apart = not any(a.geometry().intersects(b.geometry()) for a in buttons for b in buttons if a is not b)
    inside = all(composer.rect().contains(b.geometry()) for b in buttons if b.parent() is composer)
    return apart and inside and all(b.width() >= b.sizeHint().width() for b in buttons)


def test_the_button_for_variables_gives_way_where_the_room_is_short(driver: ComposerDriver, qtbot: QtBot) -> None:
    button = driver.button("Variables")
    assert not button.isVisible()
    driver.composer.resize(ROOMY, 200)
    assert button.isVisible()
    with qtbot.waitSignal(driver.composer.variables_asked):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    driver.composer.resize(ROOMY - 1, 200)
    assert not button.isVisible()


def test_the_estimate_says_of_how_much_it_is(driver: ComposerDriver) -> None:
    label = driver.composer._tokens
    driver.composer.set_tokens([3_100], 0, 128_000, "The model takes 128,000 tokens.")
    assert label.text == "≈ 3,100 of 128,000 tok"
    assert label.accessibleName().endswith("≈ 3,100 of 128,000 tok. The model takes 128,000 tokens.")
    label.resize(label.fontMetrics().horizontalAdvance("≈ 3,100/128k") + 1, label.height())
    assert label.fitting() == "≈ 3,100/128k"
    label.resize(label.fontMetrics().horizontalAdvance("≈ 3,100 tok") + 1, label.height())
    assert label.fitting() == "≈ 3,100 tok"
    driver.composer.set_tokens([3_100], 1)
    assert label.text == "≈ 3,100 tok + 1 image"
    assert "128,000" not in label.toolTip() + label.accessibleName()
