"""A workspace that outlives the process: all of it saved by itself, loaded when looked at."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from playground.domain.parts import Image
from playground.domain.transcript import Role, make_turn
from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.replay import CassettePlayer
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluation.provider import Answer, AnswerResult
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.library.store import Filters, StoreError
from playground.engine.library.workspace import ANSWERS, Workspace
from playground.engine.session.drafts import Draft
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import restore
from tests.engine.library.store.conftest import MakeWorkspace
from tests.support.editors import edit_text
from tests.support.eventually import eventually


async def again(workspace: Workspace, make: MakeWorkspace) -> Workspace:
    """Close a workspace and return one opened on the same file."""
    await workspace.close()
    return await make()


async def test_workspace_after_a_change_saves_it_by_itself(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session, store = workspace.current, workspace.store
    assert store is not None

    async def saves(matches: Callable[[Session], bool], description: str) -> None:
        async def is_saved() -> bool:
            if session.id not in {experiment.id for experiment in await store.experiments()}:
                return False
            loaded = Experiment(workspace.gateways.client, profile_of=workspace.gateways.get, profile_id="").main
            restore(await store.load(session.id), loaded)
            return matches(loaded)

        await eventually(is_saved, f"the store has {description}")

    session.with_draft(Draft(text="half a sen", images=(Image(url="data:image/png;base64,AAAA"),)))
    await saves(lambda loaded: loaded.draft == session.draft, "the draft")
    session.turns.add_turn(make_turn(Role.USER, "One"))
    edit_text(session, session.transcript.path[0].id, "Two")
    await saves(lambda loaded: loaded.transcript == session.transcript, "the turn")
    session.undo()
    await saves(lambda loaded: loaded.transcript.path[0].text == "One", "the turn before the edit")
    session.change(title="A title")
    await saves(lambda loaded: loaded.title == "A title", "the title")
    session.set_parameters(session.settings.current.with_value("temperature", 0.25))
    await saves(lambda loaded: loaded.settings.parameters == session.settings.parameters, "the parameters")
    session.change(variables={"name": "value"})
    await saves(lambda loaded: loaded.settings.variables == {"name": "value"}, "the variables")
    session.set_unsent("extra_body", "{")
    await saves(lambda loaded: loaded.settings.unsent == {"extra_body": "{"}, "the text of a field that is not sent")


async def test_a_tape_is_fetched_when_it_is_looked_at(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    workspace = await again(workspace, make_workspace)
    back = workspace.current
    (exchange_id,) = back.exchanges
    assert back.exchanges[exchange_id].dropped
    assert back.exchanges[exchange_id].status == 200
    changes: list[object] = []
    back.subscribe(changes.append)
    complete = await back.experiment.bring_exchange(exchange_id)
    assert complete == session.exchanges[exchange_id]
    assert back.exchanges[exchange_id] is complete
    assert changes
    assert await back.experiment.bring_exchange(exchange_id) is complete
    assert await back.experiment.bring_exchange("unknown") is None
    back.exchanges.limit = 0
    assert back.exchanges[exchange_id].dropped
    await workspace.flush()
    assert workspace.store is not None
    assert await workspace.store.tape(back.id, exchange_id) is not None


async def test_experiments_are_loaded_when_shown_and_the_last_click_wins(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    ids = []
    for text in ("One", "Two", "Three"):
        session = workspace.new()
        session.turns.add_turn(make_turn(Role.USER, text))
        ids.append(session.id)
    workspace = await again(workspace, make_workspace)
    assert len(workspace.sessions) == 1
    await asyncio.gather(workspace.show(ids[0]), workspace.show(ids[1]))
    assert workspace.current.id == ids[1]
    assert [session.title for session in workspace.sessions] == ["Three", "Two", "One"]
    with pytest.raises(KeyError):
        await workspace.show("unknown")
    first, same = await asyncio.gather(workspace.bring(ids[0]), workspace.bring(ids[0]))
    assert first is same


async def test_a_duplicate_is_a_whole_experiment(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    duplicate = await workspace.duplicate(session.id)
    assert duplicate is workspace.current
    assert duplicate.title == "Hello (copy)"
    edit_text(duplicate, duplicate.transcript.path[0].id, "Changed")
    workspace = await again(workspace, make_workspace)
    back = await workspace.show(duplicate.id)
    assert back.transcript.path[0].text == "Changed"
    (exchange_id,) = back.exchanges
    assert await back.experiment.bring_exchange(exchange_id) == session.exchanges[exchange_id]
    first = await workspace.show(session.id)
    assert first.transcript.path[0].text == "Hello"


async def test_find_is_the_same_with_and_without_a_store(make_workspace: MakeWorkspace, gateways: Gateways) -> None:
    for workspace in (await make_workspace(), Workspace(gateways)):
        first = workspace.current
        first.turns.add_turn(make_turn(Role.USER, "Lisbon or Oslo?"))
        workspace.new().turns.add_turn(make_turn(Role.USER, "Something else"))
        workspace.current.change(model="demo-chat")
        if workspace.store is not None:
            await workspace.flush()
        (result,) = await workspace.find("osl")
        (passage,) = [item for item in result.passages if item.turn_id]
        assert result.experiment.id == first.id
        ((start, end),) = passage.marks
        assert passage.text[start:end].startswith("Os")
        assert passage.turn_id == first.transcript.path[0].id
        assert await workspace.find("oslo else") == []
        assert [item.experiment.title for item in await workspace.find("demo-ch")] == ["Something else"]
        assert len(await workspace.find("")) == 2
        assert len(await workspace.find("", Filters(model="demo-chat"))) == 1
        assert await workspace.find("", Filters(has_error=True)) == []
        assert await workspace.find("?!") == []


async def test_a_cassette_is_kept_with_its_exchanges(make_workspace: MakeWorkspace, session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    player = CassettePlayer(Cassette(tuple(session.exchanges.values()), "Recorded"))
    workspace = await make_workspace()
    played = player.session(workspace.gateways)
    workspace.add_experiment(played)
    workspace = await again(workspace, make_workspace)
    await player.aclose()
    back = workspace.current
    assert back.title == "Recorded"
    assert back.settings.profile_id == DEMO_ID
    (exchange_id,) = back.exchanges
    assert await back.experiment.bring_exchange(exchange_id) == session.exchanges[exchange_id]


async def test_backup_and_restore(make_workspace: MakeWorkspace, tmp_path) -> None:  # type: ignore[no-untyped-def]
    workspace = await make_workspace()
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "SavedAnswer"))
    copy = tmp_path / "copy.db"
    await workspace.backup(copy)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == ["copy.db"]
    session.turns.add_turn(make_turn(Role.USER, "Written afterwards"))
    workspace.new().turns.add_turn(make_turn(Role.USER, "Too late"))
    (tmp_path / "wrong.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError, match="damaged, or no database"):
        await workspace.restore(tmp_path / "wrong.db")
    with pytest.raises(StoreError, match="not there"):
        await workspace.restore(tmp_path / "none.db")
    assert len(workspace.experiments) == 2
    aside = await workspace.restore(copy)
    assert aside is not None
    assert aside.exists()
    assert [experiment.title for experiment in workspace.experiments] == ["SavedAnswer"]
    assert workspace.current is not session
    assert len(workspace.current.transcript.turns) == 1
    session.change(title="A window that was left open must not write into the other store")
    await workspace.flush()
    workspace.current.change(title="Goes on")
    workspace = await again(workspace, make_workspace)
    assert [experiment.title for experiment in workspace.experiments] == ["Goes on"]


# ---- the trash


ANSWERED = Answer(digest="d", repeat=1, case="c", column="", created_at=0.0, preview="said")


async def three(make_workspace: MakeWorkspace) -> tuple[Workspace, list[str]]:
    workspace, ids = await make_workspace(), []
    for text in ("One river", "Two lakes", "Three seas"):
        session = workspace.new()
        session.turns.add_turn(make_turn(Role.USER, text))
        ids.append(session.id)
    return workspace, ids


async def test_deleted_ones_lie_in_the_trash_and_are_found_nowhere_else(make_workspace: MakeWorkspace) -> None:
    workspace, ids = await three(make_workspace)
    workspace.delete(ids[0])
    workspace = await again(workspace, make_workspace)
    workspace.delete(ids[1])
    assert [entry.experiment.id for entry in workspace.trash] == [ids[1], ids[0]]
    await workspace.flush()
    assert await workspace.find("river") == []
    assert await workspace.find("lakes") == []
    assert [entry.experiment.id for entry in await workspace.find_deleted("lakes")] == [ids[1]]
    assert await workspace.find_deleted("seas") == []
    assert await workspace.trash_size() > 100
    await workspace.look_through_trash()
    assert len(workspace.trash) == 2
    workspace.put_back([ids[0], "unknown"])
    assert (await workspace.show(ids[0])).transcript.path[0].text == "One river"
    workspace = await again(workspace, make_workspace)
    assert {experiment.id for experiment in workspace.experiments} == {ids[0], ids[2]}
    assert [entry.experiment.id for entry in workspace.trash] == [ids[1]]


async def test_what_is_erased_is_gone_for_good_whatever_still_holds_it(make_workspace: MakeWorkspace) -> None:
    workspace, ids = await three(make_workspace)
    in_use = next(session for session in workspace.sessions if session.id == ids[0])
    workspace.delete(ids[0])
    workspace.delete(ids[1])
    workspace.erase([ids[0], ids[2]])
    in_use.turns.add_turn(make_turn(Role.USER, "From a window that is still open"))
    assert [entry.experiment.id for entry in workspace.trash] == [ids[1]], "what is not in the trash is not touched"
    assert workspace.undelete(), "the other one can still come back"
    assert not workspace.undelete()
    workspace.delete(ids[1])
    workspace.erase([entry.experiment.id for entry in workspace.trash])
    assert workspace.trash == []
    workspace = await again(workspace, make_workspace)
    assert [experiment.id for experiment in workspace.experiments] == [ids[2]]
    assert workspace.trash == []


async def test_the_trash_lets_go_after_the_days_that_are_set(make_workspace: MakeWorkspace, path: Path) -> None:
    workspace, ids = await three(make_workspace)
    workspace.delete(ids[0])
    workspace.delete(ids[1])
    await workspace.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE experiments SET deleted_at = deleted_at - 20 * 86400 WHERE id = ?", (ids[0],))
        connection.commit()
    workspace = await make_workspace()
    assert len(workspace.trash) == 2
    await workspace.keep_deleted(None)
    assert len(workspace.trash) == 2
    await workspace.keep_deleted(7)
    assert [entry.experiment.id for entry in workspace.trash] == [ids[1]]
    workspace = await again(workspace, make_workspace)
    assert [entry.experiment.id for entry in workspace.trash] == [ids[1]]


async def test_answers_go_with_their_experiment_for_good_and_not_before(
    make_workspace: MakeWorkspace, path: Path
) -> None:
    def stored_ids() -> set[str]:
        with closing(sqlite3.connect(path.with_name(ANSWERS))) as connection:
            return {row[0] for row in connection.execute("SELECT evaluation FROM answers")}

    workspace, ids = await three(make_workspace)
    workspace.delete(ids[0])
    workspace.erase([ids[0]])
    await workspace.close()
    assert not path.with_name(ANSWERS).exists(), "no file is made for that"
    workspace = await make_workspace()
    for experiment_id in ids[1:]:
        await workspace.answers.add(experiment_id, [AnswerResult(ANSWERED)])
    copied = await workspace.duplicate(ids[1])
    assert await workspace.answers.load(copied.id) == []
    workspace.delete(ids[1])
    workspace.delete(ids[2])
    workspace = await again(workspace, make_workspace)
    assert stored_ids() == {ids[1], ids[2]}, "they can be brought back from the trash"
    workspace.erase([ids[1]])
    await workspace.close()
    assert stored_ids() == {ids[2]}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE experiments SET deleted_at = 0 WHERE id = ?", (ids[2],))
        connection.commit()
    await again(await make_workspace(), make_workspace)
    assert stored_ids() == set(), "after their days in the trash"


# ---- undo


def spoken(session: Session) -> list[str]:
    return [turn.text for turn in session.transcript.path]


async def test_undo_ends_with_the_program_and_turns_stay(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.new()
    image = Image(url="data:image/png;base64," + "A" * 3000)
    for turn in (make_turn(Role.USER, "One", image), make_turn(Role.ASSISTANT, "1"), make_turn(Role.USER, "Two")):
        session.turns.add_turn(turn)
    session.turns.move_turn(session.transcript.path[2].id, -1)
    before = session.transcript
    workspace = await again(workspace, make_workspace)
    session = await workspace.show(session.id)
    assert session.transcript == before
    assert not session.undo()


# ---- lanes, over a restart


async def test_lanes_are_there_after_a_restart_and_in_a_copy(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lane = lanes.add(name="other")
    lane.change(model="demo-reasoner")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    texts = [spoken(item) for item in lanes.all]
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [spoken(item) for item in again.all] == texts
    assert [item.settings.model for item in again.all] == ["demo-chat", "demo-reasoner"]
    copy = await workspace.duplicate(workspace.current.id)
    assert len(copy.experiment.lanes) == 2


async def test_ticks_stand_after_a_restart_as_they_did(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lanes.add()
    removed = lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    for lane in (lanes.all[0], removed):
        lanes.tick(lane, False)
    lanes.close(removed)
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [lane in again.ticked for lane in again.all] == [False, True]
    again.tick(again.all[0], True)
    assert workspace.current.experiment.left_out == (), "of a lane that is closed nothing is kept"
