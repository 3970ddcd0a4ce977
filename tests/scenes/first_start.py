"""Scenes of the first start and of what surrounds the work: connecting, the guide, help, about, a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from playground.engine.gateways.services import KnownGateway
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.report import report
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import SceneError, Stage

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


@scene()
async def services(stage: Stage) -> None:
    """The list of known services, searched, with one of the user's own."""
    own = KnownGateway(id="team", name="Our team", base_url="https://ai.team.example/v1", key_variables=("TEAM_KEY",))
    stage.app.gateways.services.put(own)
    stage.act("gateway.connect")
    wizard = await stage.dialog("Connect a gateway")
    stage.find(QAbstractButton, "Show all known services and servers", wizard).click()
    dialog = await stage.dialog("Services")
    stage.select("Known services and servers", "Our team", dialog)


@scene(sizes=WIDE)
async def help_evaluating(stage: Stage) -> None:
    """The page on evaluations, with its table of words."""
    stage.app.actions.features.help.open_help("evaluating")


@scene()
async def crash(stage: Stage) -> None:
    """An uncaught error, and two more since."""
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
