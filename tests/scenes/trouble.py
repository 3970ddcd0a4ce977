"""Scenes of what goes wrong: every error card, and what the test of a gateway finds."""

from __future__ import annotations

import json
import socket

from PySide6.QtGui import QGuiApplication

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.gateway.connection import Timeouts
from tests.scenes.registry import scene
from tests.scenes.stage import Stage
from tests.support.fault_server import FaultServer, head, keep, send, whole

TALL = ("900x2600",)
REFUSED = "http://127.0.0.1:9/v1"


@scene(sizes=TALL)
async def errors_of_status(stage: Stage) -> None:
    """What each refusal says and offers, from 400 to 504."""
    await _at_demo(stage, "no second try", retries=0)
    _only_the_turns(stage)
    for status in ("400", "402", "403", "404", "500", "503", "504", "429=300"):
        await stage.ask(f"Hello !{status}")


@scene(sizes=("900x3400",))
async def errors_told(stage: Stage) -> None:
    """Refusals that say what is wrong: each has words and buttons of its own, whatever their status."""
    _only_the_turns(stage)
    with FaultServer() as server:
        await _at(stage, "scripted", server.url)
        for status, message in (
            (400, "There are no healthy deployments for this model. Received Model Group=demo-chat"),
            (
                400,
                "This model's maximum context length is 4097 tokens. Your messages resulted in 5000 tokens.",
            ),
            (400, "Either x-portkey-config or x-portkey-provider header is required"),
            (400, "Unsupported value: 'temperature' does not support 0.2 with this model."),
            (400, "registry.example/gemma does not support tools"),
            (400, "No connected db."),
            (404, "Not Found"),
            (429, "Your credit balance is too low to access the API."),
            (500, "Internal Server Error"),
            (418, ""),
        ):
            body = json.dumps({"error": {"message": message}}).encode() if message else b""
            server.play(send(whole(status, "application/json", body)), keep())
            await stage.ask("Hello")
        server.play(send(head(), b"data: [DONE]\n\n"))
        await stage.ask("Hello")


@scene(sizes=("900x3000",))
async def errors_of_connection(stage: Stage) -> None:
    """No connection, no time, no end: what each says, and what of the answer stays."""
    _only_the_turns(stage)
    demo = stage.app.demo.start()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes a connection and never says a word
        port = silent.getsockname()[1]
        for prompt, profile in (
            ("Is anybody there?", Profile(name="nobody", base_url=REFUSED, retries=0)),
            ("Is it safe?", Profile(name="no TLS", base_url=demo.replace("http:", "https:"), retries=0)),
            (
                "Will it answer?",
                Profile(name="silent", base_url=f"http://127.0.0.1:{port}/v1", retries=0, timeouts=Timeouts(first=0.2)),
            ),
        ):
            stage.session.change(profile_id=stage.app.gateways.store.add_profile(profile).id)
            stage.session.change(model="demo-chat")
            await stage.ask(prompt)
    for said in (b"SSH-2.0-OpenSSH_9.2\r\n", head(200, None, f"X-Long: {'a' * 200_000}")):
        with FaultServer() as server:
            server.play(send(said))
            await _at(stage, "odd", server.url)
            await stage.ask("Who is there?")
    await _at_demo(stage, "impatient", retries=0, timeouts=Timeouts(idle=0.3))
    for prompt in ("!long=30 !stall=5", "!long=30 !cut", "!long=30 !error", "!empty", "!html", "!length !long=30"):
        await stage.ask(f"Tell me a little {prompt}")


async def _at_demo(stage: Stage, name: str, *, retries: int, timeouts: Timeouts | None = None) -> None:
    """Go on at the demo gateway by its address, under settings of its own."""
    gateways = stage.app.gateways
    profile = Profile(name=name, base_url=stage.app.demo.start(), retries=retries, timeouts=timeouts or Timeouts())
    kept, _ = await store_secret(gateways.store.add_profile(profile), gateways.keys, Secret("a-key"))
    stage.session.change(profile_id=gateways.store.update(kept).id)
    stage.session.change(model="demo-chat")


async def _at(stage: Stage, name: str, url: str) -> None:
    """Go on at a gateway that wants no key, without a second try."""
    stage.session.change(
        profile_id=stage.app.gateways.store.add_profile(Profile(name=name, base_url=url, retries=0)).id
    )
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
