"""The guide by itself: it follows an experiment, leaves time to read, and remembers that it was done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.engine.session.session import Session
from playground.ui.features.first_start.guide import HINTS, Guide
from playground.ui.features.first_start.guide_bar import GuideBar


async def nobody(_profile_id: str) -> object:
    raise OSError("nothing is asked here")


class Stand:
    def __init__(self, bar: GuideBar, folder: Path) -> None:
        self.bar = bar
        self.settings = QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat)
        self.opened: list[bool] = []
        self.guide = Guide(bar, self.settings, lambda: self.opened.append(True))
        self.session = Session(nobody, profile_id="demo")  # type: ignore[arg-type]  # never called


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Iterator[Stand]:
    bar = GuideBar()
    qtbot.addWidget(bar)
    bar.resize(700, 60)
    yield Stand(bar, tmp_path)
    bar.hide()


def calls(session: Session) -> None:
    """A turn of the model with a call that waits."""
    session.turns.add_turn(make_turn(Role.USER, "How warm is it?"))
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", ToolCall(id="c1", name="get_weather", arguments="{}")))


def test_a_hint_stays_long_enough_to_be_read(qtbot: QtBot, stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, show = [], stand.bar.show_hint

    def note(*hint: Any, **more: Any) -> None:
        shown.append(time.monotonic())
        show(*hint, **more)

    monkeypatch.setattr(stand.bar, "show_hint", note)
    stand.guide.read_s = 1.2
    stand.guide.begin(stand.session)
    assert stand.bar.isVisible()
    calls(stand.session)
    assert stand.guide.at == 0, "it has only just appeared"
    qtbot.waitUntil(lambda: stand.guide.at == 2)
    assert all(after - before > 1 for before, after in pairwise(shown)), "the second one has its time, too"
    qtbot.wait(50)
    assert stand.guide.at == 2, "the call still waits"


def answer(*more: ToolCall) -> Turn:
    """A turn that was received whole."""
    text = "" if more else "Oslo."
    return make_turn(Role.ASSISTANT, text, *more).model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)})


def gone_through(stand: Stand, *, fork: bool = False) -> None:
    """All of the first experiment is over before anybody has looked."""
    session = stand.session
    session.turns.add_turn(make_turn(Role.USER, "How warm is it?"))
    maker = session.turns.add_turn(answer(ToolCall(id="c1", name="get_weather", arguments="{}")))
    session.debugger.fill()
    session.turns.add_turn(answer())
    if fork:
        session.turns.rewrite(session.transcript.truncate_after(maker))


@pytest.mark.parametrize("fork", [False, True])
def test_what_is_past_is_not_waited_for(stand: Stand, fork: bool) -> None:
    """Hints have their time to be read; whatever happens meanwhile, and however, counts."""
    gone_through(stand, fork=fork)
    stand.guide.read_s = 0.0
    stand.guide.begin(stand.session)
    assert stand.guide.at == len(HINTS) - 2, "only what the person does is waited for"


def test_an_answer_without_calls_is_enough(stand: Stand) -> None:
    stand.guide.read_s = 0.0
    stand.guide.begin(stand.session)
    stand.session.turns.add_turn(make_turn(Role.USER, "Hello"))
    stand.session.turns.add_turn(answer())
    assert stand.guide.at == len(HINTS) - 2


def test_calls_that_were_filled_in_lead_on_to_the_run(stand: Stand) -> None:
    stand.guide.read_s = 0.0
    stand.guide.begin(stand.session)
    calls(stand.session)
    assert "asks for tools" in stand.bar.words
    stand.session.debugger.fill()
    assert "otherwise Run does" in stand.bar.words


def test_no_hint_holds_anybody(stand: Stand) -> None:
    stand.guide.begin(stand.session)
    for number in range(len(HINTS)):
        assert stand.guide.at == number
        assert stand.opened == [True] * (number == len(HINTS) - 1), "only its own hint opens the frames"
        stand.bar.act_button.click()
    assert stand.guide.done


def test_skipping_ends_it_for_good(stand: Stand) -> None:
    stand.guide.begin(stand.session)
    done_before = stand.guide.done
    stand.bar.skip_button.click()
    assert not done_before
    assert stand.guide.done
    assert stand.guide.at == -1
    assert not stand.bar.isVisible()
    stand.guide.show_session(stand.session)
    assert not stand.bar.isVisible()
    calls(stand.session)
    assert not stand.bar.isVisible()


def test_the_hints_belong_to_one_experiment(stand: Stand) -> None:
    stand.guide.begin(stand.session)
    stand.guide.show_session(Session(nobody, profile_id="demo"))  # type: ignore[arg-type]  # never called
    assert not stand.bar.isVisible()
    stand.guide.show_session(stand.session)
    assert stand.bar.isVisible()


def test_a_narrow_bar_has_its_button_below(stand: Stand) -> None:
    stand.bar.resize(360, 120)
    stand.bar.show_hint(4, 5, "The answer was made from your results.", "Show the frames", last=False)
    assert stand.bar.act_button.isVisible()
    stand.bar.grab()  # laid out
    assert stand.bar.act_button.mapTo(stand.bar, stand.bar.act_button.rect().topLeft()).y() > 20
