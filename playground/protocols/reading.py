"""A request body back into a request: what both protocols do alike.

What a field of the panels can hold goes there, everything else into the extra body as it came, so that nothing that was
read is lost and what is sent again is what was read. Nothing here knows one protocol's names.
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

#: In a message of a file what its answer came with (``Turn.extra``): no gateway has that name, and none is sent it.
EXTRA: Final = "playground_extra"


class MessageError(ValueError):
    """A message cannot be read. ``number`` counts from 1; the text names it and says what is wrong."""

    def __init__(self, number: int, reason: str) -> None:
        self.number = number
        super().__init__(f"message {number}: {reason}")


def write_extra(turn: Turn) -> JSONObject:
    """The member with what an answer came with; none where that is nothing."""
    extra = {over: members for over, members in turn.extra.items() if members}
    return {EXTRA: extra} if extra and turn.role is Role.ASSISTANT else {}


def read_extra(item: JSONObject) -> Extra:
    """What ``write_extra`` wrote into a message; nothing where a member of that name is another's."""
    value = item.get(EXTRA)
    if item.get("role") != Role.ASSISTANT.value or not isinstance(value, dict):
        return {}
    kept = {
        over: members_beside(members, (), empty=True) for over, members in value.items() if isinstance(members, dict)
    }
    return kept if len(kept) == len(value) else {}


def read_settings(protocol: Protocol, body: JSONObject, as_it_is: Collection[str] = ()) -> tuple[Request, list[str]]:
    """A request without turns of what else stands in a body, and sentences on what could not be kept.

    What has no field of its own is in ``extra_body``, and so are those of ``as_it_is``.
    """
    apart = ("model", "tools", *protocol.conversation, *as_it_is)
    rest = {name: value for name, value in body.items() if name not in apart}
    parameters, extra = split_parameters(protocol.parameters_type, rest)
    extra |= {name: body[name] for name in as_it_is}
    model = body.get("model", "")
    if not isinstance(model, str):
        model, extra["model"] = "", model
    tools, reason = read_tools(body["tools"], protocol.read_tool, protocol.write_tool) if "tools" in body else ((), "")
    if reason or (not tools and "tools" in body):
        extra["tools"] = body["tools"]
    notes = [f"The tools are kept in the extra body: {reason}."] if reason else []
    made = Request(protocol=protocol.name, model=model, parameters=parameters, tools=tools, extra_body=extra)
    return made, notes


def split_parameters(kind: type[Parameters], rest: JSONObject) -> tuple[Parameters, JSONObject]:
    """The parameters that ``rest`` sets, and what has no field, or a value that a field would not give back.

    Of an object some members may have fields; the others stand in the extra body, which is merged into it again.
    """
    roots = {(hint.path or name).split(".")[0]: hint.needs for name, hint in kind.hints()}
    mapped: JSONObject = {}
    extra: JSONObject = {}
    for name, value in rest.items():
        if name not in roots:
            extra[name] = value
            continue
        needed = {roots[name]: rest[roots[name]]} if roots[name] in rest else {}
        known, unknown = _split(kind, name, value, needed)
        mapped |= known
        extra |= unknown
    return kind.from_wire(mapped), extra


def _split(kind: type[Parameters], name: str, value: JSON, needed: JSONObject) -> tuple[JSONObject, JSONObject]:
    """One member as far as fields hold it, and the rest of it. ``needed`` is what it is sent with."""
    try:
        left = (kind.from_wire({**needed, name: value}).model_extra or {}).get(name, {})
    except (ValueError, TypeError):
        return {}, {name: value}
    if not isinstance(left, dict) or not isinstance(value, dict):
        left = {}
    held = {member: inner for member, inner in value.items() if member not in left} if left else value
    if not (left and not held) and _fits(kind, {**needed, name: held}):
        return {name: held}, {name: left} if left else {}
    return {}, {name: value}


def _fits(kind: type[Parameters], part: JSONObject) -> bool:
    parameters = kind.from_wire(part)
    return not parameters.model_extra and same(parameters.to_wire(), part)


def at_vendor(kind: JSON) -> ValueError:
    """That a tool of that type is none that is defined here."""
    return ValueError(
        f"a tool of type {kind!r} runs at the vendor and is not edited here; send it through the extra body"
    )


def tool_from(function: JSONObject, schema_key: str) -> ToolDefinition:
    """Name, description, schema and ``strict`` of an object. Raises ValueError for a value of a wrong type."""
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
    """The definitions, or none and the reason why they have to stay as they are."""
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
    """A definition without what means nothing: an empty description, null, the type that is the default."""
    kept = {
        name: _plain(value) if name == "function" and isinstance(value, dict) else value
        for name, value in tool.items()
        if value is not None and (name, value) not in (("description", ""), ("type", "custom"))
    }
    if "function" in kept:
        kept.setdefault("type", "function")
    return kept
