"""A model is asked what a tool server wants asked: as it was edited, at the gateway and in the protocol chosen."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.domain.tool_servers import DataBlock, LinkBlock, Message, Sampling, TextBlock
from playground.domain.transcript import Role
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Experiment
from playground.engine.tool_servers.content import ask, prepare, question_of

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WANTED = Sampling(
    id="1",
    server="s",
    messages=(
        Message(role="user", blocks=(TextBlock(text="Say {{this}}."),)),
        Message(role="assistant", blocks=(TextBlock(text="What?"),)),
        Message(role="user", blocks=(TextBlock(text="That."), DataBlock(kind="image", data=PIXEL, mime="image/png"))),
    ),
    system="Be brief.",
    max_tokens=50,
    temperature=0.5,
    stop=("END",),
)


def test_content_that_no_message_holds_is_described() -> None:
    blocks = (DataBlock(kind="audio", data="AAAA", mime="audio/wav"), LinkBlock(uri="demo://x"))
    (said,) = question_of(Sampling(id="1", server="s", messages=(Message(role="user", blocks=blocks),))).turns
    assert said.text == "[audio, audio/wav, 3 bytes, not sent]\n[Link to demo://x]"
    assert said.role is Role.USER


@pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-chat"), ("messages", "demo-messages")])
async def test_sampling_request_is_sent_once(gateways: Gateways, demo: DemoServer, protocol: str, model: str) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    prepare(session, question_of(WANTED), protocol, model)
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


async def test_sampling_request_that_fails_has_a_reason_and_no_text(gateways: Gateways) -> None:
    question = question_of(WANTED)
    refused = question.turns[-1].model_copy(update={"text": "!402"})
    for messages, model, words in (
        (question.turns, "", "model"),
        ((*question.turns[:-1], refused), "demo-chat", ""),
    ):
        session = Experiment(gateways.client, profile_id=DEMO_ID).main
        prepare(session, question.model_copy(update={"turns": messages}), "chat", model)
        reply = await ask(session)
        assert reply.failure
        assert words in reply.failure
        assert not reply.text
