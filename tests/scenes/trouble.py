"""Scenes of what goes wrong: every error card, and what the test of a gateway finds."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from playground.domain.transcript import Role, make_turn
from tests.scenes.registry import scene
from tests.scenes.stage import Stage


@scene()
async def hidden_characters(stage: Stage) -> None:
    """Hidden characters are marked unless their script needs them, and a copy of them is reported."""
    stage.fresh("demo-chat")
    request = (
        "Pay\u202e 100\u202c to\u200b Bo\u2060b, so\u00adft, \u3164\u2800, a\u200eb, 葛\U000e0100城\U000e0069\U000e0067"
    )
    stage.session.turns.add_turn(make_turn(Role.USER, request))
    answer = (
        "Left alone: ❤️ 1️⃣ 👩🏽‍💻 🏳️‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿\n\nمی‌خواهم کتاب‌ها را بخوانم\n\nשלום C++\u200e, עולם\n\n"
        "क्‍ष ශ්‍රී ⠓⠑⠀⠺⠕\n\n```\ncode = 'a\u3164b\ufe0f' ❤️\n```\n"
    )
    stage.session.turns.add_turn(make_turn(Role.ASSISTANT, answer))
    await stage.settle()
    QGuiApplication.clipboard().setText(request)
    await stage.settle()
