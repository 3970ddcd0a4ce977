"""The guide through the first experiment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.engine.session.session import Experiment
from playground.ui.features.first_start.guide import HINTS, Guide
from playground.ui.features.first_start.guide_bar import GuideBar


async def nobody(_profile_id: str) -> object:
    raise OSError("nothing is asked here")


class GuideDriver:
    def __init__(self, bar: GuideBar, folder: Path) -> None:
        self.bar = bar
        self.settings = QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat)
        self.opened: list[bool] = []
        self.guide = Guide(bar, self.settings, lambda: self.opened.append(True))
        self.session = Experiment(nobody, profile_id="demo").main  # type: ignore[arg-type]  # never called


@pytest.fixture
def driver(qtbot: QtBot, tmp_path: Path) -> Iterator[GuideDriver]:
    bar = GuideBar()
    qtbot.addWidget(bar)
    bar.resize(700, 60)
    yield GuideDriver(bar, tmp_path)
    bar.hide()


def answer(*more: ToolCall) -> Turn:
    """A turn that was received whole."""
    text = "" if more else "Oslo."
    return make_turn(Role.ASSISTANT, text, *more).model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)})


def complete_first_experiment(driver: GuideDriver, *, fork: bool = False) -> None:
    """Complete the first experiment before the guide begins."""
    session = driver.session
    session.turns.add_turn(make_turn(Role.USER, "How warm is it?"))
    maker = session.turns.add_turn(answer(ToolCall(id="c1", name="get_weather", arguments="{}")))
    session.debugger.fill()
    session.turns.add_turn(answer())
    if fork:
        session.turns.rewrite(session.transcript.truncate_after(maker))


@pytest.mark.parametrize("fork", [False, True])
def test_guide_skips_completed_steps(driver: GuideDriver, fork: bool) -> None:
    complete_first_experiment(driver, fork=fork)
    driver.guide.read_s = 0.0
    driver.guide.begin(driver.session)
    assert driver.guide.at == len(HINTS) - 2, "only what the person does is waited for"


def test_every_hint_can_be_skipped(driver: GuideDriver) -> None:
    driver.guide.begin(driver.session)
    for number in range(len(HINTS)):
        assert driver.guide.at == number
        assert driver.opened == [True] * (number == len(HINTS) - 1), "only its own hint opens the frames"
        driver.bar.act_button.click()
    assert driver.guide.done
