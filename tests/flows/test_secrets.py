"""A gateway says the key back in every place it has; it is not in the window, in a file or on the clipboard."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QComboBox, QPushButton, QWidget

from playground.engine.cassettes import cassette
from playground.engine.files.export import FORMATS, export
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.session.snapshot import snapshot
from tests.flows.conftest import Person, Stage
from tests.flows.pages.code import CodeWindow
from tests.flows.pages.dialogs import choose_file
from tests.flows.pages.inspector import Inspector
from tests.flows.test_store import opened
from tests.protocols.streams import data
from tests.support.fault_server import FaultServer, Step, head, send, sleep, whole

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
#: Nothing this long of it may be seen.
#: All tabs of the inspector and their segments; the first eight exist for a finished run without tools.
PLACES = (
    *(("Request", segment) for segment in ("Sent", "Next", "Compare")),
    *(("Response", segment) for segment in ("Assembled", "Events", "Raw", "Spec check")),
    ("Timeline", ""),
    *(("Tool calls", segment) for segment in ("List", "Sequence", "Servers")),
    ("Branches", ""),
)
PIECES = tuple(KEY[position : position + 8] for position in range(len(KEY) - 7))
ECHO = (f"X-Echo: {KEY}", f"X-Request-Id: {KEY}", f"Location: http://other.example/?key={KEY}")


def spelled(text: str) -> str:
    """Write JSON as some gateways do."""
    return text.replace("/", "\\/").replace("+", "\\u002b").replace("=", "\\u003D")


@lru_cache(10_000)  # a window says the same words in very many places
def leaks(text: str) -> list[str]:
    plain = text.replace("\\/", "/").replace("\\u002b", "+").replace("\\u003D", "=").replace("%2B", "+")
    return [piece for piece in PIECES if piece in plain]


def letters(size: int) -> list[str]:
    return [KEY[position : position + size] for position in range(0, len(KEY), size)]


def chat(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return data({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def chat_answer(size: int) -> list[bytes]:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": ""}}
    arguments = ['{"key": "', *letters(size), '"}']
    return [
        *(chat({"reasoning_content": text}) for text in ("I see ", *letters(size), ".")),
        *(chat({"content": text}) for text in ("It is ", *letters(size), ", **is** it?")),
        *(chat({"mystery": text}) for text in letters(size)),
        chat({"tool_calls": [call]}),
        *(chat({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}) for text in arguments),
        chat({}, "tool_calls") + b"data: [DONE]\n\n",
    ]


def block(number: int, begun: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield data({"type": "content_block_start", "index": number, "content_block": begun}, "content_block_start")
    for delta in deltas:
        yield data({"type": "content_block_delta", "index": number, "delta": delta}, "content_block_delta")
    yield data({"type": "content_block_stop", "index": number}, "content_block_stop")


def messages_answer(size: int) -> list[bytes]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    begun = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    arguments = ['{"key": "', *letters(size), '"}']
    return [
        data({"type": "message_start", "message": begun}, "message_start"),
        *block(
            0,
            {"type": "thinking", "thinking": ""},
            [
                *({"type": "thinking_delta", "thinking": text} for text in ("I see ", *letters(size), ".")),
                *({"type": "signature_delta", "signature": text} for text in letters(size)),
            ],
        ),
        *block(
            1,
            {"type": "text", "text": ""},
            ({"type": "text_delta", "text": text} for text in ("It is ", *letters(size), ", **is** it?")),
        ),
        *block(
            2,
            {"type": "tool_use", "id": "t1", "name": "look_up", "input": {}},
            ({"type": "input_json_delta", "partial_json": text} for text in arguments),
        ),
        data({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, "message_delta"),
        data({"type": "message_stop"}, "message_stop"),
    ]


WHOLE = {
    "id": KEY,
    "model": "m",
    "debug": [KEY],
    "choices": [{"index": 0, "message": {"content": f"It is {KEY}"}, "finish_reason": "stop"}],
}
ERROR = json.dumps(
    {"error": {"message": f"Incorrect API key provided: {KEY}.", "type": KEY, "code": KEY, "param": KEY}}
)
MODELS = json.dumps({"data": [{"id": "m-1"}, {"id": f"m-{KEY}", "display_name": KEY, "owned_by": KEY}]})


def events(expected: list[bytes]) -> list[Step]:
    return [
        send(head(200, "text/event-stream", *ECHO)),
        *(step for item in expected for step in (send(item), sleep(0.002))),
    ]


def cut(status: int, text: str) -> list[Step]:
    """A body in two reads, the key in both."""
    body, position = text.encode(), text.index("canary")
    first = head(status, "application/json", f"Content-Length: {len(body)}", *ECHO)
    return [send(first), send(body[:position]), sleep(0.05), send(body[position:])]


_MAY_BE_TEXT = ("QString", "QVariant", "PySide::PyObjectWrapper")
_TEXTS: dict[type[QWidget], list[str]] = {}


def text_properties(widget: QWidget) -> list[str]:
    """The names of its properties that are a text, or whatever was put in; found once for each class."""
    if type(widget) not in _TEXTS:
        meta = widget.metaObject()
        results = [meta.property(number) for number in range(meta.propertyCount())]
        _TEXTS[type(widget)] = [str(item.name()) for item in results if str(item.typeName()) in _MAY_BE_TEXT]
    return _TEXTS[type(widget)]


def texts_of(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Every text that a widget has, with what it is."""
    for name in text_properties(widget):
        value = widget.property(name)
        if isinstance(value, str):
            yield name, value
    for action in widget.actions():
        yield "action", f"{action.text()} {action.toolTip()} {action.statusTip()}"
    if isinstance(widget, QComboBox | QAbstractItemView) and widget.model() is not None:
        yield from ((f"item {role}", text) for role, text in items(widget.model()))
    if callable(result := getattr(widget, "text", None)):
        yield "text", str(result() if not isinstance(result, str) else result)


def items(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[tuple[int, str]]:
    above = parent if parent is not None else QModelIndex()
    for row in range(min(model.rowCount(above), 500)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(above)):
            index = model.index(row, column, above)
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.UserRole):
                yield role.value, str(model.data(index, role))
            if column == 0:
                yield from items(model, index)


def shown_in(widget: QWidget) -> Iterator[tuple[str, str]]:
    """The texts of a widget and of all in it."""
    for item in (widget, *widget.findChildren(QWidget)):
        yield from texts_of(item)


def search(place: str, widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        for what, text in texts_of(widget):
            assert not leaks(text), f"{place}: {what} of {type(widget).__name__}: {text[:300]!r}"


async def search_everything(person: Person, place: str, folder: Path) -> None:
    """All tabs, all that can be copied, all that can be written."""
    session, inspector = person.session, Inspector(person)
    search(place, QApplication.allWidgets())
    for title, segment in PLACES:
        await inspector.show_tab(title, segment)
        await person.do(lambda: None)
        search(f"{place}, {title}", [inspector.widget, *inspector.widget.findChildren(QWidget)])
        for button in inspector.find(QAbstractButton):
            if "opy" in button.text() + button.toolTip() + button.accessibleName():
                QGuiApplication.clipboard().setText("nothing")
                if not getattr(button, "menu", lambda: None)():
                    await person.do(button.click)
                assert not leaks(QGuiApplication.clipboard().text()), f"{place}, {title}: {button.text()}"
    for number in range(len(person.path)):
        message = await person.conversation.wait_for_message(number)
        QGuiApplication.clipboard().setText("nothing")
        await message.choose("Copy text")
        assert not leaks(QGuiApplication.clipboard().text())
    code = await CodeWindow.opened(person, "run.code")
    for position in range(code.request_count):
        await code.choose_request(position)
        await person.until(lambda: code.text, "some code")
        search(f"{place}, code {position}", [code.widget, *code.widget.findChildren(QWidget)])
        assert not leaks(code.text)
    await code.close()
    for name, action in (("one", "cassette.save"), ("all", "cassette.save-all"), ("har", "cassette.export")):
        file = folder / f"{place}-{name}.json"
        await choose_file(person, action, file)
        await person.until(file.exists, action)
    secrets = person.app.gateways.keys.known_secrets()
    for form in FORMATS:
        text = export(snapshot(session), form, secrets, whole_tree=True)
        assert not leaks(text), f"{place}: {form}"
    assert not leaks(repr(session.transcript)), "what is kept of the answer"
    assert not leaks(repr(list(session.exchanges.values())))


def search_files(folder: Path) -> None:
    results = [path for path in folder.rglob("*") if path.is_file()]
    assert results
    for path in results:
        text = path.read_bytes().decode("utf-8", "replace")
        assert not leaks(text), path
        if path.name.endswith((".cassette.json", "-all.json", "-one.json")):
            assert not leaks("".join(exchange.body.decode() for exchange in cassette.open_file(path).exchanges))


async def use_gateway(person: Person, server: FaultServer, protocol: str, key: Secret | None = None) -> Profile:
    """A gateway with that key, chosen for a new experiment."""
    gateways = person.app.gateways
    profile = gateways.store.add_profile(Profile(name="Echo", base_url=server.url, retries=0))
    if key is not None:
        profile, _ = await store_secret(profile, gateways.keys, key)
        gateways.store.update(profile)
    await person.do(person.app.actions._settings_changed)
    await person.do(person.app.workspace.new)
    await person.choose(await person.seen(QPushButton, "Gateway", person.app.window.bar), "Echo")
    await person.until(lambda: person.session.settings.profile_id == profile.id, "the gateway chosen")
    await person.do(lambda: person.session.change(protocol=protocol))
    await person.use_model("m-1")
    return profile


async def send_message(person: Person, text: str) -> None:
    """Paste a message into the composer, and run."""
    await person.do(partial(person.message.setPlainText, text))
    await person.press("Run", person.conversation.composer.widget)


def test_key_in_answers_is_never_shown_copied_or_written(stage: Stage, tmp_path: Path) -> None:
    paths = {"chat": "/v1/chat/completions", "messages": "/v1/messages"}
    with FaultServer() as server:
        server.play_at("/v1/models", cut(200, spelled(MODELS)))
        scripts: list[tuple[str, str, list[Step]]] = [
            ("letters", "messages", events(messages_answer(1))),
            ("halves", "chat", events(chat_answer(15))),
            ("escaped", "chat", cut(200, spelled(json.dumps(WHOLE)))),
            ("error", "chat", cut(401, ERROR)),
            ("redirect", "chat", [send(head(302, None, *ECHO))]),
            ("no http", "chat", [send(f"SSH-2.0 {KEY}\r\n".encode())]),
        ]

        async def scene(person: Person) -> None:
            await opened(person)
            await use_gateway(person, server, "chat", Secret(KEY))
            for name, protocol, script in scripts:
                server.play_at(paths[protocol], script)
                await person.do(person.app.workspace.new)
                await person.do(partial(person.session.change, protocol=protocol, model="m-1"))
                await send_message(person, "Which key?")
                await person.until(lambda: len(person.path) == 2, "an answer")
                await person.idle(2)
                await search_everything(person, name, tmp_path)
            assert sum("Which key?" in str(request.body) for request in server.requests) == len(scripts)

        stage.play(scene)
    search_files(tmp_path)


def test_key_removed_from_an_experiment_is_in_no_file(stage: Stage, tmp_path: Path) -> None:
    written = tmp_path / "written"
    written.mkdir()
    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": []}')))

        async def scene(person: Person) -> None:
            await opened(person)
            gateways, store = person.app.gateways, person.app.workspace.store
            assert store is not None
            profile = await use_gateway(person, server, "chat")
            for script in (events(chat_answer(9)), cut(401, ERROR)):
                server.play_at("/v1/chat/completions", script)
                turns = len(person.path)
                await send_message(person, f"Which key? Not {KEY}")
                await person.idle(turns + 2)
                if turns == 0:
                    person.session.turns.answer("call_1", "none")
            assert leaks(person.path[1].text), "an unknown secret cannot be redacted"
            await person.app.workspace.flush()
            assert any(leaks(file.read_bytes().decode("latin-1")) for file in files_of(store.path))
            profile, _ = await store_secret(profile, gateways.keys, Secret(KEY))
            await person.do(partial(gateways.store.update, profile))
            assert await person.app.workspace.remove_secret(person.session.id, Secret(KEY)) > 2
            assert not any(leaks(file.read_bytes().decode("latin-1")) for file in files_of(store.path))
            assert not leaks(f"{person.app.window.windowTitle()} {person.app.workspace.experiments}")
            assert not leaks(repr(person.path[-1].outcome))
            card = person.conversation.message(-1).widget
            search("the answer", [card, *card.findChildren(QWidget)])
            inspector = Inspector(person)
            for title, segment in PLACES[:8]:
                await inspector.show_tab(title, segment)
                await person.until(
                    lambda: not any(leaks(text) for _, text in shown_in(inspector.widget)), f"{title} without the key"
                )

            for name, action in (("one", "cassette.save"), ("all", "cassette.save-all"), ("har", "cassette.export")):
                await choose_file(person, action, written / f"{name}.json")
                await person.until((written / f"{name}.json").exists, action)
            code = await CodeWindow.opened(person, "run.code")
            for number in range(code.request_count):
                await code.choose_request(number)
                await person.until(lambda: code.text, "some code")
                assert not leaks(code.text)
            await code.close()
            for form in FORMATS:
                (written / form).write_text(export(snapshot(person.session), form, gateways.keys.known_secrets()))
            await choose_file(person, "file.save", written / "copy.playground.json")
            await person.until((written / "copy.playground.json").exists, "a copy")

        stage.play(scene)
    search_files(written)


def files_of(path: Path) -> list[Path]:
    """A store, and the log that is written ahead."""
    return [file for file in path.parent.iterdir() if file.name.startswith(path.name) and file.is_file()]
