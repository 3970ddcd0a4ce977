"""Runs one request from a file without a window: text to one stream, reasoning to another, an exit code at the end.

The file is ``{"playground": 1, "protocol", "model", "messages", "parameters", "tools", "extra_body"}`` with messages
as in the specification, section 2.1, whatever the protocol. A saved experiment can be run as well: it asks what the
window would ask, with the message being written.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pydantic import SecretStr

from playground.domain.accumulator import Accumulator, GrowingChoice
from playground.domain.errors import Failure, FailureKind
from playground.domain.events import Event, ReasoningDelta, RefusalDelta, TextDelta
from playground.domain.parts import Reasoning, Text, ToolCall
from playground.domain.request import Request
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition, parse_json
from playground.domain.transcript import make_turn
from playground.domain.values import JSON, JSONObject
from playground.engine.advice import advise
from playground.protocols.chat.history import read_messages
from playground.protocols.chat.tools import read_tool as read_chat_tool
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient

KNOWN = {"playground", "protocol", "model", "messages", "parameters", "tools", "extra_body", "$schema"}


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    BAD_INPUT = 2  # the file, the arguments, or no display for the window
    TRANSPORT = 3  # the gateway could not be reached, or did not answer in time
    HTTP = 4  # the gateway answered with an error status
    INCOMPLETE = 5  # the answer began and failed or was cut off
    WAITING = 6  # a tool was called and there is no answer for the call
    STEP_LIMIT = 7  # as many requests as allowed went out, and a tool was called again


class BadInputError(Exception):
    """The file cannot be run; the message says what is wrong and where."""


def read_run_file(path: Path) -> Request:
    """The request a file asks for; streaming is on unless the file says otherwise. Raises BadInputError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInputError(f"{path} is not UTF-8 text") from None
    try:
        value = parse_json(text)
    except ValueError as error:
        raise BadInputError(f"{path} is not JSON: {error}") from None
    if isinstance(value, dict) and "experiment" in value:
        return _of_experiment(value)
    return read_request(value)


def _of_experiment(value: JSON) -> Request:
    """What a saved experiment would ask next. Raises BadInputError."""
    from playground.engine.experiment_file import ExperimentFileError, read_content
    from playground.engine.session import Session, without_value
    from playground.engine.snapshot import restore

    session = Session(_nobody, profile_id="")
    try:
        restore(read_content(value), session)
    except (ExperimentFileError, ValueError) as error:
        raise BadInputError(str(error)) from None
    draft = session.draft
    written = make_turn(draft.role, draft.text if draft.text.strip() else "", *draft.images)
    more = (written,) if written.parts and draft.role is not Role.TOOL else ()
    if not session.model:
        raise BadInputError("the experiment names no model")
    if missing := session.unresolved(*more):
        raise BadInputError(without_value(missing))
    return session.request(*more)


async def _nobody(_profile_id: str) -> GatewayClient:
    raise BadInputError("nothing is sent from here")


def read_request(value: JSON) -> Request:
    """The request that a file's JSON asks for. Raises BadInputError."""
    if not isinstance(value, dict):
        raise BadInputError("the file must hold one JSON object")
    if value.get("playground") != 1:
        raise BadInputError(
            '"playground": 1 is missing; it names the version of the format (a saved experiment has "experiment")'
        )
    if unknown := sorted(value.keys() - KNOWN):
        raise BadInputError(f"unknown field {', '.join(map(repr, unknown))}; other body fields go into extra_body")
    model = value.get("model")
    if not isinstance(model, str) or not model:
        raise BadInputError('"model" must be the id of a model')
    try:
        protocol = get_protocol(str(value.get("protocol", "chat")))
        turns = tuple(read_messages(value.get("messages")))
        tools = tuple(_tool(item, number) for number, item in enumerate(_list(value, "tools")))
    except ValueError as error:
        raise BadInputError(str(error)) from None
    wanted = _object(value, "parameters")
    parameters = protocol.parameters_type.from_wire({"stream": True, **wanted})
    return Request(
        protocol=protocol.name,
        model=model,
        turns=turns,
        parameters=parameters,
        tools=tools,
        extra_body=_object(value, "extra_body"),
    )


async def run_file(path: Path, base_url: str, key: SecretStr | None, *, as_json: bool, out: TextIO, err: TextIO) -> int:
    """Run the request in ``path`` once against ``base_url``. Returns an exit code; writes no key anywhere."""
    from playground.gateway.client import GatewayClient
    from playground.gateway.connection import Connection

    try:
        request = read_run_file(path)
        protocol = get_protocol(request.protocol)
        protocol.encode(request)
        connection = Connection(base_url=base_url, key=key)
    except (BadInputError, ValueError) as error:
        print(f"playground: {error}", file=err)
        return ExitCode.BAD_INPUT
    answer = Accumulator()
    async with GatewayClient(connection) as client:
        call = client.open(protocol, request)
        async with aclosing(call) as batches:
            async for events in batches:
                answer.add(events)
                if not as_json:
                    _show(events, out, err)
    if as_json:
        json.dump(finished_turn(answer), out, ensure_ascii=True, indent=2)
        out.write("\n")
    elif not answer.empty:
        _show_calls(answer, out)
    out.flush()
    return report(answer.failure, answer.empty, err) if answer.failure is not None else ExitCode.OK


def report(failure: Failure, empty: bool, err: TextIO) -> ExitCode:
    """Say what went wrong and what to do; ``empty`` says that nothing of the answer had come. Returns the exit code."""
    advice = advise(failure, streamed=True)
    status = f" ({failure.status})" if failure.status else ""
    print(f"\nplayground: {advice.title}{status}: {failure.message}\n{advice.remedy}", file=err)
    if failure.kind is FailureKind.INPUT:
        return ExitCode.BAD_INPUT
    if failure.kind in (FailureKind.HTTP, FailureKind.REDIRECT):
        return ExitCode.HTTP
    if empty and failure.kind not in (FailureKind.STREAM, FailureKind.EMPTY, FailureKind.CUT_OFF):
        return ExitCode.TRANSPORT
    return ExitCode.INCOMPLETE


def finished_turn(answer: Accumulator) -> JSONObject:
    """The answer as JSON: the first choice at the top, all of them under ``choices``."""
    choices = [_choice(answer.choices[index]) for index in sorted(answer.choices)]
    first = choices[0] if choices else _choice(GrowingChoice(0))
    failure = answer.failure
    return {
        "role": "assistant",
        **{name: first[name] for name in ("content", "reasoning", "tool_calls", "finish_reason")},
        "id": answer.id,
        "model": answer.model,
        "usage": answer.usage.raw if answer.usage else None,
        "complete": answer.complete,
        "error": failure.model_dump(mode="json", exclude_none=True) if failure else None,
        "deviations": [{"code": code, "note": note} for code, note in answer.deviations.items()],
        "choices": choices,
    }


def _choice(choice: GrowingChoice) -> JSONObject:
    parts = choice.freeze()
    return {
        "index": choice.index,
        "content": "".join(part.text for part in parts if isinstance(part, Text)),
        "reasoning": "".join(part.text for part in parts if isinstance(part, Reasoning)),
        "tool_calls": [
            {"id": part.id, "name": part.name, "arguments": part.arguments}
            for part in parts
            if isinstance(part, ToolCall)
        ],
        "finish_reason": choice.finish_reason,
    }


def _show(events: list[Event], out: TextIO, err: TextIO) -> None:
    """Text of the first choice as it comes; the others are only in the JSON."""
    for event in events:
        if isinstance(event, TextDelta | RefusalDelta) and event.choice == 0:
            out.write(printable(event.text))
        elif isinstance(event, ReasoningDelta) and event.choice == 0:
            err.write(printable(event.text))
    out.flush()
    err.flush()


def _show_calls(answer: Accumulator, out: TextIO) -> None:
    out.write("\n")
    if 0 in answer.choices:
        calls = _choice(answer.choices[0])["tool_calls"]
        out.writelines(printable(f"→ {call['name']}({call['arguments']})  [{call['id']}]\n") for call in calls)


def printable(text: str) -> str:
    """Text a terminal can be given: no escape sequences, no lone surrogates."""
    clean = "".join(c if c in "\n\t" or ord(c) >= 32 else "\ufffd" for c in text)
    return clean.encode("utf-8", "replace").decode("utf-8")


def _tool(item: JSON, number: int) -> ToolDefinition:
    native = isinstance(item, dict) and "input_schema" in item
    try:
        return get_protocol("messages").read_tool(item) if native else read_chat_tool(item)
    except ValueError as error:
        raise ValueError(f"tools[{number}]: {error}") from None


def _list(value: JSONObject, name: str) -> list[JSON]:
    found = value.get(name) or []
    if not isinstance(found, list):
        raise ValueError(f'"{name}" must be an array')
    return found


def _object(value: JSONObject, name: str) -> JSONObject:
    found = value.get(name) or {}
    if not isinstance(found, dict):
        raise BadInputError(f'"{name}" must be an object')
    return found
