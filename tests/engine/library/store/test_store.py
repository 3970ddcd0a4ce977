"""Experiments saved in a store and loaded again, without secrets."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from playground.domain.debugging import Answer, ResultDraft
from playground.domain.parts import Image, Text, ToolCall, ToolResult, Unknown
from playground.domain.tool_servers import DataBlock, ServerAnswer, TextBlock
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Store, StoreError
from playground.engine.session.session import Session
from playground.engine.session.snapshot import CallState, Snapshot, encode_experiment, snapshot
from tests.engine.library.store.conftest import MakeStore, sound
from tests.engine.session.test_snapshot import fill


def simple(id_: str = "a", *texts: str, created_at: float = 1e9) -> Snapshot:
    """An experiment with one user turn a text."""
    turns = Transcript().append(*(make_turn(Role.USER, text) for text in texts))
    return Snapshot(
        id=id_, model="m", turns=tuple(turns.turns.values()), head=turns.head, created_at=created_at, changed_at=2e9
    )


def rows(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


async def test_an_experiment_comes_back_whole(make_store: MakeStore, session: Session, path: Path) -> None:
    fill(session)
    session.history.settings = session.settings.model_copy(update={"from_tomorrow": [None]})
    stored = snapshot(session)
    first = await make_store()
    assert first.status.mode is Mode.READY
    assert first.status.words == ""
    first.save(stored)
    await first.flush()
    assert await first.load(session.id) == stored
    await first.close()
    second = await make_store()
    back = await second.load(session.id)
    assert encode_experiment(back) == encode_experiment(stored)
    assert back == stored
    assert sound(path)


@pytest.mark.parametrize("reopened", [False, True])
async def test_every_edit_of_the_tree_is_followed(make_store: MakeStore, reopened: bool, path: Path) -> None:
    store = await make_store()
    first = simple("a", "one", "two", "three").transcript
    first_turn, two, three = first.turns
    removed = first.remove(two)
    moved = first.move(three, -1)
    inserted = first.insert(make_turn(Role.SYSTEM, "zero"), before=first_turn)
    backwards = Transcript(dict(reversed(list(first.turns.items()))), first.head)
    for step in (first, removed, first, moved, inserted, backwards, removed, Transcript(), first):
        store.save(Snapshot(id="a", turns=tuple(step.turns.values()), head=step.head))
        await store.flush()
        if reopened:
            await store.close()
            store = await make_store()
        back = await store.load("a")
        assert list(back.turns) == list(step.turns.values())
        assert back.transcript.path == step.path
    await store.close()
    assert sound(path)


@pytest.mark.parametrize("lead", [600, 601, 602])
async def test_file_of_a_tool_server_is_stored_without_the_secrets_in_it(path: Path, lead: int) -> None:
    secret = "canary-in-a-file-81c2"
    data = base64.b64encode(b"x" * lead + f"KEY={secret}\n".encode() + b"y" * 50).decode()
    block = DataBlock(kind="blob", data=data, uri="file:///settings")
    served = ServerAnswer(server="s", tool="t", blocks=(block,))
    turn = make_turn(Role.TOOL, "", ToolResult(call_id="c1", text="here", by="server", served=served))
    store = Store(path, lambda: (Secret(secret),))
    await store.open()
    store.save(Snapshot(id="a", turns=(turn,), head=turn.id))
    await store.flush()
    ((url,),) = rows(path, "SELECT url FROM images")
    assert url != data
    assert len(url) == len(data)
    assert secret.encode() not in base64.b64decode(url)
    await store.close()


async def test_what_a_tool_server_sent_is_written_once_and_a_draft_of_it_holds_nobody_up(
    make_store: MakeStore, path: Path
) -> None:
    sound = DataBlock(kind="audio", data="A" * 8_000_000, mime="audio/wav")
    trap = DataBlock(kind="blob", data="stored:0000", uri="file:///x")
    served = ServerAnswer(server="s", tool="t", blocks=(TextBlock(text="here"), sound, trap), structured={"a": [1]})
    image = Image(url="data:image/png;base64," + "A" * 100_000)
    call = ToolCall(id="c1", name="t", arguments="{}")
    caller = make_turn(Role.ASSISTANT, "", call)
    result = ToolResult(call_id="c1", text="here", by="server", seconds=1.0, images=(image,), served=served)
    turn = make_turn(Role.TOOL, "", result).model_copy(update={"parent": caller.id})
    typed = ResultDraft(text="her", images=(image,), served=served)
    state = CallState(turn=caller.id, call="c1", typed=typed, fork=(Answer(text="x", images=(image,), served=served),))
    snapshot = Snapshot(id="a", turns=(caller, turn), head=turn.id, calls=(state,))
    store, edited = await make_store(), state
    for text in ("her", "here", "here.", "here!"):
        edited = state.model_copy(update={"typed": typed.typed(text)})
        store.save(snapshot.model_copy(update={"calls": (edited,)}))
        await store.flush()
    back = await store.load("a")
    assert back.turns == (caller, turn)
    assert back.calls == (edited,)
    assert rows(path, "SELECT count(*) FROM images WHERE length(url) > 1000") == [(2,)]
    assert rows(path, "SELECT max(length(json)) FROM turns")[0][0] < 2000
    assert rows(path, "SELECT max(length(json)) FROM drafts")[0][0] < 4000


async def test_flags_of_one_that_is_not_open(make_store: MakeStore) -> None:
    store = await make_store()
    store.save(simple("a", "Hello"))
    store.set_flags("a", pinned=True, archived=True)
    await store.flush()
    (experiment,) = await store.experiments()
    loaded = await store.load("a")
    assert (experiment.pinned, experiment.archived, loaded.pinned, loaded.archived) == (True, True, True, True)
    store.save(loaded.model_copy(update={"pinned": False}))
    await store.flush()
    (experiment,) = await store.experiments()
    assert (experiment.pinned, experiment.archived) == (False, True)


async def test_what_json_cannot_say_is_kept_as_near_as_can_be(make_store: MakeStore, path: Path) -> None:
    store = await make_store()
    odd = Turn(
        id="odd", role=Role.USER, parts=(Unknown(value={"inf": float("inf"), "nan": float("nan")}), Text(text="a\0b"))
    )
    store.save(Snapshot(id="a", title="half \ud800", turns=(odd,), head="odd", calls=(CallState(turn="x", call="y"),)))
    await store.flush()
    back = await store.load("a")
    assert back.title == "half \ud800"
    unknown, text = back.turns[0].parts
    assert isinstance(unknown, Unknown)
    assert unknown.value["inf"] > 1e308
    assert unknown.value["nan"] is None
    assert text == Text(text="a\0b")
    await store.close()
    assert sound(path)


async def test_a_closed_store_says_so(make_store: MakeStore) -> None:
    store = await make_store()
    await store.close()
    store.save(simple())
    with pytest.raises(StoreError, match="not open"):
        await store.flush()
    with pytest.raises(StoreError, match="not open"):
        await store.experiments()
