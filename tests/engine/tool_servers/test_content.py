"""Content of servers in conversations: prompts, resources, templates of RFC 6570, and requests for sampling."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.domain.tool_servers import DataBlock, LinkBlock, Message, ResourceBlock, Sampling, TextBlock
from playground.domain.transcript import Role
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Experiment
from playground.engine.tool_servers.content import ask, content_of, fill, names_of, prepare, question_of, turns_of

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
PICTURE = DataBlock(kind="image", data=PIXEL, mime="image/png")
VALUES = {"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768", "who": "fred"}
REQUEST = Sampling(
    id="1",
    server="s",
    messages=(
        Message(role="user", blocks=(TextBlock(text="Say {{this}}."),)),
        Message(role="assistant", blocks=(TextBlock(text="What?"),)),
        Message(role="user", blocks=(TextBlock(text="That."), PICTURE)),
    ),
    system="Be brief.",
    max_tokens=50,
    temperature=0.5,
    stop=("END",),
)


def test_text_of_a_resource_follows_its_address() -> None:
    content = content_of([ResourceBlock(uri="demo://notes/tides", text="High at noon.", mime="text/plain")])
    assert content.text == "[Resource demo://notes/tides, text/plain]\nHigh at noon."
    assert content.size == f"{len(content.text)} characters"


def test_pictures_are_attached_and_other_content_is_named() -> None:
    content = content_of(
        [
            DataBlock(kind="blob", data=PIXEL, mime="image/png", uri="demo://dot"),
            DataBlock(kind="audio", data="AAAA", mime="audio/wav"),
            DataBlock(kind="blob", data="", mime="application/zip", uri="demo://all", cut=9_000_000),
            TextBlock(text="abc", cut=10),
        ]
    )
    assert [image.url for image in content.images] == [f"data:image/png;base64,{PIXEL}"]
    assert content.left_out[0] == "Sound (audio/wav) is left out: messages hold text and pictures only."
    assert content.left_out[1].startswith("A file (application/zip, demo://all) of ")
    assert content.left_out[2] == "Only the first 3 of 10 characters were stored."
    assert "1 picture" in content.size


def test_messages_of_a_prompt_become_turns() -> None:
    turns = turns_of(
        [
            Message(role="user", blocks=(TextBlock(text="Look"), PICTURE)),
            Message(role="assistant", blocks=(TextBlock(text="A dot."),)),
            Message(role="tester", blocks=(TextBlock(text="And now?"),)),
            Message(role="user", blocks=()),
        ]
    )
    assert [turn.role for turn in turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert turns[0].images
    assert turns[1].text == "A dot."


def test_template_is_expanded_as_in_rfc_6570() -> None:
    expanded = {"{var}": "value", "{hello}": "Hello%20World%21", "{+hello}": "Hello%20World!", "{var:3}": "val"}
    expanded |= {"{+path}/here": "/foo/bar/here", "X{#hello}": "X#Hello%20World!", "map?{x,y}": "map?1024,768"}
    expanded |= {"{x,hello,y}": "1024,Hello%20World%21,768", "X{.x,y}": "X.1024.768", "{/var,x}/a": "/value/1024/a"}
    expanded |= {"{;x,y}": ";x=1024;y=768", "{?x,y}": "?x=1024&y=768", "?fixed=yes{&x}": "?fixed=yes&x=1024"}
    expanded |= {"{?who*}": "?who=fred", "{?undef}{/undef}": "", "demo://notes/{name}": "demo://notes/"}
    expanded |= {"{": "{", "{{x}}": "{1024}", "{no name} {}": "{no name} {}"}
    assert {template: fill(template, VALUES) for template in expanded} == expanded
    assert names_of("a/{x}/{+y:3,x}{?z*}") == ("x", "y", "z")


def test_content_that_no_message_holds_is_described() -> None:
    blocks = (DataBlock(kind="audio", data="AAAA", mime="audio/wav"), LinkBlock(uri="demo://x"))
    (turn,) = question_of(Sampling(id="1", server="s", messages=(Message(role="user", blocks=blocks),))).turns
    assert turn.text == "[audio, audio/wav, 3 bytes, not sent]\n[Link to demo://x]"
    assert turn.role is Role.USER


@pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-chat"), ("messages", "demo-messages")])
async def test_sampling_request_is_sent_once(gateways: Gateways, demo: DemoServer, protocol: str, model: str) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    prepare(session, question_of(REQUEST), protocol, model)
    assert not [request for request in demo.requests if request.method == "POST"], "not before it is asked"
    reply = await ask(session)
    assert reply.failure == ""
    assert reply.text
    assert reply.stop_reason in ("endTurn", "maxTokens")
    (body,) = (json.loads(request.body) for request in demo.requests if request.method == "POST")
    assert (body["model"], body["temperature"]) == (model, 0.5)
    assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert body.get("stop", body.get("stop_sequences")) == ["END"]
    assert "Say {{this}}." in json.dumps(body["messages"]), "what a server writes in braces is no variable"
    assert PIXEL in json.dumps(body["messages"])
    system = body["system"] if protocol == "messages" else body["messages"][0]["content"]
    assert system == "Be brief."


@pytest.mark.parametrize(("text", "model", "words"), [("That.", "", "model"), ("!402", "demo-chat", "")])
async def test_sampling_request_that_fails_has_a_reason_and_no_text(
    gateways: Gateways, text: str, model: str, words: str
) -> None:
    question = question_of(REQUEST)
    turns = (*question.turns[:-1], question.turns[-1].model_copy(update={"text": text}))
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    prepare(session, question.model_copy(update={"turns": turns}), "chat", model)
    reply = await ask(session)
    assert reply.failure
    assert words in reply.failure
    assert not reply.text
