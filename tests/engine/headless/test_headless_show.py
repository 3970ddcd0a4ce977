"""The output of a run: two files, two terminals that are one, several answers, a reader that goes away."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from playground.engine.cassettes import cassette
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.run import RunOptions, run_file
from playground.engine.headless.show import OutputError
from tests.engine.headless.runs import Desk, experiment
from tests.support.fault_server import FaultServer, head, hold, send, sleep, sse, text_chunk

HEADINGS = ("── choice 1 of 2 ──", "── choice 2 of 2 ──")


class Screen:
    """A terminal: it shows what is written to either stream in the order of writing."""

    def __init__(self) -> None:
        self.text = ""
        self.out, self.err = self._stream(), self._stream()

    def _stream(self) -> io.StringIO:
        screen = self

        class Stream(io.StringIO):
            def isatty(self) -> bool:
                return True

            def write(self, text: str) -> int:
                screen.text += text
                return super().write(text)

        return Stream()


class Gone(io.StringIO):
    """A stream that takes a few characters and then fails."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        if self.getvalue():
            raise self._error
        return super().write(text)


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> str:
    """A chunk of one choice."""
    return json.dumps({"id": "c", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


@pytest.fixture
def desk(server_desk: Desk) -> Desk:
    return server_desk


async def on_screen(desk: Desk, content: dict[str, Any], **options: Any) -> str:
    """Return the text on a terminal after a run."""
    screen = Screen()
    file = desk.write("experiment.json", content)
    await run_file(file, RunOptions(base_url=desk.base_url, retries=0, **options), screen.out, screen.err)
    return screen.text


THOUGHT = sse(chunk(reasoning_content="Hm."), chunk(content="Yes."), chunk("stop"), "[DONE]")


async def test_reasoning_has_lines_of_its_own_and_the_answer_is_in_one_piece(desk: Desk, server: FaultServer) -> None:
    server.play(send(head(), THOUGHT))
    assert await on_screen(desk, experiment()) == "Hm.\nYes.\n"
    ended = await desk.run(experiment())
    assert (ended.out, ended.err) == ("Yes.\n", "Hm.\n")
    server.play(send(head(), sse(chunk(content="One, "), chunk(reasoning_content="Hm."), chunk(content="two."))))
    assert "One, \nHm.\ntwo." in await on_screen(desk, experiment())
    ended = await desk.run(experiment())
    assert ended.out == "One, two.\n"
    assert ended.err.startswith("Hm.\nplayground: ")


async def test_all_answers_are_shown_each_under_its_heading(desk: Desk, server: FaultServer) -> None:
    chunks = [chunk(index=position, content=text) for text in ("a", "b") for position in (1, 0)]
    thoughts = [chunk(index=position, reasoning_content=f"T{position}") for position in (0, 1)]
    ends = [chunk("stop", 1), chunk("stop", 0), "[DONE]"]
    server.play(send(head(), sse(*thoughts, *chunks, *ends)))
    ended = await desk.run(experiment(parameters={"n": 2}))
    first, second = HEADINGS
    assert ended.out == f"{first}\nab\n{second}\nab\n"
    assert ended.err == f"{first}\nT0\n{second}\nT1\n"
    screen_text = await on_screen(desk, experiment(parameters={"n": 2}))
    assert screen_text == f"{first}\nT0\nab\n{second}\nT1\nab\n"
    transcript = (await desk.run(experiment(parameters={"n": 2}), as_json=True)).json
    assert [choice["reasoning"] for choice in transcript["choices"]] == ["T0", "T1"]
    loop = (await desk.run(experiment(parameters={"n": 2}), as_json=True, max_steps=2)).json
    assert [choice["content"] for choice in loop["turns"][-1]["choices"]] == ["ab", "ab"]


async def test_answers_that_were_not_asked_for_or_did_not_come(desk: Desk, server: FaultServer) -> None:
    server.play(send(head(), sse(chunk(content="x"), chunk(index=1, content="y"), chunk("stop"), chunk("stop", 1))))
    ended = await desk.run(experiment())
    assert ended.out == "x\n── choice 2 ──\ny\n"
    assert "choice 2" not in ended.err
    server.play(send(head(), sse(chunk("stop", content="x"), "[DONE]")))
    ended = await desk.run(experiment(parameters={"n": 2}))
    assert (ended.code, ended.out) == (ExitCode.OK, f"{HEADINGS[0]}\nx\n")
    assert "playground: The gateway sent 1 of the 2 answers asked for.\n" in ended.err


async def test_what_is_unknown_is_shown_and_in_the_json(desk: Desk, server: FaultServer) -> None:
    part = {"type": "hologram", "data": "x" * 1000}
    server.play(send(head(), sse(chunk("stop", content=[part]), "[DONE]")))
    ended = await desk.run(experiment())
    assert 'an unknown kind: {"type": "hologram"' in ended.err
    assert (await desk.run(experiment(), as_json=True)).json["choices"][0]["unknown"] == [part]


async def test_what_leaves_the_specification_is_said(desk: Desk, server: FaultServer) -> None:
    server.play(send(head(), sse(chunk(content="x"), chunk("stop"))))
    ended = await desk.run(experiment())
    assert ended.code == ExitCode.OK
    assert ended.err.startswith("playground: Not as the protocol says: ")
    plain = await desk.run(experiment(), as_json=True)
    assert plain.err == ""
    assert plain.json["deviations"]


async def test_control_characters_reach_no_terminal(desk: Desk, server: FaultServer) -> None:
    server.play(
        send(head(), sse(chunk(reasoning_content="\x1b]0;x\x07"), chunk("stop", content="\x9b2J\x7f"), "[DONE]"))
    )
    ended = await desk.run(experiment())
    assert (ended.out, ended.err) == ("\ufffd2J\ufffd\n", "\ufffd]0;x\ufffd\n")


@pytest.mark.parametrize(
    ("error", "has_left"), [(BrokenPipeError(), True), (OSError(28, "No space left on device"), False)]
)
async def test_a_reader_that_leaves_ends_the_run_and_the_recording_is_kept(
    desk: Desk, server: FaultServer, error: OSError, has_left: bool
) -> None:
    server.play(send(head(), sse(text_chunk("Half"))), sleep(0.1), send(sse(text_chunk("more"))), hold())
    file, path = desk.write("experiment.json", experiment()), desk.folder / "a.cassette.json"
    options = RunOptions(base_url=desk.base_url, record=path)
    with pytest.raises(OutputError) as raised:
        await run_file(file, options, Gone(error), io.StringIO())
    assert raised.value.reader_left is has_left
    assert has_left or "No space left on device" in str(raised.value)
    assert b"more" in cassette.open_file(path).exchanges[0].body
    server.wait_closed()


async def test_a_standard_error_that_cannot_be_written_is_no_obstacle(desk: Desk, server: FaultServer) -> None:
    server.play(send(head(), THOUGHT))
    file, out = desk.write("experiment.json", experiment()), io.StringIO()
    closed = Gone(BrokenPipeError())
    closed.write("x")
    assert await run_file(file, RunOptions(base_url=desk.base_url), out, closed) == ExitCode.OK
    assert out.getvalue() == "Yes.\n"
