"""Chat answers of the demo gateway: streamed and whole, seeds, stops, limits, usage, choices, reasoning, directives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.demo import tokens
from tests.demo.conftest import DemoClient, datas, joined, message


def test_stream_has_the_documented_shape(client: DemoClient) -> None:
    response = client.chat(stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("data: [DONE]\n\n")
    chunks = datas(response.text)
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
    assert chunks[0]["id"].startswith("chatcmpl-demo-")
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    finishes = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert finishes == [None] * (len(chunks) - 1) + ["stop"]
    assert all("usage" not in chunk for chunk in chunks)
    assert len(joined(chunks)) > 200


def test_seed_repeats_text_and_id(client: DemoClient) -> None:
    item, two = (client.chat("Sing", seed=11).json() for _ in range(2))
    assert item["choices"] == two["choices"]
    assert item["id"] == two["id"]
    streamed = client.chunks("Sing", seed=11)
    assert joined(streamed) == item["choices"][0]["message"]["content"]
    assert streamed[0]["id"] == item["id"]
    assert len({message(client.chat("Sing", seed=seed))["content"].split("\n")[0] for seed in range(6)}) > 1
    assert len({client.chat("Sing").json()["id"] for _ in range(3)}) == 3, "without a seed answers vary"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_token_limit_ends_an_answer(client: DemoClient, name: str) -> None:
    limit: dict[str, Any] = {name: 20}
    body = client.chat(seed=1, **limit).json()
    assert (body["choices"][0]["finish_reason"], body["usage"]["completion_tokens"]) == ("length", 20)
    assert tokens.count(body["choices"][0]["message"]["content"]) == 20
    limit[name] = 15
    body = client.chat(model="demo-reasoner", **limit).json()
    assert (body["choices"][0]["message"]["content"], body["choices"][0]["finish_reason"]) == ("", "length")
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 15


def test_choices_are_interleaved(client: DemoClient) -> None:
    chunks = client.chunks("Sing", n=3, seed=2)
    order = [chunk["choices"][0]["index"] for chunk in chunks]
    assert set(order) == {0, 1, 2}
    assert order != sorted(order)
    complete = client.chat("Sing", n=3, seed=2).json()
    assert [choice["index"] for choice in complete["choices"]] == [0, 1, 2]
    for choice in complete["choices"]:
        assert joined(chunks, index=choice["index"]) == choice["message"]["content"]
    finishes = [c["choices"][0]["index"] for c in chunks if c["choices"][0]["finish_reason"]]
    assert sorted(finishes) == [0, 1, 2]


def test_usage_is_sent_on_request(client: DemoClient) -> None:
    chunks = client.chunks(model="demo-reasoner", seed=4, stream_options={"include_usage": True})
    assert chunks[-1]["choices"] == []
    usage = chunks[-1]["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == tokens.count(joined(chunks, "reasoning_content"))
    assert usage["completion_tokens"] > usage["completion_tokens_details"]["reasoning_tokens"] > 0
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    pieces = [delta for delta in deltas if delta.get("content") or delta.get("reasoning_content")]
    assert len(pieces) == usage["completion_tokens"]
    assert "usage" not in client.chunks(stream_options={"include_usage": False})[-1]


def test_text_follows_directives_and_formats(client: DemoClient) -> None:
    assert "```python" in message(client.chat("!code"))["content"]
    assert "|--:|" in message(client.chat("!table"))["content"]
    text = message(client.chat("Hello", seed=1, top_p=1))["content"]
    assert "\n## " in text
    assert "\n- **" in text
    assert "| `top_p` |" in text
    assert "> What a day, !important" in message(client.chat("!fast What a day, !important"))["content"]
    thought = message(client.chat("!think Hello", model="demo-reasoner"))
    assert thought["content"].startswith("<think>\n")
    assert "</think>" in thought["content"]
    assert "reasoning_content" not in thought
    value = json.loads(message(client.chat("Tell", response_format={"type": "json_object"}))["content"])
    assert (value["prompt"], value["simulated"]) == ("Tell", True)
    body = b'{"model":"demo-chat","seed":3,"messages":[{"role":"user","content":"a \\ud800 b"}]}'
    response = client.http.post("/chat/completions", content=body, headers={"Content-Type": "application/json"})
    assert b"\\ud800" in response.content, "a lone surrogate"
    assert "é".encode() in client.chat("é").content


def test_finish_reason_on_demand_is_sent(client: DemoClient) -> None:
    assert client.chat("!length").json()["choices"][0]["finish_reason"] == "length"
    filtered = client.chat("!filter").json()["choices"][0]
    assert filtered["finish_reason"] == "content_filter"
    assert filtered["message"]["content"]
