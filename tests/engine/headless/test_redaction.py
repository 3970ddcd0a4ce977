"""No output of a command holds a secret that the command knows, wherever in its input the secret is."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from playground.demo.server import DemoServer
from playground.engine.cassettes.cassette import open_file
from playground.engine.evaluation.export.formats import FORMATS
from playground.engine.gateways.secrets import KEY_VARIABLE, Secret
from playground.engine.headless.evaluated_file import EvaluationOptions
from playground.engine.headless.evaluation import evaluate_file
from playground.engine.headless.run import RunOptions, run_file
from tests.support.fault_server import FaultServer, head, send, sse, text_chunk

KEY = 'sk-can"ary/93+ac55d1&Zq'


def in_base64(lead: int) -> str:
    """The key in base64 behind some other characters; without the first and last group, which depend on them."""
    return base64.b64encode(b"ab:"[:lead] + KEY.encode() + b"x" * 3).decode()


SPELLED = {
    "plain": KEY,
    "json": json.dumps(KEY)[1:-1],
    "json twice": json.dumps(json.dumps(KEY))[3:-3],
    "url": quote(KEY, safe=""),
    "html": KEY.replace("&", "&amp;").replace('"', "&quot;"),
    "hex": KEY.encode().hex(),
    **{f"base64 {lead}": in_base64(lead) for lead in range(3)},
}


def leaks(text: str) -> list[str]:
    """Return the spellings of the secret in a text, and long parts of one."""
    return [name for name, spelled in SPELLED.items() if spelled[4:20] in text]


def evaluated(secret: str) -> dict[str, Any]:
    """Return a saved experiment with an evaluation that has the secret in every place that people write."""
    cases = [
        {"name": secret, "values": {"word": "cold"}, "expected": "cold"},
        {"name": "", "values": {"word": secret}, "expected": f"It is {secret}"},
        {"name": "", "values": {"word": f"{'long ' * 5}{secret} and more"}},
    ]
    checks = [
        {"kind": "contains", "text": secret},
        {"kind": "judge", "rubric": f"Does it say {secret}?", "model": "demo-chat"},
    ]
    variants = [{"id": "b", "name": secret, "differences": {"model": "demo-reasoner"}}]
    text = f"Say it back. !fast {{{{word}}}} {secret}"
    return {
        "experiment": 1,
        "id": "e",
        "title": f"About {secret}",
        "model": "demo-chat",
        "turns": [{"id": "t", "role": "user", "parts": [{"kind": "text", "text": text}]}],
        "head": "t",
        "evaluation": {"streamed": False, "cases": cases, "variants": variants, "checks": checks},
    }


async def evaluate(folder: Path, content: dict[str, Any], base_url: str, *, key: str = KEY) -> dict[str, str]:
    """Evaluate into every format and return all that was written, by its name."""
    file = folder / "it.playground.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    outputs = {name: folder / f"out.{name}" for name in FORMATS}
    out, err = io.StringIO(), io.StringIO()
    options = EvaluationOptions(
        base_url=base_url, key=Secret(key), retries=0, outputs=outputs, fail_under=1.0, fresh=True
    )
    await evaluate_file(file, options, out, err)
    written = {name: path.read_text(encoding="utf-8") for name, path in outputs.items()}
    return {**written, "stdout": out.getvalue(), "stderr": err.getvalue()}


def check_readable(written: dict[str, str]) -> None:
    """Each format is still what its readers take."""
    for name in ("json", "promptfoo"):
        json.loads(written[name])
    for name in ("jsonl", "inspect"):
        assert [json.loads(line) for line in written[name].splitlines()]
    ElementTree.fromstring(written["junit"])
    assert len({len(row) for row in csv.reader(io.StringIO(written["csv"].removeprefix("\ufeff")))}) == 1


async def test_evaluation_outputs_redact_every_spelling_of_the_key(tmp_path: Path, demo: DemoServer) -> None:
    for spelled in SPELLED.values():
        written = await evaluate(tmp_path, evaluated(spelled), demo.base_url)
        assert {name: matches for name, text in written.items() if (matches := leaks(text))} == {}
        check_readable(written)
    assert any(json.dumps(KEY)[1:-1].encode() in request.body for request in demo.requests), "sent unchanged"


async def test_digits_as_a_key_leave_json_readable(tmp_path: Path, demo: DemoServer) -> None:
    digits = "1234567890123"
    written = await evaluate(tmp_path, evaluated(digits), demo.base_url, key=digits)
    assert digits not in written["json"]
    check_readable(written)


# ---- one request -----------------------------------------------------------------------------------------------------


async def answered(server: FaultServer, folder: Path, pieces: list[str], **options: Any) -> tuple[str, str]:
    """Run a request that is answered in these pieces; return standard output and standard error."""
    file = folder / "request.json"
    request = {"playground": 1, "model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    file.write_text(json.dumps(request), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    chunks = [send(sse(text_chunk(piece))) for piece in pieces]
    server.play(send(head()), *chunks, send(sse(text_chunk("", "stop"), "[DONE]")))
    await run_file(file, RunOptions(**{"base_url": server.url, "key": Secret(KEY), "retries": 0, **options}), out, err)
    return out.getvalue(), err.getvalue()


def recorded_text(record: Path) -> str:
    (exchange,) = open_file(record).exchanges
    return "".join(
        json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"].get("content", "")
        for line in exchange.body.splitlines()
        if line.startswith(b"data: {")
    )


@pytest.mark.parametrize("spelling", SPELLED)
async def test_run_with_a_key_cut_by_deltas_prints_and_records_it_nowhere(
    server: FaultServer, tmp_path: Path, spelling: str
) -> None:
    text = f"It is {SPELLED[spelling]} indeed."
    record = tmp_path / "tape.json"
    for size, as_json in ((1, False), (3, True), (1000, False)):
        pieces = [text[position : position + size] for position in range(0, len(text), size)]
        out, err = await answered(server, tmp_path, pieces, as_json=as_json, record=record)
        message = recorded_text(record)
        assert leaks(out + err + message) == []
        for output_text in (out, message):
            assert "It is " in output_text
            assert " indeed." in output_text


async def test_run_prints_text_that_only_begins_like_a_key(server: FaultServer, tmp_path: Path) -> None:
    text = f"{KEY[:6]} and {SPELLED['hex'][:5]} and {KEY[:7]}"
    out, _ = await answered(server, tmp_path, list(text))
    assert out.strip() == text


@pytest.mark.parametrize("secret", [KEY, "harmless-value-51c0"])
async def test_other_secrets_of_the_command_line_are_hidden(
    server: FaultServer, tmp_path: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    record = tmp_path / "tape.json"
    out, err = await answered(
        server,
        tmp_path,
        [f"It is {secret}."],
        key=Secret("sk-another-one-1234"),
        headers=(("X-Team", "harmless-value-51c0"),),
        as_json=True,
        record=record,
    )
    assert secret not in json.loads(out)["content"] + err + record.read_text(encoding="utf-8")
