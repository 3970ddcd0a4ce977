"""``playground import``: the kind of a file, what is written, and that it can be opened again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playground.engine.files.experiment_file import open_file
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.requests.request_file import read_run_file
from tests.support.command import run_command
from tests.support.each_case import each_case

KEY = "sk-canary-import-7718"
CHAT = {"model": "demo-chat", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5}
COMMAND = (
    f"curl https://gw.example/v1/chat/completions -H 'Authorization: Bearer {KEY}' -H 'X-Title: mine' "
    f"-d '{json.dumps(CHAT)}'"
)
TOOL = {"name": "roll", "description": "Roll dice", "input_schema": {"type": "object", "properties": {}}}
SERVERS = {"mcpServers": {"hub": {"command": "npx", "args": ["hub", "--token", KEY], "env": {"HUB_KEY": KEY + "2"}}}}
PROMPTFOO = """
prompts: ["Say {{word}}"]
providers: [openai:chat:demo-chat]
tests:
  - vars: {word: hello}
    assert: [{type: contains, value: hello}]
"""
ARCHIVE = {
    "log": {
        "entries": [
            {"request": {"method": "GET", "url": "https://gw.example/"}},
            {
                "request": {
                    "method": "POST",
                    "url": "https://gw.example/v1/chat/completions",
                    "headers": [{"name": "authorization", "value": f"Bearer {KEY}"}],
                    "postData": {"mimeType": "application/json", "text": json.dumps(CHAT)},
                }
            },
        ]
    }
}


def report(content: str, name: str, folder: Path, *options: str) -> Any:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    done = run_command("import", str(path), "--json", *options)
    assert done.returncode == 0, done.err
    assert KEY not in done.out + done.err
    return json.loads(done.out)


@each_case(
    ("name", "content", "kind"),
    [
        ("command.txt", COMMAND, "request"),
        ("body.json", json.dumps(CHAT), "request"),
        ("page.har", json.dumps(ARCHIVE), "request"),
        ("list.json", json.dumps(CHAT["messages"]), "messages"),
        ("tuning.jsonl", json.dumps({"messages": CHAT["messages"]}) + "\n" + json.dumps(CHAT), "messages"),
        ("tools.json", json.dumps([TOOL]), "tools"),
        ("tools.py", "def roll(sides: int) -> int:\n    '''Roll a die.'''\n    return sides\n", "tools"),
        ("api.yaml", "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      operationId: roll\n", "tools"),
        ("cases.csv", "question,expected\nTwo and two?,4\n", "cases"),
        ("cases.txt", "question;expected\nTwo and two?;4\n", "cases"),
        ("rows.jsonl", '{"input": "Two and two?", "ideal": "4"}\n{"input": "Three?", "ideal": "3"}', "cases"),
        ("config.yaml", PROMPTFOO, "cases"),
        ("mcp.json", json.dumps(SERVERS), "servers"),
        ("piece.txt", '"hub": {"command": "npx", "args": ["hub"]}', "servers"),
    ],
)
def test_import_recognises_a_file_by_its_content(name: str, content: str, kind: str, tmp_path: Path) -> None:
    result = report(content, name, tmp_path)
    assert (result["kind"], result["recognised"]) == (kind, True)
    assert result["content"]


def test_import_of_a_command_writes_a_request_file_without_its_key(tmp_path: Path) -> None:
    out = tmp_path / "request.json"
    result = report(COMMAND, "command.txt", tmp_path, "--out", str(out))
    assert result["base_url"] == "https://gw.example/v1"
    assert KEY not in out.read_text(encoding="utf-8")
    request = read_run_file(out)
    assert (request.model, request.turns[0].text) == ("demo-chat", "Hi")
    assert request.extra_headers == {"X-Title": "mine"}
    assert request.parameters.to_wire() == {"temperature": 0.5}
    ran = run_command("run", str(out), "--json")
    assert ran.returncode == 0, ran.err


def test_import_of_a_configuration_of_cases_writes_an_experiment_that_eval_runs(tmp_path: Path) -> None:
    out = tmp_path / "cases.playground.json"
    report(PROMPTFOO, "promptfoo.yaml", tmp_path, "--out", str(out))
    plan = open_file(out).evaluation
    assert plan is not None
    assert [case.values for case in plan.cases] == [{"word": "hello"}]
    ran = run_command("eval", str(out), "--json", str(tmp_path / "results.json"))
    assert ran.returncode == 0, ran.err


def test_import_of_servers_puts_variables_in_the_place_of_secrets(tmp_path: Path) -> None:
    result = report(json.dumps(SERVERS), "mcp.json", tmp_path)
    assert result["content"]["mcpServers"]["hub"] == {
        "command": "npx",
        "args": ["hub", "--token", "${HUB_TOKEN}"],
        "env": {"HUB_KEY": "${HUB_KEY}"},
    }
    assert [note for note in result["notes"] if "HUB_TOKEN" in note]


def test_import_in_words_keeps_the_content_apart(tmp_path: Path) -> None:
    path = tmp_path / "command.txt"
    path.write_text(COMMAND, encoding="utf-8")
    done = run_command("import", str(path))
    assert json.loads(done.out)["model"] == "demo-chat"
    assert "Read as request (recognised): a curl command" in done.err
    assert "The key was left out" in done.err
    assert KEY not in done.out + done.err


@each_case(
    ("content", "options", "words"),
    [
        (None, (), "cannot be read"),
        (b"", (), "it is empty"),
        (b"caf\xe9", (), "not UTF-8 text (line 1)"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", (), "binary file"),
        (b"Hello", (), "none of what can be recognised"),
        (b'{"a": 1}', (), "none of what can be recognised"),
        (b'{"experiment": 1}', (), "a saved experiment"),
        (b"Hello", ("--as", "request"), "neither a curl command"),
        (b"Hello", ("--as", "messages"), "not JSON"),
        (b"Hello", ("--as", "tools"), "neither JSON"),
        (b"[[]]", ("--as", "cases"), "cannot be imported"),
        (b"{}", ("--as", "servers"), "mcpServers"),
    ],
)
def test_import_of_what_cannot_be_read_says_why(
    content: bytes | None, options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    done = run_command("import", str(path), *options)
    assert done.returncode == ExitCode.BAD_INPUT
    assert words in done.err
    assert done.out == ""
