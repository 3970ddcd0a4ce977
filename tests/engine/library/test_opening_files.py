"""Files are told apart by what is in them, and nothing that arrives changes what is here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.domain.debugging import Debugging, Policy, ToolRule
from playground.domain.tool_servers import Hints, ToolServer
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import open_file, save
from playground.engine.files.messages import read
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.library.opening_files import (
    FileError,
    Kind,
    Outcome,
    begin,
    kind_of,
    read_request_file,
    settle,
    take_in,
)
from playground.engine.library.workspace import Workspace
from playground.engine.session.plan import Plan
from playground.engine.session.snapshot import snapshot
from playground.engine.session.variants import Variant

REQUEST = {"playground": 1, "model": "demo-chat", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def workspace(gateways: Gateways) -> Workspace:
    return Workspace(gateways)


async def test_rules_in_a_file_that_ask_a_server_by_themselves_pause_here(workspace: Workspace, tmp_path: Path) -> None:
    """A file gives no consent on this computer; a trusted server's tools that only read may run."""
    servers = workspace.tool_servers
    servers.book.add(ToolServer(id="t", name="Trusted", command="x", trusted=True))
    servers.book.add(ToolServer(id="o", name="Other", command="x"))
    hints = Hints(read_only=True)
    tools = tuple(
        ToolDefinition(name=name, server=server, hints=permission)
        for name, server, permission in (
            ("reads", "Trusted", hints),
            ("writes", "Trusted", None),
            ("elsewhere", "Other", hints),
            ("unknown", "Nowhere", hints),
        )
    )
    asks = ToolRule(policy=Policy.SERVER, pause_from=3)
    table = ToolRule(policy=Policy.TABLE)
    names = ("reads", "writes", "elsewhere", "unknown", "gone")
    rules = Debugging(default=asks, rules={**dict.fromkeys(names, asks), "table": table})
    talk(workspace)
    workspace.current.change(tools=tools, debugging=rules)
    save(tmp_path / "a.json", snapshot(workspace.current))
    same = await settle(workspace, open_file(tmp_path / "a.json"))
    assert (same.outcome, same.paused) == (Outcome.SAME, ())
    assert same.session.settings.debugging == rules
    stored = open_file(tmp_path / "a.json").model_copy(update={"id": "another"})
    opened = await settle(workspace, stored)
    assert opened.paused == ("writes", "elsewhere", "unknown", "gone")
    now = opened.session.settings.debugging
    assert now.default == asks, "by itself it asks trusted servers for what only reads"
    assert {name: rule.policy for name, rule in now.rules.items()} == {
        "reads": Policy.SERVER,
        **dict.fromkeys(opened.paused, Policy.PAUSE),
        "table": Policy.TABLE,
    }
    assert now.rules["writes"].pause_from == 3
    assert not opened.session.history.can_undo
    await workspace.close()


@pytest.mark.parametrize("place", ["settings", "variant", "evaluation"])
async def test_a_tool_of_the_same_name_is_not_let_in_by_one_that_only_reads(workspace: Workspace, place: str) -> None:
    servers = workspace.tool_servers
    servers.book.add(ToolServer(id="t", name="Trusted", command="x", trusted=True))
    servers.book.add(ToolServer(id="o", name="Other", command="x"))
    reads = ToolDefinition(name="look", server="Trusted", hints=Hints(read_only=True))
    look = ToolDefinition(name="look", server="Other")
    talk(workspace)
    session = workspace.current
    session.change(tools=(reads,), debugging=Debugging(rules={"look": ToolRule(policy=Policy.SERVER)}))
    variant = Variant().with_settings(session.settings, session.settings.changed(tools=(look,)))
    if place == "settings":
        session.change(tools=(look, reads))
    elif place == "variant":
        session.change(variants=(variant,))
    else:
        session.change(evaluation=Plan(variants=(variant,)))
    opened = await settle(workspace, snapshot(session).model_copy(update={"id": "another"}))
    assert opened.paused == ("look",)
    await workspace.close()


def talk(workspace: Workspace, text: str = "Which way to Oslo?") -> None:
    workspace.current.change(model="demo-chat")
    workspace.current.turns.add_turn(make_turn(Role.USER, text))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", '{"experiment": 1, "turns": []}', Kind.EXPERIMENT),
        ("a.json", '\ufeff {\n "cassette": 1}', Kind.CASSETTE),
        ("a.json", json.dumps(REQUEST), Kind.REQUEST),
        ("a.json", '{"id": "1", "title": "t", "experiment": 1}', Kind.EXPERIMENT),
        ("a.json", '[{"role": "user", "content": "{\\"cassette\\": 1}"}]', Kind.MESSAGES),
        ("a.json", '{"messages": [{"experiment": 1}]}', Kind.MESSAGES),
        ("a.jsonl", '{"role": "user", "content": "a"}\n{"role": "user", "content": "b"}', Kind.MESSAGES),
        ("a.playground.json", "not JSON at all", Kind.EXPERIMENT),
        ("A.CASSETTE.JSON", "[]", Kind.CASSETTE),
        ("a.json", "", Kind.MESSAGES),
    ],
)
def test_a_file_is_what_it_says_of_itself(tmp_path: Path, name: str, text: str, kind: Kind) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert kind_of(file) is kind


async def test_the_same_experiment_is_shown_and_another_one_stands_beside(workspace: Workspace) -> None:
    talk(workspace)
    current = workspace.current
    stored = snapshot(current)
    workspace.new()
    arrived = await settle(workspace, stored)
    assert (arrived.outcome, arrived.session) == (Outcome.SAME, current)
    assert workspace.current is current
    current.turns.add_turn(make_turn(Role.USER, "And back?"))
    arrived = await settle(workspace, stored)
    assert arrived.outcome is Outcome.COPIED
    assert arrived.session.id != current.id
    assert [turn.text for turn in arrived.session.transcript.path] == ["Which way to Oslo?"]
    assert len(current.transcript.path) == 2


async def test_a_gateway_is_found_by_name_and_one_that_is_not_here_is_named(workspace: Workspace) -> None:
    talk(workspace)
    workspace.gateways.store.add_profile(Profile(id="p1", name="Team", base_url="https://team.example/v1"))
    stored = snapshot(workspace.current)
    second = Workspace(workspace.gateways)
    renamed = stored.model_copy(update={"id": "x1", "profile_id": "gone", "gateway": "Team"})
    assert (await settle(second, renamed)).session.settings.profile_id == "p1"
    renamed = stored.model_copy(update={"id": "x2", "profile_id": "gone", "gateway": "Unknown"})
    arrived = await settle(second, renamed)
    assert arrived.lacking == "Unknown"
    assert arrived.session.settings.profile_id == workspace.gateways.active_id


async def test_an_experiment_this_version_cannot_work_with_is_refused(workspace: Workspace) -> None:
    talk(workspace)
    stored = snapshot(workspace.current).model_copy(update={"id": "x", "protocol": "morse"})
    count = len(workspace.sessions)
    with pytest.raises(FileError, match="morse"):
        await settle(workspace, stored)
    assert len(workspace.sessions) == count


async def test_conversations_become_experiments_in_their_order(workspace: Workspace) -> None:
    talk(workspace)
    before = workspace.current
    lines = "\n".join(json.dumps({"messages": [{"role": "user", "content": f"Number {n}"}]}) for n in range(45))
    titles: list[str] = []
    workspace.subscribe(lambda: titles.append(workspace.current.title))
    sessions = await take_in(workspace, read(lines).conversations)
    assert [session.title for session in workspace.sessions] == [*(f"Number {n}" for n in range(45)), before.title]
    assert workspace.current is sessions[0]
    assert {session.settings.model for session in sessions} == {"demo-chat"}
    assert {session.settings.profile_id for session in sessions} == {DEMO_ID}
    assert len(titles) < 5
    assert sessions[44].undo()
    assert sessions[44].transcript.path == ()


async def test_a_request_begins_an_experiment_of_its_own(workspace: Workspace, tmp_path: Path) -> None:
    talk(workspace)
    file = tmp_path / "a.json"
    file.write_text(json.dumps(REQUEST), encoding="utf-8")
    session = begin(workspace, read_request_file(file), "a")
    assert workspace.current is session
    assert (session.title, len(workspace.sessions)) == ("a", 2)
