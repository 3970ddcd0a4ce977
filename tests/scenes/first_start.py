"""Scenes of the first start and of what stands beside the work: connecting, the guide, help, about, a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.services import KnownGateway
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.report import report
from playground.ui.shell.features import FIRST_START, HELP
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import SceneError, Stage
from tests.support.fault_server import FaultServer, send, whole

KEY = "sk-scene-0123456789abcdef"


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@scene()
async def connect_service(stage: Stage) -> None:
    """A service is filled in; its usual variable is set, and is offered."""
    with _environment(GROQ_API_KEY=KEY):
        stage.act("gateway.connect")
        address = stage.find(QLineEdit, inside=await stage.dialog("Connect a gateway"))
        await stage.person.do(partial(QTest.keyClicks, address, "groq"))
        await stage.settle()
        await stage.person.do(partial(QTest.keyClick, address, Qt.Key.Key_Return))
        await stage.settle()


def _kept(stage: Stage, name: str, port: int, **more: object) -> None:
    """A server of this computer among the person's own services, so that it is looked for."""
    content = {"id": name, "name": name, "base_url": f"http://127.0.0.1:{port}/v1", "keyless": True, **more}
    stage.app.workspace.gateways.services.put(KnownGateway.model_validate(content))


def _models(count: int, owner: str) -> bytes:
    return json.dumps({"data": [{"id": f"m{number}", "owned_by": owner} for number in range(count)]}).encode()


@scene()
async def connect_nearby(stage: Stage) -> None:
    """Servers of this computer: named by what they answer or by where they are, one of them set up, some no gateway."""
    with FaultServer() as one, FaultServer() as two, FaultServer() as three, FaultServer() as four:
        one.play(send(whole(200, "application/json", _models(12, "one"))))
        two.play(send(whole(401, "application/json", b'{"error": {"message": "No key"}}')))
        three.play(send(whole(200, "application/json", _models(1, "three"))))
        four.play(send(whole(200, "text/html", b"<html>")))
        _kept(stage, "Local server", one.port, signatures=[{"owner": "one"}])
        _kept(stage, "Team proxy", two.port)
        stage.app.workspace.gateways.store.add_profile(Profile(name="The one at home", base_url=three.url))
        _kept(stage, "Web page", four.port)
        stage.act("gateway.nearby")
        dialog = await stage.dialog("Connect a gateway")
        await stage.until(lambda: bool(stage.person.find(QPushButton, "Connect:", dialog)), "gateways nearby")
        await stage.settle()


@scene()
async def guide_calls(stage: Stage) -> None:
    """The third hint: the calls wait."""
    guide = stage.app.actions.of(FIRST_START).guide
    guide.read_s = 0.0
    stage.window.pane.welcome.sample_asked.emit()
    await stage.until(lambda: guide.at == 2, "the calls to wait")


@scene(sizes=WIDE)
async def help_evaluating(stage: Stage) -> None:
    """The page on evaluations, with its table of words."""
    stage.app.actions.of(HELP).open_help("evaluating")


@scene()
async def about(stage: Stage) -> None:
    """Version and licences."""
    stage.act("help.about")


@scene()
async def crash(stage: Stage) -> None:
    """An error nobody caught, and two more since."""
    stage.fresh("demo-chat")
    await stage.ask("What is a token?")
    control = CrashControl(stage.window, str)
    try:
        raise KeyError("the prompt")
    except KeyError as error:
        control._show(report(type(error), error, error.__traceback__, "the window"))
    if control.dialog is None:
        raise SceneError("no dialog opened")
    control.dialog.count(2)
