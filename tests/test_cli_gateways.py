"""``--gateway NAME`` and ``playground gateways`` as a shell runs them, with a real keyring."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.profiles import Auth, Profile, ProfileStore, Timeouts
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.headless.exit_codes import ExitCode
from tests.engine.headless.runs import experiment
from tests.support.command import run_command
from tests.support.fault_server import FaultServer, head, send, sse, text_chunk
from tests.support.proxy import Proxy
from tests.support.secret_service import SecretService, private_bus

KEY, HUSH = "sk-canary-5511-saved", "hush-2207-header"
FINE = send(head(), sse(text_chunk("Hi", "stop"), "[DONE]"))
THOUGHT = [
    {"id": "a", "role": "user", "parts": [{"kind": "text", "text": "Hello"}]},
    {
        "id": "b",
        "parent": "a",
        "role": "assistant",
        "parts": [{"kind": "reasoning", "text": "B"}, {"kind": "text", "text": "A"}],
    },
    {"id": "c", "parent": "b", "role": "user", "parts": [{"kind": "text", "text": "And?"}]},
]
NO_DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        running.play(FINE)
        yield running


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    with private_bus(monkeypatch) as service:
        yield service


@pytest.fixture
def store(bus: SecretService) -> ProfileStore:
    """The file of gateways that commands begun here read."""
    return ProfileStore()


def keep(store: ProfileStore, profile: Profile, **secrets: str) -> Profile:
    """Save a gateway with its key (``key``) and secret headers, as the window does."""

    async def saved() -> Profile:
        keys, results = Keys(timeout=10), profile
        for name, value in secrets.items():
            results, state = await store_secret(
                results, keys, Secret(value), "" if name == "key" else name.replace("_", "-")
            )
            assert state.available, state.words
        return results

    return store.add_profile(asyncio.run(saved()))


def run(
    folder: Path, *arguments: str, content: dict[str, Any] | None = None, **environment: str
) -> tuple[int, str, str]:
    """Run a request file; what is secret here is looked for in all that it writes."""
    path = folder / "request.json"
    path.write_text(json.dumps(experiment() if content is None else content), encoding="utf-8")
    ended = run_command("run", str(path), "--retries", "0", *arguments, env=environment, without=NO_DISPLAY)
    out, err = ended.stdout.decode(), ended.stderr.decode()
    assert not any(secret in out + err for secret in (KEY, HUSH, *environment.values()))
    return ended.returncode, out, err


def test_a_saved_gateway_is_asked_with_all_that_is_its_own(
    bus: SecretService, store: ProfileStore, server: FaultServer, tmp_path: Path
) -> None:
    bus.start_keyring()
    profile = Profile(
        name="Mine",
        base_url="http://gateway.example/v1",
        headers={"X-Team": "blue", "X-Kept": "yes"},
        auth={"chat": Auth.X_API_KEY},
        default_model="m-7",
        extra_body={"user": "me"},
        adaptations=(Adaptation(kind=AdaptationKind.OMIT, field="stream_options", protocol="chat"),),
        reasoning_return=ReasoningReturn(when=SendReasoning.ALWAYS, field="thoughts"),
        timeouts=Timeouts(connect=5),
        plain_http_origin="http://gateway.example:80",
    )
    content = experiment(parameters={"stream_options": {"include_usage": True}})
    del content["model"]
    with Proxy({"gateway.example": ("127.0.0.1", server.port)}) as proxy:
        saved = profile.model_copy(update={"proxy": f"http://127.0.0.1:{proxy.port}"})
        keep(store, saved, key=KEY, X_Hush=HUSH)
        for name in ("Mine", " mine", saved.id):
            code, out, err = run(tmp_path, "--gateway", name, "--header", "x-team: red", content=content)
            assert (code, out, err) == (ExitCode.OK, "Hi\n", "")
        saved_experiment = {"experiment": 1, "id": "e", "turns": THOUGHT, "head": "c"}
        assert run(tmp_path, "--gateway", "Mine", content=saved_experiment)[0] == ExitCode.OK
        assert len(proxy.asked) == 4
    thought = json.loads(server.requests[-1].body)
    assert (thought["model"], thought["messages"][1]["thoughts"]) == ("m-7", "B")
    sent = server.requests[-2]
    assert sent.header("x-api-key") == KEY
    assert sent.header("Authorization") is None
    assert (sent.header("X-Hush"), sent.header("X-Team"), sent.header("X-Kept")) == (HUSH, "red", "yes")
    body = json.loads(sent.body)
    assert body["model"] == "m-7"
    assert body["user"] == "me"
    assert "stream_options" not in body


def test_what_the_command_line_says_goes_first(
    bus: SecretService, store: ProfileStore, server: FaultServer, tmp_path: Path
) -> None:
    bus.start_keyring()
    keep(store, Profile(name="Mine", base_url=server.url, default_model="m-7", proxy="http://127.0.0.1:1"), key=KEY)
    code, _, err = run(tmp_path, "--gateway", "Mine")
    assert code == ExitCode.TRANSPORT
    assert "Nothing answers at the proxy 127.0.0.1:1" in err
    with Proxy({"127.0.0.1": ("127.0.0.1", server.port)}) as proxy:
        values = ("--gateway", "Mine", "--proxy", f"http://127.0.0.1:{proxy.port}", "--key-style", "both")
        assert run(tmp_path, *values)[0] == ExitCode.OK
        assert server.requests[-1].header("x-api-key") == KEY
        assert json.loads(server.requests[-1].body)["model"] == "demo-chat", "the file names one"
        assert run(tmp_path, *values, "--key-variable", "OTHER_KEY", OTHER_KEY="sk-other-9921")[0] == ExitCode.OK
        assert server.requests[-1].header("x-api-key") == "sk-other-9921"
        # the variable of other gateways is not a saved gateway's key
        assert run(tmp_path, *values, PLAYGROUND_API_KEY="sk-other-9922")[0] == ExitCode.OK
        assert server.requests[-1].header("x-api-key") == KEY
    both = run_command("run", "-", "--gateway", "Mine", "--base-url", server.url)
    assert both.returncode == ExitCode.BAD_INPUT
    assert b"not allowed with" in both.stderr
    unset = run_command("run", "-", "--gateway", "Mine", "--key-variable", "NOT_THERE")
    assert unset.returncode == ExitCode.BAD_INPUT
    assert b"the environment variable NOT_THERE is not set" in unset.stderr
    for key in ("sk-canary-5f0c2b7e9921", "0123456789ABCDEF", "JBSWY3DPEHPK3PXPJBSWY3DP"):
        pasted = run_command("run", "-", "--base-url", server.url, "--key-variable", key)
        assert pasted.returncode == ExitCode.BAD_INPUT
        assert b"does not look like the name of a variable" in pasted.stderr
        assert key.encode() not in pasted.stdout + pasted.stderr


def test_a_name_that_is_not_there_or_twice_is_told_with_those_that_are(
    store: ProfileStore, server: FaultServer, tmp_path: Path
) -> None:
    assert "no gateway is set up yet" in run(tmp_path, "--gateway", "Mine")[2]
    first = store.add_profile(Profile(name="Mine", base_url=server.url))
    second = store.add_profile(Profile(name="Mine", base_url="https://gateway.example/v1"))
    store.add_profile(Profile(name="Yours\x1b[31m", base_url=server.url))
    code, _, err = run(tmp_path, "--gateway", "Mine")
    assert code == ExitCode.BAD_INPUT
    assert first.id in err
    assert second.id in err
    assert run(tmp_path, "--gateway", first.id)[0] == ExitCode.OK
    code, _, err = run(tmp_path, "--gateway", first.id, PLAYGROUND_API_KEY="sk-other-9922")
    assert code == ExitCode.OK
    assert server.requests[-1].header("Authorization") is None
    assert "PLAYGROUND_API_KEY is not sent to a saved gateway" in err
    code, _, err = run(tmp_path, "--gateway", "Theirs")
    assert code == ExitCode.BAD_INPUT
    assert "no gateway is called “Theirs”. There are “Mine”, “Mine” and “Yours" in err
    assert "\x1b" not in err


def test_without_a_keyring_or_a_yes_nothing_is_sent(
    bus: SecretService, store: ProfileStore, server: FaultServer, tmp_path: Path
) -> None:
    away = Profile(name="Away", base_url="http://gateway.invalid/v1", key_origin="http://gateway.invalid:80")
    store.add_profile(away)
    code, _, err = run(tmp_path, "--gateway", "Away")
    assert code == ExitCode.BAD_INPUT
    assert "not encrypted" in err
    assert "Open the settings of “Away” in the window" in err
    assert "--allow-http" in err
    moved = Profile(name="Moved", base_url=server.url, key_origin="https://gateway.example:443")
    store.add_profile(moved)
    code, _, err = run(tmp_path, "--gateway", "Moved", "--allow-http")
    assert code == ExitCode.BAD_INPUT
    assert "The key was given for https://gateway.example" in err
    assert "--allow-http" not in err
    keyed = Profile(name="Keyed", base_url=server.url, key_origin=Profile(base_url=server.url).origin)
    store.add_profile(keyed)
    code, _, err = run(tmp_path, "--gateway", "Keyed")
    assert code == ExitCode.BAD_INPUT
    assert "keyring" in err
    assert "--key-variable" in err
    assert server.requests == []
    assert run(tmp_path, "--gateway", "Keyed", "--key-variable", "MY_KEY", MY_KEY="sk-own-3310")[0] == ExitCode.OK
    assert server.requests[-1].header("Authorization") == "Bearer sk-own-3310"
    bus.start_keyring()
    code, _, err = run(tmp_path, "--gateway", "Keyed")
    assert code == ExitCode.BAD_INPUT
    assert "no longer in the system keyring" in err


def test_gateways_are_listed_without_their_keys(bus: SecretService, store: ProfileStore) -> None:
    assert b"No gateway is set up yet" in run_command("gateways").stderr
    bus.start_keyring()
    keep(store, Profile(name="Mine", base_url="https://gateway.example/v1"), key=KEY, X_Hush=HUSH)
    store.add_profile(Profile(name="By variable", base_url="http://127.0.0.1:8000/v1", key_variable="SOME_KEY"))
    store.add_profile(Profile(name="Open", base_url="http://127.0.0.1:8080/v1", default_model="m"))
    ended = run_command("gateways", env={"SOME_KEY": "sk-own-3310"}, without=NO_DISPLAY)
    assert ended.returncode == ExitCode.OK
    assert ended.stdout.decode().splitlines() == [
        "Mine         https://gateway.example/v1  key in the system keyring",
        "By variable  http://127.0.0.1:8000/v1    key in SOME_KEY",
        "Open         http://127.0.0.1:8080/v1    no key",
    ]
    assert b"key in SOME_KEY, which is not set" in run_command("gateways", without=("SOME_KEY",)).stdout
    listed = json.loads(run_command("gateways", "--json").stdout)["gateways"]
    assert [item["key"] for item in listed] == ["keyring", "variable", "none"]
    assert listed[0]["secret_headers"] == ["X-Hush"]
    assert listed[2]["default_model"] == "m"
    files = [Path(folder, name) for folder, _, names in os.walk(store.path.parent) for name in names]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_an_evaluation_asks_a_saved_gateway(
    bus: SecretService, store: ProfileStore, server: FaultServer, tmp_path: Path
) -> None:
    bus.start_keyring()
    keep(store, Profile(name="Mine", base_url=server.url, default_model="m-7"), key=KEY)
    path = tmp_path / "cases.playground.json"
    evaluation = {"cases": [{"id": "c1", "name": "one"}], "checks": []}
    content = {"experiment": 1, "id": "e", "turns": THOUGHT[:1], "head": "a", "evaluation": evaluation}
    path.write_text(json.dumps(content), encoding="utf-8")
    ended = run_command("eval", str(path), "--gateway", "Mine")
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    assert server.requests[-1].header("Authorization") == f"Bearer {KEY}"
    assert json.loads(server.requests[-1].body)["model"] == "m-7"


def test_neither_needs_qt(store: ProfileStore, server: FaultServer) -> None:
    store.add_profile(Profile(name="Mine", base_url=server.url))
    code = (
        "import sys; sys.modules['PySide6'] = None\n"
        "from playground.cli import main\n"
        "sys.exit(main(['gateways']) or main(['run', '-', '--gateway', 'Mine']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(experiment()).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    assert ended.stdout.decode().endswith("Hi\n")
