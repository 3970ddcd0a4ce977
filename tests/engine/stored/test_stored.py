"""Files of an earlier version open unchanged and are written unchanged: see ``README.md`` in this folder."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.domain.encoding import encode
from playground.engine.cassettes import cassette
from playground.engine.files import experiment_file
from playground.engine.files.presets import PresetStore, apply, fits
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.store import Mode, Store
from playground.engine.library.store.tape_rows import KeepTapes
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.engine.session.snapshot import Snapshot, encode_experiment, snapshot
from playground.gateway.tape import Exchange
from tests.engine.conftest import no_keyring
from tests.engine.library.store.conftest import sound

FOLDER = Path(__file__).parent
FACTS: dict[str, Any] = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))
FILES = sorted(FOLDER.glob("*.playground.json"))
NAMES = [experiment["name"] for experiment in FACTS["experiments"].values()]

Open = Callable[[], Awaitable[Workspace]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all files of the earlier version."""
    (tmp_path / "experiments.db").write_bytes(gzip.decompress((FOLDER / "experiments.db.gz").read_bytes()))
    for name in ("gateways.json", "presets.json"):
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


@pytest.fixture
async def open_workspace(gateway: DemoServer, folder: Path) -> AsyncIterator[Open]:
    """A function that starts a workspace on the files, without removing old entries."""
    opened: list[Workspace] = []
    gateways = Gateways(ProfileStore(folder / "gateways.json"), Keys(backend=no_keyring), gateway.start)

    async def start() -> Workspace:
        store = Store(folder / "experiments.db", tuple)
        store.keep_tapes(KeepTapes(days=None))
        store.keep_deleted(None)
        opened.append(Workspace(gateways, store))
        await opened[-1].start()
        return opened[-1]

    yield start
    for workspace in opened:
        if workspace.store is not None and workspace.store.status.mode is not Mode.CLOSED:
            await workspace.close()
    await gateways.aclose()


def bare(value: Any) -> Any:
    """Return the value as JSON without empty members: those of a later version are empty for older data."""
    if isinstance(value, dict):
        return {name: bare(item) for name, item in value.items() if item not in (None, "", 0, (), [], {})}
    return [bare(item) for item in value] if isinstance(value, list | tuple) else value


def hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(bare(value), sort_keys=True).encode()).hexdigest()


def of_exchange(exchange: Exchange) -> dict[str, Any]:
    (entry,) = json.loads(cassette.write([exchange]))["exchanges"]
    reads = (entry["response"] or {}).get("reads", ())
    return {"id": entry["id"], "reads": len(reads), "sha256": hashed(entry)}


def of_next(session: Session) -> Any:
    """Return the body of the next request, or the reason why there is none."""
    try:
        return session.next_request.body()
    except ValueError as error:
        return str(error)


async def of_session(session: Session) -> dict[str, Any]:
    """Return the facts of one experiment in the shape of ``facts.json``."""
    return {
        "snapshot": bare(encode_experiment(snapshot(session))),
        "exchanges": [
            of_exchange(await session.experiment.with_bodies(exchange)) for exchange in session.exchanges.values()
        ],
        "preview": of_next(session),
    }


def then(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that the earlier version recorded."""
    return {**without(facts, "name", "past", "unread"), "snapshot": bare(facts["snapshot"])}


def without(facts: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in names}


async def test_stored_list_trash_and_search_are_unchanged(open_workspace: Open) -> None:
    workspace = await open_workspace()
    assert workspace.store is not None
    assert workspace.store.status.mode is Mode.READY
    assert workspace.current.id == FACTS["current"]
    assert [bare(asdict(experiment)) for experiment in workspace.experiments] == bare(FACTS["list"])
    assert [[entry.experiment.id, entry.experiment.title, entry.time] for entry in workspace.trash] == FACTS["trash"]
    for words, ids in FACTS["found"].items():
        assert sorted(result.experiment.id for result in await workspace.find(words)) == ids


@pytest.mark.parametrize("name", NAMES)
async def test_stored_experiment_is_unchanged_after_an_edit_and_a_restart(
    open_workspace: Open, folder: Path, name: str
) -> None:
    experiment, facts = next((key, item) for key, item in FACTS["experiments"].items() if item["name"] == name)
    workspace = await open_workspace()
    if any(item.experiment.id == experiment for item in workspace.trash):
        workspace.put_back([experiment])
    session = await workspace.bring(experiment)
    assert await of_session(session) == then(facts)
    assert workspace.store is not None
    corrupt = [count for (table, _), count in facts["unread"] if table != "pasts"]
    assert workspace.store.corrupt_rows[experiment] == sum(corrupt)

    session.change(title="Another title")
    await workspace.close()
    workspace = await open_workspace()
    again = await of_session(await workspace.bring(experiment))
    await workspace.close()
    changed = {"title": "Another title", "changed_at": again["snapshot"]["changed_at"]}
    assert again == {**then(facts), "snapshot": {**then(facts)["snapshot"], **changed}}
    assert sound(folder / "experiments.db")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_experiment_file_is_written_unchanged(path: Path) -> None:
    def facts_of(opened: Snapshot) -> dict[str, Any]:
        facts = bare(encode_experiment(opened))
        return {**facts, "turns": sorted(facts["turns"], key=lambda turn: str(turn["id"]))}

    opened = experiment_file.open_file(path)
    facts = bare(FACTS["experiments"][opened.id]["snapshot"])
    assert facts_of(opened) == {**facts, "turns": sorted(facts["turns"], key=lambda turn: str(turn["id"]))}
    written = experiment_file.write(opened)
    assert written == path.read_bytes()
    assert experiment_file.read(written) == opened


def test_cassette_is_written_unchanged() -> None:
    path, facts = FOLDER / "exchanges.cassette.json", FACTS["cassette"]
    opened = cassette.open_file(path)
    assert (opened.title, opened.created_at, opened.app) == (facts["title"], facts["created_at"], facts["app"])
    assert [of_exchange(exchange) for exchange in opened.exchanges] == facts["exchanges"]
    assert not opened.unread
    written = json.loads(cassette.write(opened.exchanges, opened.title, (), opened.unknown_members))
    old = json.loads(path.read_bytes())
    assert without(written, "app", "created_at") == without(old, "app", "created_at")


async def test_presets_are_unchanged_and_fit_their_experiments(open_workspace: Open, folder: Path) -> None:
    store = PresetStore(folder / "presets.json")
    assert [bare(encode(preset)) for preset in store.presets] == bare(FACTS["presets"])
    assert not store.messages
    for preset in store.presets:
        store.put(preset)
    assert [bare(encode(preset)) for preset in PresetStore(folder / "presets.json").presets] == bare(FACTS["presets"])

    workspace = await open_workspace()
    for name, preset in zip(("full", "full", "tools"), store.presets, strict=True):
        session = await workspace.bring(next(key for key, item in FACTS["experiments"].items() if item["name"] == name))
        assert fits(session, preset)
        session.change(tools=())
        assert apply(session, preset)
        assert fits(session, preset)


def test_gateways_are_unchanged(folder: Path) -> None:
    store = ProfileStore(folder / "gateways.json")
    assert [bare(encode(profile)) for profile in store.profiles] == bare(FACTS["gateways"])
    store.update(store.profiles[0])
    again = ProfileStore(folder / "gateways.json")
    assert [bare(encode(profile)) for profile in again.profiles] == bare(FACTS["gateways"])
