"""Commands that ask tool servers: which are started, what may be asked, how it ends, and that nothing stays."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tests.support.hostile_tool_server as hostile_program
from playground.demo.server import DemoServer
from playground.domain.encoding import encode
from playground.domain.tool_servers import ServerTool
from playground.engine.cassettes.cassette import open_file
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.evaluated_file import EvaluationOptions
from playground.engine.headless.evaluation import evaluate_file
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.tool_servers import servers
from playground.engine.tool_servers.tools import definition_of
from tests.engine.headless.runs import CANARY, Desk, experiment
from tests.engine.tool_servers.conftest import hostile
from tests.support.eventually import eventually
from tests.support.shared_tool_host import SharedToolHost

ROOT = Path(hostile_program.__file__).parents[2]
SECRET = "tok-canary-5d21c8f0"


@pytest.fixture(scope="module")
def tool_host() -> Iterator[SharedToolHost]:
    host = SharedToolHost()
    yield host
    host.close()


@pytest.fixture
def desk(
    tmp_path: Path, demo: DemoServer, tool_host: SharedToolHost, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """Commands in this process, which use the module's tool host one after the other."""
    monkeypatch.setattr(servers, "Servers", partial(servers.Servers, open_host=tool_host.open))
    yield Desk(tmp_path, demo.base_url)
    assert tool_host.lease is None, "the command has ended what it started"


def named(desk: Desk, *modes: str, name: str = "config.json", **fields: Any) -> Path:
    """A configuration with the built-in demo tools, or with a server that misbehaves in these ways."""
    if modes:
        server = {"command": sys.executable, "args": [str(hostile_program.__file__), *modes], **fields}
        return desk.write(name, {"mcpServers": {"Odd": server}})
    settings = {"PYTHONPATH": str(ROOT), **fields.pop("env", {})}
    server = {"command": sys.executable, "args": ["-P", "-m", "playground", "demo-tools"], "env": settings, **fields}
    return desk.write(name, {"mcpServers": {"Demo": server}})


def asks(words: str, **fields: Any) -> dict[str, Any]:
    return experiment(words, model="demo-tools", **fields)


async def test_tools_that_are_allowed_are_asked_until_an_answer_without_calls(desk: Desk) -> None:
    ended = await desk.run(asks("Use the clock, then list_notes"), mcp=(named(desk),), allow=("Demo.*",), as_json=True)
    assert ended.code is ExitCode.OK, ended.err
    assert ended.roles == ["user", "assistant", "tool", "tool", "assistant"]
    results = [turn for turn in ended.json["turns"] if turn["role"] == "tool"]
    assert [(item["answered_by"], item["server"]) for item in results] == [("server", "Demo"), ("server", "Demo")]
    assert json.loads(results[1]["content"]) == {"titles": ["Welcome", "Shopping"]}
    assert results[1]["structured"] == {"titles": ["Welcome", "Shopping"]}


async def test_a_tool_that_is_not_allowed_ends_the_run_and_says_how_to_allow_it(desk: Desk) -> None:
    ended = await desk.run(asks("Use the clock, then list_notes"), mcp=(named(desk),), allow=("clock",))
    assert ended.code is ExitCode.WAITING
    assert "list_notes, a tool of “Demo”, was not allowed. Allow it with --allow 'Demo.list_notes'." in ended.err
    assert "← " in ended.out  # the clock's answer


async def test_one_that_destroys_is_allowed_by_its_whole_name_only(desk: Desk) -> None:
    question = asks("Use delete_note for the note Shopping")
    ended = await desk.run(question, mcp=(named(desk),), allow=("*",))
    assert ended.code is ExitCode.WAITING
    assert "may change or delete things, and was not allowed by its whole name" in ended.err
    ended = await desk.run(question, mcp=(named(desk),), allow=("*", "Demo.delete_note"))
    assert ended.code is ExitCode.OK, ended.err


async def test_a_pattern_that_means_nothing_is_said_before_anything_is_asked(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(asks("Use the clock"), mcp=(named(desk),), allow=("clokc",))
    assert ended.code is ExitCode.BAD_INPUT
    assert "--allow clokc means no tool" in ended.err
    assert "Demo.clock" in ended.err
    assert not demo.requests


async def test_a_server_that_cannot_be_started_says_why(desk: Desk, demo: DemoServer) -> None:
    missing = desk.write("config.json", {"mcpServers": {"None": {"command": "no-such-command-anywhere"}}})
    ended = await desk.run(asks("Hello"), mcp=(missing,))
    assert ended.code is ExitCode.FAILED
    assert "“None” could not be started." in ended.err
    assert not demo.requests
    ended = await desk.run(asks("Hello"), mcp=(named(desk, "dies"),))
    assert (ended.code, "exit code 3" in ended.err) == (ExitCode.FAILED, True)


async def test_configuration_that_cannot_be_used_is_refused(desk: Desk, demo: DemoServer) -> None:
    for content in ("{", "[]", '{"mcpServers": {"A": {"command": ""}}}', b"\xff\xfe\x00"):
        ended = await desk.run(asks("Hello"), mcp=(desk.write("config.json", content),))
        assert ended.code in (ExitCode.BAD_INPUT, ExitCode.FAILED)
        assert ended.err.count("\n") <= 3
    assert not demo.requests


async def test_a_value_that_is_not_in_the_environment_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTES_TOKEN", raising=False)
    config = named(desk, env={"NOTES_TOKEN": "${env:NOTES_TOKEN}"})
    ended = await desk.run(asks("Hello"), mcp=(config,))
    assert (ended.code, "NOTES_TOKEN" in ended.err) == (ExitCode.BAD_INPUT, True)


async def test_values_taken_from_elsewhere_are_hidden_whatever_their_names(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "harmless-51c0-value"
    monkeypatch.setenv("NOTES_TOKEN", SECRET)
    monkeypatch.setenv("PLAIN_NAME", value)
    monkeypatch.setenv("PLAYGROUND_INPUT_PLAIN", value)
    references = ["${NOTES_TOKEN}", "${env:NOTES_TOKEN}", "${PLAIN_NAME}", "${input:plain}", "id-${PLAIN_NAME}"]
    settings = {f"SPACE_{number}": reference for number, reference in enumerate(references)}
    server = {"command": sys.executable, "args": [str(hostile_program.__file__)], "env": settings}
    inputs = [{"id": "plain", "type": "promptString", "description": "A name"}]
    config = desk.write("config.json", {"servers": {"Odd": server}, "inputs": inputs})
    tape = desk.folder / "tape.json"
    for as_json in (False, True):
        question = asks("Use the tool environment")
        ended = await desk.run(question, mcp=(config,), allow=("Odd.environment",), record=tape, as_json=as_json)
        assert ended.code is ExitCode.OK, ended.err
        assert "SPACE_4" in ended.out  # the server says what it was given
        assert open_file(tape, pipes=False).exchanges
        written = ended.out + ended.err + tape.read_text(encoding="utf-8")
        assert SECRET not in written
        assert value not in written


async def test_a_file_whose_tool_is_another_one_by_now_is_not_asked(desk: Desk, demo: DemoServer) -> None:
    server = hostile().model_copy(update={"name": "Demo"})
    old = definition_of(server, ServerTool(name="clock", description="Something else"), "clock")
    file = desk.write("saved.json", saved(old))
    ended = await desk.run_path(file, mcp=(named(desk),), allow=("clock",))
    assert ended.code is ExitCode.BAD_INPUT
    assert "“clock” is not what you accepted" in ended.err
    assert not demo.requests


def saved(*tools: Any) -> dict[str, Any]:
    """A saved experiment that asks for the time, with these tools."""
    turn = {"id": "u1", "parent": None, "role": "user", "parts": [{"kind": "text", "text": "Use the clock"}]}
    return {
        "experiment": 1,
        "id": "saved",
        "protocol": "chat",
        "model": "demo-tools",
        "tools": [encode(tool) for tool in tools],
        "turns": [turn],
        "head": "u1",
    }


async def test_an_evaluation_asks_once_and_gives_again_what_it_recorded(desk: Desk) -> None:
    value = saved()
    value["turns"] = [{**value["turns"][0], "parts": [{"kind": "text", "text": "Use roll_dice {{n}} !fast"}]}]
    value["evaluation"] = {"cases": [{"id": "a", "values": {"n": "x"}}, {"id": "b", "values": {"n": "y"}}]}
    file, lines = desk.write("plan.playground.json", value), desk.folder / "out.jsonl"

    async def evaluated(**more: Any) -> list[dict[str, Any]]:
        settings = {"mcp": (named(desk),), "record_calls": True, "outputs": {"jsonl": lines}, **more}
        options = EvaluationOptions(base_url=desk.base_url, key=Secret(CANARY), retries=0, **settings)
        out, err = io.StringIO(), io.StringIO()
        code = await evaluate_file(file, options, out, err)
        assert code is ExitCode.OK, err.getvalue()
        return [json.loads(line) for line in lines.read_text().splitlines()]

    first = await evaluated(allow=("Demo.roll_dice",), repeats=2)
    assert sum(item["real_calls"] for item in first) == 1  # all roll the same dice
    assert sum(len(item["calls"]) for item in first) == 4
    again = await evaluated(allow=("Demo.roll_dice",), repeats=2, fresh=True)
    assert sum(item["real_calls"] for item in again) == 0
    assert [item["text"] for item in again] == [item["text"] for item in first]
    waits = await evaluated(allow=("Demo.clock",), record_calls=False, fresh=True)
    assert {call.get("answered_by") for item in waits for call in item["calls"]} == {None}


async def test_nobody_is_there_to_be_asked_and_that_is_said(desk: Desk) -> None:
    ended = await desk.run(asks("Use book_table"), mcp=(named(desk),), allow=("book_table",))
    assert ended.code is ExitCode.OK, ended.err
    assert "“Demo” requested input from a person; commands have none." in ended.err
    ended = await desk.run(asks("Use sum_up_notes"), mcp=(named(desk),), allow=("sum_up_notes",))
    assert ended.code in (ExitCode.OK, ExitCode.WAITING), ended.err
    assert "“Demo” requested an answer of a model; commands refuse that." in ended.err


async def test_an_interrupt_ends_every_process(desk: Desk) -> None:
    config = named(desk)
    file = desk.write("experiment.json", asks("Use count_slowly to 1000"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "playground", "run", str(file), "--mcp", str(config), "--allow", "*"),
        *("--base-url", desk.base_url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PLAYGROUND_API_KEY": CANARY},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        first_line = await process.stdout.readline()
        assert b"count_slowly" in first_line, await process.communicate()
        ours = _below(process.pid)
        assert len(ours) >= 2  # the host and the server
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED, err
    await eventually(lambda: not any(map(_lives, ours)), "the end of the host and the server")


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _below(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    children = [item for path in Path(f"/proc/{pid}/task").glob("*/children") for item in path.read_text().split()]
    return [item for child in map(int, children) for item in (child, *_below(child))]
