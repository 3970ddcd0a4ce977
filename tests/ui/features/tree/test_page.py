"""The Tree tab: keys, descriptions and menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.session.session import Experiment, Session
from playground.ui.features.tree.page import TreePage
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
    page.throttle.flush()
    return page


def test_hostile_text_is_shown_as_text(page: TreePage, session: Session) -> None:
    edit_in_place(session, "u", "<img src=x onerror=1>\n\u202egnp.exe " + "x" * 5000)
    page.throttle.flush()
    page.view.setFocus()
    page.view.select("u")
    assert "<img src=x onerror=1> " in page.summary.text
    assert "\u202e" not in page.summary.text
    assert len(page.summary.text) < 260


def test_menu_deletes_a_branch(page: TreePage, qtbot: QtBot) -> None:
    page.view.menu_asked.emit("a1", QPoint(10, 10))
    menu = page.findChildren(QMenu)[-1]
    with qtbot.waitSignal(page.delete_asked) as request:
        next(action for action in menu.actions() if action.text() == "Delete branch").trigger()
    assert request.args == ["a1"]
    menu.close()


def test_click_leads_to_the_turn(page: TreePage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.turn_asked) as request:
        place = page.view.rect_of("a2").center().toPoint()
        QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert request.args == ["a2"]


def test_large_tree_shows_its_newest_turns_and_all_on_request(page: TreePage, session: Session) -> None:
    turns = [Turn(id=str(n), role=Role.USER, parent=str(n - 1) if n else None) for n in range(3_000)]
    session.turns.rewrite(Transcript({turn.id: turn for turn in turns}, "2999"))
    page.throttle.flush()
    assert page.summary.text.startswith("Newest 500 of 3,000 messages")
    page.view.select("2999")
    assert page.view.words() == "User · message 3,000"
    QTest.mouseClick(page.all_button, Qt.MouseButton.LeftButton)
    page.view.setFocus()
    QTest.keyClick(page.view, Qt.Key.Key_Home)
    assert page.view.words() == "User · message 1"
    assert not page.all_button.isVisible()


def test_keys_lead_from_turn_to_turn(page: TreePage, qtbot: QtBot) -> None:
    page.view.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(page.view, key)
    assert page.view.selected == "a3", "along the branch that is shown"
    assert page.view.accessibleDescription().startswith("Assistant · message 3 · version 3 of 4")
    with qtbot.waitSignal(page.turn_asked) as request:
        QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert request.args == ["a3"]
