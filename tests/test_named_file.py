"""Files that a person names: a path that is no file is reported at once, and never waited for."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from playground.engine.cassettes import cassette
from playground.engine.files import experiment_file, images
from playground.engine.files import messages as messages_import
from playground.engine.files.presets import PresetStore
from playground.engine.library import opening_files
from playground.engine.requests.request_file import BadInputError, read_run_file
from playground.gateway.connection import Connection
from playground.gateway.transport import Transport
from playground.system.named_file import read_named
from playground.ui.features.debugger.rules_dialog import read_tables
from tests.engine.exchanges import exchange
from tests.protocols.streams import DONE, chunk

pipes = pytest.mark.skipif(sys.platform == "win32", reason="platform: needs macOS or Linux")


def in_time(opened: Callable[[], object]) -> BaseException | object:
    """Return its result, or the error it raised; fails when it waits."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(opened())
        except BaseException as error:  # whatever it is, the test looks at it
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert results, "it waits"
    return results[0]


def _lists(path: Path) -> object:
    return ValueError(*PresetStore(path).messages)


OPENERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "experiment": (experiment_file.open_file, "cannot be read"),
    "cassette": (cassette.open_file, "cannot be read"),
    "messages": (messages_import.open_file, "cannot be read"),
    "dropped": (opening_files.kind_of, "cannot be read"),
    "request": (read_run_file, "cannot be read"),
    "request in the window": (opening_files.read_request_file, "cannot be read"),
    "image": (images.read_file, "could not be read"),
    "answers": (read_tables, ""),
    "presets": (_lists, "could not be read"),
    "certificates": (
        lambda path: Transport(Connection(base_url="https://h/v1", ca_file=str(path)), "https://h/v1"),
        "cannot be used",
    ),
}


@pipes
@pytest.mark.parametrize("opener", OPENERS)
def test_nothing_waits_for_a_pipe(opener: str, tmp_path: Path) -> None:
    opened, words = OPENERS[opener]
    path = tmp_path / "a.playground.json"
    os.mkfifo(path)
    for expected, kind in ((path, "a pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")):
        error = in_time(lambda expected=expected: opened(expected))  # type: ignore[misc]  # bound now
        assert isinstance(error, ValueError | BadInputError)
        assert f"it is {kind}, not a file" in str(error)
        assert words in str(error)


@pytest.fixture
def socket_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:  # a short path is wanted
        listener.bind(f"{folder}/s")
        yield Path(folder) / "s"


@pipes
def test_a_socket_is_no_file(socket_path: Path) -> None:
    with pytest.raises(OSError, match="it is a device, not a file"):
        read_named(socket_path, 10)


def test_files_are_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for size in (0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20):
        path.write_bytes(b"x" * size)
        assert len(read_named(path, 3 * 2**20)) == size
        assert read_named(path, 3 * 2**20, head=4) == b"x" * min(4, size)
    path.write_bytes(b"x" * (3 * 2**20 + 1))
    for head in (0, 4):
        with pytest.raises(OSError, match="it is larger than 3 MiB"):
            read_named(path, 3 * 2**20, head=head)
    with pytest.raises(FileNotFoundError):
        read_named(tmp_path / "none", 10)
    with pytest.raises(OSError, match="no file can have this name"):
        read_named(Path("a\0b"), 10)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert len(read_named(link, 2**30)) == 3 * 2**20 + 1


@pytest.mark.skipif(sys.platform != "linux", reason="platform: needs Linux, with its files that tell no size")
def test_a_file_that_tells_no_size_is_read_whole() -> None:
    assert read_named(Path("/proc/self/status"), 2**20).startswith(b"Name:")


@pipes
def test_on_the_command_line_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"y" * 3_000_000,))
    writer.start()
    assert read_named(path, 4_000_000, pipes=True) == b"y" * 3_000_000
    writer.join()
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_named(Path("/dev/zero"), 2**20, pipes=True)


@pipes
def test_shell_hands_over_what_a_command_writes(tmp_path: Path) -> None:
    """``<(…)`` for files of the command line, and standard input by its name."""
    tape = tmp_path / "a.cassette.json"
    cassette.save(tape, [exchange([(0.01, chunk({"content": "Hello"}, "stop")), (0.02, DONE)])])
    request = {"playground": 1, "model": "demo-tools", "messages": [{"role": "user", "content": "Weather? !calls=1"}]}
    request["tools"] = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    (tmp_path / "a.json").write_text(json.dumps(request), encoding="utf-8")
    (tmp_path / "t.json").write_text(
        '{"playground_answers": 1, "tools": {"*": [{"result": "rain"}]}}', encoding="utf-8"
    )
    playground = f"{sys.executable} -m playground"

    def run(command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, timeout=60)

    ended = run(f"cat a.json | {playground} run /dev/stdin --answers <(cat t.json)")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.strip()
    command = f"exec {playground} replay <(cat a.cassette.json) --speed inf"
    with subprocess.Popen(["bash", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE) as replaying:
        assert replaying.stdout is not None
        assert b"Replaying 1 exchange" in replaying.stdout.readline()
        replaying.terminate()
    refused = run(f"{playground} run <(cat a.json) --base-url https://127.0.0.1:9/v1 --retries 0 --ca <(echo none)")
    assert refused.returncode != 0
    assert b"it holds no certificate" in refused.stderr
