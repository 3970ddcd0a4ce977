"""Checks a chat-completions request against the specification (2.1 to 2.3, 4.1) and makes an Ask of it.

Every refusal is a 400 (or a 404 for the model) that names the field. Parameters the specification does not list are
accepted and only reported in the answer.
"""

from __future__ import annotations

from typing import Any

from playground.demo import fields
from playground.demo.ask import Ask, Call, Choice, Form, Said, Tool, last_words
from playground.demo.fields import Fields
from playground.demo.images import Picture
from playground.demo.models import ALL_EFFORTS, Model
from playground.demo.problems import invalid

MOST_CHOICES = 16
MOST_STOPS = 4
_ROLES = ("system", "developer", "user", "assistant", "tool")
_PLUMBING = ("model", "messages", "tools", "stream", "stream_options")


def read(body: Fields) -> Ask:
    """The Ask in the JSON object ``body``. Raises ApiError 400 or 404."""
    model = fields.model(body)
    said = _messages(body)
    tools = _tools(body)
    stops = _stops(body)
    for name in ("presence_penalty", "frequency_penalty"):
        fields.number(body, name, -2, 2)
    fields.number(body, "temperature", 0, 2)
    fields.number(body, "top_p", 0, 1)
    fields.string(body, "user")
    older = fields.integer(body, "max_tokens", 1)
    newer = fields.integer(body, "max_completion_tokens", 1)
    options = body.get("stream_options")
    options = {} if options is None else fields.obj(options, "stream_options")
    prompt, directives = last_words(said)
    return Ask(
        model=model,
        protocol="chat",
        said=said,
        fingerprint=fields.fingerprint(body),
        tools=tools,
        choice=_choice(body, tools),
        limit=older if newer is None else newer,
        stops=stops,
        seed=fields.integer(body, "seed", -(2**63)),
        count=fields.integer(body, "n", 1, MOST_CHOICES) or 1,
        form=_form(body),
        effort=_effort(body, model),
        stream=fields.boolean(body, "stream"),
        include_usage=fields.boolean(options, "include_usage", where="stream_options"),
        given=tuple((name, fields.shown(value)) for name, value in body.items() if name not in _PLUMBING),
        prompt=prompt,
        directives=directives,
    )


def _messages(body: Fields) -> tuple[Said, ...]:
    if body.get("messages") is None:
        raise invalid("messages is required.")
    said: list[Said] = []
    owed: list[str] = []  # ids of calls that still want their tool message
    for where, message in fields.objects(body["messages"], "messages", filled=True):
        role = fields.one_of(message.get("role"), f"{where}.role", _ROLES)
        if role == "tool":
            said.append(_tool_message(message, where, owed))
            continue
        _refuse_owed(owed, where)
        if role == "user":
            said.append(_user_message(message, where))
        elif role == "assistant":
            turn = _assistant_message(message, where)
            owed = [call.id for call in turn.calls]
            said.append(turn)
        else:
            said.append(Said("system", _text(message, where)))
        fields.string(message, "name", where)
    _refuse_owed(owed, "the end of messages")
    return tuple(said)


def _refuse_owed(owed: list[str], where: str) -> None:
    if owed:
        raise invalid(
            "An assistant message with tool_calls must be followed by one tool message for each call; "
            f"before {where} none answers {', '.join(map(fields.shown, owed))}."
        )


def _tool_message(message: Fields, where: str, owed: list[str]) -> Said:
    call_id = fields.string(message, "tool_call_id", where, required=True, filled=True)
    if call_id not in owed:
        raise invalid(
            f"{where}.tool_call_id {fields.shown(call_id)} answers no open call: a tool message must follow the "
            "assistant message whose tool_calls holds its id, once for each call."
        )
    owed.remove(call_id)
    return Said("tool", _text(message, where), call_id=call_id)


def _text(message: Fields, where: str) -> str:
    """The content as text: a string, or an array of text parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if content is None:
        raise invalid(f"{where}.content is required.")
    if not isinstance(content, list):
        raise invalid(f"{where}.content must be a string, not {fields.kind_of(content)}.")
    parts = list(fields.objects(content, f"{where}.content"))
    for here, part in parts:
        fields.one_of(part.get("type"), f"{here}.type", ("text",))
    return "\n".join(fields.string(part, "text", f"{where}.content", required=True) for _, part in parts)


def _user_message(message: Fields, where: str) -> Said:
    content = message.get("content")
    if not isinstance(content, list):
        return Said("user", _text(message, where))
    texts: list[str] = []
    pictures: list[Picture] = []
    for here, part in fields.objects(content, f"{where}.content", filled=True):
        if fields.one_of(part.get("type"), f"{here}.type", ("text", "image_url")) == "text":
            texts.append(fields.string(part, "text", here, required=True))
            continue
        image = fields.obj(part.get("image_url"), f"{here}.image_url")
        detail = image.get("detail")
        if detail is not None:
            fields.one_of(detail, f"{here}.image_url.detail", ("auto", "low", "high"))
        url = fields.string(image, "url", f"{here}.image_url", required=True, filled=True)
        pictures.append(fields.address(url, f"{here}.image_url.url", detail or "auto"))
    return Said("user", "\n".join(texts), tuple(pictures))


def _assistant_message(message: Fields, where: str) -> Said:
    fields.string(message, "reasoning_content", where)
    calls: list[Call] = []
    if message.get("tool_calls") is not None:
        for here, call in fields.objects(message["tool_calls"], f"{where}.tool_calls", filled=True):
            fields.one_of(call.get("type"), f"{here}.type", ("function",))
            function = fields.obj(call.get("function"), f"{here}.function")
            name = fields.string(function, "name", f"{here}.function", required=True, filled=True)
            arguments = fields.string(function, "arguments", f"{here}.function", required=True)
            call_id = fields.string(call, "id", here, required=True, filled=True)
            if any(other.id == call_id for other in calls):
                raise invalid(f"{here}.id {fields.shown(call_id)} is used twice.")
            calls.append(Call(call_id, name, arguments))
    text = "" if calls and message.get("content") is None else _text(message, where)
    return Said("assistant", text, calls=tuple(calls))


def _tools(body: Fields) -> tuple[Tool, ...]:
    if body.get("tools") is None:
        return ()
    tools: list[Tool] = []
    for where, definition in fields.objects(body["tools"], "tools"):
        fields.one_of(definition.get("type"), f"{where}.type", ("function",))
        function = fields.obj(definition.get("function"), f"{where}.function")
        tools.append(fields.tool(function, f"{where}.function", "parameters"))
    return fields.distinct(tools)


def _choice(body: Fields, tools: tuple[Tool, ...]) -> Choice:
    parallel = fields.boolean(body, "parallel_tool_calls", True)
    value = body.get("tool_choice")
    if value is None or value == "auto":
        return Choice("auto", parallel=parallel)
    if isinstance(value, str):
        word = fields.one_of(value, "tool_choice", ("auto", "none", "required"))
        if word == "none":
            return Choice("none")
        if not tools:
            raise invalid("tool_choice is required, but no tools are offered.")
        return Choice("required", parallel=parallel)
    chosen = fields.obj(value, "tool_choice")
    fields.one_of(chosen.get("type"), "tool_choice.type", ("function",))
    function = fields.obj(chosen.get("function"), "tool_choice.function")
    name = fields.string(function, "name", "tool_choice.function", required=True)
    return fields.named(name, tools, parallel=parallel)


def _stops(body: Fields) -> tuple[str, ...]:
    value: Any = body.get("stop")
    if value is None:
        return ()
    entries = [value] if isinstance(value, str) else fields.array(value, "stop (a string, or an array of strings)")
    if len(entries) > MOST_STOPS:
        raise invalid(f"stop holds {len(entries)} sequences; at most {MOST_STOPS} are allowed.")
    return fields.texts(entries, "stop")


def _form(body: Fields) -> Form:
    if body.get("response_format") is None:
        return Form()
    value = fields.obj(body["response_format"], "response_format")
    kind = fields.one_of(value.get("type"), "response_format.type", ("text", "json_object", "json_schema"))
    if kind == "json_schema":
        wanted = fields.obj(value.get("json_schema"), "response_format.json_schema")
        return fields.form(wanted, "response_format.json_schema")
    return Form("json_object") if kind == "json_object" else Form()


def _effort(body: Fields, model: Model) -> str:
    value = body.get("reasoning_effort")
    if value is None:
        return "medium"
    effort = fields.one_of(value, "reasoning_effort", ALL_EFFORTS)
    if effort not in model.efforts:
        raise invalid(f"reasoning_effort {effort} is not supported by {model.id}; it takes {', '.join(model.efforts)}.")
    return effort
