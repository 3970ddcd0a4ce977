"""A body of POST /chat/completions as a request: the reverse of the encoder (specification, section 4.1)."""

from __future__ import annotations

from playground.domain.parts import Reasoning
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Turn
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.chat.encode import encode_turns
from playground.protocols.chat.history import read_messages, unread
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.chat.reasoning import DETAILS, FIELDS
from playground.protocols.chat.tools import read_tool, write_tool
from playground.protocols.reading import read_tools, split_parameters


def read_body(body: JSONObject) -> tuple[Request, tuple[str, ...]]:
    """The request, and sentences on what could not be kept. Raises ValueError naming what is wrong with a message.

    What has no field of its own goes into ``extra_body``. The rule for sending reasoning back is the one under which
    the messages are written as they came.
    """
    rest = {name: value for name, value in body.items() if name not in ("model", "messages", "tools")}
    messages = body.get("messages")
    turns = tuple(read_messages(messages))
    parameters, extra = split_parameters(ChatParameters, rest)
    notes = _left_out(messages)
    model = body.get("model", "")
    if not isinstance(model, str):
        model, extra["model"] = "", model
    tools, reason = read_tools(body["tools"], read_tool, write_tool) if "tools" in body else ((), "")
    if reason or (not tools and "tools" in body):
        extra["tools"] = body["tools"]
        notes += [f"The tools are kept in the extra body: {reason}."] if reason else []
    request = Request(
        protocol="chat",
        model=model,
        turns=turns,
        parameters=parameters,
        tools=tools,
        extra_body=extra,
        reasoning_return=_rule(turns, messages),
    )
    return request, tuple(notes)


def _rule(turns: tuple[Turn, ...], messages: JSON) -> ReasoningReturn:
    """The first rule under which ``turns`` are written as ``messages``."""
    names = (*FIELDS, DETAILS)
    found = [name for name in names if any(isinstance(item, dict) and name in item for item in messages)]
    for when in SendReasoning:
        for field in ("", *found) if when is not SendReasoning.NEVER else ("",):
            rule = ReasoningReturn(when=when, field=field)
            if same(encode_turns(turns, rule), messages):
                return rule
    thought = any(isinstance(part, Reasoning) for turn in turns for part in turn.parts)
    return ReasoningReturn(when=SendReasoning.ALWAYS if thought else SendReasoning.NEVER)


def _left_out(messages: JSON) -> list[str]:
    notes = []
    for number, item in enumerate(messages, 1):
        if lost := unread(item):
            names = ", ".join(f"“{name}”" for name in lost)
            notes.append(f"Message {number}: {names} left out; it could not be written again.")
    return notes
