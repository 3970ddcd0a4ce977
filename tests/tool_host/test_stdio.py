"""Lines of a process are read whole up to a size, and only by their ends above it."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from playground.tool_host.limits import LONGEST_MESSAGE
from playground.tool_host.processes import ServerProcess
from playground.tool_host.stdio import EndlessLineError, lines
from playground.tool_host.throttle import Throttle


@pytest.fixture
async def wrote(request: pytest.FixtureRequest) -> AsyncIterator[ServerProcess]:
    """A process that has written what the Python expression says."""
    program = f"import sys; sys.stdout.buffer.write({request.param})"
    process = await ServerProcess.start(sys.executable, ("-c", program), {}, "")
    yield process
    await process.end()


@pytest.mark.parametrize("wrote", [r"b'one\n\ntwo\nhalf'"], indirect=True)
async def test_lines_and_what_has_no_end(wrote: ServerProcess) -> None:
    found = [line async for line in lines(wrote, Throttle())]
    assert found == [(b"one", 3, True), (b"", 0, True), (b"two", 3, True), (b"half", 4, False)]


@pytest.mark.parametrize("wrote", [f"b'head' + b'x' * {LONGEST_MESSAGE} + b'tail' + b'\\nnext\\n'"], indirect=True)
async def test_of_one_that_is_too_long_only_the_ends_are_there(wrote: ServerProcess) -> None:
    (line, size, whole), following = [line async for line in lines(wrote, Throttle())]
    assert (size, whole) == (LONGEST_MESSAGE + 8, True)
    assert len(line) < 1_000_000
    assert line.startswith(b"head")
    assert line.endswith(b"tail")
    assert following == (b"next", 4, True)


@pytest.mark.parametrize("wrote", ["b'x' * 400_000_000"], indirect=True)
async def test_line_without_an_end_is_read_no_further_than_its_limit(wrote: ServerProcess) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(EndlessLineError, match="256 MiB without the end of a line"):
            _ = [line async for line in lines(wrote, Throttle())]
        assert tracemalloc.get_traced_memory()[1] < 4 * LONGEST_MESSAGE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("wrote", ["b''"], indirect=True)
async def test_nothing_is_no_line(wrote: ServerProcess) -> None:
    assert [line async for line in lines(wrote, Throttle())] == []
