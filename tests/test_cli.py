"""Commands: their arguments, output and exit codes; what needs signals, pipes or a shell runs as a process."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from playground import __version__
from playground.cli.demo import DEMO_KEY
from playground.cli.gateway import CLOCKS, FOR_CONTENT, read_timeouts
from playground.engine.gateways.profiles import Profile, Timeouts
from playground.engine.headless.exit_codes import MEANINGS, ExitCode
from tests.support.command import CommandResult, run_command, run_process, started_command
from tests.support.each_case import each_case
from tests.support.fault_server import FaultServer, head, hold, pause, send, whole
from tests.support.raw_http import ask

CANARY = "sk-canary-c0ffee42"
CHAT = b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
interrupts = pytest.mark.skipif(
    sys.platform == "win32", reason="platform: needs Linux or macOS, to send an interrupt to one child"
)


def test_version() -> None:
    ended = run_command("--version")
    assert ended.returncode == 0
    assert ended.stdout.decode().strip() == f"Gateway Playground {__version__}"


@each_case("run", [run_command, partial(run_process, env={"PYTHONIOENCODING": "ascii"})])
def test_help_on_a_console_without_unicode_names_the_commands(run: Callable[..., CommandResult]) -> None:
    ended = run("--help")
    assert ended.returncode == 0
    for command in ("demo", "run", "decode", "replay"):
        assert command.encode() in ended.stdout


def test_help_loads_neither_qt_nor_a_client() -> None:
    code = "import sys, playground.cli\ntry: playground.cli.main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('PySide6', 'httpx', 'uvicorn', 'asyncio', 'pydantic') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert ended.stdout.decode().splitlines()[-1] == "[]"


@each_case(
    ("arguments", "words"),
    [
        (["fly"], "argument COMMAND: invalid choice: 'fly'"),
        (["decode"], "usage: playground decode "),
        (["decode", "--protocol", "telegraph"], "usage:"),
        (["run", "x.json", "--max-steps", "0"], "usage:"),
        (["demo", "--port", "abc"], "argument --port: a port is a number from 0 to 65535"),
        (["demo", "--rpm", "1.5"], "argument --rpm: give a whole number, 0 or more"),
        (["demo", "--tps", "nan"], "argument --tps: give a number, 0 or more"),
        (["demo", "--allow-host", "http://x"], "argument --allow-host: give the name of a host, such as gateway.test"),
        (["replay", "x", "--cors", "page.test"], "argument --cors: give the origin of a web page, such as http"),
        (["replay", "x", "--speed", "0"], "argument --speed: give a number above 0, or inf"),
        (["run", "x.json", "--header", f"sk {CANARY}"], "give a header as"),
        (["run", "x.json", "--key-style", "basic"], "invalid choice"),
        (["run", "x.json", "--reasoning", "sometimes"], "never, after-tools, always"),
        (["run", "x.json", "--timeout", "soon"], "give seconds"),
        (["run", "x.json", "--timeout", "last=3"], "'last' is no time limit; use connect, first, idle, settle, total"),
        (["run", "x.json", "--retries", "21"], "a whole number from 0 to 20"),
        (["run", "x.json", "--max-event", "0"], "a whole number, 1 or more"),
        (["run", "x.json", "--max-steps", "x"], "a whole number, 1 or more"),
    ],
)
def test_arguments_that_make_no_sense_are_explained(arguments: list[str], words: str) -> None:
    ended = run_command(*arguments)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert words in ended.err
    assert "usage:" in ended.err
    assert "Traceback" not in ended.err
    assert CANARY not in ended.err


# decode


@each_case("run", [run_command, run_process])
def test_decode_of_a_file_or_standard_input_prints_the_answer(
    run: Callable[..., CommandResult], tmp_path: Path
) -> None:
    path = tmp_path / "body.sse"
    path.write_bytes(CHAT + DONE)
    for ended in (run("decode", "--protocol", "chat", str(path)), run("decode", "--protocol", "chat", data=CHAT)):
        assert ended.returncode == 0
        summary = json.loads(ended.stdout)
        assert (summary["choices"][0]["content"], summary["complete"], summary["error"]) == ("Hi", True, None)
    missing = run_command("decode", "--protocol", "chat", str(tmp_path / "missing"))
    assert (missing.returncode, missing.err.count("\n")) == (2, 1)
    assert "missing cannot be read" in missing.err


def test_decode_reads_cumulative_deltas_without_the_repeats_where_asked() -> None:
    texts = ["The ", "The cat ", "The cat sat ", "The cat sat on ", "The cat sat on it."]
    chunks = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts]
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + DONE
    summary = json.loads(run_command("decode", "--protocol", "chat", data=body).stdout)
    assert summary["choices"][0]["content"] == "".join(texts)
    assert "cumulative_deltas" in [deviation["code"] for deviation in summary["deviations"]]
    summary = json.loads(run_command("decode", "--protocol", "chat", "--cumulative", data=body).stdout)
    assert summary["choices"][0]["content"] == texts[-1]


@each_case("protocol", ["chat", "messages", "responses"])
@each_case("data", [b"", bytes(range(256)) * 40, b"data: " + b"[" * 50_000 + b"\n\n", b"data: {\xff\xfe}\r\r\n\x00"])
def test_decode_takes_any_bytes(protocol: str, data: bytes) -> None:
    ended = run_command("decode", "--protocol", protocol, data=data)
    assert ended.returncode == 0
    assert ended.stderr == b""
    assert ended.stdout.isascii()
    assert json.loads(ended.stdout)["complete"] is False


# run


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.json"
    messages = [{"role": "user", "content": "What is 6 * 7?"}]
    path.write_text(json.dumps({"playground": 1, "model": "demo-reasoner", "messages": messages}), encoding="utf-8")
    return path


def test_run_uses_the_demo_gateway_when_no_address_is_given(experiment: Path) -> None:
    ended = run_command("run", str(experiment), env={"PLAYGROUND_API_KEY": CANARY})
    assert ended.returncode == 0
    assert b"42" in ended.stdout
    assert b"The user says" in ended.stderr
    assert CANARY.encode() not in ended.stdout + ended.stderr


def test_run_answers_tool_calls_from_a_table(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    requests = [{"role": "user", "content": "Weather in Oslo"}]
    experiment, table = tmp_path / "experiment.json", tmp_path / "table.json"
    content = {"playground": 1, "model": "demo-tools", "messages": requests, "tools": [tool]}
    experiment.write_text(json.dumps(content), encoding="utf-8")
    table.write_text(json.dumps({"playground_answers": 1, "tools": {"*": {"result": "cold"}}}), encoding="utf-8")
    ended = run_command("run", str(experiment), "--answers", str(table), "--json")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert [turn["role"] for turn in json.loads(ended.stdout)["turns"]] == ["user", "assistant", "tool", "assistant"]
    short = run_command("run", str(experiment), "--answers", str(table), "--max-steps", "1")
    assert short.returncode == 7
    assert run_command("run", str(experiment), "--max-steps", "5").returncode == 6
    assert run_command("run", str(experiment)).returncode == 0, "one request, as without these options"


def test_run_reads_standard_input(experiment: Path) -> None:
    ended = run_command("run", "-", data=experiment.read_bytes())
    assert ended.returncode == 0
    assert b"42" in ended.stdout
    ended = run_command("run", "-", data=b"{")
    assert ended.returncode == 2
    assert b"standard input is not JSON" in ended.stderr


def test_run_passes_every_option_on(experiment: Path, tmp_path: Path) -> None:
    tape = tmp_path / "a.cassette.json"
    with FaultServer() as server:
        server.play_next(send(whole(503, "application/json", b"{}")))
        server.play(send(head(), CHAT, DONE))
        ended = run_command(
            *("run", str(experiment), "--base-url", f"{server.url}/", "--record", str(tape), "--retries", "1"),
            *("--header", "X-Team: a: b", "--header", "X-More:c", "--key-style", "x-api-key"),
            *("--reasoning", "after-tools:reasoning", "--timeout", "first=5,idle=5,total=off", "--max-body", "1"),
            env={"PLAYGROUND_API_KEY": CANARY},
        )
        sent = server.requests[-1]
    assert (ended.returncode, ended.stdout) == (0, b"Hi\n")
    assert b"removed the trailing slash" in ended.stderr
    assert b"Trying again in" in ended.stderr
    assert [sent.header(name) for name in ("X-Team", "X-More", "x-api-key")] == ["a: b", "c", CANARY]
    assert CANARY.encode() not in tape.read_bytes() + ended.stdout + ended.stderr
    from playground.engine.cassettes.cassette import open_file

    assert len(open_file(tape).exchanges) == 2


def test_the_times_that_help_names_are_those_in_force() -> None:
    message = " ".join(run_command("run", "--help").stdout.decode().split())
    times = {name: f"{seconds:g}" if seconds else "off" for name, seconds in Timeouts()}
    assert ",".join(f"{name}={seconds}" for name, seconds in times.items()) in message
    new = Profile()
    assert f"(default: {new.retries})" in message
    assert f"(default: {new.max_event_mib})" in message
    assert f"(default: {new.max_body_mib})" in message
    assert read_timeouts("3") == dict.fromkeys(FOR_CONTENT, 3.0)
    assert set(CLOCKS) == set(Timeouts.model_fields)


@interrupts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_is_interrupted(experiment: Path, tmp_path: Path, number: signal.Signals) -> None:
    tape = tmp_path / "a.cassette.json"
    with FaultServer() as server:
        server.play(send(head(), CHAT.replace(b'"stop"', b"null")), hold())
        options = ("--base-url", server.url, "--record", str(tape))
        with started_command("run", str(experiment), *options) as child:
            assert child.stdout is not None
            assert child.stdout.read(2) == b"Hi"
            child.send_signal(number)
            out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (130, b"\n", b"playground: Interrupted.\n")
    assert b'"Hi"' in tape.read_bytes().replace(b"\\", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, for files that stand for devices")
def test_run_into_what_cannot_be_written(experiment: Path) -> None:
    command = f"{sys.executable} -m playground run {experiment}"
    full = subprocess.run(["sh", "-c", f"{command} >/dev/full"], capture_output=True, timeout=60, check=False)
    assert full.returncode == 1
    assert full.stderr.endswith(b"playground: standard output cannot be written: No space left on device\n")
    closed = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, timeout=60, check=False)
    assert closed.returncode == 0
    assert b"Traceback" not in closed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, for a pipe that is closed early")
def test_run_whose_reader_leaves_in_mid_answer(experiment: Path) -> None:
    with FaultServer() as server:
        more = CHAT.replace(b'"stop"', b"null")
        server.play(send(head(), more), pause(), send(more), hold())
        with started_command("run", str(experiment), "--base-url", server.url) as child:
            assert child.stdout is not None
            assert child.stdout.read(2) == b"Hi"
            child.stdout.close()
            child.stdout = None
            server.go_on()
            _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (1, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="platform: needs Linux or macOS, for a terminal")
def test_run_on_a_terminal(experiment: Path) -> None:
    """Reasoning and answer share the screen: each begins on a line of its own."""
    import pty

    thought = CHAT.replace(b'"content":"Hi"', b'"reasoning_content":"Hm."').replace(b'"stop"', b"null")
    above, below = pty.openpty()
    with FaultServer() as server:
        server.play(send(head(), thought, CHAT, DONE))
        options = ("--base-url", server.url)
        with started_command("run", str(experiment), *options, stdout=below, stderr=below) as child:
            os.close(below)
            displayed = b""
            with contextlib.suppress(OSError):  # the terminal's other side is closed at the end
                while data := os.read(above, 65536):
                    displayed += data
            os.close(above)
            assert child.wait(20) == 0
    assert displayed == b"Hm.\r\nHi\r\n"


# help and exit codes


COMMANDS_PAGE = Path(__file__).parents[1] / "docs" / "commands.md"


def test_exit_codes_in_help_and_documentation_are_those_of_the_code() -> None:
    page = COMMANDS_PAGE.read_text(encoding="utf-8")
    table = page.partition("| exit code | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()]
    assert rows == [(str(int(code)), words) for code, words in MEANINGS.items()]
    assert list(MEANINGS) == sorted(ExitCode)
    message = " ".join(run_command("run", "--help").stdout.decode().split())
    for code, words in MEANINGS.items():
        assert f"{int(code)} {words}" in message


@pytest.mark.parametrize(
    ("command", "page"), [("run", "commands.md"), ("eval", "evaluation.md"), ("check", "gateway-check.md")]
)
def test_documentation_names_every_option_of_a_command(command: str, page: str) -> None:
    folder = COMMANDS_PAGE.parent
    text = (folder / page).read_text(encoding="utf-8") + COMMANDS_PAGE.read_text(encoding="utf-8")
    options = set(re.findall(r"--[a-z-]+", run_command(command, "--help").stdout.decode())) - {"--help"}
    assert {option for option in options if option not in text} == set()


# demo


class DemoProcess:
    """``playground demo`` in a process, from its announcement on."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdout is not None
        address = re.search(rb"http://\S+/v1", process.stdout.readline())
        assert address is not None, process.communicate()
        self.base_url = address[0].decode()

    def status(self, key: str) -> int:
        """Return the status of a request for the models with ``key``."""
        host = self.base_url.removeprefix("http://").removesuffix("/v1")
        return ask(self.base_url, "GET", "/v1/models", [("Host", host), ("Authorization", f"Bearer {key}")]).status

    def interrupt(self) -> tuple[int, bytes]:
        """Interrupt it and return its exit code and what it wrote to standard error."""
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


@interrupts
def test_demo_serves_without_limit_until_interrupted() -> None:
    with started_command("demo", "--tps", "0", "--ttft", "0", env={DEMO_KEY: CANARY}) as process:
        demo = DemoProcess(process)
        if sys.platform == "linux":
            displayed = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            assert b"demo" in displayed
            assert CANARY.encode() not in displayed
        assert [demo.status(CANARY) for _ in range(70)] == [200] * 70
        assert demo.status("sk-wrong") == 401
        assert demo.interrupt() == (0, b"")
    with socket.socket() as probe:
        host, port = demo.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        assert probe.connect_ex((host, int(port))) != 0


@interrupts
def test_demo_options_of_key_file_host_and_limit_are_in_force(tmp_path: Path) -> None:
    file = tmp_path / "key.txt"
    file.write_text(f"{CANARY}\n")
    options = ("--key-file", str(file), "--allow-host", "gateway.test", "--rpm", "5")
    with started_command("demo", *options, env={DEMO_KEY: "sk-of-the-environment"}) as process:
        demo = DemoProcess(process)
        assert demo.status("sk-of-the-environment") == 401
        key = [("Authorization", f"Bearer {CANARY}")]
        for host, status in (("localhost", 200), ("gateway.test:80", 200), ("evil.example", 421)):
            assert ask(demo.base_url, "GET", "/v1/models", [("Host", host), *key]).status == status
        assert [demo.status(CANARY) for _ in range(5)][-1] == 429
        assert demo.interrupt() == (0, b"")


@pytest.mark.parametrize("content", [b" \n", b"\xff\xfe", None])
def test_a_file_without_a_key_is_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "key.txt"
    if content is not None:
        file.write_bytes(content)
    ended = run_command("demo", "--key-file", str(file))
    assert ended.returncode == 2
    assert b"cannot be used as a key" in ended.stderr


def test_demo_on_a_port_in_use_warns_of_a_key_on_the_command_line_and_ends() -> None:
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        ended = run_command("demo", "--key", CANARY, "--port", str(occupied.getsockname()[1]))
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert "Use --key-file or PLAYGROUND_DEMO_KEY" in ended.err
    assert "Choose another port" in ended.err
    assert CANARY not in ended.err


# The window


@pytest.mark.skipif(sys.platform != "linux", reason="platform: needs Linux, where a display may be missing")
@each_case(
    "displays", [{}, {"DISPLAY": "localhost:9876.0"}, {"WAYLAND_DISPLAY": "wayland-77"}, {"QT_QPA_PLATFORM": "xcb"}]
)
def test_without_a_display_one_line_says_what_to_do(displays: dict[str, str]) -> None:
    ended = run_command(env=displays, without=("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    assert ended.returncode == 2
    assert ended.stdout == b""
    lines = ended.stderr.decode().splitlines()
    assert len(lines) == 1
    assert "no display" in lines[0]
    assert "playground run" in lines[0]


@interrupts
def test_window_opens_and_a_signal_ends_it_in_order(tmp_path: Path) -> None:
    code = (
        "import sys, playground.app as app\n"
        "shown = app.App.show\n"
        "def show(self):\n    shown(self)\n    print('shown', flush=True)\n"
        "app.App.show = show\n"
        "sys.exit(app.run())\n"
    )
    environment = os.environ | {"XDG_CONFIG_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    child = subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"shown\n"
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 0, err
    # In this mode asyncio tells of every step that took 0.1 s, which on a busy machine any may.
    assert [line for line in err.splitlines() if not line.startswith(b"Executing <")] == []


# replay


@pytest.fixture
def cassette_file(tmp_path: Path) -> Path:
    from playground.engine.cassettes.cassette import save
    from tests.engine.exchanges import exchange

    path = tmp_path / "a.cassette.json"
    save(path, [exchange([(0.01, CHAT), (0.02, DONE)])])
    return path


def test_replay_serves_allowed_hosts_and_pages_until_interrupted(cassette_file: Path) -> None:
    page = "http://localhost:3000"
    options = ["--speed", "inf", "--allow-host", "gateway.test", "--cors", f"{page}/"]
    with started_command("replay", str(cassette_file), *options) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        address = re.search(r"Replaying 1 exchange at (http://127\.0\.0\.1:\d+/v1)\.", line)
        assert address is not None, line
        headers = {"Content-Type": "application/json"}
        data = b'{"model": "x", "stream": true}'
        request = urllib.request.Request(f"{address[1]}/chat/completions", data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.read() == CHAT + DONE
        assert b"exchange 1 of 1 (another body, taken in order)" in process.stdout.readline()
        for host, status in (("localhost", 200), ("gateway.test:80", 200), ("evil.example", 421)):
            for origin in (page, "http://localhost:3001"):
                response = ask(address[1], "GET", "/v1/models", [("Host", host), ("Origin", origin)])
                assert response.status == status
                assert ("access-control-allow-origin" in response.headers) is (origin == page)
        if sys.platform != "win32":
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
            assert (process.returncode, err) == (130, b"")


def test_replay_of_a_file_that_cannot_be_read_says_why(tmp_path: Path, cassette_file: Path) -> None:
    missing = run_command("replay", str(tmp_path / "missing"))
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert "missing cannot be read" in missing.err
    content = json.loads(cassette_file.read_text(encoding="utf-8"))
    content["exchanges"].append({**content["exchanges"][0], "complete": "yes"})
    cassette_file.write_text(json.dumps(content), encoding="utf-8")
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        partly = run_command("replay", str(cassette_file), "--port", str(occupied.getsockname()[1]))
    assert "1 of 2 exchanges could not be read" in partly.err
    assert "“complete” of exchange 2 must be true or false" in partly.err
    assert "Cannot listen on port" in partly.err, "it went on"
