"""``playground check``: what it says first, line by line and at the end, what it writes, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.engine.cassettes.cassette import open_file
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.check import CheckOptions, check_gateway
from playground.engine.headless.exit_codes import ExitCode
from tests.support.twisted_gateway import TwistedGateway

KEY = "sk-canary-headless-check-7710"
NOWHERE = "http://127.0.0.1:1/v1"


async def check(url: str, **options: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    settings = {"retries": 0, "key": Secret(KEY), **options}
    code = await check_gateway(CheckOptions(base_url=url, **settings), out, err)
    assert KEY not in out.getvalue() + err.getvalue()
    return code, out.getvalue(), err.getvalue()


async def test_the_estimate_comes_first_then_lines_then_a_table(demo: DemoServer) -> None:
    code, out, err = await check(demo.base_url, model="demo-reasoner")
    assert code == ExitCode.OK
    first, second, *_ = err.splitlines()
    assert "61 checks, at most about" in first
    assert first.endswith("; free.")  # by the price in the list, which is 0
    assert second.startswith("Model list: works.")
    assert "Chat completions:" in out
    assert "Stream " in out
    assert sum("works" in line for line in out.splitlines()) >= 20


async def test_files_and_json_hold_the_report_and_no_key(demo: DemoServer, tmp_path: Path) -> None:
    page, tape = tmp_path / "check.html", tmp_path / "check.cassette.json"
    code, out, _ = await check(
        demo.base_url, model="demo-chat", protocols=("chat",), only=("stream", "n"), as_json=True, out=page, record=tape
    )
    assert code == ExitCode.OK
    report = json.loads(out)
    assert [line["check"] for line in report["lines"]] == ["stream", "n"]
    assert report["base_url"] == demo.base_url
    assert {item.id for item in open_file(tape).exchanges} == {
        item for line in report["lines"] for item in line["exchanges"]
    }
    assert "Stream" in page.read_text()
    assert KEY not in page.read_text() + tape.read_text()


async def test_without_a_model_the_first_of_the_list_is_asked(demo: DemoServer) -> None:
    code, out, _ = await check(demo.base_url, only=("whole",), protocols=("chat",), as_json=True)
    assert code == ExitCode.OK
    assert json.loads(out)["model"] == "demo-chat"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"only": ("nothing",)}, ExitCode.BAD_INPUT, "there is no check nothing"),
        ({"out": Path("report.pdf")}, ExitCode.BAD_INPUT, ".md, .html or .json"),
        ({"out": Path("/no/such/folder/report.md")}, ExitCode.BAD_INPUT, "there is no folder"),
        ({"model": "m"}, ExitCode.TRANSPORT, "Nothing answers at 127.0.0.1:1"),
        ({}, ExitCode.TRANSPORT, "127.0.0.1:1"),
        ({"base_url": "ftp://x"}, ExitCode.BAD_INPUT, "http"),
    ],
)
async def test_how_it_ends_where_nothing_can_be_checked(options: dict[str, Any], code: ExitCode, words: str) -> None:
    options = {**options}
    url = options.pop("base_url", NOWHERE)
    exit_code, out, err = await check(url, **options)
    assert exit_code == code
    assert words in out + err


async def test_what_was_learnt_is_said_as_options_of_the_command_line(demo: DemoServer) -> None:
    def refuse(_path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        message = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead."
        return (400, {"error": {"message": message}}) if "max_completion_tokens" in body else None

    with TwistedGateway(demo.base_url, refuse=refuse) as gateway:
        code, _, err = await check(gateway.url, model="demo-chat", only=("whole",), protocols=("chat",))
    assert code == ExitCode.OK
    assert "--rename max_completion_tokens=max_tokens" in err


async def test_a_list_of_checks_asks_nothing(demo: DemoServer) -> None:
    with TwistedGateway(demo.base_url) as gateway:
        code, out, _ = await check(gateway.url, lists=True)
        assert gateway.asked == []
    assert code == ExitCode.OK
    assert len(out.splitlines()) == 61
    assert "at most 400 out" in out


async def test_the_code_says_what_kept_an_essential_line_from_working(demo: DemoServer) -> None:
    def refuse(_path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        return (400, {"code": 400, "message": "no", "data": None}) if body.get("stream") else None

    def cut(content_type: str, data: bytes) -> tuple[str, bytes]:
        return content_type, data[: len(data) // 2] if "event-stream" in content_type else data

    only: dict[str, Any] = {"model": "demo-chat", "protocols": ("chat",)}
    with TwistedGateway(demo.base_url, refuse=refuse) as gateway:
        assert (await check(gateway.url, **only))[0] == ExitCode.HTTP
        assert (await check(gateway.url, **only, only=("whole",)))[0] == ExitCode.OK
    with TwistedGateway(demo.base_url, answer=cut) as gateway:
        assert (await check(gateway.url, **only))[0] == ExitCode.INCOMPLETE
