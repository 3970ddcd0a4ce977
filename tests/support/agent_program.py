"""A program of its own process that sends requests to an address, as an agent does."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

KEY: Final = "sk-own-key-of-the-program-9174"
TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
#: Sends the requests of its second argument one after the other, and prints status and body of each answer.
PROGRAM: Final = """
import json, sys, urllib.error, urllib.request
base, requests = sys.argv[1], json.loads(sys.argv[2])
for request in requests:
    headers = {"content-type": "application/json", "authorization": "Bearer KEY", "user-agent": "agent/1.0"}
    headers.update(request.get("headers", {}))
    if "large_header" in request:
        headers["x-large"] = "x" * request["large_header"]
    body = json.dumps(request["body"]).encode()
    call = urllib.request.Request(base + request["path"], body, headers)
    try:
        try:
            answer = urllib.request.urlopen(call)
        except urllib.error.HTTPError as error:
            answer = error
        print(json.dumps([answer.status, answer.read().decode()]), flush=True)
    except OSError as error:
        print(json.dumps([0, str(error)]), flush=True)
""".replace("KEY", KEY)


def chat(text: str, *earlier: str, **members: Any) -> dict[str, Any]:
    """A request of the Chat Completions API; ``earlier`` are messages before, of user and assistant in turn."""
    texts = (*earlier, text)
    messages = [{"role": ("user", "assistant")[place % 2], "content": words} for place, words in enumerate(texts)]
    return {"path": "/v1/chat/completions", "body": {"model": "demo-chat", "messages": messages, **members}}


async def start_program(base: str, *requests: dict[str, Any]) -> asyncio.subprocess.Process:
    """Start a program that sends these requests."""
    arguments = ("-c", PROGRAM, base, json.dumps(requests))
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)


async def answers_of(program: asyncio.subprocess.Process) -> list[tuple[int, str]]:
    """Wait for the end of a program and return the answers it got."""
    assert program.stdout is not None
    lines = (await program.stdout.read()).splitlines()
    await program.wait()
    return [(status, body) for status, body in map(json.loads, lines)]


async def run_program(base: str, *requests: dict[str, Any]) -> list[tuple[int, str]]:
    """Start a program, wait for its end and return the answers it got."""
    return await answers_of(await start_program(base, *requests))
