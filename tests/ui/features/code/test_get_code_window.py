"""The window Get code: languages, refusals and masked keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.snippets import LANGUAGES, prepare_snippet_request, write
from playground.engine.session.session import Experiment, Session
from playground.ui.features.code.get_code_window import SHORTENED, GetCodeWindow
from tests.support.editors import no_gateway

CANARY = "sk-canary-in-the-prompt-123"
PROFILE = Profile(id="p", name="Team", base_url="https://gateway.example/v1", key_origin="https://gateway.example:443")


@pytest.fixture
def session() -> Session:
    session = Experiment(no_gateway, profile_id="p", model="m", profile_of=lambda _id: PROFILE).main
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    return session


@pytest.fixture
def window(qtbot: QtBot, session: Session) -> Iterator[GetCodeWindow]:
    main = QMainWindow()
    qtbot.addWidget(main)
    main.resize(1200, 800)
    main.show()
    window = GetCodeWindow.shown_for(session, main)
    window.open_on(lambda: (Secret(CANARY),))
    qtbot.waitUntil(lambda: window.code != "")
    yield window
    window.close()
    main.hide()


def expected_code(session: Session, language: str) -> str:
    return write(language, prepare_snippet_request(PROFILE, session.next_request.build(), (Secret(CANARY),))).text


def test_window_shows_the_code_of_each_language(qtbot: QtBot, window: GetCodeWindow, session: Session) -> None:
    def shown(code: str, refused: bool) -> bool:
        return window.code == code and window.refusal.isVisible() == refused

    for row in LANGUAGES:
        window.set_language(row.id)
        code = expected_code(session, row.id)
        qtbot.waitUntil(partial(shown, code, "chat" not in row.protocols))
        assert window.copy_button.isEnabled() == bool(code)
        assert window.install.isVisible() == (bool(row.install) and bool(code))
        assert window.install.text() == row.install


def test_key_in_the_prompt_is_masked(qtbot: QtBot, window: GetCodeWindow, session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, f"My key is {CANARY}."))
    qtbot.waitUntil(lambda: "My key is" in window.code)
    assert CANARY not in window.code + window.view.text() + window.notes.text()
    assert "masked" in window.notes.text()
    QTest.mouseClick(window.copy_button, Qt.MouseButton.LeftButton)
    assert CANARY not in QGuiApplication.clipboard().text()


def test_copy_copies_shortened_code_whole(qtbot: QtBot, window: GetCodeWindow, session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "x" * 50_000))
    qtbot.waitUntil(lambda: len(window.code) > 50_000)
    assert len(window.view.text()) < 10_000
    assert SHORTENED in window.notes.text()
    QTest.mouseClick(window.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == window.code
    assert window.copy_button.text() == "Copied"
