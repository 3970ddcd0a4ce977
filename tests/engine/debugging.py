"""A session at the demo gateway that calls tools, on either protocol, and what arrived there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from playground.demo.server import DemoServer
from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.session.session import Session

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather now",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
)
THREE = "Compare Lisbon, Oslo and Rome"
SUNNY = AnswerRow(answer=Answer(text="sunny"))
MODELS = {"chat": "demo-tools", "messages": "demo-messages"}


@dataclass
class ToolConversation:
    """A session, its debugger, and the gateway it asks."""

    session: Session
    gateway: DemoServer

    def __post_init__(self) -> None:
        self.session.change(tools=(WEATHER,))

    def rule(self, **fields: Any) -> None:
        """Return the rule for calls of the weather tool."""
        debugger = self.session.debugger
        self.session.change(debugging=debugger.debugging.with_rule("get_weather", ToolRule(**fields)))

    def table(self, *rows: AnswerRow, **fields: Any) -> None:
        self.rule(policy=Policy.TABLE, rows=rows or (SUNNY,), **fields)

    def limit(self, count: int) -> None:
        debugger = self.session.debugger
        self.session.change(debugging=debugger.debugging.model_copy(update={"step_limit": count}))

    async def ask(self, prompt: str) -> None:
        self.session.turns.add_turn(make_turn(Role.USER, prompt))
        await self.session.run()

    @property
    def path(self) -> tuple[Turn, ...]:
        return self.session.transcript.path

    @property
    def roles(self) -> str:
        """The path in letters: u, a (with calls: c), t."""
        return "".join("c" if turn.calls else turn.role.value[0] for turn in self.path)

    @property
    def waiting(self) -> list[tuple[str, ToolCall]]:
        return list(self.session.debugger.waiting)

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [(turn_id, call.id) for turn_id, call in self.waiting]

    @property
    def reasons(self) -> list[str]:
        """Why each call on the path waits."""
        results = [self.session.debugger.reason(*key) for key in self.keys]
        return [reason.code.value if reason is not None else "" for reason in results]

    @property
    def results(self) -> list[tuple[str, str]]:
        """The results on the path: text and how they came."""
        return [(result.text, result.by) for turn in self.path for result in turn.results]

    def sent(self, index: int = -1) -> tuple[list[tuple[str, Any]], list[tuple[str, str, bool]]]:
        """Calls (id, arguments) and results (id, text, whether marked as an error) in a request that arrived."""
        body = json.loads(self.posts[index])
        calls: list[tuple[str, Any]] = []
        results: list[tuple[str, str, bool]] = []
        for message in body["messages"]:
            for call in message.get("tool_calls") or []:
                calls.append((call["id"], json.loads(call["function"]["arguments"])))
            if message["role"] == "tool":
                results.append((message["tool_call_id"], message["content"], False))
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block["type"] == "tool_use":
                    calls.append((block["id"], block["input"]))
                elif block["type"] == "tool_result":
                    results.append((block["tool_use_id"], block["content"], bool(block.get("is_error"))))
        return calls, results

    @property
    def posts(self) -> list[bytes]:
        return [request.body for request in self.gateway.requests if request.method == "POST"]


def equal(arguments: str, text: str, **fields: Any) -> AnswerRow:
    return AnswerRow(match=MatchKind.EQUAL, pattern=arguments, answer=Answer(text=text, **fields))


def for_city(city: str, **fields: Any) -> AnswerRow:
    return AnswerRow(match=MatchKind.PATH, pattern=f"$[?@.city == '{city}']", answer=Answer(**fields))


def always(policy: Policy, **fields: Any) -> Debugging:
    return Debugging(default=ToolRule(policy=policy, **fields))


def begin(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.get_running_loop().create_task(work)
