"""The output format and extra fields in a real window with the demo gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest

from playground.demo.server import DemoServer
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.workspace import Workspace
from playground.ui.features import extra_fields
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.features.extra_fields.control import ExtraFieldsControl
from playground.ui.features.output.control import OutputControl
from playground.ui.features.output.panel import JSON_MODE, SCHEMA
from playground.ui.shell.main_window import MainWindow
from tests.engine.conftest import no_keyring
from tests.support.editors import edit_text
from tests.ui.conftest import ShowWidget


class OutputWindow:
    """A window on a workspace of its own, its side panel wired as in the application."""

    def __init__(self, folder: Path, demo: DemoServer) -> None:
        self.gateways = Gateways(ProfileStore(folder / "gateways.json"), Keys(backend=no_keyring), demo.start)
        self.workspace = Workspace(self.gateways)
        self.window = MainWindow(self.workspace, QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat))
        window = self.window
        self.controls = (
            OutputControl(self.workspace, window.panels.output, partial(window.side.show_page, "Output")),
            ExtraFieldsControl(
                self.workspace,
                window.panels.extra_fields,
                partial(window.side.show_page, "Parameters"),
                window.panels.parameters.section(extra_fields.TITLE).set_count,
            ),
        )
        self.workspace.current.change(model="demo-chat")
        self.follow()

    def follow(self) -> None:
        self.workspace.current.subscribe(lambda _change: self.show_session())
        self.window.pane.set_session(self.workspace.current)
        self.show_session()

    def show_session(self) -> None:
        for control in self.controls:
            control.show_session()

    async def ask(self, text: str) -> TurnCard:
        session = self.workspace.current
        session.turns.add_turn(make_turn(Role.USER, text))
        await session.run()
        card = self.window.pane.view.card(session.transcript.path[-1].id)
        assert card is not None
        return card


@pytest.fixture
def output_window(show_widget: ShowWidget, tmp_path: Path, gateway: DemoServer) -> Iterator[OutputWindow]:
    output_window = OutputWindow(tmp_path, gateway)
    show_widget(output_window.window, 1440, 900)
    yield output_window
    output_window.window.let_close()
    output_window.window.close()


def verdict(card: TurnCard) -> str:
    (view,) = card.findChildren(AnswerCheckView)
    return view.chip_text.words


async def test_format_and_extras_are_sent_and_the_answer_is_checked(
    output_window: OutputWindow, gateway: DemoServer
) -> None:
    panel = output_window.window.panels.output
    extra = output_window.window.panels.extra_fields
    panel.choose(SCHEMA)
    panel.insert_example()
    QTest.keyClicks(extra.body.editor, '{"x_extra": [1, 2]}')
    row = extra.headers.add_row()
    QTest.keyClicks(row.name, "X-Trace")
    QTest.keyClicks(row.value, "on")
    form = output_window.window.panels.parameters
    assert form.section(extra_fields.TITLE).count == "2"
    card = await output_window.ask("Extract the invoice.")
    request = gateway.requests[-1]
    body = json.loads(request.body)
    assert (body["response_format"]["json_schema"]["name"], body["x_extra"]) == ("invoice", [1, 2])
    assert request.header("X-Trace") == "on"
    assert verdict(card) == "Valid"
    session = output_window.workspace.current
    edit_text(session, session.transcript.path[-1].id, '{"vendor": 1, "items": [], "total": "x"}')
    assert verdict(card) == "2 schema errors"
    panel.choose(JSON_MODE)
    assert verdict(card) == "2 schema errors"  # it was asked for under the schema
    extra.body.replace_text('{"x_extra": [1, 2')
    await output_window.ask("Again")
    assert "x_extra" not in json.loads(gateway.requests[-1].body)
    assert extra.body.text == '{"x_extra": [1, 2'
    await output_window.gateways.aclose()
