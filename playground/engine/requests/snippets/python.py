"""Requests as Python code: with OpenAI's library, with Anthropic's, and with httpx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from playground.engine.requests.snippets.literals import PYTHON, comment, written
from playground.engine.requests.snippets.snippet_request import (
    Header,
    NotPossibleError,
    SnippetRequest,
    openai_resource,
)
from playground.gateway.connection import Timeouts
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES
from playground.protocols.protocol import get_protocol

#: Body members that are arguments of ``messages.create`` and ``messages.stream`` in all recent releases; the newest
#: have no temperature, top_p and top_k.
ANTHROPIC_ARGUMENTS: Final = frozenset(
    """
    max_tokens messages model metadata output_config service_tier stop_sequences stream system thinking
    tool_choice tools
    """.split()  # noqa: SIM905 - as above
)
#: Required arguments of a library: type, and the value to pass if the body has another type.
_Required = Mapping[str, tuple[type, JSON]]
_ANTHROPIC_REQUIRED: Final[_Required] = {"model": (str, ""), "max_tokens": (int, 1), MESSAGES: (list, [])}
#: Anthropic's library appends this path to its base URL.
_ANTHROPIC_PATH: Final = "/v1/messages"
#: Above this limit of tokens, Anthropic's library refuses requests without a stream unless they set a timeout.
_LONG_ANSWER: Final = 8192


def write_openai(request: SnippetRequest) -> str:
    """Return a script that prints the text of the answer."""
    _refuse_surrogates(request)
    spelling, texts = PYTHON.for_body(request.body)
    resource = openai_resource(request)
    arguments, extra = _split_arguments(request.body, resource.arguments, resource.required)
    call = "".join(f"    {name}={written(value, spelling, 1, 5 + len(name))},\n" for name, value in arguments.items())
    if extra:
        call += f"    extra_body={written(extra, spelling, 1, len('    extra_body='))},\n"
    imports = "OpenAI"
    bearer = request.header("authorization")
    if bearer is None:  # the library sends the header unless the call omits it
        call += f"    extra_headers={PYTHON.mapping([('Authorization', 'Omit()')], 1)},\n"
        imports = "Omit, OpenAI"
    key = bearer.variable if bearer is not None and bearer.text == "Bearer " else ""
    headers = [(header.name, _value(header)) for header in request.headers_but(*["authorization"] * bool(key))]
    client = _client("OpenAI", request.base, ("api_key", key), headers, _timeout_argument(request))
    create = f"client.{resource.name}.create(\n{call})\n"
    if request.streams:
        show = resource.python_stream(request.choices, tools=request.offers_tools)
        ask = f"\nstream = {create}\nfor event in stream:\n" + "".join(f"    {line}\n" for line in show) + "print()\n"
    else:
        show = resource.python_whole(request.choices, tools=request.offers_tools)
        ask = f"\nanswer = {create}\n" + "".join(f"{line}\n" for line in show)
    return _header_lines(request, [], f"from openai import {imports}") + texts + client + ask


def write_anthropic(request: SnippetRequest) -> str:
    """Return a script that prints the text of the answer."""
    if not request.url.endswith(_ANTHROPIC_PATH):
        raise NotPossibleError(
            f"The library always adds {_ANTHROPIC_PATH} to its base URL, and this gateway's address is {request.url}. "
            "Use curl, Python · httpx or JavaScript · fetch."
        )
    _refuse_surrogates(request)
    spelling, texts = PYTHON.for_body(request.body)
    accepted = ANTHROPIC_ARGUMENTS - ({"stream"} if request.body.get("stream") is True else set())
    if not isinstance(request.body.get("thinking", {}), dict):
        accepted -= {"thinking"}
    arguments, extra = _split_arguments(request.body, accepted, _ANTHROPIC_REQUIRED)
    if request.streams:  # ``messages.stream`` sends it
        del extra["stream"]
    call = "".join(f"    {name}={written(value, spelling, 1, 5 + len(name))},\n" for name, value in arguments.items())
    if extra:
        call += f"    extra_body={written(extra, spelling, 1, len('    extra_body='))},\n"
    imports, client = _anthropic_client(request)
    if request.streams:
        ask = f"\nwith client.messages.stream(\n{call}) as stream:\n{_read_anthropic_stream(request)}"
    else:
        ask = f"\nmessage = client.messages.create(\n{call})\n{_read_anthropic_answer(request)}"
    return _header_lines(request, [], f"from anthropic import {imports}") + texts + client + ask


def _anthropic_client(request: SnippetRequest) -> tuple[str, str]:
    """Return the names to import, and the client. Every release sends ``auth_token`` as Bearer."""
    bearer, own = request.header("authorization"), request.header("x-api-key")
    is_key = bearer is not None and bearer.variable == request.key
    headers = [(header.name, _value(header)) for header in request.headers_but(*["authorization"] * is_key)]
    imports = "Anthropic"
    if bearer is None:
        headers.append(("Authorization", "Omit()"))
        imports = "Anthropic, Omit"
    key = bearer.variable if bearer is not None and is_key else own.variable if own is not None else ""
    timeout = _timeout_argument(request)
    limit = request.body.get("max_tokens")
    if not timeout and not request.streams and not (isinstance(limit, int) and limit <= _LONG_ANSWER):
        timeout = "    timeout=600,\n"
    base = request.url.removesuffix(_ANTHROPIC_PATH)
    return imports, _client("Anthropic", base, ("auth_token", key), headers, timeout)


def _read_anthropic_stream(request: SnippetRequest) -> str:
    lines = ["    for text in stream.text_stream:", '        print(text, end="", flush=True)', "    print()"]
    if request.offers_tools:
        lines += [
            "    for block in stream.get_final_message().content:",
            '        if block.type == "tool_use":',
            "            print(block.name, block.input)",
        ]
    return "\n".join([*lines, ""])


def _read_anthropic_answer(request: SnippetRequest) -> str:
    lines = ["for block in message.content:", '    if block.type == "text":', "        print(block.text)"]
    if request.offers_tools:
        lines += ['    elif block.type == "tool_use":', "        print(block.name, block.input)"]
    return "\n".join([*lines, ""])


_FAIL: Final = """if response.is_error:
    raise SystemExit(f"{response.status_code} {response.read().decode()}")
"""
_READ_EVENTS: Final = """rest = ""
for text in response.iter_text():
    *lines, rest = (rest + text).split("\\n")
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        event = json.loads(data)
"""


def write_httpx(request: SnippetRequest) -> str:
    """Return a script that prints the text of the answer."""
    spelling, texts = PYTHON.for_body(request.body)
    headers = [(header.name, _value(header)) for header in request.headers_but()]
    content = "json=body"
    if request.has_surrogates:  # lone surrogates can be sent only as JSON escapes
        content = "content=json.dumps(body)"
        headers.insert(0, ("Content-Type", '"application/json"'))
    arguments = ['"POST"'] * request.streams + [PYTHON.string(request.url)]
    if headers:
        arguments.append(f"headers={PYTHON.mapping(headers, 1)}")
    silence = "None" if request.silence is None else f"{request.silence:g}"
    connect = "None" if request.timeouts.connect is None else f"{request.timeouts.connect:g}"
    # httpx's own five seconds would end most answers.
    arguments += [content, f"timeout=httpx.Timeout({silence}, connect={connect})"]
    call = "".join(f"    {argument},\n" for argument in arguments)
    protocol = get_protocol(request.protocol)
    if request.streams:
        show = protocol.python_stream(request.choices, tools=request.offers_tools)
        inner = _FAIL + _READ_EVENTS + "".join(f"        {line}\n" for line in show)
        ask = f"with httpx.stream(\n{call}) as response:\n"
        ask += "".join(f"    {line}\n" for line in inner.splitlines()) + "print()\n"
    else:
        show = protocol.python_whole(tools=request.offers_tools)
        ask = f"response = httpx.post(\n{call})\n" + _FAIL + "".join(f"{line}\n" for line in show)
    modules = ["json"] * (request.streams or request.has_surrogates)
    body = f"body = {written(request.body, spelling, 0, len('body = '))}\n\n"
    return _header_lines(request, modules, "import httpx") + texts + body + ask


# ---- shared ----------------------------------------------------------------------------------------------------------


def _refuse_surrogates(request: SnippetRequest) -> None:
    """Raise NotPossibleError for a text with a lone surrogate: the libraries write plain UTF-8."""
    if request.has_surrogates:
        raise NotPossibleError(
            "A text of this request holds half of a character (a lone surrogate), which the library cannot write. "
            "Use curl or Python · httpx."
        )


def _header_lines(request: SnippetRequest, modules: list[str], package: str) -> str:
    """Return a comment on certificates, the imports of standard modules, and the import of the package."""
    lines = []
    if request.ca_file:
        lines.append(comment("#", f"Run with SSL_CERT_FILE={request.ca_file} (the gateway's own authority)."))
    modules = [*modules, "os"] if request.variables else modules
    lines += [f"import {module}" for module in modules]
    if modules:
        lines.append("")
    return "\n".join([*lines, package, "", ""])


def _value(header: Header) -> str:
    """Return an expression for the value of a header."""
    if not header.variable:
        return PYTHON.string(header.text)
    if header.text:
        return f"f\"{header.text}{{os.environ['{header.variable}']}}\""
    return f'os.environ["{header.variable}"]'


def _split_arguments(body: JSONObject, accepted: frozenset[str], required: _Required) -> tuple[JSONObject, JSONObject]:
    """Split a body into keyword arguments and the ``extra_body``, which the libraries merge last and unchecked."""
    arguments: JSONObject = {}
    extra: JSONObject = {}
    for name, value in body.items():
        kind, default = required.get(name, (object, None))
        if name in accepted and isinstance(value, kind) and (name != "stream" or isinstance(value, bool)):
            arguments[name] = value
            continue
        extra[name] = value
        if name in required:
            arguments[name] = default
    for name, (_, default) in required.items():
        arguments.setdefault(name, default)
    return arguments, extra


def _client(kind: str, base: str, key: tuple[str, str], headers: list[tuple[str, str]], timeout: str) -> str:
    """Return the construction of a library's client; ``key`` is the argument and the environment variable for it."""
    argument, variable = key
    value = f'os.environ["{variable}"]' if variable else '"none"'
    lines = f"    base_url={PYTHON.string(base)},\n    {argument}={value},\n"
    if headers:
        lines += f"    default_headers={PYTHON.mapping(headers, 1)},\n"
    return f"client = {kind}(\n{lines}{timeout})\n"


def _timeout_argument(request: SnippetRequest) -> str:
    """Return the argument for the longest silence, in seconds; empty for the default of the application."""
    if request.silence == Timeouts().first:
        return ""
    return f"    timeout={'None' if request.silence is None else f'{request.silence:g}'},\n"
