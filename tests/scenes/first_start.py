"""Scenes of the first start and of what stands beside the work: connecting, the guide, help, about, a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from playground.engine.gateways.known import KnownGateway
from playground.engine.gateways.profiles import Profile
from playground.ui.features.first_start.guide import HINTS
from playground.ui.features.gateways.connect_dialog import ConnectDialog
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.report import report
from playground.ui.shell.features import FIRST_START, HELP
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import SceneError, Stage
from tests.support.fault_server import FaultServer, send, whole

W = TypeVar("W", bound=QWidget)
KEY = "sk-scene-0123456789abcdef"


def _open(kind: type[W]) -> W:
    found = next((w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()), None)
    if found is None:
        raise SceneError(f"{kind.__name__} did not open")
    return found


async def _typed(stage: Stage, address: str, key: str = KEY) -> ConnectDialog:
    stage.act("gateway.connect")
    dialog = _open(ConnectDialog)
    dialog.first.address.edit.setText(address)
    dialog.first.key.edit.setText(key)
    await stage.settle()
    return dialog


async def _tested(stage: Stage, address: str, key: str = KEY) -> ConnectDialog:
    dialog = await _typed(stage, address, key)
    dialog.next()
    await stage.until(lambda: dialog.second.headline.text().startswith("It "), "the test to end")
    return dialog


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


async def _searched(stage: Stage, words: str) -> ConnectDialog:
    stage.act("gateway.connect")
    dialog = _open(ConnectDialog)
    QTest.keyClicks(dialog.first.address.edit, words)
    await stage.settle()
    return dialog


@scene()
async def connect_service(stage: Stage) -> None:
    """A service is filled in; its usual variable is set, and is offered."""
    with _environment(GROQ_API_KEY=KEY):
        dialog = await _searched(stage, "groq")
        QTest.keyClick(dialog.first.address.edit, Qt.Key.Key_Return)
        await stage.settle()


def _kept(stage: Stage, name: str, port: int, **more: object) -> None:
    """A server of this computer among the person's own services, so that it is looked for."""
    content = {"id": name, "name": name, "base_url": f"http://127.0.0.1:{port}/v1", "keyless": True, **more}
    stage.app.workspace.gateways.services.keep(KnownGateway.model_validate(content))


async def _looked(stage: Stage) -> ConnectDialog:
    stage.act("gateway.nearby")
    dialog = _open(ConnectDialog)
    await stage.until(lambda: not dialog.nearby.looking, "the end of the look")
    await stage.settle()
    return dialog


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
        await _looked(stage)


@scene()
async def connect_works(stage: Stage) -> None:
    """The test went well."""
    await _tested(stage, stage.app.demo.start())


@scene()
async def connect_model(stage: Stage) -> None:
    """The models of a gateway, one of them chosen; no keyring here, which is said."""
    dialog = await _tested(stage, stage.app.demo.start())
    dialog.next()
    dialog.third.models.step(1)


async def _hint(stage: Stage, number: int, before: Callable[[], Awaitable[None]] | None = None) -> None:
    guide = stage.app.actions.of(FIRST_START).guide
    guide.read_s = 0.0
    stage.window.pane.welcome.sample_asked.emit()
    if number >= 3:
        await stage.until(lambda: guide.at == 2, "the calls to wait")
        stage.send(stage.session.transcript.unanswered()[0].id, '{"temp": 21}')
        await stage.begin(lambda: stage.send(stage.session.transcript.unanswered()[0].id, '{"temp": 9}'))
        await stage.idle()
    await stage.until(lambda: guide.at >= min(number, len(HINTS) - 2), f"hint {number + 1}")
    if number == len(HINTS) - 1:
        guide._act()


@scene()
async def guide_calls(stage: Stage) -> None:
    """The third hint: the calls wait."""
    await _hint(stage, 2)


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
