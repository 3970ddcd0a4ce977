"""Memory of opening a file: at most four times its size, or it is refused before decoding."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.engine.io.weighed_json import MOST, TooMuchError, estimate, read_json
from tests.support.each_case import each_case

MIB = 2**20
N = 10_000
EMPTY: dict[str, Any] = {"experiment": 1, "id": "x", "protocol": "chat", "model": "m"}
OUTCOME = {"ending": "complete", "usage": {}, "timing": {"started_at": 1}, "asked": {}, "deviations": []}
CALL = {"kind": "tool_call", "id": "c", "name": "n", "arguments": ""}


def turns(*, parts: Any = (), count: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "turns": [{"id": str(number), "role": "assistant", "parts": list(parts), **more} for number in range(count)]
    }


SHAPES: dict[str, dict[str, Any]] = {
    "rows": {"debugging": {"rules": {"a": {"rows": [{}] * N}}}},
    "answers": {"calls": [{"turn": "a", "call": "b", "fork": [{}] * N}]},
    "turns": turns(count=N),
    "unknown members": turns(count=N, x=1),
    "texts": turns(parts=[{"kind": "text", "text": ""}] * N),
    "lists in lists": {"new": [[[[[1]]]]] * 4 * N},
    "names": {"variables": {f"k{number}": f"v{number}" for number in range(4 * N)}},
    "lines": turns(parts=[{"kind": "text", "text": ["a"] * 10 * N}]),
}

Measure = Callable[[Path], tuple[int, str]]


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    """Return the growth in bytes of a process that opens a file, and its error."""
    small = tmp_path_factory.mktemp("small") / "small.json"
    content = {**EMPTY, **turns(parts=[{"kind": "text", "text": "a"}, CALL], outcome=OUTCOME), "tools": [{"name": "a"}]}
    small.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-m", "tests.engine.io.opening_memory", str(small)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def take(path: Path) -> tuple[int, str]:
            requests.write(f"{path}\n")
            requests.flush()
            growth, _, error = answers.readline().partition(" ")
            return int(growth), error.strip()

        yield take


@pytest.mark.skipif(
    sys.platform == "win32", reason="platform: needs Linux or macOS, to ask for the memory of a process"
)
@pytest.mark.parametrize("shape", SHAPES)
def test_memory_of_a_file_is_at_most_its_estimate(shape: str, tmp_path: Path, measure: Measure) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**EMPTY, **SHAPES[shape]}, ensure_ascii=False), encoding="utf-8")
    growth, error = measure(path)
    assert not error
    assert growth <= estimate(path.read_bytes())[0] + 2 * MIB  # a process grows in pages and steps


def many_turns(path: Path, size: int) -> None:
    """A file of about that many bytes, in short turns."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(EMPTY)[:-1] + ', "turns": [')
        parts = json.dumps([{"kind": "text", "text": "Hello there, how are you?"}])
        before, last = "null", size // 120 - 1
        for number in range(last + 1):
            role = "user" if number % 2 == 0 else "assistant"
            file.write(f'{{"id": "t{number}", "parent": {before}, "role": "{role}", "parts": {parts}}}')
            file.write(", " if number < last else "")
            before = f'"t{number}"'
        file.write(f'], "head": {before}}}')


@pytest.mark.skipif(
    sys.platform == "win32", reason="platform: needs Linux or macOS, to ask for the memory of a process"
)
@pytest.mark.slow
def test_large_file_takes_four_times_its_size_or_is_refused(tmp_path: Path, measure: Measure) -> None:
    path = tmp_path / "many.playground.json"
    many_turns(path, 94 * MIB)
    size = path.stat().st_size
    assert size > 90 * MIB
    growth, error = measure(path)
    assert growth < 2 * size
    assert "This experiment cannot be opened: what it holds (" in error
    assert "GiB of memory" in error
    answer = "All of it, and then some. " * 70 + "😀"
    turned = turns(parts=[{"kind": "text", "text": answer[:-1]}], count=40_000)
    turned["turns"][::5] = turns(parts=[{"kind": "text", "text": answer}], count=40_000)["turns"][::5]
    path.write_text(json.dumps({**EMPTY, **turned}, ensure_ascii=False), encoding="utf-8")
    growth, error = measure(path)
    assert not error
    assert growth < 4 * path.stat().st_size


def test_refusal_names_the_number_of_values() -> None:
    many = b"[" + b"{}," * (MOST // 1000) + b"{}]"
    with pytest.raises(TooMuchError, match=r"what it holds \([\d,]+ values\) would take about 0\.4 GiB"):
        read_json(many)
    assert len(read_json(many[:4000] + b"{}]")) == 1334


@each_case("seed", range(4))
def test_estimate_of_texts_longer_than_a_piece_counts_values(seed: int) -> None:
    """The pieces of more than a mebibyte end in texts, escapes, characters and between values."""
    dice = random.Random(seed)
    bits = ["a", '"', "\\", '\\"', "{[,", "é", "…", "😀", "\n", "x" * 40]
    value = ["".join(dice.choices(bits, k=dice.randint(0, 20))) for _ in range(10_000)]
    data = json.dumps({"a": [value, {"b": value}]}, ensure_ascii=dice.random() < 0.3).encode()
    assert len(data) > 2**20
    size, count = estimate(data)
    assert count == 2 + 2 + 1 + 2 * (len(value) - 1) + 1
    assert size >= len(data)


@each_case("tail", [b"", b"\\", b'\\"', b'"', b'"\\\\', b"{", b"\xff\xfe\x00"])
def test_estimate_of_any_bytes_is_at_least_their_size(tail: bytes) -> None:
    for data in (tail, b'{"a' + tail, b'["a",' + tail * 1000, tail * 300_000):
        assert estimate(data)[0] >= len(data)


@each_case(
    "value",
    [
        {"a": ["\ud800 half", "\udc00"]},  # as we write it
        [[[[1] * 3]]],
        json.loads("[" * 500 + "]" * 500),
        {"n": 12345678901234567890123, "f": 0.1, "e": 1e300, "z": -0.0},
        "\x00\x7f\u2028",
    ],
)
def test_valid_json_is_read(value: Any) -> None:
    for data in (json.dumps(value).encode(), b"\xef\xbb\xbf" + json.dumps(value, indent=1).encode()):
        assert json.dumps(read_json(data)) == json.dumps(value)


@each_case("data", [b"", b"{", b"[1,]", b"NaN", b'{"a": Infinity}', b"[" * 100_000, b'"\xff"', b"9" * 5000])
def test_invalid_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(data)
