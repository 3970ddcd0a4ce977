"""Stores in real files, and workspaces on them; all of them closed at the end, whatever a test leaves open."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Store
from playground.engine.library.workspace import Workspace

MakeStore = Callable[..., Awaitable[Store]]
MakeWorkspace = Callable[..., Awaitable[Workspace]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "experiments.db"


@pytest.fixture
async def make_store(path: Path) -> AsyncIterator[MakeStore]:
    """Opens the store at ``path``, or elsewhere."""
    stores: list[Store] = []

    async def make(where: Path | None = None, secrets: tuple[Secret, ...] = ()) -> Store:
        store = Store(where or path, lambda: secrets)
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        if store.status.mode is not Mode.CLOSED:
            await store.close()


@pytest.fixture
async def make_workspace(gateways: Gateways, path: Path) -> AsyncIterator[MakeWorkspace]:
    """A workspace on the store at ``path``, started: as after a start of the application."""
    workspaces: list[Workspace] = []

    async def make(secrets: tuple[Secret, ...] = ()) -> Workspace:
        workspace = Workspace(gateways, Store(path, lambda: secrets))
        workspaces.append(workspace)
        await workspace.start()
        return workspace

    yield make
    for workspace in workspaces:
        if workspace.store is not None and workspace.store.status.mode is not Mode.CLOSED:
            await workspace.close()


def sound(path: Path) -> bool:
    """Return whether SQLite finds nothing wrong in the file."""
    with closing(sqlite3.connect(path)) as connection:
        words = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        connection.execute("INSERT INTO titles (titles) VALUES ('integrity-check')")
    return words == ["ok"]
