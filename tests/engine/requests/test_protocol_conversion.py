"""Conversion between protocols: equal parameters are carried over, every loss is listed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn, new_id
from playground.engine.requests.protocol_conversion import losses
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON
from playground.protocols.conversion import CHANGED, DOUBTFUL, LOST
from playground.protocols.protocol import get_protocol
from tests.engine.debugging import WEATHER
from tests.support.each_case import each_case

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


def chat(**values: JSON) -> Parameters:
    return get_protocol("chat").parameters_type.from_wire(values)


def native(**values: JSON) -> Parameters:
    return get_protocol("messages").parameters_type.from_wire(values)


def turn_of(role: Role, *parts: Part) -> Turn:
    return Turn(id=new_id(), role=role, parts=parts)


def loss_lines(*turns: Turn, to: str = "messages", parameters: Parameters | None = None) -> list[tuple[str, str]]:
    """Return kind and line of every loss of a request of the other protocol with these turns."""
    source = "chat" if to == "messages" else "messages"
    parameters = parameters or get_protocol(source).parameters_type()
    request = Request(protocol=source, model="m", turns=turns, parameters=parameters)
    return [(loss.kind, str(loss)) for loss in losses(request, to)]


PAIRS = [
    ({"temperature": 0.7}, {"temperature": 0.7}),
    ({"top_p": 0.9}, {"top_p": 0.9}),
    ({"max_completion_tokens": 512}, {"max_tokens": 512}),
    ({"stop": ["END", "STOP"]}, {"stop_sequences": ["END", "STOP"]}),
    ({"reasoning_effort": "high"}, {"output_config": {"effort": "high"}}),
    ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
    ({"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
    ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
    ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"tool_choice": {"type": "tool", "name": "f"}}),
    ({"stream": False}, {"stream": False}),
    ({"user": "u-1"}, {"metadata": {"user_id": "u-1"}}),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
    ),
]


@each_case(("chat_values", "native_values"), PAIRS)
def test_equal_parameters_are_converted_in_both_directions(
    chat_values: dict[str, JSON], native_values: dict[str, JSON]
) -> None:
    assert convert_parameters(chat(**chat_values), native()).to_wire() == native_values
    assert convert_parameters(native(**native_values), chat()).to_wire() == chat_values
    lossy = [line for line in loss_lines(parameters=chat(**chat_values)) if "name" not in line[1]]
    assert lossy == []
    assert loss_lines(parameters=native(**native_values), to="chat") == []


def test_values_changed_in_the_other_protocol_are_changed_here() -> None:
    before = chat(temperature=0.7, seed=3, reasoning_effort="minimal", n=2)
    converted = convert_parameters(before, native()).with_value("temperature", 0.2).with_value("top_k", 5)
    back = convert_parameters(converted, before)
    assert back.to_wire() == {"temperature": 0.2, "seed": 3, "reasoning_effort": "minimal", "n": 2}
    assert convert_parameters(back, converted) == converted
    unset = convert_parameters(converted.with_value("temperature", None), before)
    assert unset.to_wire() == {"seed": 3, "reasoning_effort": "minimal", "n": 2}


_words = st.text("abc", min_size=1, max_size=3)
_chat = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from([0, 0.5, 1.5]),
        "max_tokens": st.integers(1, 9),
        "max_completion_tokens": st.integers(1, 9),
        "stop": st.one_of(_words, st.lists(_words, max_size=3)),
        "reasoning_effort": st.sampled_from(["none", "minimal", "low", "odd"]),
        "tool_choice": st.sampled_from(["auto", "required", {"type": "function", "function": {"name": "f"}}, {"x": 1}]),
        "response_format": st.sampled_from([{"type": "text"}, {"type": "json_object"}]),
        "stream": st.booleans(),
        "seed": st.integers(0, 9),
        "user": _words,
        "logit_bias": st.just({"1": 2}),
    },
)


@settings(max_examples=60)
@given(_chat)
def test_every_value_is_carried_or_listed_and_comes_back(values: dict[str, JSON]) -> None:
    before = chat(**values)
    converted = convert_parameters(before, native())
    assert convert_parameters(converted, before).to_wire() == before.to_wire()
    wire = converted.to_wire()
    lines = "\n".join(line for _, line in loss_lines(parameters=before))
    names = {"max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "stop": "stop_sequences"}
    names |= {"reasoning_effort": "output_config", "user": "metadata"}
    for name, value in values.items():
        if value == {"type": "text"}:
            continue
        both = name == "max_tokens" and "max_completion_tokens" in values
        assert (names.get(name, name) in wire and not both) or name in lines, (name, lines)


def test_values_without_a_counterpart_are_listed() -> None:
    lines = loss_lines(
        parameters=chat(seed=7, n=3, presence_penalty=0.5, frequency_penalty=1, reasoning_effort="minimal")
    )
    values = ("seed (7)", "reasoning_effort (minimal)", "presence_penalty (0.5)", "frequency_penalty (1)", "n (3)")
    assert lines == [(LOST, f"Parameters: {value} has no counterpart in the Messages API") for value in values]
    back = loss_lines(parameters=native(top_k=5, thinking={"type": "adaptive"}, service_tier="auto"), to="chat")
    assert [kind for kind, _ in back] == [LOST] * 3
    assert all(any(name in line for _, line in back) for name in ("top_k (5)", "thinking", "service_tier (auto)"))


def test_value_beyond_the_other_range_is_doubtful_and_a_default_no_loss() -> None:
    hot = chat(temperature=1.5)
    assert convert_parameters(hot, native()).to_wire() == {"temperature": 1.5}
    words = "Parameters: Temperature 1.5 is above the documented maximum of 1 in the Messages API"
    assert loss_lines(parameters=hot) == [(DOUBTFUL, words)]
    many = native(stop_sequences=list("abcde"))
    assert [kind for kind, _ in loss_lines(parameters=many, to="chat")] == [DOUBTFUL]
    for usual in ({"n": 1}, {"stream": True}, {"stream_options": {"include_usage": True}}):
        assert loss_lines(parameters=chat(**usual)) == [], usual


def test_losses_of_turns_in_messages_are_listed() -> None:
    lines = loss_lines(
        make_turn(Role.DEVELOPER, "Be brief."),
        make_turn(Role.USER, "One"),
        make_turn(Role.USER, "Two", Image(url=PIXEL, detail="high")),
        turn_of(Role.ASSISTANT, Reasoning(text="hm", details=({"id": 1},)), Text(text="1"), Refusal(text="no")),
        make_turn(Role.SYSTEM, "And kind."),
        turn_of(Role.ASSISTANT, ToolCall(id="c1", name="f", arguments="[1")),
        turn_of(Role.USER, Unknown(value={"type": "input_audio"})),
    )
    assert {place: kind for kind, line in lines for place in [line[: line.index(")") + 1]]} == {
        "Message 1 (developer)": CHANGED,
        "Message 3 (user)": CHANGED,
        "Message 4 (assistant)": CHANGED,
        "Message 5 (system)": CHANGED,
        "Message 6 (assistant)": DOUBTFUL,
        "Message 7 (user)": DOUBTFUL,
    }
    text = "\n".join(line for _, line in lines)
    assert [kind for kind, _ in lines] == sorted((kind for kind, _ in lines), key=[LOST, CHANGED, DOUBTFUL].index)
    for words in (
        "Message 3 (user): the detail of its image (high)",
        "Message 4 (assistant): its reasoning has no signature and vendor records",
        "Message 4 (assistant): its refusal is sent as ordinary text",
        "Message 3 (user): joins the message before it in one user message",
        "Message 5 (system): is in the middle",
        "Message 6 (assistant): joins the message before it in one assistant message",
        "Message 6 (assistant): the arguments of f (c1) are not a JSON object",
        "Message 7 (user): a part of type input_audio is sent unchanged",
    ):
        assert words in text


def test_losses_of_turns_in_chat_are_listed() -> None:
    lines = loss_lines(
        make_turn(Role.USER, "Go"),
        turn_of(
            Role.ASSISTANT,
            Reasoning(text="hm", signature="s"),
            Reasoning(text="", redacted="x"),
            Text(text="First"),
            ToolCall(id="c1", name="f", arguments="{}"),
            Text(text="then"),
        ),
        turn_of(Role.TOOL, ToolResult(call_id="c1", text="no", is_error=True)),
        turn_of(Role.ASSISTANT, Unknown(value={"type": "server_tool_use"})),
        to="chat",
    )
    asis = "a part of type server_tool_use is sent unchanged, in the shape of the other protocol"
    assert lines == [
        (
            LOST,
            "Message 2 (assistant): the signature of its thinking; its text is only sent with past reasoning",
        ),
        (LOST, "Message 2 (assistant): its redacted thinking"),
        (LOST, "Message 3 (tool): that the result of c1 is an error; its text is sent"),
        (CHANGED, "Message 2 (assistant): its text is joined and its calls follow; their order is not sent"),
        (DOUBTFUL, f"Message 4 (assistant): {asis}"),
    ]


def test_members_of_one_protocol_are_listed() -> None:
    image = Image(url="u", extra={"chat": {"cache_control": {}, "image_url": {"fps": 2}}})
    named = turn_of(Role.USER, image).model_copy(update={"members": {"name": "Ada"}})
    assert loss_lines(named) == [
        (LOST, "Message 1 (user): name, cache_control and image_url.fps (known to the Chat Completions API alone)")
    ]
    plain = ToolResult(call_id="t", text="x", extra={"messages": {"content": [{"type": "text", "text": "x"}]}})
    assert loss_lines(turn_of(Role.TOOL, plain), to="chat") == []
    blocks = [{"type": "text", "text": "x"}, {"type": "image"}]
    pictured = plain.model_copy(update={"extra": {"messages": {"content": blocks, "is_error": False}}})
    assert loss_lines(turn_of(Role.TOOL, pictured), to="chat") == [
        (LOST, "Message 1 (tool): what the result of t holds besides text")
    ]
    assert loss_lines(turn_of(Role.USER, Text(text="x", extra={"chat": {"a": 1}})), to="chat") == []


def test_empty_turns_are_listed() -> None:
    first, last, empty = make_turn(Role.USER, "a"), make_turn(Role.ASSISTANT, "b"), turn_of(Role.USER)
    refused = "a message without content may be refused"
    assert loss_lines(first, empty, last)[0] == (LOST, "Message 2 (user): is empty; the Messages API leaves it out")
    assert loss_lines(empty, last) == [(DOUBTFUL, f"Message 1 (user): is empty; {refused}")]
    joined = loss_lines(empty, turn_of(Role.USER, Text(text="")), last)
    assert [kind for kind, _ in joined] == [LOST, CHANGED, DOUBTFUL]
    assert loss_lines(turn_of(Role.SYSTEM), first) == [
        (LOST, "Message 1 (system): is empty; the Messages API leaves it out")
    ]
    thought = turn_of(Role.ASSISTANT, Reasoning(text="hm"))
    doubt = (DOUBTFUL, f"Message 2 (assistant): no part of it can be sent; {refused}")
    assert doubt in loss_lines(first, thought, make_turn(Role.USER, "b"))
    words = "is empty; the Messages API leaves it out, the Chat Completions API sends a message without content"
    assert loss_lines(first, empty, last, to="chat") == [(CHANGED, f"Message 2 (user): {words}")]
    assert loss_lines(empty, last, to="chat") == [], "an empty message over both"


def test_changed_order_of_turns_and_parts_is_listed() -> None:
    call, result = ToolCall(id="c", name="f", arguments="{}"), ToolResult(call_id="c", text="1")
    first = make_turn(Role.USER, "a")
    late = (first, turn_of(Role.ASSISTANT, call), make_turn(Role.USER, "wait"), turn_of(Role.TOOL, result))
    doubt = (DOUBTFUL, "Message 4 (tool): its result does not directly follow its call")
    assert doubt in loss_lines(*late)
    assert doubt in loss_lines(*late, to="chat")
    mixed = (first, turn_of(Role.ASSISTANT, call), turn_of(Role.USER, Text(text="so"), result))
    assert (CHANGED, "Message 3 (user): its results are sent before its other parts") in loss_lines(*mixed, to="chat")
    assert any(kind == DOUBTFUL and "results belong first" in line for kind, line in loss_lines(*mixed))
    two = make_turn(Role.SYSTEM, "One."), make_turn(Role.SYSTEM, "Two."), first
    assert loss_lines(*two) == [(CHANGED, "Message 2 (system): joins the message before it in one system prompt")]
    assert loss_lines(*two, to="chat") == []
    texts = turn_of(Role.ASSISTANT, Text(text="One."), Text(text=" Two."))
    assert loss_lines(texts, to="chat") == [(CHANGED, "Message 1 (assistant): its texts are joined into one")]
    thought = turn_of(Role.ASSISTANT, Text(text="so"), Reasoning(text="hm", signature="s"))
    assert (CHANGED, "Message 1 (assistant): its thinking is moved to the front") in loss_lines(thought)
    refused = turn_of(Role.ASSISTANT, Refusal(text="no"))
    words = "its refusal is sent in a member of its own"
    assert loss_lines(refused, to="chat") == [(CHANGED, f"Message 1 (assistant): {words}")]
    renamed = (
        turn_of(Role.USER, Text(text="?")),
        turn_of(Role.ASSISTANT, ToolCall(id="functions.f:0", name="f", arguments="{}")),
        turn_of(Role.TOOL, ToolResult(call_id="functions.f:0", text="1")),
    )
    words = "the id of its call functions.f:0 is sent as functions_f_0"
    assert loss_lines(*renamed) == [(CHANGED, f"Message 2 (assistant): {words}")]
    assert loss_lines(*renamed, to="chat") == []


def test_tools_without_a_schema_and_the_extra_body_are_listed() -> None:
    tool = ToolDefinition(name="f", description="d", strict=True)
    request = Request(protocol="chat", model="m", tools=(tool,), extra_body={"top_k": 1, "logprobs": True})
    assert [str(loss) for loss in losses(request, "messages")] == [
        "Tools: f has no schema; the Messages API needs one, and any object is allowed",
        "Extra body: logprobs and top_k will be sent unchanged; the fields may mean nothing there",
    ]
    assert losses(request, "chat") == []
    with pytest.raises(ValueError, match="unknown protocol"):
        losses(request, "carrier pigeon")


def call(**extra: Any) -> ToolCall:
    return ToolCall(id="c", name="f", arguments="", extra=extra)


#: How a loss is called, and a way to say a word in a turn: in parts, or in the turn besides. Some are sent nowhere.
WAYS: list[tuple[str, Callable[[str], list[Part] | dict[str, Any]]]] = [
    ("text", lambda word: [Text(text=word)]),
    ("refusal", lambda word: [Refusal(text=word)]),
    ("reasoning", lambda word: [Reasoning(text=word, field="reasoning")]),
    ("thinking", lambda word: [Reasoning(text="hm", field="thinking", signature=word)]),
    ("thinking", lambda word: [Reasoning(text="", redacted=word)]),
    ("records|thinking", lambda word: [Reasoning(text="hm", signature="s", details=({"text": word},))]),
    ("its call", lambda word: [ToolCall(id=word, name=word, arguments=f'{{"x": "{word}"}}')]),
    ("extra_content|its call", lambda word: [call(chat={"extra_content": word})]),
    ("function.x|its call", lambda word: [call(chat={"function": {"x": word}})]),
    ("caller|its call", lambda word: [call(messages={"caller": word})]),
    ("its call", lambda word: [call().model_copy(update={"received": word})]),
    ("citations", lambda word: [Text(text="a", extra={"messages": {"citations": [word]}})]),
    ("cache_control", lambda word: [Text(text="a", extra={"chat": {"cache_control": word}})]),
    ("result", lambda word: [ToolResult(call_id=word, text=word, by="you")]),
    (
        "cache_control|result",
        lambda word: [ToolResult(call_id="c", text="", extra={"messages": {"cache_control": word}})],
    ),
    ("detail|image", lambda word: [Image(url="http://x.example/a.png", detail=word)]),
    ("image", lambda word: [Image(url=f"http://x.example/{word}", name="n")]),
    ("unknown", lambda word: [Unknown(value={"type": word})]),
    ("newer", lambda word: [Unknown(value={"kind": "hologram", "x": word}, from_file=True)]),
    ("name", lambda word: {"members": {"name": word}}),
    ("audio", lambda word: {"extra": {"chat": {"audio": {"id": word, "data": "A"}}}}),
    ("annotations", lambda word: {"extra": {"chat": {"annotations": [{"type": "file", "x": word}]}}}),
    ("channel", lambda word: {"extra": {"chat": {"channel": word}}}),
    ("container", lambda word: {"extra": {"messages": {"container": word}}}),
]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(Role), st.lists(st.sampled_from(range(len(WAYS))), max_size=3)), max_size=4),
    st.sampled_from(["chat", "messages"]),
)
def test_everything_sent_here_is_sent_there_or_listed(turn_ways: list[tuple[Role, list[int]]], to: str) -> None:
    turns: list[Turn] = []
    words: list[tuple[int, list[str], str]] = []  # number of the turn, what a loss is called, the word
    for number, (role, ways) in enumerate(turn_ways, 1):
        turn = turn_of(role)
        for way in ways:
            called, make = WAYS[way]
            word = f"w{len(words)}w"
            more = make(word)
            turn = turn.model_copy(update=more if isinstance(more, dict) else {"parts": (*turn.parts, *more)})
            words.append((number, called.split("|"), word))
        turns.append(turn)
    source = "chat" if to == "messages" else "messages"
    back = ReasoningReturn(when=SendReasoning.ALWAYS)
    request = Request(protocol=source, model="m", turns=tuple(turns), reasoning_return=back)
    sent = json.dumps(get_protocol(source).encode(request))
    arrives = json.dumps(get_protocol(to).encode(request.model_copy(update={"protocol": to})))
    listed: dict[int, list[str]] = {}
    for loss in losses(request, to):
        if loss.kind == LOST:
            listed.setdefault(int(loss.where.split()[1]), []).append(loss.what)
    for number, names, word in words:
        lost = word in sent and word not in arrives
        assert not lost or any(name in line for line in listed.get(number, []) for name in names), (names, listed)
    for number, (role, ways) in enumerate(turn_ways, 1):
        if ways and role in (Role.USER, Role.ASSISTANT) and {WAYS[way][0] for way in ways} <= {"text", "unknown"}:
            assert number not in listed


async def test_tool_loop_continues_over_the_other_protocol(session: Session) -> None:
    session.change(model="demo-messages", tools=(WEATHER,))
    session.turns.add_turn(make_turn(Role.USER, "How is the weather in Lisbon?", Image(url=PIXEL)))
    await session.run()
    calls = session.transcript.unanswered()
    assert calls, session.transcript.path[-1]
    for call in calls:
        session.turns.answer(call.id, '{"temp": 21}', is_error=True)
    session.switch_protocol("messages")
    await session.run()
    session.turns.add_turn(make_turn(Role.USER, "And tomorrow?"))
    assert any("is an error" in str(loss) for loss in losses(session.next_request.build(), "chat"))
    session.switch_protocol("chat")
    await session.run()
    outcomes = [turn.outcome for turn in session.transcript.path if turn.outcome is not None]
    assert len(outcomes) == 3
    assert [outcome.failure for outcome in outcomes] == [None] * 3
