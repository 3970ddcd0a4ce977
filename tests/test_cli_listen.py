"""`playground listen`: its address, its lines, its recording, and a clean end."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.listen.programs import known_programs
from playground.engine.listen.recording import open_recording
from tests.support.command import run_command, started_command

KEY = "sk-listen-command-31f7"
CHAT = json.dumps({"model": "demo-chat", "messages": [{"role": "user", "content": "Hi"}]}).encode()


def ask(base: str, path: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(
        base + path,
        data=body,
        headers={
            "Content-Type": "application/json",
            "Authorization": "Bearer any-word-of-program",
            "User-Agent": "t/1",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        data: bytes = answer.read()
        return data


def address(process: subprocess.Popen[bytes]) -> str:
    """The address that the command prints, once it listens; see ``beginning``."""
    match = re.search(r"Listening at (\S+) and", beginning(process))
    assert match is not None
    return match[1]


def beginning(process: subprocess.Popen[bytes]) -> str:
    """The lines that the command prints before the first request."""
    assert process.stderr is not None
    lines = [process.stderr.readline().decode()]
    while lines[-1] and "Ctrl+C ends it." not in lines[-1]:
        lines.append(process.stderr.readline().decode())
    return "".join(lines)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs POSIX signals")
def test_exchanges_are_printed_and_recorded_until_a_signal(tmp_path: Path, end: signal.Signals) -> None:
    config = DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0, rate_limit=0)
    with DemoServer(config) as demo:
        options = ("--base-url", demo.base_url, "--jsonl", "--record", str(tmp_path / "rec"))
        with started_command("listen", *options, env={"PLAYGROUND_API_KEY": KEY}) as process:
            base = address(process)
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/r/[0-9a-f]{32}", base)
            models = json.loads(ask(base, "/v1/models"))
            answer = json.loads(ask(base, "/v1/chat/completions", CHAT))
            process.send_signal(end)
            out, err = process.communicate(timeout=60)
            assert process.returncode == 0

    assert models["data"]
    assert answer["choices"]
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["number"], row["path"], row["status"]) for row in rows] == [
        (1, "/v1/models", 200),
        (2, "/v1/chat/completions", 200),
    ]
    assert (rows[1]["program"], rows[1]["model"], rows[1]["finish"]) == ("t", "demo-chat", "stop")
    assert "Ended after 2 requests." in err.decode()
    recording = open_recording(tmp_path / "rec")
    assert [row.status for row in recording.summaries] == [200, 200]
    written = b"".join(path.read_bytes() for path in (tmp_path / "rec").iterdir()) + out + err
    assert KEY.encode() not in written
    assert b"any-word-of-program" not in written


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs POSIX signals")
def test_program_key_is_passed_on_and_lines_are_for_people() -> None:
    config = DemoConfig(key="any-word-of-program", tokens_per_second=0, time_to_first_token=0, rate_limit=0)
    with DemoServer(config) as demo:
        options = ("--base-url", demo.base_url, "--pass-key", "--plain-path", "--program", "claude-code")
        with started_command("listen", *options, env={"PLAYGROUND_API_KEY": KEY}) as process:
            printed = beginning(process)
            match = re.search(r"Listening at (http://127\.0\.0\.1:\d+) and", printed)
            assert match is not None
            base = match[1]
            assert json.loads(ask(base, "/chat/completions", CHAT))["choices"]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)

    assert re.match(rb"1  POST /chat/completions \xc2\xb7 t \xc2\xb7 demo-chat \xc2\xb7 200", out)
    assert f"export ANTHROPIC_BASE_URL='{base}'" in printed
    assert "YOUR-KEY" in printed
    assert b"Ended after 1 request." in err


def test_known_programs_are_listed() -> None:
    listed = run_command("listen", "--programs")

    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == [program.id for program in known_programs()]


def test_wrong_input_is_named(tmp_path: Path) -> None:
    unknown = run_command("listen", "--program", "netscape", "--base-url", "http://127.0.0.1:9/v1")
    assert (unknown.returncode, "there is no program netscape" in unknown.err) == (2, True)
    changing = run_command("listen", "--without", "stop")  # requests pass unchanged
    assert (changing.returncode, "unrecognized arguments: --without" in changing.err) == (2, True)
    file = tmp_path / "file"
    file.write_text("x")
    folder = run_command("listen", "--record", str(file), "--base-url", "http://127.0.0.1:9/v1")
    assert (folder.returncode, "cannot be used for a recording" in folder.err) == (2, True)
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]
        taken = run_command("listen", "--port", str(port), "--base-url", "http://127.0.0.1:9/v1")
        loop = run_command("listen", "--port", "9", "--base-url", "http://localhost:9/v1")
    assert (taken.returncode, f"Cannot listen on port {port}" in taken.err) == (2, True)
    assert (loop.returncode, "the address of Listen itself" in loop.err) == (2, True)
