"""Results and requests of about a megabyte in the window: folded, leafed through, searched, copied and saved."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from tests.flows.conftest import Person, flow
from tests.flows.pages.dialogs import name_file
from tests.flows.pages.finder import Finder
from tests.flows.pages.inspector import Comparison, RequestPage
from tests.flows.pages.steps import read_label

LINE = "one of many lines of a log that somebody sent\n"
MANY_LINES = LINE * 20_000 + "the needle\n" + LINE * 2_000
ONE_LINE = "0123456789" * 90_000 + " the needle " + "0123456789" * 10_000
ODD = "\ufeffa line\r\n寿司\ud800\n" * 9_000 + "the needle"
COPY, SAVE = "Copy all of this text", "Save all of this text"


def transcript(text: str, arguments: str = '{"city": "Lisbon"}') -> Transcript:
    """A conversation with a tool call, and this text as its result."""
    call = ToolCall(id="call_1", name="get_weather", arguments=arguments)
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="tool_calls")
    return Transcript().append(
        make_turn(Role.USER, "Read the log."),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=outcome),
        make_turn(Role.TOOL, "", ToolResult(call_id="call_1", text=text)),
        Turn(id=new_id(), role=Role.ASSISTANT, parts=(Text(text="Read."),), outcome=outcome),
    )


async def show(person: Person, *turns: Turn) -> None:
    """Replace the conversation."""
    await person.do(lambda: person.session.turns.rewrite(Transcript().append(*turns)))


def shown(person: Person) -> str:
    """The line below a result that is shown in part."""
    return read_label(person, "longTextSize", person.conversation.widget)


async def wait_for_beginning(person: Person, text: str) -> None:
    """Wait until the beginning of a result is shown, with its size."""
    size = f"{len(text.encode('utf-8', 'surrogatepass')) / 1024:.0f} KB"
    await person.until(lambda: shown(person).startswith("First ") and shown(person).endswith(size), "the beginning")


@flow()
async def test_large_result_is_folded_searched_copied_and_saved(person: Person, tmp_path: Path) -> None:
    bar, clipboard = Finder(person), QGuiApplication.clipboard()
    for text in (MANY_LINES, ONE_LINE, ODD):
        await show(person, *transcript(text).path)
        await wait_for_beginning(person, text)
        await person.type_into(await bar.open(), "needle")
        await bar.wait_for_text("1 of 1")
        await bar.wait_for_match("needle")
        clipboard.clear()
        await person.do(person.conversation.get(QPushButton, COPY).click)  # the row may be below the view
        await person.until(clipboard.text, "a text on the clipboard")
        assert clipboard.text() == text or text is ODD, "a clipboard holds no half of a character"
        await bar.close()
    await person.do(person.conversation.get(QPushButton, SAVE).click)
    await name_file(person, tmp_path / "result.txt")
    await person.until(lambda: shown(person) == "Saved as result.txt", "the file")
    assert (tmp_path / "result.txt").read_bytes() == ODD.encode("utf-8", "surrogatepass")


@flow()
async def test_search_and_button_reach_messages_that_are_not_loaded(person: Person) -> None:
    await show(person, make_turn(Role.USER, "The needle"), *(make_turn(Role.USER, f"Message {n}") for n in range(450)))
    earlier = await person.conversation.wait_for(QPushButton, "Show earlier messages (251)")
    await person.do(earlier.click)
    await person.until(lambda: earlier.text() == "Show earlier messages (51)", "another page")
    bar = Finder(person)
    await person.type_into(await bar.open(), "needle")
    await bar.wait_for_text("1 of 1")
    await bar.wait_for_match("needle")
    await person.until(lambda: not earlier.isVisible(), "the first message")


@flow()
async def test_very_large_arguments_are_not_checked(person: Person) -> None:
    async def check(arguments: str, verdict: str) -> None:
        await show(person, *transcript("ok", arguments).path)
        (card,) = await person.conversation.wait_for_calls(1)
        await person.until(lambda: verdict in card.arguments_check, verdict)

    await check('{"city": "' + "x" * 1_200_000 + '"}', "too large to check here")
    await check('{"city": "' + "x" * 600_000 + '", }', "not JSON")


@flow()
async def test_large_request_is_shown_in_part_copied_whole_and_compared(person: Person, tmp_path: Path) -> None:
    request, clipboard = RequestPage(person), QGuiApplication.clipboard()
    text = LINE * 12_000 + "the needle"
    await show(person, make_turn(Role.USER, text))
    person.session.change(model="demo-chat")
    await person.until(lambda: f"{len(text):,} characters" in request.next_text, "the next request")
    assert len(request.next_text) < 20_000
    assert request.get(QPlainTextEdit, "Body of the next request").isReadOnly()
    clipboard.clear()
    await request.press("Copy the request body")
    await person.until(clipboard.text, "the next request on the clipboard")
    assert json.loads(clipboard.text())["messages"][0]["content"] == text

    await person.run("Hello")
    await person.idle(turns=3)
    await request.show_tab("Request")
    await request.press("Sent")
    await person.until(lambda: "more characters" in request.sent_text, "an excerpt")
    assert "the needle" not in request.sent_text
    assert request.has_button("Open in editor")
    await request.press("Save…")
    await name_file(person, tmp_path / "request.json")
    await person.until((tmp_path / "request.json").exists, "the whole request in a file")
    assert text in (tmp_path / "request.json").read_text(encoding="utf-8").replace("\\n", "\n")
    clipboard.clear()
    await request.press("Copy the request body")
    await person.until(clipboard.text, "the request on the clipboard")
    assert json.loads(clipboard.text())["messages"][0]["content"] == text
    await person.trigger("wire.diff")
    diff = Comparison(person)
    await diff.compare_with("Next request")
    await person.until(lambda: diff.text == "Both requests are the same.", "the comparison")
