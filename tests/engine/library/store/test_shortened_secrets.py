"""What is shortened is freed of secrets first: no piece of a key is left where a title, a line or a message was cut."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.files.experiment_file import write
from playground.engine.files.export import SUFFIXES, export
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.offered import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.library.experiment_summary import summarize
from playground.engine.library.store import Store
from playground.engine.library.workspace import Workspace
from playground.engine.requests.view import CUT_FROM, LONG_SHOWN, request_view
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import MASK, Redactor

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
PIECES = tuple(KEY[at : at + 8] for at in range(len(KEY) - 7))


def leaks(text: str | bytes) -> list[str]:
    plain = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return [piece for piece in PIECES if piece in plain.replace("\\/", "/")]


def ask(session: Session, text: str) -> None:
    session.load(session.next_request.build(Turn(id="t1", role=Role.USER, parts=(Text(text=text),))))


async def test_no_piece_of_a_key_is_in_a_title_a_line_or_a_file(gateways: Gateways, path: Path) -> None:
    await store_secret(Profile(name="g", base_url="http://127.0.0.1:9"), gateways.keys, Secret(KEY))
    workspace = Workspace(gateways, Store(path, gateways.keys.known))
    await workspace.start()
    known = gateways.keys.known()
    for lead, after in product((0, 5, 20, 39, 44, 46, 47, 48, 60), ("", " and more", "x" * 5000)):
        session = workspace.new()
        ask(session, f"{'w ' * (lead // 2)}{'w' * (lead % 2)}{KEY}{after}")
        assert len(session.title) <= 48 + len(MASK)
        experiment = summarize(session)
        assert not leaks(f"{session.title} {session.summary} {experiment.title} {experiment.summary}")
        for form in SUFFIXES:
            assert not leaks(export(snapshot(session), form, known, whole_tree=True))
        assert not leaks(write(snapshot(session), known))
        assert not leaks((await workspace.duplicate(session.id)).title)
    await workspace.flush()
    for _ in range(2):  # with the write-ahead log, and without it
        assert not any(leaks(file.read_bytes()) for file in path.parent.iterdir())
        await workspace.close()


async def test_no_piece_of_a_key_is_in_the_shortened_request(gateways: Gateways) -> None:
    for at in (LONG_SHOWN - len(KEY) - 1, LONG_SHOWN - 20, LONG_SHOWN - 8, LONG_SHOWN - 1, LONG_SHOWN):
        session = Workspace(gateways).blank(gateways.active_id)
        ask(session, f"{'w' * at}{KEY}{'w' * CUT_FROM}")
        view = request_view(session, [Secret(KEY)])
        assert view.cut
        assert not leaks(view.text)


def test_the_front_of_a_text_is_that_of_the_text_without_secrets() -> None:
    redactor = Redactor([KEY])
    for most in range(60):
        front = redactor.front(f"Say {KEY} {KEY}, yes" * 50, most)
        assert not leaks(front)
        assert front.startswith("Say "[:most])
        assert (MASK in front) == (most > 4)
    assert redactor.front("Say it", 3) == "Say"
    assert redactor.front("Say it", 30) == "Say it"
