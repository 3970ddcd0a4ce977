"""A body read and written again is the same body, for whatever the application itself can send."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.protocol import get_protocol

words = st.text(max_size=12)
named = st.text(min_size=1, max_size=8)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values = st.recursive(leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(words, v, max_size=3), max_leaves=5)
objects = st.dictionaries(words, values, max_size=3)

urls = st.sampled_from(["https://x.example/a.png", "data:image/png;base64,AAAA", "data:text/plain,hi", ""])
calls = st.builds(ToolCall, id=named, name=named, arguments=objects.map(json.dumps) | st.just("") | st.just(" \n"))
odd_calls = st.builds(ToolCall, id=named, name=named, arguments=words)
results = st.builds(ToolResult, call_id=named, text=words, is_error=st.booleans())
unknown = st.builds(
    lambda kind, rest: Unknown(value={**rest, "type": kind}),
    st.sampled_from(["chart", "input_audio", "document"]),
    objects,
)
texts = st.builds(Text, text=words)
signed = st.builds(Reasoning, text=words, field=st.just("thinking"), signature=words) | st.builds(
    Reasoning, text=st.just(""), redacted=words
)
thoughts = st.builds(
    Reasoning,
    text=named,
    field=st.sampled_from(["reasoning_content", "reasoning", "thinking"]),
)


def turn(role: Role, *kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Turn]:
    parts = st.lists(st.one_of(*kinds), max_size=4)
    return parts.map(lambda expected: Turn(id="x", role=role, parts=tuple(expected)))


def one_thought(parts: Sequence[Part]) -> list[Part]:
    """Reasoning of one kind in a turn, as a gateway sends it."""
    saved: list[Part] = []
    fields = set()
    for part in parts:
        if isinstance(part, Reasoning):
            if part.field in fields or any(isinstance(p, Reasoning) and p.text == part.text for p in saved):
                continue
            fields.add(part.field)
        saved.append(part)
    return saved


images = st.builds(Image, url=urls.filter(bool), detail=st.none() | st.sampled_from(["low", "auto"]))
tools = st.lists(
    st.builds(
        ToolDefinition, name=named, description=words, parameters=st.none() | objects, strict=st.none() | st.booleans()
    ),
    max_size=2,
).map(tuple)

chat_turns = st.lists(
    turn(Role.SYSTEM, texts)
    | turn(Role.DEVELOPER, texts)
    | turn(Role.USER, texts, images, unknown)
    | st.lists(texts | odd_calls | thoughts | st.builds(Refusal, text=named), max_size=4).map(
        lambda parts: Turn(id="x", role=Role.ASSISTANT, parts=tuple(one_thought(parts)))
    )
    | st.lists(results, min_size=1, max_size=3).map(
        lambda results_of_turn: Turn(id="x", role=Role.TOOL, parts=tuple(results_of_turn))
    ),
    max_size=5,
).map(tuple)
native_turns = st.lists(
    turn(Role.SYSTEM, texts, unknown)
    | turn(Role.USER, texts, images.map(lambda image: image.model_copy(update={"detail": None})), unknown)
    | turn(Role.ASSISTANT, texts, calls, signed, unknown)
    | turn(Role.TOOL, results),
    max_size=6,
).map(tuple)

chat_parameters = st.builds(
    ChatParameters,
    temperature=st.none() | st.integers(0, 2) | st.floats(0, 2),
    max_tokens=st.none() | st.integers(),
    stop=st.none() | words | st.lists(words, max_size=4).map(tuple),
    tool_choice=st.none() | st.sampled_from(["auto", {"type": "function", "function": {"name": "f"}}]),
    response_format=st.none() | objects,
    stream=st.none() | st.booleans(),
    include_usage=st.none() | st.booleans(),
    user=st.none() | words,
)
native_parameters = st.builds(
    MessagesParameters,
    temperature=st.none() | st.integers(0, 1) | st.floats(0, 1),
    max_tokens=st.none() | st.integers(),
    stop_sequences=st.none() | st.lists(words, max_size=3).map(tuple),
    effort=st.none() | words,
    thinking=st.none() | objects,
    tool_choice=st.none() | st.sampled_from(["auto", "any", {"type": "tool", "name": "f"}]),
    disable_parallel_tool_use=st.none() | st.booleans(),
    response_format=st.none() | objects,
    user_id=st.none() | words,
    stream=st.none() | st.booleans(),
)
extras = st.dictionaries(
    st.sampled_from(
        ["top_k", "seed", "temperature", "metadata", "stream_options", "tool_choice", "include_usage", "x", ""]
    )
    | words.filter(lambda name: name not in ("messages", "system")),
    values,
    max_size=3,
)


def again(request: Request) -> tuple[str, str]:
    """The body, and the body after reading it, as text that tells every kind of number apart."""
    protocol = get_protocol(request.protocol)
    first = json.loads(json.dumps(protocol.encode(request)))
    second = protocol.encode(protocol.read_body(first)[0])
    return json.dumps(second, sort_keys=True), json.dumps(first, sort_keys=True)


@settings(max_examples=40, deadline=None)
@given(chat_turns, chat_parameters, tools, extras, st.sampled_from(SendReasoning), st.sampled_from(["", "reasoning"]))
def test_chat_bodies_come_back(
    turns: Any, parameters: Any, tools: Any, extra: Any, when: SendReasoning, field: str
) -> None:
    request = Request(
        protocol="chat",
        model="m",
        turns=turns,
        parameters=parameters,
        tools=tools,
        extra_body=extra,
        reasoning_return=ReasoningReturn(when=when, field=field),
    )
    second, first = again(request)
    assert second == first


@settings(max_examples=40, deadline=None)
@given(native_turns, native_parameters, tools, extras)
def test_native_bodies_come_back(turns: Any, parameters: Any, tools: Any, extra: Any) -> None:
    request = Request(protocol="messages", model="m", turns=turns, parameters=parameters, tools=tools, extra_body=extra)
    second, first = again(request)
    assert second == first


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_order_of_names_comes_back_too(protocol: str) -> None:
    kind = get_protocol(protocol).parameters_type
    parameters = kind.from_wire({"temperature": 0.5, "stream": True, "top_p": 1})
    tool = ToolDefinition(name="f", description="d", parameters={"type": "object"})
    turns = (Turn(id="x", role=Role.USER, parts=(Text(text="Hi"),)),)
    request = Request(
        protocol=protocol, model="m", turns=turns, parameters=parameters, tools=(tool,), extra_body={"z": 1, "a": 2}
    )
    body = get_protocol(protocol).encode(request)
    assert json.dumps(get_protocol(protocol).encode(get_protocol(protocol).read_body(body)[0])) == json.dumps(body)


@pytest.mark.parametrize(
    "options",
    [
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream_options": {"include_usage": True}, "stream": True},
        {"stream": False, "stream_options": {"include_usage": True}},
        {"stream": None, "stream_options": {"include_usage": False}},
        {"stream_options": {"include_usage": True, "x": None}, "stream": 1},
        {"stream": "yes", "stream_options": {"include_usage": True}},
        {"stream": True, "stream_options": {"include_usage": True, "chunk_size": 3}},
    ],
)
def test_options_of_a_stream_go_out_as_they_came(options: dict[str, Any]) -> None:
    protocol = get_protocol("chat")
    body = {"model": "m", "messages": [], **options}
    request, _ = protocol.read_body(body)
    assert protocol.encode(request) == body
    if options["stream"] is True and options["stream_options"] == {"include_usage": True}:
        assert request.parameters.to_wire() == options, "the panel shows it"
