"""Parts of a card come in steps, each of which makes or fills a view; none is seen that nothing stands in yet."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import Text
from playground.ui.features.conversation import card_parts
from playground.ui.features.conversation.card_parts import KEPT, CardParts
from playground.ui.features.conversation.parts_row import PartsRow
from playground.ui.features.conversation.shown_parts import Shown


def test_a_view_is_made_in_one_step_and_filled_in_the_next(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_parts, "STEP_S", 0.0)
    card, done = QWidget(), list[str]()
    qtbot.addWidget(card)
    body = QVBoxLayout(card)

    def make(part: Shown, old: list[QWidget]) -> QWidget:
        done.append("made")
        return next(iter(old), None) or QLabel()

    def fill(view: QWidget, part: Shown) -> None:
        assert isinstance(view, QLabel)
        assert isinstance(part, Text)
        done.append(part.text)
        view.setText(part.text)

    def seen() -> list[str]:
        labels = [item.widget() for at in range(body.count()) if (item := body.itemAt(at)) is not None]
        return [label.text() for label in labels if isinstance(label, QLabel)]

    parts = CardParts(body, PartsRow(card), make, fill)
    parts.show([Text(text=letter) for letter in "abc"], anew=True, came=False)
    assert done == ["made", "a"], "the first one is there at once"

    def finish() -> list[list[str]]:
        steps = []
        while not parts.whole:
            before = len(done)
            parts.go_on()
            steps.append(done[before:])
            assert all(seen())
        return steps

    assert finish() == [["made"], ["b"], ["made"], ["c"]]
    assert seen() == ["a", "b", "c"]
    parts.show([Text(text=letter) for letter in "xyz"], anew=False, came=False)
    assert finish() == [["made", "y"], ["made", "z"]]
    assert seen() == ["x", "y", "z"], "views that there are take no step to be made"
    many = [Text(text=str(number)) for number in range(KEPT)]
    parts.show(many, anew=True, came=False)
    finish()
    before = len(done)
    parts.show([*many, Text(text="more"), Text(text="last")], anew=False, came=False)
    assert "more" not in done[before:], "one that has many shows what it has, and waits a frame"
    monkeypatch.setattr(card_parts, "STEP_S", 60.0)
    parts.show([*many, Text(text="more"), Text(text="last")], anew=False, came=False)
    assert "more" not in done[before:]
    finish()
    assert seen() == [*map(str, range(KEPT)), "more", "last"]


def test_of_a_card_that_is_not_seen_the_first_part_waits_too(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_parts, "STEP_S", 0.0)
    card, done = QWidget(), list[str]()
    qtbot.addWidget(card)

    def make(part: Shown, old: list[QWidget]) -> QWidget:
        done.append("made")
        return next(iter(old), None) or QLabel()

    def fill(view: QWidget, part: Shown) -> None:
        done.append("filled")

    parts = CardParts(QVBoxLayout(card), PartsRow(card), make, fill, unseen=True)
    parts.show([Text(text="a")], anew=True, came=False)
    assert done == []
    parts.go_on()
    assert done == ["made"]
    assert not parts.views
    parts.go_on()
    assert done == ["made", "filled"]
    assert parts.whole
    parts.show([Text(text="b")], anew=True, came=False)
    assert done[2:] == ["made", "filled"], "where something was seen, what is seen now is there at once"
