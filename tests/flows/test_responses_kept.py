"""Answers of the Responses API after they were kept: in the store, in a file, in a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playground.engine.cassettes.cassette import open_file
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage
from tests.flows.pages.dialogs import choose_file
from tests.flows.pages.experiments import wait_for_store, wait_for_turns
from tests.flows.test_responses import use_responses
from tests.flows.test_secrets import use_gateway
from tests.protocols.responses.events import begin, end, event, message, stream
from tests.protocols.responses.test_decode import HOSTED
from tests.support.fault_server import FaultServer, head, send, whole

PATH = "/v1/responses"

#: An item of each kind, members in the order of a gateway that puts the id first.
ITEMS: list[dict[str, Any]] = [
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "gA",
    },
    *HOSTED,
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gB"},
    {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "phase": "commentary",
        "content": [
            {"type": "output_text", "annotations": [{"type": "url_citation", "url": "https://a"}], "text": "Look."},
            {"type": "hologram", "rays": [1, 2]},
            {"type": "refusal", "refusal": "Not that."},
        ],
        "role": "assistant",
    },
    {"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": "c_1", "input": "ls", "name": "sh"},
    {"id": "fc_1", "type": "function_call", "status": "completed", "arguments": "{}", "call_id": "c_2", "name": "f"},
]


def answer(*items: dict[str, Any]) -> bytes:
    """The bytes of a response with these items."""
    done = [event("output_item.done", output_index=number, item=item) for number, item in enumerate(items)]
    return head() + stream(begin(), done, end(list(items)))


def test_items_of_all_kinds_are_sent_unchanged_after_a_restart_and_from_a_file(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "items.playground.json"
    (thanks,) = [value["item"] for value in message("Done.", id="msg_2") if value["type"].endswith("item.done")]

    async def first(person: Person) -> None:
        await use_gateway(person, server, "responses")
        server.play_at(PATH, send(answer(*ITEMS)))
        await person.run("Do all of it")
        cards = await person.conversation.wait_for_calls()
        server.play_at(PATH, send(answer(thanks)))
        for card in cards:
            await card.send_result("4")
        await person.idle(5)
        await choose_file(person, "file.save", file)
        await person.until(file.exists, "the file")

    async def second(person: Person) -> None:
        await wait_for_store(person)
        await wait_for_turns(person, 5)
        await person.run("Thanks")
        await person.idle(7)

    async def third(person: Person) -> None:
        await choose_file(person, "file.open", file)
        await wait_for_turns(person, 5)
        await person.run("Thanks")
        await person.idle(7)

    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": []}')))
        stage.play(first)
        stage.play(second)
        stage.play(third)
        bodies = [request.json for request in server.requests if request.method == "POST"]
    for body in bodies[1:]:
        assert json.dumps(body["input"][1 : 1 + len(ITEMS)]) == json.dumps(ITEMS)
        results = body["input"][1 + len(ITEMS) :][:2]
        assert [(item["type"], item["call_id"]) for item in results] == [
            ("custom_tool_call_output", "c_1"),
            ("function_call_output", "c_2"),
        ]
    assert json.dumps(bodies[2]) == json.dumps(bodies[3])
    assert bodies[2]["input"][len(ITEMS) + 3] == thanks


def test_recording_is_replayed_with_the_same_items_and_exported(stage: Stage, tmp_path: Path) -> None:
    file, archive = tmp_path / "talk.cassette.json", tmp_path / "talk.har"

    async def play(person: Person) -> None:
        await use_responses(person, reasoning_summary="auto")
        person.session.change(tools=(WEATHER,))
        await person.run("The weather in Oslo")
        (card,) = await person.conversation.wait_for_calls()
        await card.send_result("4 degrees")
        await person.idle(4)
        person.session.change(extra_body={"tools": [{"type": "web_search"}, {"type": "image_generation"}]})
        await person.run("Draw it")
        await person.idle(6)
        first = person.session
        await choose_file(person, "cassette.save-all", file)
        await person.until(file.exists, "the file")
        assert [exchange.protocol for exchange in open_file(file).exchanges] == ["responses"] * 3
        await choose_file(person, "cassette.export", archive)
        await person.until(archive.exists, "the archive")
        for entry in json.loads(archive.read_text(encoding="utf-8"))["log"]["entries"]:
            assert entry["request"]["url"].endswith("/v1/responses")
            assert json.loads(entry["request"]["postData"]["text"])["model"] == "demo-responses"
            assert "response.completed" in entry["response"]["content"]["text"]

        await choose_file(person, "cassette.open", file)
        await person.until(lambda: person.session is not first, "the cassette's experiment")
        answers = [turn.parts for turn in first.transcript.path[1::2]]
        assert [turn.parts for turn in person.path[1::2]] == answers
        sent = len(person.posts)
        await person.press("Instant")
        await person.do(lambda: person.pane.regenerate(person.path[5].id))
        await person.until(lambda: len(person.session.exchanges) == 4, "the replay")
        await person.idle(6)
        assert person.path[5].parts == answers[-1]
        assert any(part.kind == "unknown" for part in person.path[5].parts)
        assert len(person.posts) == sent, "the demo gateway is not asked"
        assert person.session.settings.protocol == "responses"

    stage.play(play)
