"""Requests that are hard to write as code: every kind of quote, character, number and name, in both protocols."""

from __future__ import annotations

from typing import Any

from playground.domain.parts import Image, Reasoning, Text, ToolCall, ToolResult
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.jsonkit.values import JSONObject
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.responses.parameters import ResponsesParameters

SHELL = (
    "It's \"quoted\" and ''twice'', back\\slash \\n \\\\ \\' \\\" end\\\n"
    "$HOME ${HOME} $(id) `id` !! !$ !-1 {a,b} * ~ #\n"
    "%PATH% ^caret & | ; < > << JSON\nJSON\nEOF\n`${process.env.HOME}` {braces} {{twice}} %s %(a)s\ttab\rreturn\n"
)
LETTERS = (
    "é ß 中文 عربي \u202e reversed \u200d joined \u2028 line \u2029 paragraph \u0085 next \x0b \x0c "
    "\x00 nul \x07 \x1b[31m \x7f del \xa0 hard \xad soft \ufeff bom \ue000 private \U000e0041 tag 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 é"
)
NAMES: JSONObject = {
    "": "no name",
    "two words": {},
    "it's": [],
    'a"b\\c$d`e': None,
    "class": True,
    "timeout": 5,
    "extra_body": {"extra_headers": {"self": False}},
    "__proto__": {"__proto__": {"polluted": 1}},
    "constructor": {"b": 1, "10": 2, "9": 3},
    "${x}": "\n\n",
    "nested": [[], [[]], {"a": [{}, [{"b": None}]]}],
}
NUMBERS: JSONObject = {
    "logit_bias": {"50256": -100, "13": 5},
    "small": [1e-7, 5e-324, 1e22, 1.7976931348623157e308, 0.1, 0.30000000000000004, -0.5, 100.0],
    "large": [9007199254740993, -(2**63), 2**64 + 1, 10**30],
    "zero": [0, -0.0, 0.0],
}
LONG_LINE = "A very long line without a break that has to be written on one line however wide it gets, " * 3
IMAGE = "data:image/png;base64," + "iVBORw0KGgo/+AAA" * 9_000  # longer than the longest argument of a command
WEATHER = ToolDefinition(
    name="get_weather",
    description='The weather in a "city".',
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "description": LONG_LINE}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    strict=True,
)


def _turns() -> tuple[Turn, ...]:
    answer = (
        Reasoning(text="Look it up.\n", field="reasoning_content"),
        Text(text="I will look.\n\nNow."),
        ToolCall(id="call_1", name="get_weather", arguments='{"city": "O\'Slo", "n": 1.0}'),
    )
    return (
        make_turn(Role.SYSTEM, f"{LONG_LINE}\nSecond line\n\n  indented"),
        make_turn(
            Role.USER, "What is this?", Image(url=IMAGE, detail="low"), Image(url="https://x.example/a.png?b='c'")
        ),
        Turn(id="a", role=Role.ASSISTANT, parts=answer),
        make_turn(Role.TOOL, "", ToolResult(call_id="call_1", text='{"temp": 4, "note": "it\'s $5"}')),
        make_turn(Role.USER, SHELL),
    )


def _user(text: str) -> tuple[Turn, ...]:
    return (make_turn(Role.USER, text),)


def chat(turns: str | tuple[Turn, ...] = "Hi", model: str = "demo-chat", **more: Any) -> Request:
    return Request(protocol="chat", model=model, turns=_user(turns) if isinstance(turns, str) else turns, **more)


CHAT: dict[str, Request] = {
    "streamed": chat("Say hello.", parameters=ChatParameters(stream=True, include_usage=True, temperature=0.2, seed=7)),
    "whole": chat("Say hello.", parameters=ChatParameters(stream=False, temperature=0.2, seed=7)),
    "bare": chat(),
    "shell": chat(SHELL, parameters=ChatParameters(stop=(SHELL, "\n"))),
    "letters": chat(LETTERS, parameters=ChatParameters(user=LETTERS)),
    "conversation": chat(
        _turns(),
        "demo-tools",
        parameters=ChatParameters(
            stream=True, n=2, tool_choice={"type": "function", "function": {"name": "get_weather"}}, top_p=1.0, seed=7
        ),
        tools=(WEATHER,),
        reasoning_return=ReasoningReturn(when=SendReasoning.ALWAYS),
    ),
    "names": chat(extra_body=NAMES),
    "numbers": chat(extra_body=NUMBERS),
    "odd": chat(
        extra_body={
            "temperature": "hot",
            "stream": "yes",
            "max_tokens": None,
            "messages": {"not": "a list"},
            "n": [True],
        }
    ),
    "model": chat(extra_body={"model": 5, "stream": None}),
    "half": chat("\ud83d half \udc00 and \ud83d\ude00"),
    "tools": chat(
        "What is the weather in Oslo?",
        "demo-tools",
        parameters=ChatParameters(stream=True, tool_choice="required"),
        tools=(WEATHER.model_copy(update={"strict": None}),),
    ),
}

_THOUGHT = (
    Reasoning(text="Hm.\n", field="thinking", signature="c2ln" * 200),
    Reasoning(text="", redacted="cmVk" * 10),
    Text(text="I will look."),
    ToolCall(id="t1", name="get_weather", arguments='{"city": "Oslo", "deep": {"n": 1.0}}'),
)
_NATIVE = (
    make_turn(Role.SYSTEM, SHELL),
    make_turn(Role.USER, "What is this?", Image(url=IMAGE), Image(url="https://x.example/a.png")),
    Turn(id="n", role=Role.ASSISTANT, parts=_THOUGHT),
    make_turn(Role.TOOL, "", ToolResult(call_id="t1", text="broken", is_error=True)),
    make_turn(Role.USER, LETTERS),
)


def messages(turns: str | tuple[Turn, ...] = "Hi", **more: Any) -> Request:
    return chat(turns, "demo-messages", **more).model_copy(update={"protocol": "messages"})


MESSAGES: dict[str, Request] = {
    "streamed": messages("Say hello.", parameters=MessagesParameters(stream=True, temperature=0.2, top_k=5)),
    "whole": messages("Say hello.", parameters=MessagesParameters(stream=False, max_tokens=64000)),
    "bare": messages(),
    "conversation": messages(
        _NATIVE,
        parameters=MessagesParameters(
            stream=True,
            thinking={"type": "enabled", "budget_tokens": 1024},
            effort="low",
            user_id="it's me",
            stop_sequences=("\n", "'"),
            tool_choice="auto",
            disable_parallel_tool_use=True,
        ),
        tools=(WEATHER,),
    ),
    "names": messages(SHELL, extra_body=NAMES),
    "numbers": messages(extra_body=NUMBERS),
    "odd": messages(
        extra_body={
            "max_tokens": "many",
            "thinking": "yes",
            "stream": 1,
            "system": None,
            "messages": "none",
            "tools": {},
        }
    ),
    "tools": messages(
        "What is the weather in Oslo?", parameters=MessagesParameters(stream=True, tool_choice="any"), tools=(WEATHER,)
    ),
}


def responses(turns: str | tuple[Turn, ...] = "Hi", model: str = "demo-chat", **more: Any) -> Request:
    return chat(turns, model, **more).model_copy(update={"protocol": "responses"})


RESPONSES: dict[str, Request] = {
    "streamed": responses("Say hello.", parameters=ResponsesParameters(stream=True, store=False, temperature=0.2)),
    "whole": responses("Say hello.", parameters=ResponsesParameters(stream=False, max_output_tokens=64)),
    "bare": responses(),
    "shell": responses(SHELL, parameters=ResponsesParameters(metadata={"shell": SHELL[:200]})),
    "letters": responses(LETTERS),
    "conversation": responses(
        (make_turn(Role.SYSTEM, SHELL), *_turns()[1:]),
        "demo-tools",
        parameters=ResponsesParameters(stream=True, tool_choice={"type": "function", "name": "get_weather"}),
        tools=(WEATHER,),
    ),
    "tools": responses(
        "What is the weather in Oslo?",
        "demo-tools",
        parameters=ResponsesParameters(stream=True, tool_choice="required"),
        tools=(WEATHER.model_copy(update={"strict": None}),),
    ),
}
