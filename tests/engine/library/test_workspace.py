"""The list of experiments: what is current, what deleting and searching do."""

from __future__ import annotations

import asyncio

import pytest

from playground.demo.server import DemoServer
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.library.workspace import Workspace
from playground.engine.session.drafts import Draft
from tests.support.eventually import eventually


@pytest.fixture
def workspace(gateways: Gateways) -> Workspace:
    return Workspace(gateways)


def write(workspace: Workspace, text: str) -> str:
    session = workspace.new()
    session.turns.add_turn(make_turn(Role.USER, text))
    return session.id


async def test_an_untouched_experiment_is_used_again(workspace: Workspace) -> None:
    first = workspace.current
    assert workspace.new() is first
    first.with_draft(Draft(text="half a sentence"))
    assert workspace.new() is not first
    assert len(workspace.sessions) == 2


async def test_an_experiment_with_settings_alone_is_kept(workspace: Workspace) -> None:
    first = workspace.current
    first.change(extra_headers={"X-Team": "blue"})
    assert workspace.new() is not first
    assert first in workspace.sessions


async def test_a_new_experiment_goes_on_with_gateway_protocol_and_model(workspace: Workspace) -> None:
    write(workspace, "Hello")
    workspace.current.change(protocol="messages")
    workspace.current.change(model="demo-messages")
    new = workspace.new()
    assert (new.settings.profile_id, new.settings.protocol, new.settings.model) == (
        DEMO_ID,
        "messages",
        "demo-messages",
    )
    assert workspace.sessions[0] is new


async def test_the_first_experiment_is_on_the_gateway_used_last(gateways: Gateways) -> None:
    profile = gateways.store.add_profile(
        Profile(name="Mine", base_url="https://gateway.example/v1", default_model="big")
    )
    gateways.store.select(profile.id)
    current = Workspace(gateways).current
    assert (current.settings.profile_id, current.settings.model) == (profile.id, "big")


async def test_undelete_brings_back_each_in_its_place(workspace: Workspace) -> None:
    ids = [write(workspace, text) for text in ("a", "b", "c")]
    workspace.delete(ids[1])
    workspace.delete(ids[0])
    assert workspace.undelete()
    assert workspace.undelete()
    assert [session.title for session in workspace.sessions] == ["c", "b", "a"]
    assert not workspace.undelete()


async def test_deleting_the_last_experiment_leaves_an_empty_one(workspace: Workspace) -> None:
    only = write(workspace, "only")
    workspace.delete(only)
    assert len(workspace.sessions) == 1
    assert workspace.current.title == "New experiment"
    assert workspace.undelete()
    assert workspace.current.id == only


async def test_deleting_an_experiment_stops_its_run(workspace: Workspace, gateway: DemoServer) -> None:
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "Hello !long=2000 !tps=50"))
    run = asyncio.get_running_loop().create_task(session.run())
    await eventually(lambda: any(choice.deltas for choice in session.growing.values()))
    workspace.delete(session.id)
    await run
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.ending is Ending.STOPPED


async def test_an_unknown_experiment_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(KeyError):
        workspace.open("gone")
    with pytest.raises(KeyError):
        workspace.delete("gone")
