"""A secret is removed from all that is stored of an experiment, to the last page."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Image, Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn
from playground.engine.evaluation.provider import Answer, AnswerResult
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Store, StoreError
from playground.engine.library.store.backups import check_copy, list_backups
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.gateway.redact import MASK
from tests.engine.exchanges import exchange
from tests.engine.library.store.conftest import sound
from tests.protocols.streams import chunk
from tests.support.editors import edit_in_place
from tests.support.eventually import eventually

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
PIECES = [KEY[index : index + 8] for index in range(len(KEY) - 7)]
UNRELATED = "sk-other+0123456789abcdefghij"


def leaks(data: bytes) -> list[str]:
    """Pieces of the key, also as the index has them, in small letters and without signs."""
    words = [word for word in ("canary", "zq7", "2xvb", "9jt", "lm4") if word.encode() in data]
    return [piece for piece in PIECES if piece.encode() in data] or words[3:]


def stored(path: Path) -> bytes:
    """Return all files of a store: its log, unused pages, backups and answers included."""
    files = sorted(file for file in path.parent.rglob("*") if file.is_file() and file.suffix != ".json")
    return b"".join(file.read_bytes() for file in files)


def fill(session: Session, name: str) -> None:
    failure = Failure(kind=FailureKind.HTTP, message=f"Incorrect \ud83d key {KEY}", body=f'{{"k":"{KEY}"}}')
    question = Turn(
        id=f"{name}1", role=Role.USER, parts=(Text(text=f"{name}: \ud83d why is {KEY} refused? 7"), picture())
    )
    outcome = Outcome(ending=Ending.FAILED, failure=failure, exchange=f"{name}-whole")
    answer = Turn(id=f"{name}2", role=Role.ASSISTANT, parent=question.id, parts=(Text(text=KEY),), outcome=outcome)
    session.load(session.next_request.build(question))
    session.history.transcript = Transcript({question.id: question, answer.id: answer}, answer.id)
    session.change(title=f"About {KEY} and {UNRELATED}")


def picture() -> Image:
    return Image(url=f"https://pictures.example/{'a' * 600}?key={KEY}")


def tapes(name: str) -> list[Any]:
    """Exchanges of today: opening a store drops the bodies of old ones."""
    letters = [(index / 100, chunk({"content": letter})) for index, letter in enumerate(KEY)]
    now = time.time()
    return [
        exchange([(0.1, b'{"said": "'), (0.2, KEY.encode()), (0.3, b'"}')], id=f"{name}-whole", started_at=now),
        exchange(letters, id=f"{name}-letters", started_at=now),
        exchange([(0.1, chunk({"content": "none, but ends with s"}))], id=f"{name}-none", started_at=now),
        exchange(id=f"{name}-asked", asked={"messages": [{"content": KEY}]}, started_at=now),
    ]


async def begin(gateways: Gateways, path: Path) -> tuple[Workspace, Store, list[str]]:
    """Start a workspace with two experiments that are full of the key, one of them in the trash, and a backup."""
    workspace = Workspace(gateways, Store(path))
    store = workspace.store
    assert store is not None
    await workspace.start()
    ids = []
    for name in ("a", "b"):
        session = workspace.current if name == "a" else workspace.new()
        fill(session, name)
        for recorded in tapes(name):
            session.exchanges.keep(recorded)
            store.keep_tape(session.id, recorded)
        ids.append(session.id)
    await workspace.flush()
    await workspace.close()
    workspace = Workspace(gateways, Store(path))
    store = workspace.store
    assert store is not None
    await workspace.start()
    await eventually(lambda: bool(list_backups(path)), "a backup")
    return workspace, store, ids


async def test_removed_secret_is_in_no_page_of_the_store_its_backups_and_answers(
    gateways: Gateways, path: Path
) -> None:
    workspace, store, ids = await begin(gateways, path)
    answer = Answer(digest="d", repeat=1, case="c", column="", created_at=0.0, preview=f"said {KEY}")
    await workspace.answers.add(ids[0], [AnswerResult(answer)])
    assert leaks(stored(path))
    before = await store.tape(ids[0], "a-none")
    session = await workspace.show(ids[0])
    edit_in_place(session, "a1", f"edited {KEY}")
    assert await workspace.remove_secret(ids[0], Secret(KEY)) > 5
    assert [turn.text for turn in session.transcript.path] == [f"edited {MASK}", MASK]
    assert session.title == f"About {MASK} and {UNRELATED}"
    assert not session.undo()
    assert not any(leaks(repr(exchange).encode()) for exchange in session.exchanges.values())
    for name in ("a-whole", "a-letters", "a-asked"):
        tape = await store.tape(ids[0], name)
        assert tape is not None
        assert MASK.encode() in tape.body + tape.request_body
        assert sum(len(read.data) for read in tape.reads) == tape.size
    assert await store.tape(ids[0], "a-none") == before, "an exchange without it is unchanged"
    assert leaks(stored(path)), "another experiment still has it"
    assert await workspace.remove_secret(ids[0], Secret(KEY)) == 0, "once is enough"
    assert not leaks(repr(await workspace.answers.load(ids[0])).encode())
    session.change(title="Goes on")
    assert await workspace.remove_secret(ids[1], Secret(KEY)) > 5
    assert not leaks(stored(path)), "while it is open"
    await workspace.close()
    assert not leaks(stored(path))
    assert sound(path)
    for backup in list_backups(path):
        check_copy(backup.path)
        assert sound(backup.path)


@pytest.mark.parametrize(("secret", "words"), [("short", "at least 8"), ("assistant", "word of the file format")])
async def test_secret_that_cannot_be_removed_is_refused(
    secret: str, words: str, gateways: Gateways, path: Path
) -> None:
    workspace, _, ids = await begin(gateways, path)
    with pytest.raises(StoreError, match=words):
        await workspace.remove_secret(ids[0], Secret(secret))
    await workspace.close()


async def test_erased_experiment_is_in_no_free_page(gateways: Gateways, path: Path) -> None:
    workspace, store, ids = await begin(gateways, path)
    for backup in await store.backups():
        os.unlink(backup.path)  # noqa: PTH108
    for experiment_id in ids:
        workspace.delete(experiment_id)
    workspace.erase(ids)
    await workspace.flush()
    await workspace.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (0,)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not [piece for piece in PIECES if piece.encode() in stored(path)]


async def test_known_secrets_that_are_words_of_the_rows_do_not_spoil_them(gateways: Gateways, path: Path) -> None:
    store = Store(path, gateways.keys.known_secrets)
    workspace = Workspace(gateways, store)
    await workspace.start()
    session = workspace.current
    for word in ("assistant", "reasoning", "response", "http_version"):
        await gateways.keys.set(word, "https://gateway.example:443", Secret(word))
    fill(session, "a")
    await workspace.flush()
    loaded = await store.load(session.id)
    assert [turn.role for turn in loaded.turns] == [Role.USER, Role.ASSISTANT]
    await workspace.close()
