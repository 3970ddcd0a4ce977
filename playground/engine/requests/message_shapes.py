"""Conversations as other libraries and applications keep them, as messages of chat completions.

Read are the Vercel AI SDK, LangChain, ShareGPT, Gemini, Responses, Bedrock, exports of ChatGPT and Claude, and rows for
fine-tuning. What has no place in a message is named in a note. Nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from playground.jsonkit.foreign import text_of
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "input", "prompter"), "user"),
    **dict.fromkeys(("assistant", "ai", "gpt", "bot", "model", "chatgpt", "AIMessageChunk"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response", "function_response"), "tool"),
}
_CLASS: Final = re.compile(r"(?P<role>Human|AI|System|Tool|Function)Message(?:Chunk)?")
#: Members under which a record has another record inside.
WRAPPERS: Final = tuple("body params request chat input inputs data".split())  # noqa: SIM905 - one of them is a protocol's name, too
_TITLES: Final = ("custom_id", "title", "key", "name")


@dataclass(frozen=True, slots=True)
class ShapedConversation:
    """``body`` has ``messages`` as chat completions spell them. ``source`` says whose shape it was."""

    body: JSONObject
    source: str
    notes: tuple[str, ...] = ()


class _Builder:
    """Puts the parts of a conversation together as messages; results of tools follow the message with their calls."""

    def __init__(self) -> None:
        self.messages: list[JSON] = []
        self.left_out: dict[str, None] = {}
        self._role = ""
        self._content: list[JSONObject] = []
        self._reasoning: list[str] = []
        self._calls: list[JSONObject] = []
        self._results: list[JSONObject] = []
        self._open: list[tuple[str, str]] = []  # names and ids of calls without a result

    def begin(self, role: str) -> None:
        """Begin a message."""
        self.end()
        self._role = _ROLES.get(role, role)

    def text(self, text: str) -> None:
        if text:
            self.part({"type": "text", "text": text})

    def part(self, part: JSONObject) -> None:
        self._after_results()
        self._content.append(part)

    def image(self, url: str) -> None:
        self.part({"type": "image_url", "image_url": {"url": url}})

    def reasoning(self, text: str) -> None:
        if text:
            self._after_results()
            self._reasoning.append(text)

    def call(self, name: str, arguments: JSON, call_id: str = "") -> str:
        """Add a tool call. Returns its id."""
        self._after_results()
        if self._role != "assistant":
            self.begin("assistant")
        call_id = call_id or f"call_{len(self.messages) + len(self._calls) + 1}"
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        self._calls.append(
            {"id": call_id, "type": "function", "function": {"name": name or "tool", "arguments": written}}
        )
        self._open.append((name, call_id))
        return call_id

    def result(self, output: JSON, call_id: str = "", name: str = "") -> None:
        """Add the result of a call: the one of this id, or else the first open one of this name."""
        if not call_id:
            call_id = next((key for called, key in self._open if not name or called == name), "")
        self._open = [(called, key) for called, key in self._open if key != call_id]
        content = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        self._results.append({"role": "tool", "tool_call_id": call_id or "call_1", "content": content})

    def continues(self, role: str) -> bool:
        """Return whether a message of this role has begun and has nothing but reasoning."""
        return self._role == role and not (self._content or self._calls or self._results)

    def add(self, message: JSON) -> None:
        """Add a message as chat completions spell it."""
        self.end()
        self.messages.append(message)

    def skip(self, what: str) -> None:
        """Name what is left out."""
        self.left_out[what] = None

    def _after_results(self) -> None:
        if self._results:
            role = self._role
            self.end()
            self._role = role

    def end(self) -> None:
        """End the message."""
        if self._content or self._reasoning or self._calls or (self._role and self._role != "tool"):
            texts_only = [part["text"] for part in self._content if part["type"] == "text"]
            content: JSON = self._content if len(self._content) > 1 or not texts_only else texts_only[0]
            if not self._content:
                content = None if self._calls else ""
            message: JSONObject = {"role": self._role or "user", "content": content}
            if self._reasoning:
                message["reasoning_content"] = "\n".join(self._reasoning)
            if self._calls:
                message["tool_calls"] = self._calls
            if self._content or self._reasoning or self._calls or not self._results:
                self.messages.append(message)
        self.messages += self._results
        self._role, self._content, self._reasoning, self._calls, self._results = "", [], [], [], []

    def conversation(self, source: str, rest: JSONObject | None = None) -> ShapedConversation:
        """What was put together."""
        self.end()
        notes = [f"Read as {source}."]
        if self.left_out:
            notes.append(f"Left out, because no message has it: {listed(list(self.left_out))}.")
        return ShapedConversation({**(rest or {}), MESSAGES: self.messages}, source, tuple(notes))


# ---- lists of messages -----------------------------------------------------------------------------------------------


def read_list(items: list[JSON]) -> ShapedConversation | None:
    """A list of messages in the shape of a library; None for those of a protocol."""
    for is_shape, read, source in _LISTS:
        if items and any(is_shape(item) for item in items if isinstance(item, dict)):
            builder = _Builder()
            for item in items:
                if isinstance(item, dict):
                    read(item, builder)
            return builder.conversation(source)
    return None


def is_foreign_message(value: JSONObject) -> bool:
    """Return whether an object is one message in the shape of a library."""
    return any(is_shape(value) for is_shape, _, _ in _LISTS)


def _parts(value: JSON) -> Iterator[JSONObject]:
    """The parts of a content; a text is one of them."""
    if isinstance(value, str):
        yield {"type": "text", "text": value}
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, str):
                yield {"type": "text", "text": part}
            elif isinstance(part, dict) and part:
                yield part


def _objects(value: JSON) -> list[JSONObject]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_vercel(item: JSONObject) -> bool:
    parts = item.get("parts")
    if "role" in item and isinstance(parts, list) and "toolInvocations" not in item:
        return any(isinstance(part, dict) and "type" in part for part in parts)
    content = item.get("content")
    kinds = {part.get("type") for part in content if isinstance(part, dict)} if isinstance(content, list) else set()
    return "toolInvocations" in item or bool(kinds & {"tool-call", "tool-result"})


def _read_vercel(item: JSONObject, builder: _Builder) -> None:
    """A message of the AI SDK: of its user interface (``parts``), or for a model (``content``)."""
    role = text_of(item.get("role"))
    if role == "tool" and isinstance(item.get("tool_call_id"), str):
        builder.add(item)
        return
    builder.begin(role)
    for part in _parts(item.get("parts") or item.get("content")):
        kind = text_of(part.get("type"))
        if kind == "tool-invocation" and isinstance(part.get("toolInvocation"), dict):
            _read_invocation(part["toolInvocation"], builder)
        elif kind == "tool-result":
            _read_output(part, builder)
        elif kind == "tool-call" or kind == "dynamic-tool" or kind.startswith("tool-"):
            _read_invocation({"toolName": kind.removeprefix("tool-"), **part}, builder)
        elif kind == "text":
            builder.text(text_of(part.get("text")))
        elif kind == "reasoning":
            builder.reasoning(text_of(part.get("text") or part.get("reasoning")))
        elif kind in ("file", "image", "image_url"):
            _read_file(part, builder)
        elif kind != "step-start":
            builder.skip(f"“{kind}”")
    for invocation in _objects(item.get("toolInvocations")) if not item.get("parts") else ():
        _read_invocation(invocation, builder)
    builder.end()


def _read_invocation(part: JSONObject, builder: _Builder) -> None:
    arguments = part.get("input", part.get("args", part.get("rawInput")))
    call_id = builder.call(text_of(part.get("toolName")), arguments, text_of(part.get("toolCallId")))
    if "output" in part or "result" in part:
        builder.result(part.get("output", part.get("result")), call_id)
    elif part.get("errorText"):
        builder.result(text_of(part["errorText"]), call_id)


def _read_output(part: JSONObject, builder: _Builder) -> None:
    output = part.get("output", part.get("result"))
    if isinstance(output, dict) and "type" in output and "value" in output:
        output = output["value"]
    builder.result(output, text_of(part.get("toolCallId")), text_of(part.get("toolName")))


def _read_file(part: JSONObject, builder: _Builder) -> None:
    media = text_of(part.get("mediaType") or part.get("mimeType") or part.get("mime_type"))
    link = part.get("image_url")
    url = text_of(part.get("url") or part.get("image") or part.get("data") or link)
    url = url or (text_of(link.get("url")) if isinstance(link, dict) else "")
    if url and not re.match(r"(?:data|https?|file|blob):", url):
        url = f"data:{media or 'image/png'};base64,{url}"
    if url and (part.get("type") != "file" or media.startswith("image/")):
        builder.image(url)
    elif url.startswith("data:"):
        name = text_of(part.get("filename") or part.get("name")) or "file"
        builder.part({"type": "file", "file": {"filename": name, "file_data": url}})
    else:
        builder.skip(f"a file of the type {media[:60] or 'unknown'}")


def _is_langchain(item: JSONObject) -> bool:
    kind = item.get("type")
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        return True
    data = item.get("data")
    inside: JSONObject = data if isinstance(data, dict) else item
    return "role" not in item and kind in ("human", "ai", "system", "tool", "AIMessageChunk") and "content" in inside


def _read_langchain(item: JSONObject, builder: _Builder) -> None:
    names = item.get("id") if isinstance(item.get("id"), list) else []
    name = _CLASS.search(text_of(names[-1])) if names else None
    role = name["role"].casefold() if name is not None else text_of(item.get("type"))
    inside = item.get("kwargs") if item.get("lc") == 1 else item.get("data", item)
    message: JSONObject = inside if isinstance(inside, dict) else item
    if _ROLES.get(role) == "tool":
        content = "".join(text_of(part.get("text")) for part in _parts(message.get("content")))
        builder.result(content, text_of(message.get("tool_call_id")), text_of(message.get("name")))
        return
    builder.begin(role)
    for part in _parts(message.get("content")):
        kind = part.get("type")
        if kind == "text":
            builder.text(text_of(part.get("text")))
        elif kind in ("thinking", "reasoning"):
            builder.reasoning(text_of(part.get("thinking") or part.get("reasoning") or part.get("text")))
        elif kind in ("image_url", "image", "file"):
            _read_file({**part, "data": part.get("data") or part.get("base64")}, builder)
        elif kind not in ("tool_use", "tool_call", "input_json_delta"):  # which stand in tool_calls as well
            builder.skip(f"“{text_of(kind)}”")
    more = message.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    builder.reasoning(text_of(more.get("reasoning_content")))
    for call in _objects(message.get("tool_calls") or more.get("tool_calls")):
        function = call.get("function")
        inner: JSONObject = function if isinstance(function, dict) else call
        builder.call(text_of(inner.get("name")), inner.get("args", inner.get("arguments")), text_of(call.get("id")))
    builder.end()


def _is_sharegpt(item: JSONObject) -> bool:
    return "from" in item and "value" in item


def _read_sharegpt(item: JSONObject, builder: _Builder) -> None:
    role, text = text_of(item.get("from")), text_of(item.get("value"))
    if _ROLES.get(role) == "tool":
        builder.result(text)
    elif role in ("function_call", "tool_call"):
        call = _json_or_none(text)
        for one in call if isinstance(call, list) else [call]:
            if isinstance(one, dict):
                builder.call(text_of(one.get("name")), one.get("arguments", one.get("parameters")))
            else:
                builder.text(text)
    else:
        builder.begin(role)
        builder.text(text)
        builder.end()


def _json_or_none(text: str) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_gemini(item: JSONObject) -> bool:
    parts = item.get("parts")
    known = {"text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData"}
    return isinstance(parts, list) and any(isinstance(part, dict) and known & part.keys() for part in parts)


def _read_gemini(item: JSONObject, builder: _Builder) -> None:
    builder.begin(text_of(item.get("role")) or "user")
    for part in _parts(item.get("parts")):
        call = part.get("functionCall", part.get("function_call"))
        response = part.get("functionResponse", part.get("function_response"))
        data = part.get("inlineData", part.get("inline_data", part.get("fileData", part.get("file_data"))))
        if isinstance(call, dict):
            builder.call(text_of(call.get("name")), call.get("args"), text_of(call.get("id")))
        elif isinstance(response, dict):
            builder.result(response.get("response"), text_of(response.get("id")), text_of(response.get("name")))
        elif isinstance(data, dict):
            url = data.get("fileUri", data.get("file_uri"))
            _read_file({"type": "file", **data, **({"url": url} if url else {})}, builder)
        elif "text" in part:
            (builder.reasoning if part.get("thought") else builder.text)(text_of(part["text"]))
        else:
            builder.skip(listed([f"“{name}”" for name in part]))
        if "thoughtSignature" in part or "thought_signature" in part:
            builder.skip("“thoughtSignature”")
    builder.end()


def _is_response_item(item: JSONObject) -> bool:
    content = item.get("content")
    kinds = {part.get("type") for part in content if isinstance(part, dict)} if isinstance(content, list) else set()
    own = ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")
    return (
        item.get("type") in (*own, "message")
        or (item.get("type") == "reasoning" and "summary" in item)
        or bool(kinds & {"input_text", "output_text", "input_image", "input_file"})
    )


def _read_response_item(item: JSONObject, builder: _Builder) -> None:
    kind = item.get("type", "message")
    call_id = text_of(item.get("call_id") or item.get("id"))
    if kind in ("function_call", "custom_tool_call"):
        builder.call(text_of(item.get("name")), item.get("arguments", item.get("input")), call_id)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        builder.result(item.get("output"), call_id)
    elif kind == "reasoning":
        builder.begin("assistant")
        for part in (*_parts(item.get("summary")), *_parts(item.get("content"))):
            builder.reasoning(text_of(part.get("text")))
        if item.get("encrypted_content"):
            builder.skip("“encrypted_content”")
    elif kind == "message":
        role = text_of(item.get("role")) or "user"
        if not builder.continues(_ROLES.get(role, role)):
            builder.begin(role)
        _read_response_parts(item.get("content"), builder)
    else:
        builder.skip(f"“{text_of(kind)}”")


def _read_response_parts(content: JSON, builder: _Builder) -> None:
    for part in _parts(content):
        kind = part.get("type")
        if kind in ("input_text", "output_text", "text"):
            builder.text(text_of(part.get("text")))
        elif kind == "refusal":
            builder.text(text_of(part.get("refusal")))
        elif kind in ("input_image", "image_url") and part.get("image_url"):
            _read_file({"type": "image", "image_url": part["image_url"]}, builder)
        else:
            builder.skip(f"“{text_of(kind)}”")


def _is_converse(item: JSONObject) -> bool:
    content = item.get("content")
    own = {"text", "toolUse", "toolResult", "image", "document", "reasoningContent", "cachePoint"}
    return isinstance(content, list) and any(
        isinstance(part, dict) and "type" not in part and own & part.keys() for part in content
    )


def _read_converse(item: JSONObject, builder: _Builder) -> None:
    builder.begin(text_of(item.get("role")))
    for part in _parts(item.get("content")):
        call, result, image = part.get("toolUse"), part.get("toolResult"), part.get("image")
        source = image.get("source") if isinstance(image, dict) else None
        thought = part.get("reasoningContent")
        if isinstance(call, dict):
            builder.call(text_of(call.get("name")), call.get("input"), text_of(call.get("toolUseId")))
        elif isinstance(result, dict):
            texts = [text_of(one.get("text")) or json.dumps(one.get("json")) for one in _parts(result.get("content"))]
            builder.result("\n".join(texts), text_of(result.get("toolUseId")))
        elif isinstance(image, dict) and isinstance(source, dict) and isinstance(source.get("bytes"), str):
            builder.image(f"data:image/{text_of(image.get('format')) or 'png'};base64,{source['bytes']}")
        elif isinstance(thought, dict):
            inner = thought.get("reasoningText")
            builder.reasoning(text_of(inner.get("text")) if isinstance(inner, dict) else "")
        elif "text" in part:
            builder.text(text_of(part["text"]))
        else:
            builder.skip(listed([f"“{name}”" for name in part]))
    builder.end()


_Read = Callable[[JSONObject, _Builder], None]
_LISTS: Final[tuple[tuple[Callable[[JSONObject], bool], _Read, str], ...]] = (
    (_is_sharegpt, _read_sharegpt, "a ShareGPT conversation"),
    (_is_langchain, _read_langchain, "LangChain messages"),
    (_is_vercel, _read_vercel, "messages of the Vercel AI SDK"),
    (_is_gemini, _read_gemini, "Gemini contents"),
    (_is_converse, _read_converse, "messages of Bedrock's Converse"),
    (_is_response_item, _read_response_item, "items of the Responses API"),
)


# ---- records ---------------------------------------------------------------------------------------------------------


def read_record(value: JSONObject) -> ShapedConversation | None:
    """The conversation of a record that has it under another name than ``messages``; None where there is none."""
    for is_shape, read in _RECORDS:
        if is_shape(value):
            return read(value)
    return None


def is_record(value: JSONObject) -> bool:
    """Return whether an object holds a conversation under another name than ``messages``."""
    return any(is_shape(value) for is_shape, _ in _RECORDS) or wrapped(value) is not None


def wrapped(value: JSONObject) -> str | None:
    """The member of a record that holds the record itself, as in a batch file; None without one."""
    for name in WRAPPERS:
        inside = value.get(name)
        if isinstance(inside, dict) and (MESSAGES in inside or any(is_shape(inside) for is_shape, _ in _RECORDS)):
            return name
    return None


def records_in(value: JSONObject) -> str | None:
    """The member of an object that lists records of conversations, as the body of a batch does; None without one."""
    for name in ("requests", "conversations", "chats", "data", "rows"):
        items = value.get(name)
        if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
            continue
        if MESSAGES in items[0] or is_record(items[0]):
            return name
    return None


def title_of(value: JSONObject) -> str:
    """The name of a record; empty without one."""
    return next((title for name in _TITLES if isinstance(title := value.get(name), str)), "")


def _is_list(name: str) -> Callable[[JSONObject], bool]:
    def has_list(value: JSONObject) -> bool:
        items = value.get(name)
        return isinstance(items, list) and bool(items) and all(isinstance(item, dict) for item in items)

    return has_list


def _system(builder: _Builder, content: JSON) -> None:
    """A system message in front of the others."""
    inside = content.get("parts", content.get("text")) if isinstance(content, dict) else content
    texts = [text_of(part.get("text")) for part in _parts(inside)]
    if any(texts):
        builder.begin("system")
        builder.text("\n".join(texts))
        builder.end()


def _read_contents(value: JSONObject) -> ShapedConversation:
    builder = _Builder()
    _system(builder, value.get("systemInstruction", value.get("system_instruction")))
    contents = value["contents"]
    for item in [contents] if isinstance(contents, dict) else contents:
        if isinstance(item, dict):
            _read_gemini(item, builder)
    names = {"contents", "systemInstruction", "system_instruction", "model"}
    for name in value.keys() - names:
        builder.skip(f"“{name}”")
    return builder.conversation("Gemini contents", _with_model(value))


def _is_responses(value: JSONObject) -> bool:
    given = value.get("input")
    if isinstance(given, list):
        return bool(given) and all(isinstance(item, dict) and ("role" in item or "type" in item) for item in given)
    return isinstance(given, str) and ("instructions" in value or "model" in value)


def _read_responses(value: JSONObject) -> ShapedConversation:
    builder = _Builder()
    _system(builder, value.get("instructions"))
    given = value["input"]
    for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
        _read_response_item(item, builder)
    kept: JSONObject = {name: value[name] for name in ("temperature", "top_p", "stream", "metadata") if name in value}
    for name in value.keys() - kept.keys() - {"input", "instructions", "model"}:
        builder.skip(f"“{name}”")
    return builder.conversation("items of the Responses API", {**_with_model(value), **kept})


def _with_model(value: JSONObject) -> JSONObject:
    return {"model": value["model"]} if isinstance(value.get("model"), str) else {}


def _read_conversations(value: JSONObject) -> ShapedConversation:
    name = "conversations" if isinstance(value.get("conversations"), list) else "conversation"
    builder = _Builder()
    _system(builder, value.get("system", value.get("system_prompt")))
    for item in value[name]:
        if _is_sharegpt(item):
            _read_sharegpt(item, builder)
        else:
            builder.add(item)
    rest = {key: member for key, member in value.items() if key not in (name, "system", "system_prompt")}
    return builder.conversation("a ShareGPT conversation", _plain_rest(rest, builder))


def _plain_rest(rest: JSONObject, builder: _Builder) -> JSONObject:
    """The other members of a record, without tools as a text, which no request has."""
    if isinstance(rest.get("tools"), str):
        builder.skip("“tools”")
        return {name: value for name, value in rest.items() if name != "tools"}
    return rest


def _is_chatgpt(value: JSONObject) -> bool:
    mapping = value.get("mapping")
    return isinstance(mapping, dict) and any(isinstance(node, dict) and "message" in node for node in mapping.values())


def _read_chatgpt(value: JSONObject) -> ShapedConversation:
    """The branch that ChatGPT shows: from its last node up to the root."""
    mapping: dict[str, JSON] = value["mapping"]
    key = value.get("current_node")
    if key not in mapping:
        key = next((name for name, node in reversed(mapping.items()) if not (node or {}).get("children")), None)
    branch: list[JSONObject] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in mapping and key not in seen and isinstance(mapping[key], dict):
        seen.add(key)
        branch.append(mapping[key])
        key = mapping[key].get("parent")
    builder = _Builder()
    for node in reversed(branch):
        message = node.get("message")
        if isinstance(message, dict):
            _read_chatgpt_message(message, builder)
    builder.end()
    if len(seen) < sum(1 for node in mapping.values() if isinstance(node, dict) and node.get("message")):
        builder.skip("the other branches")
    return builder.conversation("a conversation of ChatGPT")


def _read_chatgpt_message(message: JSONObject, builder: _Builder) -> None:
    author, content = message.get("author"), message.get("content")
    role = text_of(author.get("role")) if isinstance(author, dict) else ""
    if not isinstance(content, dict):
        return
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text")]
    texts = [part for part in parts if isinstance(part, str) and part]
    if len(texts) < sum(1 for part in parts if part):
        builder.skip("pictures and files")
    if not texts:
        return
    kind = text_of(content.get("content_type"))
    if role == "tool" or (role != "system" and kind not in ("text", "multimodal_text")):
        builder.skip(f"“{kind}” of {role}")
        return
    builder.begin(role)
    builder.text("\n".join(texts))
    builder.end()


def _read_claude(value: JSONObject) -> ShapedConversation:
    builder = _Builder()
    for message in value["chat_messages"]:
        builder.begin(text_of(message.get("sender")))
        texts = [text_of(part.get("text")) for part in _parts(message.get("content")) if part.get("type") == "text"]
        builder.text("\n".join(filter(None, texts)) or text_of(message.get("text")))
        if message.get("files") or message.get("attachments"):
            builder.skip("files and attachments")
        builder.end()
    return builder.conversation("a conversation of Claude")


def _is_row(value: JSONObject) -> bool:
    return any(question in value and answer in value for question, answer in _ROWS)


#: Members of a row for fine-tuning: the question and the answer.
_ROWS: Final = (("prompt", "completion"), ("instruction", "output"), ("prompt", "chosen"))


def _read_row(value: JSONObject) -> ShapedConversation:
    question, answer = next(pair for pair in _ROWS if pair[0] in value and pair[1] in value)
    builder = _Builder()
    _system(builder, value.get("system"))
    asked = value[question]
    if isinstance(asked, list):
        for item in asked:
            builder.add(item)
    else:
        builder.begin("user")
        more = text_of(value.get("input")) if question == "instruction" else ""
        builder.text("\n\n".join(filter(None, (text_of(asked), more))))
        builder.end()
    given = value[answer]
    for item in given if isinstance(given, list) else [{"role": "assistant", "content": given}]:
        builder.add(item)
    if "rejected" in value:
        builder.skip("“rejected”")
    return builder.conversation("a row for fine-tuning")


_RECORDS: Final[tuple[tuple[Callable[[JSONObject], bool], Callable[[JSONObject], ShapedConversation]], ...]] = (
    (_is_chatgpt, _read_chatgpt),
    (_is_list("chat_messages"), _read_claude),
    (_is_list("conversations"), _read_conversations),
    (_is_list("conversation"), _read_conversations),
    (lambda value: isinstance(value.get("contents"), dict) or _is_list("contents")(value), _read_contents),
    (_is_responses, _read_responses),
    (_is_row, _read_row),
)
