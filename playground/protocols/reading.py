"""Read a request body back into a request: the steps that both protocols share.

Members that a field can hold go there, all others into the extra body unchanged, so that the request encodes to the
body that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from playground.domain.members import Extra
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.jsonkit.foreign import members_beside
from playground.jsonkit.values import JSON, JSONObject, same

if TYPE_CHECKING:
    from playground.protocols.wire_protocol import Protocol

#: Member of a message in a file that holds ``Turn.extra``. No gateway has that name, and it is sent to none.
EXTRA: Final = "playground_extra"


class MessageError(ValueError):
    """A message cannot be read. ``number`` counts from 1; the text names it and the reason."""

    def __init__(self, number: int, reason: str) -> None:
        self.number = number
        super().__init__(f"message {number}: {reason}")


def write_extra(turn: Turn) -> JSONObject:
    """Return the member that holds ``Turn.extra``; no member if that is empty."""
    extra = {over: members for over, members in turn.extra.items() if members}
    return {EXTRA: extra} if extra and turn.role is Role.ASSISTANT else {}


def read_extra(item: JSONObject) -> Extra:
    """Return the ``Turn.extra`` that ``write_extra`` wrote into a message; empty for a member of another origin."""
    value = item.get(EXTRA)
    if item.get("role") != Role.ASSISTANT.value or not isinstance(value, dict):
        return {}
    extra = {
        over: members_beside(members, (), empty=True) for over, members in value.items() if isinstance(members, dict)
    }
    return extra if len(extra) == len(value) else {}


def read_settings(protocol: Protocol, body: JSONObject, unchanged: Collection[str] = ()) -> tuple[Request, list[str]]:
    """Return a request without turns from the other members of a body, and sentences on what could not be kept.

    Members without a field are in ``extra_body``, and so are those named in ``unchanged``.
    """
    apart = ("model", "tools", *protocol.conversation, *unchanged)
    rest = {name: value for name, value in body.items() if name not in apart}
    parameters, extra = split_parameters(protocol.parameters_type, rest)
    extra |= {name: body[name] for name in unchanged}
    model = body.get("model", "")
    if not isinstance(model, str):
        model, extra["model"] = "", model
    tools, reason = read_tools(body["tools"], protocol.read_tool, protocol.write_tool) if "tools" in body else ((), "")
    if reason or (not tools and "tools" in body):
        extra["tools"] = body["tools"]
    notes = [f"The tools are in the extra body: {reason}."] if reason else []
    request = Request(protocol=protocol.name, model=model, parameters=parameters, tools=tools, extra_body=extra)
    return request, notes


def split_parameters(kind: type[Parameters], rest: JSONObject) -> tuple[Parameters, JSONObject]:
    """Return the parameters that ``rest`` sets, and the members without a field or with a value that changes in one.

    Some members of an object may have fields; the others go into the extra body, which is merged into it again.
    """
    roots = {(hint.path or name).split(".")[0]: hint.needs for name, hint in kind.hints()}
    mapped: JSONObject = {}
    extra: JSONObject = {}
    for name, value in rest.items():
        if name not in roots:
            extra[name] = value
            continue
        needed = {roots[name]: rest[roots[name]]} if roots[name] in rest else {}
        fitting, other_members = _split(kind, name, value, needed)
        mapped |= fitting
        extra |= other_members
    return kind.from_wire(mapped), extra


def _split(kind: type[Parameters], name: str, value: JSON, needed: JSONObject) -> tuple[JSONObject, JSONObject]:
    """Return the part of one member that fields hold, and the rest. ``needed`` are the members it is sent with."""
    try:
        remaining = (kind.from_wire({**needed, name: value}).model_extra or {}).get(name, {})
    except (ValueError, TypeError):
        return {}, {name: value}
    if not isinstance(remaining, dict) or not isinstance(value, dict):
        remaining = {}
    fitting = {member: inner for member, inner in value.items() if member not in remaining} if remaining else value
    if not (remaining and not fitting) and _fits(kind, {**needed, name: fitting}):
        return {name: fitting}, {name: remaining} if remaining else {}
    return {}, {name: value}


def _fits(kind: type[Parameters], part: JSONObject) -> bool:
    parameters = kind.from_wire(part)
    return not parameters.model_extra and same(parameters.to_wire(), part)


def at_vendor(kind: JSON) -> ValueError:
    """Return the error for a tool that runs at the vendor."""
    return ValueError(f"a tool of type {kind!r} runs at the vendor and cannot be edited; send it in the extra body")


def tool_from(function: JSONObject, schema_key: str) -> ToolDefinition:
    """Return a tool from name, description, schema and ``strict``. Raises ValueError for a value of a wrong type."""
    name, description = function.get("name"), function.get("description")
    schema, strict = function.get(schema_key), function.get("strict")
    if not isinstance(name, str) or not name:
        raise ValueError("“name” is missing or is not text")
    if description is not None and not isinstance(description, str):
        raise ValueError(f"“description” of {name} must be text")
    if schema is not None and not isinstance(schema, dict):
        raise ValueError(f"“{schema_key}” of {name} must be an object (a JSON Schema)")
    if strict is not None and not isinstance(strict, bool):
        raise ValueError(f"“strict” of {name} must be true or false")
    return ToolDefinition(name=name, description=description or "", parameters=schema, strict=strict)


def read_tools(
    value: JSON, read: Callable[[JSON], ToolDefinition], write: Callable[[ToolDefinition], JSONObject]
) -> tuple[tuple[ToolDefinition, ...], str]:
    """Return the definitions, or none and the reason why they have to stay unchanged."""
    if not isinstance(value, list):
        return (), "“tools” is not a list"
    tools = []
    for number, item in enumerate(value, 1):
        try:
            tool = read(item)
        except ValueError as error:
            return (), f"tool {number}: {error}"
        if not same(_plain(write(tool)), _plain(item)):
            return (), f"tool {number} ({tool.name}) holds what the panel has no place for"
        tools.append(tool)
    return tuple(tools), ""


def _plain(tool: JSONObject) -> JSONObject:
    """Return a definition without an empty description, nulls and the default type."""
    members = {
        name: _plain(value) if name == "function" and isinstance(value, dict) else value
        for name, value in tool.items()
        if value is not None and (name, value) not in (("description", ""), ("type", "custom"))
    }
    if "function" in members:
        members.setdefault("type", "function")
    return members
