"""`playground listen --mock`: a program gets the answers of a table, without a gateway that answers."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import openai
import pytest

from playground.engine.headless.exit_codes import ExitCode
from tests.support.command import run_command, started_command

NO_GATEWAY = "http://127.0.0.1:9/v1"  # the discard port, where nothing listens
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
ROWS = [
    {"when": {"result": "get_weather"}, "answer": {"text": "It is 4 °C in Oslo."}},
    {
        "when": {"offers": "get_weather"},
        "answer": {"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "call_1"}]},
    },
    {"when": {"model": "*-mini"}, "answer": {"status": 429, "message": "Slow down."}},
]


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs a system with signals")
def test_table_answers_a_program_and_each_answer_is_recorded(tmp_path: Path) -> None:
    table, folder = tmp_path / "table.json", tmp_path / "recording"
    table.write_text(json.dumps({"playground_mock": 1, "rows": ROWS}), "utf-8")
    options = ("--base-url", NO_GATEWAY, "--mock", str(table), "--jsonl", "--record", str(folder))
    with started_command("listen", *options) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        match = re.search(r"http://\S+/v1", line)
        assert match is not None, line
        with openai.OpenAI(base_url=match[0], api_key="any", max_retries=0) as client:
            messages: list[dict[str, object]] = [{"role": "user", "content": "The weather in Oslo?"}]
            answers = []
            for _ in range(2):
                with client.chat.completions.stream(
                    model="m-1",
                    messages=messages,  # type: ignore[arg-type]
                    tools=[TOOL],  # type: ignore[list-item]
                ) as stream:
                    answers.append(stream.get_final_completion().choices[0].message)
                messages.append(
                    {"role": "assistant", "tool_calls": [call.to_dict() for call in answers[0].tool_calls or ()]}
                )
                messages.append({"role": "tool", "tool_call_id": "call_1", "content": "4"})
            with pytest.raises(openai.RateLimitError, match="Slow down"):
                client.chat.completions.create(model="m-mini", messages=[])
            with pytest.raises(openai.InternalServerError, match="could not reach the gateway"):
                client.chat.completions.create(model="m-1", messages=[])
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors.decode()
    assert [call.function.arguments for call in answers[0].tool_calls or ()] == ['{"city": "Oslo"}']
    assert answers[1].content == "It is 4 °C in Oslo."
    rows = [json.loads(line) for line in output.splitlines()]
    assert [row["changes"] for row in rows[:3]] == [
        [f"answered by row {number} of the mock table"] for number in (2, 1, 3)
    ]
    assert [row.get("status") for row in rows] == [200, 200, 429, None]
    assert rows[0]["calls"] == ["get_weather"]
    assert len((folder / "index.jsonl").read_text("utf-8").splitlines()) == 4


def test_table_with_a_mistake_is_refused_in_words(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text('{"playground_mock": 1, "rows": [{"answer": {}}]}', "utf-8")
    result = run_command("listen", "--base-url", NO_GATEWAY, "--mock", str(table))
    assert result.returncode == ExitCode.BAD_INPUT
    assert "rows[0]" in result.err
    assert "neither text, calls nor status" in result.err
