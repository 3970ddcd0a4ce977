"""Conversations of other libraries and applications, converted to messages of chat completions.

Supported are the Vercel AI SDK, LangChain, ShareGPT, Gemini, Responses, Bedrock, exports of ChatGPT and Claude, and
rows for fine-tuning. A note names the members that no message has. Nothing is fetched.
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
from playground.protocols.protocol import conversation_in

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "input", "prompter"), "user"),
    **dict.fromkeys(("assistant", "ai", "gpt", "bot", "model", "chatgpt", "AIMessageChunk"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response", "function_response"), "tool"),
}
_CLASS: Final = re.compile(r"(?P<role>Human|AI|System|Tool|Function)Message(?:Chunk)?")
#: Members of a record that may hold another record.
WRAPPERS: Final = tuple("body params request chat input inputs data".split())  # noqa: SIM905 - one of them is a protocol's name, too
_TITLES: Final = ("custom_id", "title", "key", "name")
_INSTRUCTIONS: Final = ("systemInstruction", "system_instruction", "instructions")
_SHARED: Final = ("temperature", "top_p", "stream", "metadata")
#: Members with the id of a call.
_CALL_IDS: Final = ("toolCallId", "toolUseId", "call_id", "id")
#: Parts without content, or whose content is in another member, too.
_IGNORED: Final = frozenset({"step-start", "tool_use", "tool_call", "input_json_delta"})


@dataclass(frozen=True, slots=True)
class ShapedConversation:
    """A body with ``messages`` in the shape of chat completions; ``source`` names the original shape."""

    body: JSONObject
    source: str
    notes: tuple[str, ...] = ()


class _Builder:
    """Builds messages from the parts of a conversation; results of tools follow the message with their calls."""

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
        """Add the result of the call with this id, or else of the first open call with this name."""
        if not call_id:
            call_id = next((key for called, key in self._open if not name or called == name), "")
        self._open = [(called, key) for called, key in self._open if key != call_id]
        content = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        self._results.append({"role": "tool", "tool_call_id": call_id or "call_1", "content": content})

    def continues(self, role: str) -> bool:
        """Return whether a message of this role has begun and has nothing but reasoning."""
        return self._role == role and not (self._content or self._calls or self._results)

    def add(self, message: JSON) -> None:
        """Add a message in the shape of chat completions."""
        self.end()
        self.messages.append(message)

    def skip(self, what: str) -> None:
        """Note a member that is left out."""
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
        """Return the conversation."""
        self.end()
        notes = [f"Read as {source}."]
        if self.left_out:
            notes.append(f"Left out, because no message has it: {listed(list(self.left_out))}.")
        return ShapedConversation({**(rest or {}), MESSAGES: self.messages}, source, tuple(notes))


# ---- lists of messages -----------------------------------------------------------------------------------------------


def read_list(items: list[JSON]) -> ShapedConversation | None:
    """Read a list of messages in the shape of a library; None for other lists."""
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
    """Yield the parts of a content, with a text as a part."""
    if isinstance(value, str):
        yield {"type": "text", "text": value}
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, str):
                yield {"type": "text", "text": part}
            elif isinstance(part, dict) and part:
                yield part


def _objects(value: JSON) -> list[JSONObject]:
    """Return the objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text_at(value: JSONObject, *names: str) -> str:
    """Return the first text under one of the names; empty without one."""
    return next((text for name in names if (text := text_of(value.get(name)))), "")


def _value_at(value: JSONObject, *names: str) -> JSON:
    """Return the first value under one of the names that is not null."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def _object_at(value: JSONObject, *names: str) -> JSONObject | None:
    """Return the first object under one of the names."""
    return next((item for name in names if isinstance(item := value.get(name), dict)), None)


def _kinds(content: JSON) -> set[str]:
    """Return the types of the parts in a list."""
    return {text_of(part.get("type")) for part in _objects(content)}


def _read_message(item: JSONObject, builder: _Builder) -> None:
    """Read a message with a role and parts: of the AI SDK, Gemini or Converse."""
    role = text_of(item.get("role")) or "user"
    if role == "tool" and isinstance(item.get("tool_call_id"), str):
        builder.add(item)
        return
    builder.begin(role)
    for part in _parts(item.get("parts") or item.get("content")):
        _read_part(part, builder)
    for invocation in _objects(item.get("toolInvocations")) if not item.get("parts") else ():
        _read_call(invocation, builder)
    builder.end()


def _read_part(part: JSONObject, builder: _Builder) -> None:
    """Read a part of a message in any of the shapes; parts that no message has are skipped."""
    kind = text_of(part.get("type"))
    call = _object_at(part, "toolInvocation", "functionCall", "function_call", "toolUse")
    result = _object_at(part, "functionResponse", "function_response", "toolResult")
    data = _object_at(part, "inlineData", "inline_data", "fileData", "file_data")
    image, thought = _object_at(part, "image"), _object_at(part, "reasoningContent")
    if call is not None:
        _read_call(call, builder)
    elif result is not None or kind == "tool-result":
        _read_result(result or part, builder)
    elif kind == "dynamic-tool" or kind.startswith("tool-"):
        _read_call({"toolName": kind.removeprefix("tool-"), **part}, builder)
    elif data is not None:
        _read_file({"type": "file", **data, "url": _value_at(data, "url", "fileUri", "file_uri")}, builder)
    elif image is not None and isinstance(content := (_object_at(image, "source") or {}).get("bytes"), str):
        builder.image(f"data:image/{text_of(image.get('format')) or 'png'};base64,{content}")
    elif thought is not None:
        builder.reasoning(text_of((_object_at(thought, "reasoningText") or {}).get("text")))
    elif kind in ("reasoning", "thinking") or part.get("thought"):
        builder.reasoning(_text_at(part, "thinking", "reasoning", "text"))
    elif kind in ("text", "input_text", "output_text", "refusal") or (not kind and "text" in part):
        builder.text(_text_at(part, "text", "refusal"))
    elif kind in ("file", "image", "image_url", "input_image"):
        _read_file(part, builder)
    elif kind not in _IGNORED:
        builder.skip(f"“{kind}”" if kind else listed([f"“{name}”" for name in part]))
    if "thoughtSignature" in part or "thought_signature" in part:
        builder.skip("“thoughtSignature”")


def _read_call(part: JSONObject, builder: _Builder) -> None:
    """Read a tool call, and its result if it has one."""
    arguments = _value_at(part, "input", "args", "rawInput", "arguments")
    call_id = builder.call(_text_at(part, "toolName", "name"), arguments, _text_at(part, *_CALL_IDS))
    if "output" in part or "result" in part:
        builder.result(part.get("output", part.get("result")), call_id)
    elif part.get("errorText"):
        builder.result(text_of(part["errorText"]), call_id)


def _read_result(part: JSONObject, builder: _Builder) -> None:
    output = _value_at(part, "output", "result", "response")
    if isinstance(output, dict) and "type" in output and "value" in output:
        output = output["value"]
    if "toolUseId" in part:
        texts = [text_of(item.get("text")) or json.dumps(item.get("json")) for item in _parts(part.get("content"))]
        output = "\n".join(texts)
    builder.result(output, _text_at(part, *_CALL_IDS), _text_at(part, "toolName", "name"))


def _read_file(part: JSONObject, builder: _Builder) -> None:
    media = _text_at(part, "mediaType", "mimeType", "mime_type")
    url = _text_at(part, "url", "image", "data", "base64", "image_url")
    url = url or text_of((_object_at(part, "image_url") or {}).get("url"))
    if url and not re.match(r"(?:data|https?|file|blob):", url):
        url = f"data:{media or 'image/png'};base64,{url}"
    if url and (part.get("type") != "file" or media.startswith("image/")):
        builder.image(url)
    elif url.startswith("data:"):
        name = _text_at(part, "filename", "name") or "file"
        builder.part({"type": "file", "file": {"filename": name, "file_data": url}})
    else:
        builder.skip(f"a file of the type {media[:60] or 'unknown'}")


def _read_langchain(item: JSONObject, builder: _Builder) -> None:
    names = item.get("id") if isinstance(item.get("id"), list) else []
    name = _CLASS.search(text_of(names[-1])) if names else None
    role = name["role"].casefold() if name is not None else text_of(item.get("type"))
    message = _object_at(item, "kwargs" if item.get("lc") == 1 else "data") or item
    if _ROLES.get(role) == "tool":
        content = "".join(text_of(part.get("text")) for part in _parts(message.get("content")))
        builder.result(content, text_of(message.get("tool_call_id")), text_of(message.get("name")))
        return
    builder.begin(role)
    for part in _parts(message.get("content")):
        _read_part(part, builder)
    more = _object_at(message, "additional_kwargs") or {}
    builder.reasoning(text_of(more.get("reasoning_content")))
    for call in _objects(message.get("tool_calls") or more.get("tool_calls")):
        _read_call({**(_object_at(call, "function") or call), "id": call.get("id")}, builder)
    builder.end()


def _read_sharegpt(item: JSONObject, builder: _Builder) -> None:
    role, text = text_of(item.get("from")), text_of(item.get("value"))
    if _ROLES.get(role) == "tool":
        builder.result(text)
    elif role in ("function_call", "tool_call"):
        try:
            value: JSON = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        for call in value if isinstance(value, list) else [value]:
            if isinstance(call, dict):
                builder.call(text_of(call.get("name")), call.get("arguments", call.get("parameters")))
            else:
                builder.text(text)
    else:
        builder.begin(role)
        builder.text(text)
        builder.end()


def _read_response_item(item: JSONObject, builder: _Builder) -> None:
    kind = item.get("type", "message")
    if kind in ("function_call", "custom_tool_call"):
        _read_call(item, builder)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        builder.result(item.get("output"), _text_at(item, *_CALL_IDS))
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
        for part in _parts(item.get("content")):
            _read_part(part, builder)
    else:
        builder.skip(f"“{text_of(kind)}”")


def _is_sharegpt(item: JSONObject) -> bool:
    return "from" in item and "value" in item


def _is_langchain(item: JSONObject) -> bool:
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        return True
    kinds = ("human", "ai", "system", "tool", "AIMessageChunk")
    return "role" not in item and item.get("type") in kinds and "content" in (_object_at(item, "data") or item)


def _is_vercel(item: JSONObject) -> bool:
    if "toolInvocations" in item or _kinds(item.get("content")) & {"tool-call", "tool-result"}:
        return True
    return "role" in item and any("type" in part for part in _objects(item.get("parts")))


def _is_gemini(item: JSONObject) -> bool:
    own = {"text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData"}
    return any(own & part.keys() for part in _objects(item.get("parts")))


def _is_converse(item: JSONObject) -> bool:
    own = {"text", "toolUse", "toolResult", "image", "document", "reasoningContent", "cachePoint"}
    return any("type" not in part and own & part.keys() for part in _objects(item.get("content")))


def _is_response_item(item: JSONObject) -> bool:
    own = ("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")
    return (
        item.get("type") in own
        or (item.get("type") == "reasoning" and "summary" in item)
        or bool(_kinds(item.get("content")) & {"input_text", "output_text", "input_image", "input_file"})
    )


_Read = Callable[[JSONObject, _Builder], None]
_LISTS: Final[tuple[tuple[Callable[[JSONObject], bool], _Read, str], ...]] = (
    (_is_sharegpt, _read_sharegpt, "a ShareGPT conversation"),
    (_is_langchain, _read_langchain, "LangChain messages"),
    (_is_vercel, _read_message, "messages of the Vercel AI SDK"),
    (_is_gemini, _read_message, "Gemini contents"),
    (_is_converse, _read_message, "messages of Bedrock's Converse"),
    (_is_response_item, _read_response_item, "items of the Responses API"),
)


# ---- records ---------------------------------------------------------------------------------------------------------


def read_record(value: JSONObject) -> ShapedConversation | None:
    """Read the conversation in a record without ``messages``; None for other records."""
    for is_shape, read in _RECORDS:
        if is_shape(value):
            return read(value)
    return None


def is_record(value: JSONObject) -> bool:
    """Return whether an object holds a conversation under another name than ``messages``."""
    return any(is_shape(value) for is_shape, _ in _RECORDS) or wrapped(value) is not None


def wrapped(value: JSONObject) -> str | None:
    """Return the member that holds the record itself, as in a batch file; None without one."""
    for name in WRAPPERS:
        inside = value.get(name)
        if isinstance(inside, dict) and (conversation_in(inside) or any(is_shape(inside) for is_shape, _ in _RECORDS)):
            return name
    return None


def records_in(value: JSONObject) -> str | None:
    """Return the member with a list of records, as in the body of a batch; None without one."""
    for name in ("requests", "conversations", "chats", "data", "rows"):
        items = value.get(name)
        if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
            continue
        if conversation_in(items[0]) or is_record(items[0]):
            return name
    return None


def title_of(value: JSONObject) -> str:
    """Return the title of a record; empty without one."""
    return next((title for name in _TITLES if isinstance(title := value.get(name), str)), "")


def _is_list(name: str) -> Callable[[JSONObject], bool]:
    def has_list(value: JSONObject) -> bool:
        items = value.get(name)
        return isinstance(items, list) and bool(items) and all(isinstance(item, dict) for item in items)

    return has_list


def _system(builder: _Builder, content: JSON) -> None:
    """Add a system message before all others."""
    inside = content.get("parts", content.get("text")) if isinstance(content, dict) else content
    texts = [text_of(part.get("text")) for part in _parts(inside)]
    if any(texts):
        builder.begin("system")
        builder.text("\n".join(texts))
        builder.end()


def _read_items(value: JSONObject, name: str, read: _Read, source: str, shared: tuple[str, ...]) -> ShapedConversation:
    """Read a record with its messages in a member; of the others, only the model and the shared ones are kept."""
    builder = _Builder()
    _system(builder, _value_at(value, *_INSTRUCTIONS))
    items = value[name]
    for item in items if isinstance(items, list) else [items]:
        message: JSON = {"role": "user", "content": item} if isinstance(item, str) else item
        if isinstance(message, dict):
            read(message, builder)
    rest: JSONObject = {"model": value["model"]} if isinstance(value.get("model"), str) else {}
    rest |= {member: value[member] for member in shared if member in value}
    for member in value.keys() - {name, "model", *shared, *_INSTRUCTIONS}:
        builder.skip(f"“{member}”")
    return builder.conversation(source, rest)


def _is_responses(value: JSONObject) -> bool:
    content = value.get("input")
    if isinstance(content, list):
        return bool(content) and all(isinstance(item, dict) and ("role" in item or "type" in item) for item in content)
    return isinstance(content, str) and ("instructions" in value or "model" in value)


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
    if isinstance(rest.get("tools"), str):  # a request has no tools as a text
        builder.skip("“tools”")
        del rest["tools"]
    return builder.conversation("a ShareGPT conversation", rest)


def _is_chatgpt(value: JSONObject) -> bool:
    mapping = value.get("mapping")
    return isinstance(mapping, dict) and any(isinstance(node, dict) and "message" in node for node in mapping.values())


def _read_chatgpt(value: JSONObject) -> ShapedConversation:
    """Read the branch that ChatGPT shows, from the current node up to the root."""
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


#: Members of a row for fine-tuning: the question and the answer.
_ROWS: Final = (("prompt", "completion"), ("instruction", "output"), ("prompt", "chosen"))


def _read_row(value: JSONObject) -> ShapedConversation:
    question, answer = next(pair for pair in _ROWS if pair[0] in value and pair[1] in value)
    builder = _Builder()
    _system(builder, value.get("system"))
    prompt, completion = value[question], value[answer]
    if not isinstance(prompt, list):
        more = text_of(value.get("input")) if question == "instruction" else ""
        prompt = [{"role": "user", "content": "\n\n".join(filter(None, (text_of(prompt), more)))}]
    if not isinstance(completion, list):
        completion = [{"role": "assistant", "content": completion}]
    for item in (*prompt, *completion):
        builder.add(item)
    if "rejected" in value:
        builder.skip("“rejected”")
    return builder.conversation("a row for fine-tuning")


_RECORDS: Final[tuple[tuple[Callable[[JSONObject], bool], Callable[[JSONObject], ShapedConversation]], ...]] = (
    (_is_chatgpt, _read_chatgpt),
    (_is_list("chat_messages"), _read_claude),
    (_is_list("conversations"), _read_conversations),
    (_is_list("conversation"), _read_conversations),
    (
        lambda value: isinstance(value.get("contents"), dict) or _is_list("contents")(value),
        lambda value: _read_items(value, "contents", _read_message, "Gemini contents", ()),
    ),
    (
        _is_responses,
        lambda value: _read_items(value, "input", _read_response_item, "items of the Responses API", _SHARED),
    ),
    (lambda value: any(question in value and answer in value for question, answer in _ROWS), _read_row),
)
