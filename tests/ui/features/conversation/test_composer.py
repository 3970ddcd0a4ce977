"""The composer: keys, buttons and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from playground.engine.session.changes import RunState
from playground.ui.features.conversation.calls.call_bar import PendingCalls
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.documents import read_text_file

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


def test_enter_that_ends_a_composition_does_not_run(driver: ComposerDriver) -> None:
    driver.composer.set_enter_runs(True)
    driver.compose("にほ")
    driver.press()
    assert driver.asked == []
    driver.compose("", "日本")
    driver.press()  # delivered right behind the composition, as some systems do
    assert driver.asked == []
    assert "日本" in driver.composer.text
    QApplication.processEvents()
    driver.press()
    assert driver.asked == ["run"]


def test_button_stops_a_run_and_the_key_does_not(driver: ComposerDriver) -> None:
    driver.composer.set_state(RunState.STREAMING)
    stop = driver.button("Stop")
    assert "Stop" in stop.text()
    assert not driver.button("Add").isEnabled()
    QTest.keyClicks(driver.field, "the next message")
    driver.press(CONTROL)
    assert driver.asked == ["run"], "the answer says that a run is under way: pressed twice, it would stop at once"
    assert driver.composer.text == "the next message"
    stop.click()
    assert driver.asked == ["run", "stop"]
    driver.composer.set_state(RunState.IDLE)
    driver.button("Add").click()
    driver.button("Run").click()
    assert driver.asked == ["run", "stop", "add", "run"]


def test_main_button_that_cannot_continue_says_why(driver: ComposerDriver) -> None:
    driver.composer.set_pending_calls(PendingCalls(ready=False, reason="2 tool calls need results"))
    button = driver.button("Continue")
    assert not button.isEnabled()
    assert (button.toolTip(), button.accessibleDescription()) == ("2 tool calls need results",) * 2
    driver.composer.set_pending_calls(PendingCalls(ready=True))
    assert button.isEnabled()
    assert button.accessibleDescription() == ""
    button.click()
    assert driver.asked == ["run"]
    driver.composer.set_pending_calls(None)
    assert driver.button("Run") is button


def test_text_file_is_fenced_and_binary_or_large_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes("Über ```code```".encode("utf-16"))
    assert read_text_file(file) == "notes.md\n````\nÜber ```code```\n````"
    for content, reason in ((b"\x89PNG\0\0", "not a text file"), (b"a" * 1_000_001, "larger than")):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=reason):
            read_text_file(file)
