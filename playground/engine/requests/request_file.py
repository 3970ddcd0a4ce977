"""Request files of the command line.

A file is ``{"playground": 1, "protocol", "model", "messages", "parameters", "tools", "extra_body", "extra_headers"}``
with messages of the specification, section 2.1, for every protocol; for native messages, they may have its own blocks.
Everything in the file is sent. ``read_request`` is the reverse of ``write_request``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.secrets import extra_header_problem
from playground.engine.io.weighed_json import TooMuchError, read_json, version_problem
from playground.engine.requests.protocol_conversion import losses
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.conversion import LOST
from playground.protocols.protocol import Protocol, get_protocol, protocol_of, protocol_of_tool, runs_at_vendor
from playground.protocols.reading import read_tools
from playground.system.named_file import read_named, read_standard_input

VERSION: Final = 1
LARGEST: Final = 512 * 1024 * 1024  # bytes of a file that is read
MEMBERS = {
    *("playground", "protocol", "model", MESSAGES, "parameters", "tools", "extra_body", "extra_headers", "$schema")
}
STDIN: Final = Path("-")

T = TypeVar("T")


class BadInputError(Exception):
    """An input cannot be run; the error names the problem and its place."""


def read_run_file(path: Path) -> Request:
    """Return the request of a file; streaming is on by default, and the model may be empty.

    Raises BadInputError.
    """
    return read_request(read_value(path))


def read_value(path: Path, *, pipes: bool = False) -> JSON:
    """Return the JSON in a file (``-``: standard input). Raises BadInputError."""
    name = "standard input" if path == STDIN else str(path)
    try:
        return read_json(read_standard_input(LARGEST) if path == STDIN else read_named(path, LARGEST, pipes=pipes))
    except OSError as error:
        raise BadInputError(f"{name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInputError(f"{name} is not UTF-8 text") from None
    except TooMuchError as error:
        raise BadInputError(f"{name} cannot be opened: {error}") from None
    except ValueError as error:
        raise BadInputError(f"{name} is not JSON: {error}") from None


def read_text(path: Path, most: int, parse: Callable[[str], T]) -> T:
    """Return the parsed text of a file of at most ``most`` bytes. Raises BadInputError.

    ``parse`` raises ValueError, in words for people, for an invalid text.
    """
    try:
        return parse(read_named(path, most, pipes=True).decode("utf-8-sig"))
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInputError(f"{path} is not UTF-8 text") from None
    except ValueError as error:
        raise BadInputError(f"{path}: {error}") from None


def read_request(value: JSON) -> Request:
    """Return the request in the JSON of a file; its model may be empty. Raises BadInputError."""
    return request_and_notes(value, None)[0]


def request_and_notes(value: JSON, default_model: str | None = "") -> tuple[Request, tuple[str, ...]]:
    """Return the request in the JSON of a file, and sentences on content that cannot be sent.

    The rule for reasoning is the one that sends the messages unchanged. ``default_model`` is used if the file has no
    model; None: no model is needed. Raises BadInputError.
    """
    if not isinstance(value, dict):
        raise BadInputError("the file must hold one JSON object")
    if problem := version_problem(value, "playground", VERSION):
        hint = ' (a saved experiment has "experiment")' if "playground" not in value else ""
        raise BadInputError(problem + hint)
    if unknown := sorted(value.keys() - MEMBERS):
        raise BadInputError(f"unknown field {', '.join(map(repr, unknown))}; other body fields go into extra_body")
    model = value.get("model", default_model or "")
    if not isinstance(model, str) or (not model and default_model is not None):
        raise BadInputError('"model" must be the id of a model')
    extra = _object(value, "extra_body")
    try:
        protocol = get_protocol(str(value.get("protocol", DEFAULT)))
        conversation, notes = _conversation(protocol, value.get(MESSAGES))
        items = _list(value, "tools")
        tools = _tools(protocol, items)
        if items and not tools:
            extra = {"tools": items, **extra}
    except ValueError as error:
        raise BadInputError(str(error)) from None
    request = Request(
        protocol=protocol.name,
        model=model,
        turns=conversation.turns,
        parameters=_parameters(protocol, _object(value, "parameters")),
        tools=tools,
        extra_body=extra,
        extra_headers=_headers(value),
        reasoning_return=conversation.reasoning_return,
    )
    return request, notes


def write_request(request: Request) -> JSONObject:
    """Return the content of a request file. ``model`` is absent if the request has none.

    Raises ValueError for content that the protocol cannot express.
    """
    protocol = get_protocol(request.protocol)
    kind = protocol.parameters_type
    body = protocol.encode(request, extras=False)
    above = protocol.conversation[:-1]
    messages = [{"role": "system", "content": body[name]} for name in above if body.get(name)] + protocol.entries(body)
    parameters = request.parameters.to_wire()
    started = kind.begin({})
    for name, path in kind.places().items():  # null leaves out what a file sets by default
        if getattr(request.parameters, name) is None and getattr(started, name) is not None:
            parameters.setdefault(path[0], None)
    content: JSONObject = {
        "playground": VERSION,
        "protocol": request.protocol,
        "model": request.model,
        MESSAGES: messages,
        "parameters": parameters,
        "tools": [protocol.write_tool(tool) for tool in request.tools],
        "extra_body": request.extra_body,
        "extra_headers": request.extra_headers,
    }
    return {name: member for name, member in content.items() if member or name in ("playground", MESSAGES)}


def _headers(value: JSONObject) -> dict[str, str]:
    """Return the extra headers of a file. Raises BadInputError for one that a file must not have."""
    headers = _object(value, "extra_headers")
    for name, content in headers.items():
        if not isinstance(content, str):
            raise BadInputError(f'"extra_headers": {name!r} must be text')
        if problem := extra_header_problem(name, content):
            raise BadInputError(f'"extra_headers": {problem}')
    return headers


def _conversation(protocol: Protocol, messages: JSON) -> tuple[Request, tuple[str, ...]]:
    """Return a request of the messages alone, and sentences on content that cannot be sent. Raises ValueError."""
    usual = get_protocol(DEFAULT)
    *above, messages_name = protocol.conversation
    if protocol is not usual and above and isinstance(messages, list):
        top = next((number for number, item in enumerate(messages) if not _is_system(item)), len(messages))
        rest = messages[top:]
        is_common = all(map(_is_common, rest)) and protocol_of({MESSAGES: rest}) != (DEFAULT, True)
        if not protocol.alternates and (is_common or protocol.marks.count_entries({messages_name: rest})):
            return protocol.read_body({messages_name: messages})
        if is_common:
            system = [block for item in messages[:top] for block in _blocks(item["content"])]
            return protocol.read_body({above[0]: system, messages_name: rest})
    request, notes = usual.read_body({MESSAGES: messages})
    if protocol is not usual:
        notes += tuple(f"{loss}." for loss in losses(request, protocol.name) if loss.kind == LOST)
    return request, notes


def _blocks(content: JSON) -> list[JSON]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_system(item: JSON) -> bool:
    """Return whether a message belongs to the system prompt."""
    is_system = isinstance(item, dict) and item.get("role") in ("system", "developer")
    return is_system and isinstance(item.get("content"), str | list)


def _is_common(item: JSON) -> bool:
    """Return whether every protocol has such a message."""
    marks = get_protocol(DEFAULT).marks
    has_common_role = isinstance(item, dict) and item.get("role") in ("user", "assistant")
    return has_common_role and (marks.of_message | marks.also_of_message).isdisjoint(item)


def _parameters(protocol: Protocol, values: JSONObject) -> Parameters:
    """Return the parameters of a file, with those of a new experiment for absent ones; null unsets a parameter."""
    kind = protocol.parameters_type
    named = {name: path[0] for name, path in kind.places().items() if path[0] in values}
    present = {key: value for key, value in values.items() if value is not None or key not in named.values()}
    parameters, own = kind.begin(present), kind.from_wire(present)
    for name in named:
        if getattr(own, name) is None:
            parameters = parameters.with_value(name, None)
    return parameters


def _tools(protocol: Protocol, items: list[JSON]) -> tuple[ToolDefinition, ...]:
    """Return the definitions; none if the vendor runs one of the tools, so that all are sent unchanged.

    Raises ValueError for a value that is not a definition in any protocol's shape.
    """
    if any(map(runs_at_vendor, items)):
        return ()
    tools = tuple(_tool(item, number) for number, item in enumerate(items))
    is_own = all(protocol_of_tool(item) == protocol.name for item in items)
    return read_tools(items, protocol.read_tool, protocol.write_tool)[0] if is_own else tools


def _tool(item: JSON, number: int) -> ToolDefinition:
    try:
        return get_protocol(protocol_of_tool(item) if isinstance(item, dict) else DEFAULT).read_tool(item)
    except ValueError as error:
        raise ValueError(f"tools[{number}]: {error}") from None


def _list(value: JSONObject, name: str) -> list[JSON]:
    items = value.get(name) or []
    if not isinstance(items, list):
        raise ValueError(f'"{name}" must be an array')
    return items


def _object(value: JSONObject, name: str) -> JSONObject:
    members = value.get(name) or {}
    if not isinstance(members, dict):
        raise BadInputError(f'"{name}" must be an object')
    return members
