"""The shape of chat answers: streamed and whole, seeds, stops, limits, usage, n, reasoning, text directives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.demo import tokens
from tests.demo.conftest import DemoClient, datas, joined, message


def test_stream_shape(client: DemoClient) -> None:
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


def test_whole_shape(client: DemoClient) -> None:
    body = client.chat().json()
    assert body["object"] == "chat.completion"
    assert isinstance(body["created"], int)
    assert body["model"] == "demo-chat"
    choice = body["choices"][0]
    assert (choice["index"], choice["finish_reason"], choice["message"]["role"]) == (0, "stop", "assistant")
    assert "tool_calls" not in choice["message"]


def test_text_goes_out_as_utf8(client: DemoClient) -> None:
    raw = client.chat("!long=300", seed=1, stream=True).content
    assert "é".encode() in raw
    assert b"\\u00e9" not in raw


def test_lone_surrogates_survive(client: DemoClient) -> None:
    body = b'{"model":"demo-chat","seed":3,"messages":[{"role":"user","content":"a \\ud800 b"}]}'
    response = client.http.post("/chat/completions", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 200
    assert b"\\ud800" in response.content


def test_seed_repeats_text_and_ids(client: DemoClient) -> None:
    one, two = (client.chat("Sing", seed=11).json() for _ in range(2))
    assert one["choices"] == two["choices"]
    assert one["id"] == two["id"]
    streamed = client.chunks("Sing", seed=11)
    assert joined(streamed) == one["choices"][0]["message"]["content"]
    assert streamed[0]["id"] == one["id"]
    assert len({message(client.chat("Sing", seed=seed))["content"].split("\n")[0] for seed in range(12)}) > 1


def test_without_seed_answers_vary(client: DemoClient) -> None:
    assert len({client.chat("Sing").json()["id"] for _ in range(3)}) == 3


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_token_limit(client: DemoClient, name: str) -> None:
    limit: dict[str, Any] = {name: 20}
    body = client.chat(seed=1, **limit).json()
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 20
    assert tokens.count(body["choices"][0]["message"]["content"]) == 20


def test_limit_covers_reasoning(client: DemoClient) -> None:
    body = client.chat(model="demo-reasoner", max_completion_tokens=15).json()
    assert body["choices"][0]["message"]["content"] == ""
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 15


def test_stop_in_the_middle_of_words_and_chunks(client: DemoClient) -> None:
    full = message(client.chat("!long=200", seed=5))["content"]
    stop = full[207:221]  # begins and ends inside words
    chunks = client.chunks("!long=200", seed=5, stop=stop)
    assert joined(chunks) == full[: full.index(stop)]
    assert len(chunks) > 20
    assert client.chat("!long=200", seed=5, stop=stop).json()["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("stop", ["imul", ["nowhere at all", "ated"], "gateway; no model was asked._\n\n# Notes o"])
def test_stop_ends_the_text_before_it(client: DemoClient, stop: Any) -> None:
    chunks = client.chunks("!long=100", stop=stop)
    text = joined(chunks)
    full = "_Simulated by the demo gateway; no model was asked._\n\n# Notes on a conversation"
    assert full.startswith(text)
    assert len(text) < len(full)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    for word in [stop] if isinstance(stop, str) else stop:
        assert word not in text


def test_n_choices_interleave(client: DemoClient) -> None:
    chunks = client.chunks("Sing", n=3, seed=2)
    order = [chunk["choices"][0]["index"] for chunk in chunks]
    assert set(order) == {0, 1, 2}
    assert order != sorted(order)
    whole = client.chat("Sing", n=3, seed=2).json()
    assert [choice["index"] for choice in whole["choices"]] == [0, 1, 2]
    for choice in whole["choices"]:
        assert joined(chunks, index=choice["index"]) == choice["message"]["content"]
    finishes = [c["choices"][0]["index"] for c in chunks if c["choices"][0]["finish_reason"]]
    assert sorted(finishes) == [0, 1, 2]


def test_usage_only_when_asked(client: DemoClient) -> None:
    chunks = client.chunks(model="demo-reasoner", seed=4, stream_options={"include_usage": True})
    assert chunks[-1]["choices"] == []
    usage = chunks[-1]["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == tokens.count(joined(chunks, "reasoning_content"))
    assert usage["completion_tokens"] > usage["completion_tokens_details"]["reasoning_tokens"] > 0
    pieces = [
        c
        for c in chunks
        if c["choices"] and any(c["choices"][0]["delta"].get(k) for k in ("content", "reasoning_content"))
    ]
    assert len(pieces) == usage["completion_tokens"]
    assert "usage" not in client.chunks(stream_options={"include_usage": False})[-1]


def test_cached_tokens_grow_with_a_shared_prefix(client: DemoClient) -> None:
    history = [{"role": "user", "content": "A prefix of its own kind. " * 60}]
    first = client.chat(messages=history).json()["usage"]
    longer = [*history, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Go on."}]
    second = client.chat(messages=longer).json()["usage"]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    cached = second["prompt_tokens_details"]["cached_tokens"]
    assert cached > 0
    assert cached % 64 == 0
    assert first["prompt_tokens"] - 64 <= cached <= first["prompt_tokens"]
    changed = [{"role": "user", "content": "Not " + history[0]["content"]}]
    assert client.chat(messages=changed).json()["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_reasoning_comes_first_and_grows_with_effort(client: DemoClient) -> None:
    chunks = client.chunks(model="demo-reasoner")
    kinds = [next(iter(chunk["choices"][0]["delta"]), "") for chunk in chunks[1:-1]]
    assert kinds == sorted(kinds, reverse=True)  # reasoning_content sorts after content
    assert kinds[0] == "reasoning_content"
    lengths = [
        len(message(client.chat(model="demo-reasoner", reasoning_effort=effort)).get("reasoning_content", ""))
        for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    ]
    assert lengths == sorted(lengths)
    assert lengths[0] == 0
    assert len(set(lengths)) == 7


def test_reasoner_does_sums(client: DemoClient) -> None:
    found = message(client.chat("What is 17 * 23?", model="demo-reasoner"))
    assert "391" in found["content"]
    assert "391" in found["reasoning_content"]
    assert message(client.chat("What is 1 / 0?", model="demo-reasoner"))["content"]


@pytest.mark.parametrize(("prompt", "words"), [("Write 700 words", 700), ("!long=1200", 1200), ("A long essay", 500)])
def test_length_on_request(client: DemoClient, prompt: str, words: int) -> None:
    text = message(client.chat(prompt))["content"]
    assert words <= len(text.split()) <= words * 1.25 + 40
    assert "## 2." in text


def test_rich_text(client: DemoClient) -> None:
    assert "```python" in message(client.chat("!code"))["content"]
    assert "|--:|" in message(client.chat("!table"))["content"]
    text = message(client.chat("Hello", seed=1, top_p=1))["content"]
    assert "\n## " in text
    assert "\n- **" in text
    assert "| `top_p` |" in text


def test_directives_are_taken_out(client: DemoClient) -> None:
    text = message(client.chat("!fast What a day, !important"))["content"]
    assert "> What a day, !important" in text


def test_think_inline(client: DemoClient) -> None:
    found = message(client.chat("!think Hello", model="demo-reasoner"))
    assert found["content"].startswith("<think>\n")
    assert "</think>" in found["content"]
    assert "reasoning_content" not in found


def test_finish_on_demand(client: DemoClient) -> None:
    assert client.chat("!length").json()["choices"][0]["finish_reason"] == "length"
    filtered = client.chat("!filter").json()["choices"][0]
    assert filtered["finish_reason"] == "content_filter"
    assert filtered["message"]["content"]


def test_json_object(client: DemoClient) -> None:
    value = json.loads(message(client.chat("Tell", response_format={"type": "json_object"}))["content"])
    assert value["prompt"] == "Tell"
    assert value["simulated"] is True


def test_native_model_over_chat(client: DemoClient) -> None:
    found = message(client.chat(model="demo-messages"))
    assert found["content"]
    assert found["reasoning_content"]
