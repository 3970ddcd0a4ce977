"""Tools and files over the Responses API: a tool server, a mock table, images in results, files in messages."""

from __future__ import annotations

import base64
from pathlib import Path

from PySide6.QtGui import QImage

from playground.domain.debugging import Policy
from playground.engine.session.changes import RunState
from tests.flows.conftest import Person, flow
from tests.flows.pages.dialogs import name_file
from tests.flows.test_responses import use_responses
from tests.flows.test_server_calls import offer_tools, sent

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"


@flow()
async def test_tool_server_answers_calls_and_its_results_are_given_again_from_a_table(person: Person) -> None:
    await offer_tools(person, "roll_dice", "clock")
    await use_responses(person)
    await person.run("Use clock, then roll_dice")
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > 3, "the answers")
    assert sent(person) == 2
    results = [result.text for turn in person.path for result in turn.results]
    items = person.body()["input"]
    outputs = [item for item in items if item.get("type") == "function_call_output"]
    assert [item["output"] for item in outputs] == results
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert [item["call_id"] for item in outputs] == calls

    await person.trigger("debug.record")
    before = len(person.path)
    assert {rule.policy for rule in person.session.debugger.debugging.rules.values()} == {Policy.TABLE}
    await person.run("Use clock, then roll_dice")
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > before + 3, "them again")
    again = [result for turn in person.path[before:] for result in turn.results]
    assert [result.by for result in again] == ["table"] * 2
    assert [result.text for result in again] == results
    assert sent(person) == 2


@flow()
async def test_picture_in_a_result_of_a_tool_server_is_sent_with_it(person: Person) -> None:
    await offer_tools(person, "draw_chart")
    await use_responses(person)
    await person.run("Use draw_chart with values 1, 2, 3")
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > 2, "the answer")
    (output,) = [item["output"] for item in person.body()["input"] if item.get("type") == "function_call_output"]
    assert output[-1]["type"] == "input_image"
    assert output[-1]["image_url"].startswith("data:image/png;base64,")


@flow()
async def test_image_and_text_file_are_parts_of_the_message_and_a_pdf_is_refused(
    person: Person, tmp_path: Path
) -> None:
    picture = tmp_path / "shore.png"
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(0)
    assert image.save(str(picture))
    (tmp_path / "notes.txt").write_text("High tide at six.", encoding="utf-8")
    (tmp_path / "paper.pdf").write_bytes(PDF)
    await use_responses(person, "demo-vision")
    composer = person.conversation.composer
    for name in ("shore.png", "notes.txt", "paper.pdf"):
        await person.do(person.pane.composer.file_action.trigger)
        await name_file(person, tmp_path / name)
    await person.conversation.notice.wait_for_text("Not inserted. paper.pdf is not a text file")
    await person.until(lambda: len(composer.images) == 1, "the image")
    await person.press("Run", composer.widget)
    await person.idle(2)
    url = "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()
    assert person.body()["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "notes.txt\n```\nHigh tide at six.\n```"},
                {"type": "input_image", "image_url": url},
            ],
        }
    ]
