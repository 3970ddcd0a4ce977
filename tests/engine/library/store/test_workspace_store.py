"""A workspace that outlives the process: all of it saved by itself, loaded when looked at."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.parts import Image
from playground.domain.transcript import Role, make_turn
from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.replay import CassettePlayer
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluation.answering import Answer, Brought
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.library.store import Filters, StoreError
from playground.engine.library.workspace import ANSWERS, Workspace
from playground.engine.session.drafts import Draft
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import restore
from tests.engine.debugging import begin
from tests.engine.library.store.conftest import MakeWorkspace
from tests.engine.library.store.test_store import rows
from tests.support.editors import edit_in_place
from tests.support.eventually import eventually


async def again(workspace: Workspace, make: MakeWorkspace) -> Workspace:
    """As after a quit in order and another start."""
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
    session.turns.edit_text(session.transcript.path[0].id, "Two")
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
    told: list[object] = []
    back.subscribe(told.append)
    whole = await back.experiment.bring_exchange(exchange_id)
    assert whole == session.exchanges[exchange_id]
    assert back.exchanges[exchange_id] is whole
    assert told
    assert await back.experiment.bring_exchange(exchange_id) is whole
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
        await workspace.show("nobody")
    one, same = await asyncio.gather(workspace.bring(ids[0]), workspace.bring(ids[0]))
    assert one is same


async def test_a_duplicate_is_a_whole_experiment(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    made = await workspace.duplicate(session.id)
    assert made is workspace.current
    assert made.title == "Hello (copy)"
    made.turns.edit_text(made.transcript.path[0].id, "Changed")
    workspace = await again(workspace, make_workspace)
    back = await workspace.show(made.id)
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
        (found,) = await workspace.find("osl")
        (passage,) = [one for one in found.passages if one.turn_id]
        assert found.experiment.id == first.id
        ((start, end),) = passage.marks
        assert passage.text[start:end].startswith("Os")
        assert passage.turn_id == first.transcript.path[0].id
        assert await workspace.find("oslo else") == []
        assert [one.experiment.title for one in await workspace.find("demo-ch")] == ["Something else"]
        assert len(await workspace.find("")) == 2
        assert len(await workspace.find("", Filters(model="demo-chat"))) == 1
        assert await workspace.find("", Filters(has_error=True)) == []
        assert await workspace.find("?!") == []


async def test_a_cassette_is_kept_with_its_exchanges(make_workspace: MakeWorkspace, session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    player = CassettePlayer(Cassette(tuple(session.exchanges.values()), "Recorded"))
    workspace = await make_workspace()
    made = player.session(workspace.gateways)
    workspace.add_experiment(made)
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
    session.turns.add_turn(make_turn(Role.USER, "Kept"))
    copy = tmp_path / "copy.db"
    await workspace.backup(copy)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("copy")] == ["copy.db"]
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
    assert [experiment.title for experiment in workspace.experiments] == ["Kept"]
    assert workspace.current is not session
    assert len(workspace.current.transcript.turns) == 1
    session.change(title="A window that was left open must not write into the other store")
    await workspace.flush()
    workspace.current.change(title="Goes on")
    workspace = await again(workspace, make_workspace)
    assert [experiment.title for experiment in workspace.experiments] == ["Goes on"]


# ---- the trash


ANSWERED = Answer(digest="d", repeat=1, case="c", column="", at=0.0, gist="said")


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
    assert [one.experiment.id for one in workspace.trash] == [ids[1], ids[0]]
    await workspace.flush()
    assert await workspace.find("river") == []
    assert await workspace.find("lakes") == []
    assert [one.experiment.id for one in await workspace.find_deleted("lakes")] == [ids[1]]
    assert await workspace.find_deleted("seas") == []
    assert await workspace.trash_size() > 100
    await workspace.look_through_trash()
    assert len(workspace.trash) == 2
    workspace.put_back([ids[0], "nobody"])
    assert (await workspace.show(ids[0])).transcript.path[0].text == "One river"
    workspace = await again(workspace, make_workspace)
    assert {experiment.id for experiment in workspace.experiments} == {ids[0], ids[2]}
    assert [one.experiment.id for one in workspace.trash] == [ids[1]]


async def test_what_is_erased_is_gone_for_good_whatever_still_holds_it(make_workspace: MakeWorkspace) -> None:
    workspace, ids = await three(make_workspace)
    held = next(session for session in workspace.sessions if session.id == ids[0])
    workspace.delete(ids[0])
    workspace.delete(ids[1])
    workspace.erase([ids[0], ids[2]])
    held.turns.add_turn(make_turn(Role.USER, "From a window that is still open"))
    assert [one.experiment.id for one in workspace.trash] == [ids[1]], "what is not in the trash is not touched"
    assert workspace.undelete(), "the other one can still come back"
    assert not workspace.undelete()
    workspace.delete(ids[1])
    workspace.erase([one.experiment.id for one in workspace.trash])
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
    assert [one.experiment.id for one in workspace.trash] == [ids[1]]
    workspace = await again(workspace, make_workspace)
    assert [one.experiment.id for one in workspace.trash] == [ids[1]]


async def test_answers_go_with_their_experiment_for_good_and_not_before(
    make_workspace: MakeWorkspace, path: Path
) -> None:
    def kept() -> set[str]:
        with closing(sqlite3.connect(path.with_name(ANSWERS))) as connection:
            return {row[0] for row in connection.execute("SELECT evaluation FROM answers")}

    workspace, ids = await three(make_workspace)
    workspace.delete(ids[0])
    workspace.erase([ids[0]])
    await workspace.close()
    assert not path.with_name(ANSWERS).exists(), "no file is made for that"
    workspace = await make_workspace()
    for one in ids[1:]:
        await workspace.answers.add(one, [Brought(ANSWERED)])
    copied = await workspace.duplicate(ids[1])
    assert await workspace.answers.load(copied.id) == []
    workspace.delete(ids[1])
    workspace.delete(ids[2])
    workspace = await again(workspace, make_workspace)
    assert kept() == {ids[1], ids[2]}, "they can be brought back from the trash"
    workspace.erase([ids[1]])
    await workspace.close()
    assert kept() == {ids[2]}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE experiments SET deleted_at = 0 WHERE id = ?", (ids[2],))
        connection.commit()
    await again(await make_workspace(), make_workspace)
    assert kept() == set(), "after their days in the trash"


# ---- undo, over a restart


def spoken(session: Session) -> list[str]:
    return [turn.text for turn in session.transcript.path]


async def test_undo_goes_on_after_a_restart(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.new()
    image = Image(url="data:image/png;base64," + "A" * 3000)
    for turn in (make_turn(Role.USER, "One", image), make_turn(Role.ASSISTANT, "1"), make_turn(Role.USER, "Two")):
        session.turns.add_turn(turn)
    one, _, two = (turn.id for turn in session.transcript.path)
    states = [session.transcript]
    edits: list[Callable[[], object]] = [
        lambda: session.turns.move_turn(two, -1),
        lambda: session.turns.edit_text(one, "Uno"),
        lambda: session.delete_turn(session.transcript.path[-1].id),
        lambda: session.turns.select_alternative(one),
        lambda: session.delete_branch(one),
    ]
    for edit in edits:
        edit()
        states.append(session.transcript)
    before = session.transcript
    workspace = await again(workspace, make_workspace)
    session = await workspace.show(session.id)
    assert session.transcript == before
    for state in reversed(states[:-1]):
        assert session.undo()
        assert session.transcript == state
        assert list(session.transcript.turns) == list(state.turns), "alternatives stand in the order they had"
    for state in states[1:]:
        assert session.redo()
        assert session.transcript == state
    assert session.undo()
    workspace = await again(workspace, make_workspace)
    session = await workspace.show(session.id)
    assert session.transcript == states[-2]
    session.turns.add_turn(make_turn(Role.USER, "New"))
    workspace = await again(workspace, make_workspace)
    session = await workspace.show(session.id)
    for state in reversed(states[:-1]):
        assert session.undo()
        assert session.transcript == state, "what is kept goes on over several restarts"


async def test_an_edit_made_during_a_run_is_undone_after_a_restart_and_the_answer_stays(
    make_workspace: MakeWorkspace, gateway: DemoServer
) -> None:
    workspace = await make_workspace()
    session = workspace.new()
    session.begin_with(model="demo-chat")
    session.turns.add_turn(make_turn(Role.USER, "Hello !long=200 !tps=400"))
    run = begin(session.run())
    await eventually(lambda: any(choice.parts for choice in session.growing.values()))
    edit_in_place(session, session.transcript.path[0].id, "Hello there")
    await workspace.flush()
    await run
    answer = session.transcript.path[1]
    workspace = await again(workspace, make_workspace)
    session = await workspace.show(session.id)
    assert session.undo()
    assert session.transcript.path[0].text.startswith("Hello !long")
    assert session.transcript.path[1] == answer


async def test_past_is_bounded_and_a_damaged_one_costs_no_turn(make_workspace: MakeWorkspace, path: Path) -> None:
    workspace = await make_workspace()
    session = workspace.new()
    for number in range(40):
        session.turns.add_turn(make_turn(Role.USER, str(number)))
    await workspace.close()
    ((text,),) = rows(path, "SELECT json FROM pasts")
    assert len(json.loads(text)) == 20
    damaged = json.loads(text)
    damaged[3]["head"] = "nobody"
    damaged[4] = None
    third, fifth = (session.transcript.path[number].id for number in (3, 5))
    around = {"id": session.transcript.path[0].id, "role": "user", "parts": [], "parent": fifth}
    for past, steps in (
        (json.dumps(damaged), 3),
        ("[[]]", 0),
        ("[" * 5000, 0),
        (json.dumps([{"head": None, "turns": [], "gone": [third]}]), 0),
        (json.dumps([{"head": None, "turns": [[0, around]]}]), 0),
        (json.dumps([{"head": ["x"], "turns": []}]), 0),
        (json.dumps([{"head": None, "turns": [], "order": ["nobody"]}]), 0),
    ):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE pasts SET json = ?", (past,))
        workspace = await make_workspace()
        session = await workspace.show(session.id)
        assert len(spoken(session)) == 40
        assert [session.undo() for _ in range(steps + 1)] == [True] * steps + [False], past[:80]
        assert [session.redo() for _ in range(steps)] == [True] * steps
        await workspace.close()


# ---- lanes, over a restart


def ids(lane: Session) -> list[str]:
    """Return which turns: two answers may have the same words by chance."""
    return [turn.id for turn in lane.transcript.path]


async def test_lanes_are_there_after_a_restart_and_in_a_copy(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lane = lanes.add(name="other")
    lane.change(model="demo-reasoner")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    texts = [spoken(one) for one in lanes.all]
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [spoken(one) for one in again.all] == texts
    assert [one.settings.model for one in again.all] == ["demo-chat", "demo-reasoner"]
    assert workspace.current.undo()
    assert len(spoken(workspace.current)) == 1
    copy = await workspace.duplicate(workspace.current.id)
    assert len(copy.experiment.lanes) == 2


async def test_undo_goes_over_a_restart_to_where_each_lane_stood(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lanes.add()
    states = []
    for question in ("Hello", "And now?"):
        states.append([ids(lane) for lane in lanes.all])
        lanes.write(make_turn(Role.USER, question))
        states.append([ids(lane) for lane in lanes.all])
        await lanes.run()
    states.append([ids(lane) for lane in lanes.all])
    await lanes.all[1].regenerate(lanes.all[1].transcript.path[-1].id)
    lanes.all[1].turns.select_alternative(lanes.all[1].transcript.path[1].id)
    now = [lane.transcript.head for lane in lanes.all]
    await workspace.close()

    workspace = await make_workspace()
    session = workspace.current
    assert [lane.transcript.head for lane in session.experiment.lanes] == now
    found = []
    while session.undo():
        found.append([ids(lane) for lane in session.experiment.lanes])
    assert [state for state in found if state in states] == states[::-1]
    while session.redo():
        pass
    assert [lane.transcript.head for lane in session.experiment.lanes] == now


async def test_ticks_stand_after_a_restart_as_they_did(make_workspace: MakeWorkspace) -> None:
    workspace = await make_workspace()
    session = workspace.current
    session.change(model="demo-chat")
    lanes = Lanes(session)
    lanes.add()
    gone = lanes.add()
    lanes.write(make_turn(Role.USER, "Hello"))
    for lane in (lanes.all[0], gone):
        lanes.tick(lane, False)
    lanes.close(gone)
    await workspace.close()
    workspace = await make_workspace()
    again = Lanes(workspace.current)
    assert [lane in again.ticked for lane in again.all] == [False, True]
    again.tick(again.all[0], True)
    assert workspace.current.experiment.left_out == (), "of a lane that is closed nothing is kept"
