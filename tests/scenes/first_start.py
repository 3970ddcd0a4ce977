"""Scenes of the first start and of what stands beside the work: connecting, the guide, help, about, a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from playground.engine.gateways.known import KnownGateway
from playground.engine.gateways.profiles import Profile
from playground.ui.features.first_start.guide import HINTS
from playground.ui.features.gateways.connect_dialog import ConnectDialog
from playground.ui.features.gateways.own_service_dialog import OwnServiceDialog
from playground.ui.features.help.help_window import HelpWindow
from playground.ui.features.help.update_dialog import UpdateDialog
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.report import report
from playground.ui.shell.features import FIRST_START, HELP
from tests.scenes.registry import SMALL, WIDE, scene
from tests.scenes.stage import SceneError, Stage
from tests.support.fault_server import FaultServer, hold, keep, send, whole

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


@scene()
async def welcome_samples(stage: Stage) -> None:
    """The welcome page with the line of the sample under the focus."""
    stage.fresh("demo-chat")
    pills = [one for one in stage.window.pane.welcome.findChildren(QPushButton) if one.property("kind") == "pill"]
    pills[0].setFocus()


@scene(sizes=WIDE)
async def sample_opened(stage: Stage) -> None:
    """A sample, open and ready to run, with the line on what it shows."""
    stage.act("sample.schema")


@scene()
async def sample_real_tools(stage: Stage) -> None:
    """The sample of a real server: one call was answered by it, the other is to be asked."""
    stage.act("sample.servers")
    await stage.session.run()
    await stage.until(lambda: bool(stage.session.debugger.waiting), "the dice")
    await stage.scroll_to_turn(2)
    await stage.settle()


@scene()
async def sample_evaluation(stage: Stage) -> None:
    """The sample evaluation, open on its page and ready to run, with the line on what it shows."""
    stage.act("sample.evaluation")


@scene()
async def connect_empty(stage: Stage) -> None:
    """The first step, nothing typed."""
    stage.act("gateway.connect")


@scene(sizes=SMALL)
async def connect_pasted(stage: Stage) -> None:
    """An endpoint's path and a key with its header pasted: both put right, and said so."""
    await _typed(stage, "https://gateway.example/v1/chat/completions", f"Authorization: Bearer {KEY}\n")


@scene(sizes=SMALL)
async def connect_plain_http(stage: Stage) -> None:
    """Plain http to another machine: nothing is sent without a yes."""
    dialog = await _typed(stage, "http://gateway.example/v1")
    dialog.next()
    await stage.until(lambda: dialog.first.message.isVisible(), "the question")


async def _searched(stage: Stage, words: str) -> ConnectDialog:
    stage.act("gateway.connect")
    dialog = _open(ConnectDialog)
    QTest.keyClicks(dialog.first.address.edit, words)
    await stage.settle()
    return dialog


@scene()
async def connect_search(stage: Stage) -> None:
    """Part of a name, and the services that fit."""
    await _searched(stage, "open")


@scene()
async def connect_service(stage: Stage) -> None:
    """A service is filled in; its usual variable is set, and is offered."""
    with _environment(GROQ_API_KEY=KEY):
        dialog = await _searched(stage, "groq")
        QTest.keyClick(dialog.first.address.edit, Qt.Key.Key_Return)
        await stage.settle()


@scene()
async def connect_variable(stage: Stage) -> None:
    """The key comes from a variable that is set."""
    with _environment(OPENROUTER_API_KEY=KEY):
        dialog = await _searched(stage, "openrouter")
        QTest.keyClick(dialog.first.address.edit, Qt.Key.Key_Return)
        dialog.first.key.offers[0].click()
        await stage.settle()


@scene()
async def connect_blanks(stage: Stage) -> None:
    """A service whose address has a name to be filled in, pressed on too early."""
    dialog = await _searched(stage, "azure")
    QTest.keyClick(dialog.first.address.edit, Qt.Key.Key_Return)
    dialog.next()
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
async def connect_nearby_odd(stage: Stage) -> None:
    """One that says nothing, one with an error of many words, and several that usually listen at one port."""
    with FaultServer() as one, FaultServer() as two, FaultServer() as three:
        one.play(hold())
        words = "The header that says where this is to go is required, " * 8
        two.play(send(whole(400, "application/json", json.dumps({"message": words}).encode())))
        three.play(send(whole(200, "application/json", b"[]")))
        _kept(stage, "Slow server with quite a long name, as people give them, that goes on and on", one.port)
        _kept(stage, "Router", two.port)
        for name in ("A", "B", "C", "D"):
            _kept(stage, f"Server {name}", three.port)
        await _looked(stage)


@scene(sizes=SMALL)
async def connect_nearby_models(stage: Stage) -> None:
    """One of this computer was taken with a click: its models are the next thing there is."""
    with FaultServer() as one:
        one.play(send(whole(200, "application/json", _models(12, "one"))))
        _kept(stage, "Local server", one.port, signatures=[{"owner": "one"}])
        dialog = await _looked(stage)
        button = dialog.nearby.rows[0].button
        assert button is not None
        button.click()
        await stage.until(lambda: dialog.pages.currentWidget() is dialog.third, "the models")


@scene()
async def connect_services(stage: Stage) -> None:
    """All known services, one of the person's own among them."""
    dialog = await _searched(stage, "")
    own = KnownGateway(
        id="own", name="A team’s gateway", base_url="https://{team}.ai.example/v1", note="Ask Kim for a key."
    )
    dialog._known.keep(own)
    dialog.first.services.all.click()
    dialog.fourth.list.setCurrentRow(0)
    await stage.settle()


@scene()
async def connect_own_service(stage: Stage) -> None:
    """A service of the person's own, refused for a key in the wrong place."""
    dialog = await _searched(stage, "https://ai.team.example/v1")
    dialog.first.services.keep.click()
    own = _open(OwnServiceDialog)
    own.variables.setText(KEY)
    own.keep_button.click()
    await stage.settle()


@scene(sizes=WIDE)
async def connect_testing(stage: Stage) -> None:
    """The test under way."""
    dialog = await _typed(stage, "https://gateway.example/v1")
    dialog.second.begin("gateway.example")
    dialog._go_to(1)


@scene()
async def connect_works(stage: Stage) -> None:
    """The test went well."""
    await _tested(stage, stage.app.demo.start())


@scene(sizes=SMALL)
async def connect_version(stage: Stage) -> None:
    """A well-known proxy without its version: all but messages is there, and the address that has it is offered."""
    with FaultServer() as server:
        server.play(send(whole(404, "application/json", b'{"detail": "Not Found"}')), keep())
        models = send(whole(200, "application/json", b'{"data": [{"id": "small"}, {"id": "large"}]}'))
        there = send(whole(400, "application/json", b'{"error": {"message": "messages is missing"}}'))
        for path in ("/chat/completions", "/v1/chat/completions", "/v1/messages"):
            server.play_at(path, there, keep())
        for path in ("/models", "/v1/models"):
            server.play_at(path, models, keep())
        await _tested(stage, server.url.removesuffix("/v1"))


@scene()
async def connect_no_key(stage: Stage) -> None:
    """A gateway that answers 500 to everything without a key."""
    with FaultServer() as server:
        server.play(send(whole(500, "text/plain", b"Internal Server Error")), keep())
        await _tested(stage, server.url, key="")


@scene()
async def connect_model(stage: Stage) -> None:
    """The models of a gateway, one of them chosen; no keyring here, which is said."""
    dialog = await _tested(stage, stage.app.demo.start())
    dialog.next()
    dialog.third.models.step(1)


@scene()
async def connect_401(stage: Stage) -> None:
    """The key is refused."""
    body = b'{"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error"}}'
    await _answered(stage, whole(401, "application/json", body))


@scene(sizes=SMALL)
async def connect_proxy(stage: Stage) -> None:
    """The proxy that the environment names is not there."""
    with _environment(HTTPS_PROXY="http://127.0.0.1:9"):
        await _tested(stage, "https://gateway.example/v1")


async def _answered(stage: Stage, answer: bytes, path: str = "") -> None:
    with FaultServer() as server:
        server.play(send(answer))
        await _tested(stage, server.url.removesuffix("/v1") + path if path else server.url)


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


@scene(tokens_per_second=30)
async def guide_reasoning(stage: Stage) -> None:
    """The second hint: reasoning under way."""
    await _hint(stage, 1)
    await stage.until(lambda: len(stage.growing("reasoning")) > 60, "some reasoning")


@scene()
async def guide_calls(stage: Stage) -> None:
    """The third hint: the calls wait."""
    await _hint(stage, 2)


@scene(sizes=WIDE)
async def guide_frames(stage: Stage) -> None:
    """The last hint, over the timeline."""
    await _hint(stage, len(HINTS) - 1)


@scene()
async def help_page(stage: Stage) -> None:
    """A page of the help."""
    stage.app.actions.of(HELP).open_help("what-is-stored-where")


@scene(sizes=WIDE)
async def help_evaluating(stage: Stage) -> None:
    """The page on evaluations, with its table of words."""
    stage.app.actions.of(HELP).open_help("evaluating")


@scene(sizes=WIDE)
async def help_search(stage: Stage) -> None:
    """Pages that hold a word, which is marked."""
    stage.act("help.open")
    dialog = _open(HelpWindow)
    dialog.field.setText("keyring")


@scene()
async def about(stage: Stage) -> None:
    """Version and licences."""
    stage.act("help.about")


@scene()
async def updates(stage: Stage) -> None:
    """The setting for updates, with an address that is not one."""
    stage.act("help.updates")
    dialog = _open(UpdateDialog)
    dialog.address.setText("http://updates.example/latest.json")
    dialog.now.click()
    await stage.until(lambda: dialog.now.isEnabled(), "an answer")


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


@scene(sizes=SMALL)
async def crash_offered(stage: Stage) -> None:
    """What the next start says."""
    from playground.app import LAST_ENDED

    stage.window.pane.notice.say(LAST_ENDED, "Show report", stage.window.raise_)
