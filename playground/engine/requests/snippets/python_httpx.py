"""The request with httpx, for any protocol: nothing between the code and the wire."""

from __future__ import annotations

from playground.engine.requests.snippets.literals import PYTHON, written
from playground.engine.requests.snippets.python_text import environment, top
from playground.engine.requests.snippets.sent import Sent
from playground.protocols.protocol import get_protocol


def write(sent: Sent) -> str:
    """A script that prints the answer's text."""
    spelling, texts = PYTHON.for_body(sent.body)
    headers = [(header.name, environment(header)) for header in sent.headers_but()]
    content = "json=body"
    if sent.has_halves:  # only escaped can halves of characters be sent
        content = "content=json.dumps(body)"
        headers.insert(0, ("Content-Type", '"application/json"'))
    lines = [PYTHON.string(sent.url)]
    if sent.streams:
        lines.insert(0, '"POST"')
    if headers:
        lines.append(f"headers={PYTHON.mapping(headers, 1)}")
    lines += [content, f"timeout={_timeout(sent)}"]
    call = "".join(f"    {line},\n" for line in lines)
    return (
        top(
            sent,
            "import json" if sent.streams or sent.has_halves else "",
            "import os" if sent.variables else "",
            "import httpx",
        )
        + texts
        + f"body = {written(sent.body, spelling, 0, len('body = '))}\n\n"
        + (f"with httpx.stream(\n{call}) as response:\n" if sent.streams else f"response = httpx.post(\n{call})\n")
        + (_stream(sent) if sent.streams else _whole(sent))
    )


def _timeout(sent: Sent) -> str:
    """The library's own five seconds would end most answers."""
    silence = "None" if sent.silence is None else f"{sent.silence:g}"
    connect = "None" if sent.timeouts.connect is None else f"{sent.timeouts.connect:g}"
    return f"httpx.Timeout({silence}, connect={connect})"


_FAIL = """if response.is_error:
    raise SystemExit(f"{response.status_code} {response.read().decode()}")
"""

_READ = """rest = ""
for text in response.iter_text():
    *lines, rest = (rest + text).split("\\n")
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        event = json.loads(data)
"""


def _stream(sent: Sent) -> str:
    show = get_protocol(sent.protocol).python_stream(sent.choices, tools=sent.offers_tools)
    inner = _FAIL + _READ + "".join(f"        {line}\n" for line in show)
    return "".join(f"    {line}\n" for line in inner.splitlines()) + "print()\n"


def _whole(sent: Sent) -> str:
    show = get_protocol(sent.protocol).python_whole(tools=sent.offers_tools)
    return _FAIL + "".join(f"{line}\n" for line in show)
