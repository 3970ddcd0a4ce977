"""The whole loop from files: what is printed, the transcript, and the exit codes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.engine.headless.exit_codes import ExitCode
from tests.engine.debugging import MODELS, WEATHER
from tests.engine.headless import runs
from tests.engine.headless.runs import Ended

SUNNY = {"playground_answers": 1, "tools": {"get_weather": [{"result": {"sky": "sunny"}}]}}
NATIVE = {"name": WEATHER.name, "description": WEATHER.description, "input_schema": WEATHER.parameters}


@dataclass
class Desk(runs.Desk):
    protocol: str

    async def ask(
        self, prompt: str, answers: object = SUNNY, steps: int | None = None, *, as_json: bool = True, **fields: Any
    ) -> Ended:
        """Run the loop with a table of answers; ``fields`` go into the file."""
        content = {
            "playground": 1,
            "protocol": self.protocol,
            "model": MODELS[self.protocol],
            "messages": [{"role": "user", "content": prompt}],
            "tools": [NATIVE],
            **fields,
        }
        table = self.write("table.json", answers) if answers is not None else None
        return await self.run(content, answers=table, max_steps=steps or (None if table else 20), as_json=as_json)


@pytest.fixture
def desk(tmp_path: Path, demo: DemoServer) -> Desk:
    return Desk(tmp_path, demo.base_url, "chat")


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_loop_runs_to_its_end_and_prints_the_transcript(desk: Desk, protocol: str) -> None:
    desk.protocol = protocol
    ended = await desk.ask("Compare Lisbon and Oslo !chain")
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    turns = ended.json["turns"]
    assert json.loads(turns[1]["tool_calls"][0]["arguments"])["city"] == "Lisbon"
    assert turns[2]["tool_call_id"] == turns[1]["tool_calls"][0]["id"]
    assert (json.loads(turns[2]["content"]), turns[2]["answered_by"]) == ({"sky": "sunny"}, "table")
    assert turns[-1]["complete"]
    assert turns[-1]["seconds"] > 0
    assert (ended.json["requests"], ended.json["waiting"], ended.json["warnings"]) == (3, [], [])


async def test_text_calls_and_results_are_shown_as_they_come(desk: Desk) -> None:
    ended = await desk.ask("Weather in Oslo", as_json=False)
    assert ended.code == ExitCode.OK
    call, result, *text = ended.out.splitlines()
    assert call.startswith("→ get_weather(")
    assert result.startswith('← {"sky": "sunny"}')
    assert "sunny" in "".join(text)
    assert "simulated" in "".join(text).casefold()
    assert ended.out.endswith("\n")


async def test_a_call_without_an_answer_ends_it_with_a_code_of_its_own(desk: Desk) -> None:
    table = {"playground_answers": 1, "tools": {"get_weather": [{"path": "$[?@.city == 'Oslo']", "result": "cold"}]}}
    ended = await desk.ask("Weather in Lisbon and Oslo", table)
    assert ended.code == ExitCode.WAITING
    assert "No answer for get_weather(" in ended.err
    assert ended.roles == ["user", "assistant", "tool"]
    assert [(call["name"], call["reason"]) for call in ended.json["waiting"]] == [("get_weather", "no_row")]
    none = await desk.ask("Weather in Oslo", None)
    assert none.code == ExitCode.WAITING


async def test_the_step_limit_has_a_code_of_its_own(desk: Desk) -> None:
    ended = await desk.ask("Weather in Oslo !loop", steps=3)
    assert ended.code == ExitCode.STEP_LIMIT
    assert "3 requests went out" in ended.err
    assert "was called 2 times before with the same arguments" in ended.err
    assert (ended.json["requests"], ended.json["waiting"][0]["reason"]) == (3, "limit")
    table = {**SUNNY, "step_limit": 2}
    assert (await desk.ask("Weather in Oslo !loop", table)).json["requests"] == 2
    assert (await desk.ask("Weather in Oslo !loop=2", table, steps=5)).code == ExitCode.OK


async def test_a_call_that_was_cut_off_and_an_error_status(desk: Desk) -> None:
    ended = await desk.ask("Weather in Oslo !cutargs")
    assert (ended.code, ended.json["waiting"][0]["reason"]) == (ExitCode.INCOMPLETE, "truncated")
    ended = await desk.ask("Hello !503")
    assert ended.code == ExitCode.HTTP
    assert ended.json["turns"][-1]["error"]["status"] == 503
    assert (await desk.ask("Hello !error")).code == ExitCode.INCOMPLETE


async def test_a_file_that_ends_with_open_calls_goes_on_from_there(desk: Desk) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    ended = await desk.ask("", messages=messages)
    assert ended.code == ExitCode.OK
    assert ended.roles == ["user", "assistant", "tool", "assistant"]
    assert (await desk.ask("", None, messages=messages)).code == ExitCode.WAITING


async def test_bad_files_are_named(desk: Desk) -> None:
    ended = await desk.ask("Hello", "{")
    assert ended.code == ExitCode.BAD_INPUT
    assert "table.json: not JSON" in ended.err
    ended = await desk.ask("Hello", messages=[])
    assert ended.code == ExitCode.BAD_INPUT
    missing = await desk.run(runs.experiment(), answers=desk.folder / "none.json")
    assert missing.code == ExitCode.BAD_INPUT
    assert "none.json cannot be read" in missing.err
    newer = await desk.ask("Hello", {"playground_answers": 2})
    assert '"playground_answers": 2 is a version from a newer application' in newer.err
