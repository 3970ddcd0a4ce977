"""Scenes of what goes wrong: every error card, and what the test of a gateway finds."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.gateway.connection import Timeouts
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

TALL = ("900x2600",)


@scene(sizes=TALL)
async def errors_of_status(stage: Stage) -> None:
    """What each refusal says and offers, from 400 to 504."""
    await _at_demo(stage, "no second try", retries=0)
    _only_the_turns(stage)
    for status in ("400", "402", "403", "404", "500", "503", "504", "429=300"):
        await stage.ask(f"Hello !{status}")


async def _at_demo(stage: Stage, name: str, *, retries: int, timeouts: Timeouts | None = None) -> None:
    """Go on at the demo gateway by its address, under settings of its own."""
    gateways = stage.app.gateways
    profile = Profile(name=name, base_url=stage.app.demo.start(), retries=retries, timeouts=timeouts or Timeouts())
    kept, _ = await store_secret(gateways.store.add_profile(profile), gateways.keys, Secret("a-key"))
    stage.session.change(profile_id=gateways.store.update(kept).id)
    stage.session.change(model="demo-chat")


def _only_the_turns(stage: Stage) -> None:
    for dock in (stage.window.left_dock, stage.window.right_dock, stage.window.bottom_dock):
        dock.hide()


@scene()
async def hidden_characters(stage: Stage) -> None:
    """What hides is marked, what its script needs is left alone, and a copy of it is told."""
    stage.fresh("demo-chat")
    asked = (
        "Pay\u202e 100\u202c to\u200b Bo\u2060b, so\u00adft, \u3164\u2800, a\u200eb, 葛\U000e0100城\U000e0069\U000e0067"
    )
    stage.session.turns.add_turn(make_turn(Role.USER, asked))
    answer = (
        "Left alone: ❤️ 1️⃣ 👩🏽‍💻 🏳️‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿\n\nمی‌خواهم کتاب‌ها را بخوانم\n\nשלום C++\u200e, עולם\n\n"
        "क्‍ष ශ්‍රී ⠓⠑⠀⠺⠕\n\n```\ncode = 'a\u3164b\ufe0f' ❤️\n```\n"
    )
    stage.session.turns.add_turn(make_turn(Role.ASSISTANT, answer))
    await stage.settle()
    QGuiApplication.clipboard().setText(asked)
    await stage.settle()
