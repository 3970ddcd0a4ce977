"""The file of a request, as the command line runs it.

It is ``{"playground": 1, "protocol", "model", "messages", "parameters", "tools", "extra_body", "extra_headers"}`` with
messages as in the specification, section 2.1, whatever the protocol; one for native messages may hold its own blocks.
All that stands in it is sent. ``write_request`` writes what ``read_request`` reads.
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
from playground.named_file import read_named, read_standard_input
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.conversion import LOST
from playground.protocols.protocol import Protocol, get_protocol, protocol_of, protocol_of_tool, runs_at_vendor
from playground.protocols.reading import read_tools

VERSION: Final = 1
LARGEST: Final = 512 * 1024 * 1024  # bytes of a file that is read
KNOWN = {
    *("playground", "protocol", "model", MESSAGES, "parameters", "tools", "extra_body", "extra_headers", "$schema")
}
STDIN: Final = Path("-")

T = TypeVar("T")


class BadInputError(Exception):
    """What was given cannot be run; the message says what is wrong and where."""


def read_run_file(path: Path) -> Request:
    """The request of a request file; streaming is on unless it says otherwise, and the model may be empty.

    Raises BadInputError.
    """
    return read_request(read_value(path))


def read_value(path: Path, *, pipes: bool = False) -> JSON:
    """The JSON in the file at ``path`` (``-``: standard input). Raises BadInputError."""
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


def read_text(path: Path, most: int, what: Callable[[str], T]) -> T:
    """What is made of the text of a file, which has ``most`` bytes at the most. Raises BadInputError.

    ``what`` raises ValueError, in words for people, for a text that nothing can be made of.
    """
    try:
        return what(read_named(path, most, pipes=True).decode("utf-8-sig"))
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInputError(f"{path} is not UTF-8 text") from None
    except ValueError as error:
        raise BadInputError(f"{path}: {error}") from None


def read_request(value: JSON) -> Request:
    """The request that a file's JSON asks for; its model is empty where none is named. Raises BadInputError."""
    return request_and_notes(value, None)[0]


def request_and_notes(value: JSON, default_model: str | None = "") -> tuple[Request, tuple[str, ...]]:
    """The request, and what of the file cannot be sent, in sentences. Its rule for reasoning is the one under which the
    messages go out as they stand there. ``default_model`` is asked where it names none; None: no model is needed.
    Raises BadInputError.
    """
    if not isinstance(value, dict):
        raise BadInputError("the file must hold one JSON object")
    if problem := version_problem(value, "playground", VERSION):
        hint = ' (a saved experiment has "experiment")' if "playground" not in value else ""
        raise BadInputError(problem + hint)
    if unknown := sorted(value.keys() - KNOWN):
        raise BadInputError(f"unknown field {', '.join(map(repr, unknown))}; other body fields go into extra_body")
    model = value.get("model", default_model or "")
    if not isinstance(model, str) or (not model and default_model is not None):
        raise BadInputError('"model" must be the id of a model')
    extra = _object(value, "extra_body")
    try:
        protocol = get_protocol(str(value.get("protocol", DEFAULT)))
        said, notes = _conversation(protocol, value.get(MESSAGES))
        items = _list(value, "tools")
        tools = _tools(protocol, items)
        if items and not tools:
            extra = {"tools": items, **extra}
    except ValueError as error:
        raise BadInputError(str(error)) from None
    request = Request(
        protocol=protocol.name,
        model=model,
        turns=said.turns,
        parameters=_parameters(protocol, _object(value, "parameters")),
        tools=tools,
        extra_body=extra,
        extra_headers=_headers(value),
        reasoning_return=said.reasoning_return,
    )
    return request, notes


def write_request(request: Request) -> JSONObject:
    """The content of a request file. ``model`` is absent where the request names none.

    Raises ValueError where the protocol has no place for a part of the request.
    """
    protocol = get_protocol(request.protocol)
    kind = protocol.parameters_type
    *above, said = protocol.conversation
    body = protocol.encode(request, extras=False)
    messages = [{"role": "system", "content": body[name]} for name in above if body.get(name)] + body[said]
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
    """The extra headers of a file. Raises BadInputError for one that may not stand in a file."""
    headers = _object(value, "extra_headers")
    for name, content in headers.items():
        if not isinstance(content, str):
            raise BadInputError(f'"extra_headers": {name!r} must be text')
        if problem := extra_header_problem(name, content):
            raise BadInputError(f'"extra_headers": {problem}')
    return headers


def _conversation(protocol: Protocol, messages: JSON) -> tuple[Request, tuple[str, ...]]:
    """The messages as a request that holds nothing else, and what of them cannot be sent. Raises ValueError."""
    usual = get_protocol(DEFAULT)
    *above, said = protocol.conversation
    if protocol is not usual and above and isinstance(messages, list):
        top = next((at for at, item in enumerate(messages) if not _is_system(item)), len(messages))
        rest = messages[top:]
        if all(map(_is_of_any, rest)) and protocol_of({MESSAGES: rest}) != (DEFAULT, True):
            system = [block for item in messages[:top] for block in _blocks(item["content"])]
            return protocol.read_body({above[0]: system, said: rest})
    request, notes = usual.read_body({MESSAGES: messages})
    if protocol is not usual:
        notes += tuple(f"{loss}." for loss in losses(request, protocol.name) if loss.kind == LOST)
    return request, notes


def _blocks(content: JSON) -> list[JSON]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_system(item: JSON) -> bool:
    """Whether a message goes to the top where a protocol has a place for it there."""
    known = isinstance(item, dict) and item.get("role") in ("system", "developer")
    return known and isinstance(item.get("content"), str | list)


def _is_of_any(item: JSON) -> bool:
    """Whether every protocol can have such a message."""
    marks = get_protocol(DEFAULT).marks
    known = isinstance(item, dict) and item.get("role") in ("user", "assistant")
    return known and (marks.of_message | marks.also_of_message).isdisjoint(item)


def _parameters(protocol: Protocol, wanted: JSONObject) -> Parameters:
    """What the file sets; for what it does not name, what a new experiment begins with. Null leaves a known one out."""
    kind = protocol.parameters_type
    named = {name: path[0] for name, path in kind.places().items() if path[0] in wanted}
    given = {key: value for key, value in wanted.items() if value is not None or key not in named.values()}
    parameters, known = kind.begin(given), kind.from_wire(given)
    for name in named:
        if getattr(known, name) is None:
            parameters = parameters.with_value(name, None)
    return parameters


def _tools(protocol: Protocol, items: list[JSON]) -> tuple[ToolDefinition, ...]:
    """The definitions; none where they hold something that no definition has a place for, and go out as they stand.

    Raises ValueError for what is no definition in any protocol's shape.
    """
    if any(map(runs_at_vendor, items)):
        return ()
    found = tuple(_tool(item, number) for number, item in enumerate(items))
    own = all(protocol_of_tool(item) == protocol.name for item in items)
    return read_tools(items, protocol.read_tool, protocol.write_tool)[0] if own else found


def _tool(item: JSON, number: int) -> ToolDefinition:
    try:
        return get_protocol(protocol_of_tool(item) if isinstance(item, dict) else DEFAULT).read_tool(item)
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
