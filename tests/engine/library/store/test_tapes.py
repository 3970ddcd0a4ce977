"""Exchanges on disk: packed, whole when they come back, without a secret, and not for ever."""

from __future__ import annotations

import sqlite3
import time
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from playground.domain.parts import Text
from playground.domain.transcript import Role, make_turn
from playground.engine.cassettes.cassette import CassetteError
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Store
from playground.engine.library.store.tape_rows import KeepTapes, read_head, read_tape, write_tape
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read
from tests.engine import exchanges
from tests.engine.library.store.conftest import MakeStore, sound
from tests.engine.library.store.test_store import rows, simple
from tests.protocols.streams import chunk
from tests.support.each_case import each_case

CANARY = "sk-canary-7Qz!x/9+Vw=0123456789"
NONE = Redactor(())


def exchange(id_: str, days_ago: float = 0, reads: int = 3, extra: bytes = b"") -> Exchange:
    """Return an exchange that has ended."""
    parts = [(number / 1000, b"data: \xff%d \n\n" % number) for number in range(reads)]
    body = b'{"model": "m"}' + extra
    return exchanges.exchange(parts, id=id_, started_at=time.time() - days_ago * 86400, request_body=body)


@each_case("reads", [0, 1, 255, 256, 257, 5000])
def test_an_exchange_comes_back_whole(reads: int) -> None:
    original = exchange("x", reads=reads)
    head, data = write_tape(original, NONE)
    assert read_tape(head, data) == original
    if reads == 5000:
        assert len(data) < original.size / 2
    bare = read_head(head)
    assert (bare.reads, bare.request_body, bare.status, bare.ended) == ([], b"", 200, original.ended)
    assert bare.dropped == original.size + len(original.request_body)


def test_damaged_rows_of_an_exchange_are_refused() -> None:
    head, data = write_tape(exchange("x", reads=600), NONE)
    for broken in (
        (head, data[: len(data) // 2]),
        (head, b"garbage" * 10),
        ("{", data),
        ('{"request": 3, "response": []}', data),
        (head, zlib.compress(b'""\n7\n')),
    ):
        with pytest.raises(CassetteError):
            read_tape(*broken)


async def test_old_bodies_go_by_age_and_by_size(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    store.keep_tapes(KeepTapes(None, None))
    store.save(simple("a", "Hello"))
    noise = bytes(range(256)) * 40
    for number in range(10):
        store.keep_tape("a", exchange(f"x{number}", days_ago=10 - number, extra=noise + bytes([number])))
    await store.flush()
    size = rows(path, "SELECT size FROM tapes WHERE id = 'x9'")[0][0]
    store.keep_tapes(KeepTapes(days=7.5, bytes=None))
    await store.flush()
    has_body = [bool(await store.tape("a", f"x{number}")) for number in range(10)]
    assert has_body == [False] * 3 + [True] * 7
    store.keep_tapes(KeepTapes(days=None, bytes=int(size * 3.5)))
    await store.flush()
    has_body = [bool(await store.tape("a", f"x{number}")) for number in range(10)]
    assert has_body == [False] * 7 + [True] * 3
    heads = await store.tape_heads("a")
    assert [head.id for head in heads] == [f"x{number}" for number in range(10)]
    assert all(head.dropped for head in heads)


async def test_the_tape_of_what_is_under_way_has_no_piece_of_a_key_and_goes_with_its_body(
    make_store: MakeStore, path: Path
) -> None:
    store = await make_store(secrets=(Secret(CANARY),))
    store.keep_tapes(KeepTapes(None, None))
    store.save(simple("a", "Hello"))
    store.save(simple("b", "Hello"))
    growing = exchange("x", reads=0)
    growing.ended, growing.complete = None, False
    for number, text in enumerate(("Key: ", CANARY[:9], CANARY[9:20], CANARY[20:], " s", "o")):
        before = len(growing.reads)
        growing.reads.append(Read(number / 10, chunk({"content": text})))
        store.grow_tape("a", growing, before)
        await store.flush()
    stored = await store.tape("a", "x")
    assert stored is not None
    assert not any(piece.encode() in stored.body for piece in (CANARY[:9], CANARY[9:20], CANARY[20:]))
    assert [read.time for read in stored.reads] == [read.time for read in growing.reads]
    assert stored.body.endswith(growing.reads[4].data + growing.reads[5].data)
    store.copy_tapes("a", "b")
    copied = await store.tape("b", "x")
    assert copied == stored
    await store.backup(path.with_name("copy.db"))
    assert rows(path.with_name("copy.db"), "SELECT count(*) FROM tape_reads")[0][0] >= 4
    store.keep_tapes(KeepTapes(days=None, bytes=0))
    await store.flush()
    assert await store.tape("a", "x") is None
    assert rows(path, "SELECT count(*) FROM tape_reads") == [(0,)]


async def test_a_key_entered_while_an_answer_comes_is_taken_out_from_then_on_and_no_read_is_lost(path: Path) -> None:
    secrets: list[Secret] = [Secret("another-secret")]
    store = Store(path, lambda: tuple(secrets))
    store.save(simple("a", "Hello"))
    growing = exchange("x", reads=0)
    growing.ended, growing.complete = None, False
    for number, text in enumerate(("before the store is open", "an", CANARY, " after")):
        before = len(growing.reads)
        growing.reads.append(Read(number / 10, chunk({"content": text})))
        store.grow_tape("a", growing, before)
        if number == 0:
            await store.open()
        elif number == 1:
            secrets.append(Secret(CANARY))
    stored = await store.tape("a", "x")
    assert stored is not None
    assert [read.time for read in stored.reads] == [0.0, 0.1, 0.2, 0.3]
    assert stored.body == growing.body.replace(CANARY.encode(), "••••".encode())
    await store.close()


async def test_what_pruning_frees_is_given_back(make_store: MakeStore, path: Path) -> None:
    import random

    store = await make_store()
    store.save(simple("a", "Hello"))
    for number in range(20):
        store.keep_tape("a", exchange(f"x{number}", extra=random.Random(number).randbytes(100_000)))
    await store.flush()
    store.keep_tapes(KeepTapes(days=None, bytes=0))
    await store.close()
    files = path.parent.glob(f"{path.name}*")  # without backups, which may hold the tapes
    assert sum(file.stat().st_size for file in files) < 500_000
    assert sound(path)


def all_bytes(folder: Path) -> bytes:
    """Every byte of every file, the log of SQLite with them."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_no_key_is_anywhere_in_the_file(make_store: MakeStore, path: Path) -> None:
    store = await make_store(secrets=(Secret(CANARY),))
    original = exchange("x", extra=CANARY.encode())
    original.request_headers = (("authorization", f"Bearer {CANARY}"), ("x-other", CANARY))
    original.reads = [Read(0.0, b"data: " + CANARY[:9].encode()), Read(0.1, CANARY[9:].encode() + b"\n\n")]
    turn = make_turn(Role.USER, f"My key is {CANARY}", Text(text=CANARY))
    snapshot = Snapshot(
        id="a",
        title=f"About {CANARY}",
        model=CANARY,
        turns=(turn,),
        head=turn.id,
        extra_body={"key": CANARY},
        extra_headers={"x": CANARY},
        variables={"key": CANARY},
        unsent={"body": f'{{"k": "{CANARY}'},
    )
    store.save(snapshot.model_copy(update={"draft": snapshot.draft.model_copy(update={"text": CANARY})}))
    store.keep_tape("a", original)
    store.remember("current", "a")
    await store.flush()
    stored = await store.tape("a", "x")
    assert stored is not None
    assert CANARY.encode() not in stored.body
    everything = all_bytes(path.parent)
    await store.close()
    everything += all_bytes(path.parent)
    assert CANARY.encode() not in everything
    assert b"canary" not in everything
    with closing(sqlite3.connect(path)) as connection:
        assert "canary" not in "".join(connection.iterdump())
