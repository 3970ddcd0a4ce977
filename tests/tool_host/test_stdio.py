"""Lines of a process are read whole up to a size, and only by their ends above it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import pytest

from playground.tool_host.limits import LONGEST_MESSAGE
from playground.tool_host.processes import ServerProcess
from playground.tool_host.stdio import read_lines
from playground.tool_host.throttle import Throttle


@pytest.fixture
async def writer(request: pytest.FixtureRequest) -> AsyncIterator[ServerProcess]:
    """A process that has written what the Python expression says."""
    program = f"import sys; sys.stdout.buffer.write({request.param})"
    process = await ServerProcess.start(sys.executable, ("-c", program), {}, "")
    yield process
    await process.end()


@pytest.mark.parametrize("writer", [r"b'one\n\ntwo\nhalf'"], indirect=True)
async def test_lines_are_read_with_the_unfinished_last(writer: ServerProcess) -> None:
    results = [line async for line in read_lines(writer, Throttle())]
    assert results == [(b"one", 3, True), (b"", 0, True), (b"two", 3, True), (b"half", 4, False)]


@pytest.mark.parametrize("writer", [f"b'head' + b'x' * {LONGEST_MESSAGE} + b'tail' + b'\\nnext\\n'"], indirect=True)
async def test_line_that_is_too_long_is_read_by_its_ends(writer: ServerProcess) -> None:
    (line, size, complete), following = [line async for line in read_lines(writer, Throttle())]
    assert (size, complete) == (LONGEST_MESSAGE + 8, True)
    assert len(line) < 1_000_000
    assert line.startswith(b"head")
    assert line.endswith(b"tail")
    assert following == (b"next", 4, True)
