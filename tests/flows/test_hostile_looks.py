"""However large what is looked at, the window answers meanwhile; the benchmark ``hostile`` holds it to 50 ms."""

from __future__ import annotations

import json
import sys

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from playground.domain import debugging
from playground.ui.shell.features import RAW_PANEL
from playground.ui.shell.window_actions import AHEAD
from tests.flows.conftest import Person, Stage
from tests.hostile.gaps import LIMIT, MARGIN, PASSES
from tests.hostile.in_window import warm_up
from tests.hostile.looks import LOOKS, Look, listed, looked_at
from tests.support.slow import slow_except

SMOKE = "a search finds thousands of experiments", "a list of deviations becomes longer"


@pytest.mark.parametrize(
    "look", slow_except([look for look in LOOKS if look.name in SMOKE], LOOKS), ids=lambda look: look.name
)
def test_the_window_answers_meanwhile(stage: Stage, look: Look) -> None:
    async def scene(person: Person) -> None:
        await warm_up(person.app)
        gap = await looked_at(person.app, look, LIMIT * MARGIN, PASSES)
        assert gap <= LIMIT * MARGIN, f"{gap * 1000:.0f} ms"

    stage.play(scene)


def test_what_is_typed_while_a_text_is_formatted_stays(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window, text = person.app.window, listed(20_000)
        await person.do(lambda: window.side.show_page("Raw"))
        editor = window.panels.of(RAW_PANEL).body.editor
        await person.do(lambda: editor.setPlainText(text))

        def format_and_type() -> None:
            editor.format_json()
            assert person.find(QLabel, inside=editor)[0].text() == "Formatting…"
            QTest.keyClicks(editor, " ")

        await person.do(format_and_type)
        await person.until(lambda: not person.find(QLabel, inside=editor), "the end")
        assert editor.text() == f" {text}"
        await person.do(editor.format_json)
        await person.until(lambda: editor.document().blockCount() > 1, "the text, laid out")
        assert json.loads(editor.text()) == json.loads(text)
        assert not person.find(QLabel, inside=editor)

    stage.play(scene)


def test_what_reads_paths_is_loaded_once_a_path_can_be_typed(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        debugging.load_paths.cache_clear()
        await person.do(person.app.window.action("debug.rules").trigger)
        await person.until(lambda: debugging.load_paths.cache_info().currsize, "the reader")

    stage.play(scene)


def test_what_a_window_may_not_wait_for_is_loaded_in_a_calm_moment(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        ahead = person.app.actions._ahead
        await person.until(lambda: ahead.busy or set(AHEAD) <= set(sys.modules), "its beginning")
        await person.until(lambda: not ahead.busy, "its end")
        assert set(AHEAD) <= set(sys.modules)

    stage.play(scene)
