"""A field that is refused: what the command line says of it, and sends with the options that it names."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.headless.exit_codes import ExitCode
from tests.support.command import run_command


def run(path: Path, server: DemoServer, *options: str) -> tuple[int, str, str]:
    key = {"PLAYGROUND_API_KEY": "any"}
    done = run_command("run", str(path), "--base-url", server.base_url, *options, env=key)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def file_at(folder: Path, **more: Any) -> Path:
    prompt = "Hi !fast !refuse=stream_options !refuse=developer !refuse=max_tokens"
    messages = [{"role": "developer", "content": "Be short"}, {"role": "user", "content": prompt}]
    match = folder / "run.json"
    body = {
        "playground": 1,
        "protocol": "chat",
        "model": "demo-chat",
        "messages": messages,
        "parameters": {"stream": True, **more},
    }
    match.write_text(json.dumps(body))
    return match


def test_the_error_names_the_options_until_it_is_taken(tmp_path: Path) -> None:
    path = file_at(tmp_path, include_usage=True, max_tokens=100)
    options: list[str] = []
    with DemoServer(DemoConfig()) as server:
        for expected in ("--without stream_options", "--role developer=system", "--rename max_tokens="):
            code, _, err = run(path, server, *options)
            assert code == ExitCode.HTTP
            assert expected in err
            match = re.search(r"Send it so with (.*)\.$", err, re.MULTILINE)
            assert match is not None, err
            options += shlex.split(match[1])
        code, out, err = run(path, server, *options)
        assert code == ExitCode.OK, err
        assert out.strip()
        body = json.loads(server.requests[-1].body)
    assert "stream_options" not in body
    assert body["max_completion_tokens"] == 100
    assert body["messages"][0]["role"] == "system"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rename", "x"), "is not NAME=SOMETHING"),
        (("--without", "model"), "a rule cannot change 'model'"),
        (("--replace", "api_key=sk-canary-12345678901234567890"), "looks like a key"),
    ],
)
def test_what_is_no_rule_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    done = run_command("run", str(file_at(tmp_path)), *options)
    assert done.returncode == 2
    assert words in done.stderr.decode()
