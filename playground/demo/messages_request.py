"""Checks a request of the native messages protocol (specification, 4.2) and makes an Ask of it.

The specification gives only model, max_tokens and messages; the rest follows the public protocol. Tool results,
which stand inside user messages there, become turns of their own in the Ask.
"""

from __future__ import annotations

import base64
import hashlib
import json

from playground.demo import fields
from playground.demo.ask import Ask, Call, Choice, Form, Said, Tool, last_words
from playground.demo.fields import Fields
from playground.demo.images import Picture
from playground.demo.models import BY_ID, Model
from playground.demo.problems import NO_MODEL, ApiError, invalid

_PLUMBING = ("model", "messages", "tools", "system", "stream")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_LEAST_BUDGET = 1024


def signature(thinking: str) -> str:
    """The signature of a thinking block; the same text always has the same, so stored conversations stay valid."""
    mark = hashlib.sha256(b"demo-gateway thinking\x00" + thinking.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(b"demo" + mark + mark).decode("ascii")


def read(body: Fields, *, to_count: bool = False) -> Ask:
    """The Ask in the JSON object ``body``; one that is only counted needs no limit. Raises ApiError 400 or 404."""
    model = _native(fields.model(body))
    limit = fields.integer(body, "max_tokens", 1, required=not to_count)
    said = (*_system(body), *_messages(body))
    tools = _tools(body)
    choice = _choice(body, tools)
    effort = _thinking(body, limit, choice)
    fields.number(body, "temperature", 0, 1)
    fields.number(body, "top_p", 0, 1)
    fields.integer(body, "top_k", 0)
    if body.get("metadata") is not None:
        fields.string(fields.obj(body["metadata"], "metadata"), "user_id", "metadata")
    prompt, directives = last_words(said)
    return Ask(
        model=model,
        protocol="messages",
        said=said,
        fingerprint=fields.fingerprint(body),
        tools=tools,
        choice=choice,
        limit=limit,
        stops=_stops(body),
        seed=fields.integer(body, "seed", -(2**63)),
        form=_form(body),
        effort=effort,
        stream=fields.boolean(body, "stream"),
        given=tuple((name, fields.shown(value)) for name, value in body.items() if name not in _PLUMBING),
        prompt=prompt,
        directives=directives,
    )


def _native(model: Model) -> Model:
    if not model.native:
        native = ", ".join(one.id for one in BY_ID.values() if one.native)
        raise ApiError(
            404,
            NO_MODEL,
            f"The model {model.id} is not served under /messages; call it through /chat/completions. "
            f"Served here: {native}.",
        )
    return model


def _system(body: Fields) -> tuple[Said, ...]:
    value = body.get("system")
    if value is None:
        return ()
    if isinstance(value, str):
        return (Said("system", value),)
    return (Said("system", _plain(value, "system")),)


def _plain(value: object, where: str) -> str:
    """The text of an array of text blocks."""
    texts: list[str] = []
    for here, block in fields.objects(value, where):
        fields.one_of(block.get("type"), f"{here}.type", ("text",))
        texts.append(fields.string(block, "text", here, required=True))
    return "\n".join(texts)


def _messages(body: Fields) -> tuple[Said, ...]:
    if body.get("messages") is None:
        raise invalid("messages is required.")
    said: list[Said] = []
    owed: list[str] = []  # ids of tool_use blocks that still want a tool_result
    for where, message in fields.objects(body["messages"], "messages", filled=True):
        role = fields.one_of(message.get("role"), f"{where}.role", ("user", "assistant"))
        if not said and role != "user":
            raise invalid("messages must begin with a user message.")
        if role == "assistant":
            _refuse_owed(owed, where)
            turn = _assistant(message, where)
            owed = [call.id for call in turn.calls]
            said.append(turn)
        else:
            said.extend(_user(message, where, owed))
            _refuse_owed(owed, f"the end of {where}")
    _refuse_owed(owed, "the end of messages")
    return tuple(said)


def _refuse_owed(owed: list[str], where: str) -> None:
    if owed:
        raise invalid(
            "Each tool_use block needs a tool_result in the next user message; "
            f"before {where} there is none for {', '.join(map(fields.shown, owed))}."
        )


def _blocks(message: Fields, where: str) -> list[Fields]:
    """The content as blocks; a string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if content is None:
        raise invalid(f"{where}.content is required.")
    entries = fields.array(content, f"{where}.content (a string, or an array of blocks)")
    return [fields.obj(entry, f"{where}.content[{at}]") for at, entry in enumerate(entries)]


def _assistant(message: Fields, where: str) -> Said:
    texts: list[str] = []
    calls: list[Call] = []
    for at, block in enumerate(_blocks(message, where)):
        here = f"{where}.content[{at}]"
        kind = fields.one_of(block.get("type"), f"{here}.type", ("text", "tool_use", "thinking", "redacted_thinking"))
        if kind == "text":
            texts.append(fields.string(block, "text", here, required=True))
        elif kind == "tool_use":
            call_id = fields.string(block, "id", here, required=True, filled=True)
            name = fields.string(block, "name", here, required=True, filled=True)
            if any(call.id == call_id for call in calls):
                raise invalid(f"{here}.id {fields.shown(call_id)} is used twice.")
            if "input" not in block:
                raise invalid(f"{here}.input is required.")
            arguments = json.dumps(fields.obj(block["input"], f"{here}.input"), ensure_ascii=False)
            calls.append(Call(call_id, name, arguments))
        elif texts or calls:
            raise invalid(f"{here}: {kind} blocks must come first in their assistant message.")
        elif kind == "redacted_thinking":
            fields.string(block, "data", here, required=True)
        else:
            thinking = fields.string(block, "thinking", here, required=True)
            if fields.string(block, "signature", here, required=True) != signature(thinking):
                raise invalid(
                    f"{here}.signature is not valid for this thinking: blocks must be sent back as received, unchanged."
                )
    return Said("assistant", "\n".join(texts), calls=tuple(calls))


def _user(message: Fields, where: str, owed: list[str]) -> list[Said]:
    """The tool results of a user message as tool turns, then its own words and images, if any."""
    results: list[Said] = []
    texts: list[str] = []
    pictures: list[Picture] = []
    for at, block in enumerate(_blocks(message, where)):
        here = f"{where}.content[{at}]"
        kind = fields.one_of(block.get("type"), f"{here}.type", ("text", "image", "tool_result"))
        if kind == "text":
            texts.append(fields.string(block, "text", here, required=True))
        elif kind == "image":
            pictures.append(_image(block, here))
        else:
            call_id = fields.string(block, "tool_use_id", here, required=True, filled=True)
            if call_id not in owed:
                raise invalid(
                    f"{here}.tool_use_id {fields.shown(call_id)} answers no open call: a tool_result must follow the "
                    "assistant message that holds its tool_use, once for each call."
                )
            owed.remove(call_id)
            results.append(
                Said(
                    "tool", _result(block, here), call_id=call_id, failed=fields.boolean(block, "is_error", where=here)
                )
            )
    if texts or pictures or not results:
        results.append(Said("user", "\n".join(texts), tuple(pictures)))
    return results


def _result(block: Fields, where: str) -> str:
    content = block.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    texts: list[str] = []
    for here, part in fields.objects(content, f"{where}.content"):
        if fields.one_of(part.get("type"), f"{here}.type", ("text", "image")) == "text":
            texts.append(fields.string(part, "text", here, required=True))
        else:
            texts.append(f"[image, {len(_image(part, here).data)} bytes]")
    return "\n".join(texts)


def _image(block: Fields, where: str) -> Picture:
    source = fields.obj(block.get("source"), f"{where}.source")
    if fields.one_of(source.get("type"), f"{where}.source.type", ("base64", "url")) == "url":
        url = fields.string(source, "url", f"{where}.source", required=True, filled=True)
        return fields.address(url, f"{where}.source.url")
    media_type = fields.string(source, "media_type", f"{where}.source", required=True)
    encoded = fields.string(source, "data", f"{where}.source", required=True)
    return fields.picture(media_type, encoded, f"{where}.source")


def _tools(body: Fields) -> tuple[Tool, ...]:
    if body.get("tools") is None:
        return ()
    tools: list[Tool] = []
    for where, definition in fields.objects(body["tools"], "tools"):
        if definition.get("type") is not None:
            fields.one_of(definition["type"], f"{where}.type", ("custom",))
        if definition.get("input_schema") is None:
            raise invalid(f"{where}.input_schema is required.")
        tools.append(fields.tool(definition, where, "input_schema"))
    return fields.distinct(tools)


def _choice(body: Fields, tools: tuple[Tool, ...]) -> Choice:
    if body.get("tool_choice") is None:
        return Choice()
    value = fields.obj(body["tool_choice"], "tool_choice")
    kind = fields.one_of(value.get("type"), "tool_choice.type", ("auto", "any", "tool", "none"))
    parallel = not fields.boolean(value, "disable_parallel_tool_use", where="tool_choice")
    if kind in ("any", "tool") and not tools:
        raise invalid(f"tool_choice is {kind}, but no tools are offered.")
    if kind == "none":
        return Choice("none")
    if kind == "any":
        return Choice("required", parallel=parallel)
    if kind == "auto":
        return Choice("auto", parallel=parallel)
    name = fields.string(value, "name", "tool_choice", required=True)
    return fields.named(name, tools, parallel=parallel)


def _thinking(body: Fields, limit: int | None, choice: Choice) -> str:
    """The effort to reason with; "none" unless thinking is asked for. Budgets stand for efforts by their size."""
    effort = "medium"
    if body.get("output_config") is not None:
        given = fields.obj(body["output_config"], "output_config").get("effort")
        if given is not None:
            effort = fields.one_of(given, "output_config.effort", _EFFORTS)
    if body.get("thinking") is None:
        return "none"
    thinking = fields.obj(body["thinking"], "thinking")
    kind = fields.one_of(thinking.get("type"), "thinking.type", ("enabled", "adaptive", "disabled"))
    if kind == "disabled":
        return "none"
    if kind == "enabled":
        budget = fields.integer(thinking, "budget_tokens", _LEAST_BUDGET, required=True) or 0
        if limit is not None and budget >= limit:
            raise invalid(f"thinking.budget_tokens ({budget}) must be less than max_tokens ({limit}).")
        effort = "low" if budget < 4096 else "medium" if budget < 16_384 else "high"
    if body.get("temperature") not in (None, 1):
        raise invalid("temperature must be left out (or be 1) while thinking is on.")
    if choice.mode in ("required", "named"):
        raise invalid("tool_choice cannot force a tool while thinking is on; use auto or none.")
    return effort


def _stops(body: Fields) -> tuple[str, ...]:
    if body.get("stop_sequences") is None:
        return ()
    return fields.texts(body["stop_sequences"], "stop_sequences")


def _form(body: Fields) -> Form:
    wanted = fields.obj(body.get("output_config") or {}, "output_config").get("format")
    if wanted is None:
        return Form()
    value = fields.obj(wanted, "output_config.format")
    fields.one_of(value.get("type"), "output_config.format.type", ("json_schema",))
    if value.get("schema") is None:
        raise invalid("output_config.format.schema is required.")
    fields.check_schema(value["schema"], "output_config.format.schema")
    return Form("json_schema", value["schema"])
