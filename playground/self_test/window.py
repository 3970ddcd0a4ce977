"""The self-test inside the window: the real application on the real event loop, its state in a folder of the test's.

What is kept is kept there and found again: a key, an experiment in the store, the same in a file.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontDatabase, QGuiApplication, QIcon, QImage, QImageReader

from playground.engine.files import experiment_file
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.io.files import resource_root
from playground.engine.library.store import Mode, Store
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.protocols import MESSAGES, PROTOCOLS
from playground.self_test.report import MissingError, Report

if TYPE_CHECKING:
    from playground.app import App


COLOURS = 40  # fewer in a picture of the conversation, and there is nothing written in it

ANSWER = """## A heading

A list, with **weight** and `code`:

1. one
2. two

| name | value |
|------|-------|
| a    | 1     |

```python
def answer(question: str) -> int:  # a comment
    return 42 if question else 0
```
"""


def run(report: Report, folder: Path, seconds: float) -> None:
    """Open the window, do what a person would, close it. ``seconds`` is the longest wait for one state of it."""
    from playground.app import App, make_application
    from playground.demo.server import DemoConfig
    from playground.ui.widgets import loop

    qt = make_application()
    app = App(qt, demo=DemoConfig(tokens_per_second=400, time_to_first_token=0.02), folder=folder / "state")

    async def main() -> None:
        try:
            app.show()
            await _checks(report, app, folder, seconds)
        finally:
            app.quit()

    mistakes: list[str] = []
    before = sys.excepthook
    sys.excepthook = lambda kind, error, _: mistakes.append(f"{kind.__name__}: {error}")
    try:
        loop.run(qt, main)
    finally:
        sys.excepthook = before
    if mistakes:  # of tasks that are not awaited
        raise MissingError("; ".join(mistakes))
    if app.demo.server.running:
        raise MissingError("the demo gateway did not end with the application")


async def _checks(report: Report, app: App, folder: Path, seconds: float) -> None:
    with report.check("window"):
        await _until(app.window.isVisible, "the window", seconds)
        if not QFontDatabase.families():
            raise MissingError("no font was found; nothing can be written in the window")
        size = app.window.size()
        report.good(f"{QGuiApplication.platformName()}, {size.width()} × {size.height()}")
    with report.check("pictures"):
        report.good(_read_pictures())
    with report.check("conversation"):
        report.good(await _render(app, seconds))
    for protocol in PROTOCOLS:
        with report.check("stream"):
            report.good(await _stream(app, protocol, seconds))
    with report.check("code"):
        report.good(_write_code(app))
    with report.check("keyring"):
        await keep_a_key(report)
    with report.check("store"):
        report.good(await keep_an_experiment(app.workspace.current, folder))
    with report.check("file"):
        report.good(await write_a_file(app.workspace.current, folder))


def _read_pictures() -> str:
    """Icons are drawn, and images of the kinds a model takes can be read."""
    icons = sorted((resource_root() / "icons").glob("*.svg"))
    for path in icons:
        if QIcon(str(path)).pixmap(32, 32).isNull():
            raise MissingError(f"{path.name} cannot be drawn")
    kinds = {bytes(kind.data()).decode() for kind in QImageReader.supportedImageFormats()}
    if lacking := {"png", "jpeg", "gif", "webp", "svg"} - kinds:
        raise MissingError(f"images of these kinds cannot be read: {', '.join(sorted(lacking))}")
    return f"{len(icons)} icons; PNG, JPEG, GIF, WebP and SVG can be read"


async def _render(app: App, seconds: float) -> str:
    """A conversation with headings, a list, a table and code in colours comes out as more than one flat colour."""
    from playground.engine.requests.request_file import read_request
    from playground.ui.widgets.highlight import highlight

    kinds = {kind for line in highlight(ANSWER.splitlines(), "python") for kind, _ in line}
    if not {"keyword", "name", "comment", "number"} <= kinds:
        raise MissingError(f"code has no colours, only the kinds {sorted(kinds)}")
    session = app.workspace.new()
    session.load(
        read_request(
            {
                "playground": 1,
                "model": "demo-chat",
                MESSAGES: [{"role": "user", "content": "Show me."}, {"role": "assistant", "content": ANSWER}],
            }
        ),
        "Self-test",
    )
    turn = session.transcript.path[-1].id
    view = app.window.pane.view
    await _until(lambda: view.card(turn) is not None, "the answer's card", seconds)
    card = view.card(turn)
    if card is None:
        raise MissingError("the answer has no card")
    await _until(lambda: _colours(card.grab().toImage()) >= COLOURS, "something written in the answer's card", seconds)
    picture = app.window.grab().toImage()
    return f"drawn in {_colours(picture)} colours, {picture.width()} × {picture.height()} pixels"


def _colours(picture: QImage) -> int:
    return len({picture.pixel(x, y) for x in range(0, picture.width(), 2) for y in range(0, picture.height(), 2)})


async def _stream(app: App, protocol: str, seconds: float) -> str:
    """An answer of the demo gateway, over a socket, into the transcript and onto the tape."""
    from playground.engine.gateways.gateways import DEMO_ID
    from playground.engine.requests.request_file import read_request

    session = app.workspace.new()
    session.change(profile_id=DEMO_ID)
    request = {
        "playground": 1,
        "protocol": protocol,
        "model": "demo-messages",  # which is served under each
        MESSAGES: [{"role": "user", "content": "What is a server-sent event?"}],
    }
    session.load(read_request(request), f"Self-test, {protocol}")
    async with asyncio.timeout(seconds):
        await session.run()
    answer = session.transcript.path[-1]
    if answer.outcome is not None and answer.outcome.failure is not None:
        raise MissingError(answer.outcome.failure.message)
    if not answer.text:
        raise MissingError("the answer has no text")
    exchange = list(session.exchanges.values())[-1]
    events = exchange.body.count(b"\ndata:")  # not reads: a machine that is busy finds all of it at once
    if exchange.status != 200 or events < 3:
        raise MissingError(f"status {exchange.status}, {events} events: that is no stream")
    return f"{protocol}: {len(exchange.reads)} reads, {exchange.wire_bytes:,} bytes over {exchange.http_version}"


def _write_code(app: App) -> str:
    """The request as code, in every language that speaks its protocol."""
    from playground.engine.requests import snippets

    session = app.workspace.current
    profile = app.gateways.get(session.settings.profile_id)
    written = 0
    for language in snippets.LANGUAGES:
        if session.settings.protocol in language.protocols:
            result = snippets.write(language, snippets.prepare_snippet_request(profile, session.next_request.build()))
            if not (result.text or result.refusal):
                raise MissingError(f"nothing was written in {language.title}")
            written += 1
    return f"written in {written} ways"


async def _until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - what is waited for is a state of Qt's, which sets no event
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise MissingError(f"never came: {what}") from None


PROFILE = "self-test"
ORIGIN = "https://self-test.invalid"  # a name that no gateway can have


async def keep_a_key(report: Report) -> None:
    """Write a key of the test's own to the keyring, read it as a later start would, remove it."""
    keys, later = Keys(), Keys()
    state = await keys.check()
    if not state.available:
        report.absent(state.words)
        return
    secret = Secret(secrets.token_hex(16))
    stored = await keys.set(PROFILE, ORIGIN, secret)
    try:
        if not stored.available:
            raise MissingError(stored.words)
        result = await later.get(PROFILE, ORIGIN)
        if result is None or result.get_secret_value() != secret.get_secret_value():
            raise MissingError("the key stored was not the key found")
    finally:
        removed = await keys.delete(PROFILE, ORIGIN)
    if not removed.available:
        raise MissingError(removed.words)
    report.good("a key was stored in the system keyring, read back and removed")


async def keep_an_experiment(session: Session, folder: Path) -> str:
    """Write an experiment to a store, open the store again, find it there by its words."""
    path = folder / "experiments.db"
    saved = snapshot(session)
    store = Store(path)
    try:
        status = await store.open()
        if status.mode is not Mode.READY:
            raise MissingError(status.words)
        store.save(saved)
        await store.flush()
    finally:
        await store.close()
    store = Store(path)
    try:
        await store.open()
        read = await store.load(saved.id)
        if read.turns != saved.turns:
            raise MissingError("what was read from the store is not what was written")
        result = await store.find("server-sent")
        if [item.experiment.id for item in result] != [saved.id]:
            raise MissingError("the store does not find the words that are in it")
    finally:
        await store.close()
    return f"written, opened again, found; {path.stat().st_size:,} bytes"


async def write_a_file(session: Session, folder: Path) -> str:
    """Write an experiment file and open it."""
    path = folder / f"self-test{experiment_file.SUFFIX}"
    saved = snapshot(session)
    experiment_file.save(path, saved)
    read = experiment_file.open_file(path)
    if {turn.id for turn in read.turns} != {turn.id for turn in saved.turns}:
        raise MissingError("what was read from the file is not what was written")
    return f"written and opened, {path.stat().st_size:,} bytes"
