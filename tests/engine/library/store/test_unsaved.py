"""Unsaved work: exactly the changes of a person that are not on the disk yet."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.store import Mode, Store, StoreError
from playground.engine.library.workspace import Workspace


async def begun(store: Store, gateways: Gateways, texts: tuple[str, ...] = ()) -> Workspace:
    """A workspace on a store that is not open yet, with an experiment for each text, on the disk."""
    workspace = Workspace(gateways, store)
    await workspace.start()
    for text in texts:
        workspace.new().turns.add_turn(make_turn(Role.USER, text))
    if texts:
        await workspace.flush()
    return workspace


def fill_disk(store: Store, pages: int = 1) -> None:
    """Let SQLite refuse to have the file grow, as it does on a full disk; or let it, with more ``pages``."""
    assert store._writer is not None
    store._writer._connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()


def make_newer(path: Path) -> None:
    """Mark the file as one of a later version, which is only read."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")


def named(workspace: Workspace) -> list[str]:
    return [session.title for session in workspace.unsaved]


async def refused(workspace: Workspace) -> None:
    with pytest.raises(StoreError, match="full"):
        await workspace.flush()


async def test_on_a_full_disk_it_is_what_came_after_the_disk_was_full(path: Path, gateways: Gateways) -> None:
    store = Store(path)
    workspace = await begun(store, gateways, ("One", "Two"))
    assert not workspace.behind
    fill_disk(store)
    store.remember("current", "x" * 100_000)  # the experiment shown is no work of a person
    await refused(workspace)
    assert store.status.trouble
    assert not workspace.behind
    workspace.sessions[0].turns.add_turn(make_turn(Role.USER, "word " * 40_000))
    await refused(workspace)
    assert named(workspace) == ["Two"]
    assert not workspace.flush_now(5)
    fill_disk(store, 2**30)
    assert workspace.flush_now(5)
    await workspace.close()


async def test_where_nothing_is_written_it_is_what_is_different_from_the_disk(path: Path, gateways: Gateways) -> None:
    workspace = await begun(Store(path), gateways, ("One", "Two", "Three"))
    ids = [session.id for session in workspace.sessions]
    await workspace.close()
    make_newer(path)
    store = Store(path)
    workspace = await begun(store, gateways)
    assert store.status.mode is Mode.READ_ONLY
    sessions = [await workspace.show(name) for name in ids]
    workspace.new()
    assert not workspace.behind
    workspace.pin(ids[0], True)
    assert named(workspace) == ["Three"]
    workspace.pin(ids[0], False)
    sessions[1].turns.add_turn(make_turn(Role.USER, "more"))
    assert named(workspace) == ["Two"]
    sessions[1].undo()
    assert not workspace.behind
    await workspace.rename(ids[2], "Another name")
    copy = await workspace.duplicate(ids[0])
    assert sorted(named(workspace)) == ["Another name", copy.title]
    assert not workspace.flush_now(5)
    await workspace.close()


async def test_in_memory_all_that_is_not_empty_counts(tmp_path: Path, gateways: Gateways) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "experiments.db")
    workspace = await begun(store, gateways)
    assert store.status.mode is Mode.MEMORY
    assert not workspace.behind
    workspace.current.turns.add_turn(make_turn(Role.USER, "One"))
    await workspace.flush()
    assert named(workspace) == ["One"]
    await workspace.close()


async def test_after_a_copy_that_could_not_be_put_back_all_is_saved_that_was_not(
    path: Path, gateways: Gateways, tmp_path: Path
) -> None:
    store, copy = Store(path), tmp_path / "copy.db"
    workspace = await begun(store, gateways, ("One",))
    await workspace.backup(copy)
    session = workspace.sessions[0]
    fill_disk(store)
    session.turns.add_turn(make_turn(Role.USER, "word " * 40_000))
    await refused(workspace)
    path.with_name(f".{path.name}.tmp").mkdir()  # where the copy would go first
    with pytest.raises(StoreError, match="cannot be restored"):
        await workspace.restore(copy)
    await workspace.flush()
    assert len((await store.load(session.id)).turns) == 2
    await workspace.close()
