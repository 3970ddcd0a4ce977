"""The Tree tab: keys, descriptions and menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Ending, Outcome
from playground.engine.session.session import Experiment, Session
from playground.ui.features.tree.page import TreePage
from playground.ui.features.tree.words import mark_of
from tests.scenes.store import grove
from tests.support.editors import edit_in_place, no_gateway
from tests.ui.windows import show_in_front


@pytest.fixture
def session() -> Session:
    session = Experiment(no_gateway, profile_id="p", model="m").main
    session.turns.rewrite(grove())
    return session


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> TreePage:
    page = TreePage()
    qtbot.addWidget(page)
    page.resize(900, 220)
    page.show_session(session)
    show_in_front(qtbot, page)
    page.slices.finish()
    return page


def test_keys_lead_from_turn_to_turn_and_go_there(page: TreePage, qtbot: QtBot) -> None:
    view = page.view
    view.setFocus()
    assert view.current == "a3b", "the end of the branch that is looked at"
    for key, there in (
        (Qt.Key.Key_Up, "a3a"),
        (Qt.Key.Key_Left, "a3u"),
        (Qt.Key.Key_Left, "a3"),
        (Qt.Key.Key_Up, "a2"),
        (Qt.Key.Key_Home, "s"),
        (Qt.Key.Key_End, "a3b"),
    ):
        QTest.keyClick(view, key)
        assert view.current == there
    with qtbot.waitSignal(page.turn_asked) as asked:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert asked.args == ["a3b"]
    with qtbot.waitSignal(page.delete_asked) as asked:
        QTest.keyClick(view, Qt.Key.Key_Delete)
    assert asked.args == ["a3b"]


def test_selected_turn_is_described(page: TreePage) -> None:
    assert page.said.text == "23 turns · 7 branches · 1 failed · 1 interrupted · 1 stopped"
    page.view.setFocus()
    page.view.look_at("a2")
    assert page.said.text == "Assistant · turn 3 · alternative 2 of 4 · failed — Lisbon, I think."
    assert page.view.accessibleDescription().startswith(page.said.text)
    page.view.look_at("t")
    assert page.said.text == 'Tool · turn 4 — {"temp": 21}'


def test_partly_unread_answer_is_marked_and_counted(page: TreePage, session: Session) -> None:
    turn = next(turn for turn in session.transcript.turns.values() if not mark_of(turn, ()))
    unread = turn.model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE, holes=("not_json",))})
    session.turns.rewrite(session.transcript.replace(unread))
    page.slices.finish()
    assert page.said.text.endswith(" · 1 failed · 1 interrupted · 1 part unread · 1 stopped")
    assert mark_of(unread, ()) == "part unread"


def test_hostile_text_is_shown_as_text(page: TreePage, session: Session) -> None:
    edit_in_place(session, "u", "<img src=x onerror=1>\n\u202egnp.exe " + "x" * 5000)
    page.slices.finish()
    page.view.setFocus()
    page.view.look_at("u")
    assert "<img src=x onerror=1> " in page.said.text
    assert "\u202e" not in page.said.text
    assert len(page.said.text) < 260


def test_menu_deletes_a_branch(page: TreePage, qtbot: QtBot) -> None:
    page.view.menu_asked.emit("a1", QPoint(10, 10))
    menu = page.findChildren(QMenu)[-1]
    with qtbot.waitSignal(page.delete_asked) as asked:
        next(action for action in menu.actions() if action.text() == "Delete this branch").trigger()
    assert asked.args == ["a1"]
    menu.close()


def test_roles_are_told_apart_without_colour(page: TreePage) -> None:
    """The marks are different pictures in grey, too."""
    image = page.view.viewport().grab().toImage()

    def mark(turn_id: str) -> bytes:
        at = page.view.point(turn_id).toPoint()
        ground = image.pixelColor(2, 2).lightness()
        return bytes(
            abs(image.pixelColor(at.x() + x, at.y() + y).lightness() - ground) > 24
            for x in range(-9, 10)
            for y in range(-9, 10)
        )

    marks = [mark(key) for key in ("s", "u", "a3", "t")]
    assert len(set(marks)) == 4


def test_click_leads_to_the_turn(page: TreePage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.turn_asked) as asked:
        place = page.view.point("a2").toPoint()
        QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == ["a2"]
