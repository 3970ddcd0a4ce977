"""What came of a command stands where the count stood, for a while."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from playground.ui.widgets import elided_label
from playground.ui.widgets.elided_label import CountLabel


def test_what_was_said_is_not_counted_away(qtbot: QtBot) -> None:
    label = CountLabel("Calls")
    qtbot.addWidget(label)
    label.set_count("3 calls")
    assert label.accessibleName() == "Calls: 3 calls"
    label.say("Saved as calls.csv.")
    label.set_count("4 calls")
    assert label.text == "Saved as calls.csv."


def test_what_was_counted_meanwhile_comes_after_it(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elided_label, "SAID_MS", 20)
    label = CountLabel("Calls")
    qtbot.addWidget(label)
    label.say("Saved as calls.csv.")
    label.set_count("4 calls")
    qtbot.waitUntil(lambda: label.text == "4 calls")
    label.set_count("5 calls")
    assert label.text == "5 calls"
