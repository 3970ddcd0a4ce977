"""What was stored before a secret was known is freed of it, to the last page, and nothing else changes."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Image, Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn
from playground.engine.gateways.fingerprints import Fingerprints
from playground.engine.gateways.offered import Gateways
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.io.database import connect
from playground.engine.library.cleaning import clean
from playground.engine.library.store import Store
from playground.engine.library.store.cleaning import ScanPosition, look, put
from playground.engine.library.workspace import Workspace
from playground.engine.session.history import MAIN, Kept
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import MASK, Redactor
from tests.engine.exchanges import exchange
from tests.engine.library.store.conftest import sound
from tests.protocols.streams import chunk

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
PIECES = [KEY[at : at + 8] for at in range(len(KEY) - 7)]
OTHER = "sk-other+0123456789abcdefghij"


def leaks(data: bytes) -> list[str]:
    """Pieces of the key, also as the index has them, in small letters and without signs."""
    words = [word for word in ("canary", "zq7", "2xvb", "9jt", "lm4") if word.encode() in data]
    return [piece for piece in PIECES if piece.encode() in data] or words[3:]


def kept(path: Path) -> bytes:
    """All that the disk has of a store, the log that is written ahead and pages that are not used included."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()) if file.name.startswith(path.name))


def rows(path: Path) -> dict[str, list[Any]]:
    """Every row of every table of ours, to the byte."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        names = ["experiments", "settings", "drafts", "turns", "pasts", "images", "image_uses", "state", "unread"]
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in names}


def masked(found: Any) -> Any:
    if isinstance(found, bytes):
        # What cannot be UTF-8 for half of a character in it is spelled in ASCII; an answer was saved again.
        return found.replace(KEY.encode(), MASK.encode()).replace(b"\\u2022" * len(MASK), MASK.encode())
    if isinstance(found, dict):
        return {name: masked(inner) for name, inner in found.items()}
    return type(found)(map(masked, found)) if isinstance(found, list | tuple) else found


def fill(session: Session, name: str) -> None:
    failure = Failure(kind=FailureKind.HTTP, message=f"Incorrect \ud83d key {KEY}", body=f'{{"k":"{KEY}"}}')
    asked = Turn(id=f"{name}1", role=Role.USER, parts=(Text(text=f"{name}: \ud83d why is {KEY} refused? 7"), picture()))
    outcome = Outcome(ending=Ending.FAILED, failure=failure, exchange=f"{name}-whole")
    answer = Turn(id=f"{name}2", role=Role.ASSISTANT, parent=asked.id, parts=(Text(text=KEY),), outcome=outcome)
    session.load(session.next_request.build(asked))
    session.history.transcript = Transcript({asked.id: asked, answer.id: answer}, answer.id)
    session.change(title=f"About {KEY} and {OTHER}")


def picture() -> Image:
    return Image(url=f"https://pictures.example/{'a' * 600}?key={KEY}")


def tapes(name: str) -> list[Any]:
    """Exchanges of today: the bodies of old ones are let go when a store is opened."""
    letters = [(at / 100, chunk({"content": letter})) for at, letter in enumerate(KEY)]
    now = time.time()
    return [
        exchange([(0.1, b'{"said": "'), (0.2, KEY.encode()), (0.3, b'"}')], id=f"{name}-whole", started_at=now),
        exchange(letters, id=f"{name}-letters", started_at=now),
        exchange([(0.1, chunk({"content": "none, but ends with s"}))], id=f"{name}-none", started_at=now),
        exchange(id=f"{name}-asked", asked={"messages": [{"content": KEY}]}, started_at=now),
    ]


async def begin(gateways: Gateways, store: Store) -> Workspace:
    """Two experiments that are full of the key, one of them in the trash, and a row that could not be read."""
    workspace = Workspace(gateways, store)
    await workspace.start()
    for name in ("a", "b"):
        session = workspace.current if name == "a" else workspace.new()
        fill(session, name)
        first = Turn(id=f"{name}0", role=Role.USER, parts=(Text(text=f"was {KEY}"),))
        past = Transcript({first.id: first}, first.id)
        store.save(snapshot(session), past=Kept(object(), ({MAIN: past},)))
        for one in tapes(name):
            session.exchanges.keep(one)
            store.keep_tape(session.id, one)
    await workspace.flush()
    workspace.delete(workspace.current.id)
    await workspace.flush()
    with closing(connect(store.path)) as connection:
        connection.execute(
            "INSERT INTO turns SELECT number + 1, 'odd', CAST(? AS TEXT), 0 FROM turns WHERE id = 'a2'",
            (b"\xff not JSON, and \xfe " + KEY.encode(),),
        )
    return workspace


async def freed(store: Store, experiment: str) -> None:
    for name in ("a-whole", "a-letters", "a-asked"):
        one = await store.tape(experiment, name)
        assert one is not None
        assert MASK.encode() in one.body + one.request_body
        assert sum(len(read.data) for read in one.reads) == one.size
        assert all(letter not in one.body.decode() for letter in ('"Z"', '"K"', '"V"')), "letter by letter"


async def test_a_key_that_gets_known_is_in_no_page_any_more_and_nothing_else_is_different(
    gateways: Gateways, path: Path
) -> None:
    workspace = await begin(gateways, Store(path, gateways.keys.known, gateways.keys.recognise))
    store, session = workspace.store, workspace.sessions[0]
    assert store is not None
    before = rows(path)
    assert leaks(kept(path))
    tape = await store.tape(session.id, "a-none")
    await gateways.keys.set("p", "https://gateway.example:443", Secret(KEY))
    found = await clean(workspace)
    assert found.rows > 10
    assert found.in_turns, "what is open is what is sent"
    assert not leaks(kept(path)), "while it is open"
    after = rows(path)
    assert {name: masked(found) for name, found in after.items() if name != "state"} == {
        name: masked(found) for name, found in before.items() if name != "state"
    }
    assert sound(path)
    assert await store.tape(session.id, "a-none") == tape, "what has none of it is as it was"
    await freed(store, session.id)
    # in memory, where nobody typed it
    assert not any(leaks(repr(one).encode()) for one in session.exchanges.values())
    assert not leaks(repr([turn.outcome for turn in session.transcript.turns.values()]).encode())
    assert session.title == f"About {MASK} and {OTHER}"
    assert not leaks(repr([*workspace.experiments, *workspace.trash]).encode())
    assert (await clean(workspace)).rows == 0, "once is enough"
    await workspace.close()
    assert not leaks(kept(path))


async def test_what_is_erased_is_in_no_page_that_is_free(gateways: Gateways, path: Path) -> None:
    workspace = await begin(gateways, Store(path))  # the key is no secret that anybody knows
    assert workspace.store is not None
    await workspace.store.clean()
    for session in tuple(workspace.sessions):
        workspace.delete(session.id)
    workspace.erase([one.experiment.id for one in workspace.trash])
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    await workspace.flush()
    await workspace.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM turns WHERE id <> 'odd'").fetchone() == (0,)
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] > 0, "there are pages to look at"
        connection.execute("DELETE FROM turns")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not [piece for piece in PIECES if piece.encode() in kept(path)]


async def test_what_could_not_be_read_is_saved_to_a_file_without_the_key(gateways: Gateways, path: Path) -> None:
    workspace = await begin(gateways, Store(path, gateways.keys.known))
    store = workspace.store
    assert store is not None
    await store.load(workspace.sessions[0].id)
    assert leaks(await store.unread_file())
    await gateways.keys.set("p", "https://gateway.example:443", Secret(KEY))
    assert not leaks(await store.unread_file())
    assert MASK in json.loads(await store.unread_file())["rows"][0]["row"]["json"]
    await clean(workspace)
    assert len(await store.unread()) == 1
    await store.load(workspace.sessions[0].id)
    await store.flush()
    assert len(await store.unread()) == 1, "the row is the same one still"
    assert not leaks(kept(path))
    await workspace.close()


async def test_what_was_begun_is_due_after_a_restart_even_for_a_key_that_is_not_fetched(
    gateways: Gateways, path: Path, tmp_path: Path
) -> None:
    prints = tmp_path / "own" / "fingerprints.json"
    Fingerprints(prints).remember("p@o", KEY)
    workspace = await begin(gateways, Store(path))
    assert workspace.store is not None
    assert not await workspace.store.clean_due()
    workspace.store.remember("cleaning", "due")  # and the machine lost its power
    await workspace.close()
    keys = Keys(prints=Fingerprints(prints))
    store = Store(path, keys.known, keys.recognise)
    await store.open()
    assert await store.clean_due()
    assert await store.clean() > 10
    assert not await store.clean_due()
    assert not leaks(kept(path))
    await freed(store, (await store.experiments())[0].id)
    await store.close()


def test_a_row_that_was_written_meanwhile_stays_as_it_was_written(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE settings (experiment INTEGER PRIMARY KEY, json TEXT NOT NULL)")
        for number in range(3):
            connection.execute("INSERT INTO settings VALUES (?, ?)", (number, f'{{"x": "{KEY}"}}'))
        place: ScanPosition | None = ScanPosition()
        found = []
        while place is not None:
            more, place = look(connection, Redactor([KEY]), place)
            found += more
        assert [one.rowid for one in found] == [0, 1, 2], "tables that are not there are passed"
        connection.execute("UPDATE settings SET json = 'newer' WHERE experiment = 1")
        assert put(connection, found) == 2
        clean_text = f'{{"x": "{MASK}"}}'
        assert [row[0] for row in connection.execute("SELECT json FROM settings")] == [clean_text, "newer", clean_text]


async def test_secrets_that_are_words_of_the_rows_do_not_spoil_them(gateways: Gateways, path: Path) -> None:
    workspace = await begin(gateways, Store(path, gateways.keys.known))
    assert workspace.store is not None
    session = workspace.sessions[0]
    for word in ("assistant", "reasoning", "response", "http_version"):
        await gateways.keys.set(word, "https://gateway.example:443", Secret(word))
    await clean(workspace)
    session.change(title="Saved since")
    workspace.store.save(snapshot(session))
    await workspace.flush()
    loaded = await workspace.store.load(session.id)
    assert [turn.role for turn in loaded.turns] == [Role.USER, Role.ASSISTANT]
    await workspace.close()
