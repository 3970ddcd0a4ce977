"""The least that somebody writes with the openai SDK: all questions at once behind a semaphore, each answer checked.

``python -m tests.benchmarks.sdk_loop URL ASKED FOUND``: ``ASKED`` holds pairs of what an answer should contain and what
is asked, as JSON; ``FOUND`` gets whether each did.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from tests.benchmarks.demo_gateway import KEY, MODEL
from tests.benchmarks.peers import AT_ONCE, PARAMETERS


async def _found(url: str, cases: list[tuple[str, str]]) -> list[bool]:
    free = asyncio.Semaphore(AT_ONCE)
    async with AsyncOpenAI(base_url=url, api_key=KEY, http_client=DefaultAsyncHttpxClient(trust_env=False)) as client:

        async def ask(wanted: str, text: str) -> bool:
            async with free:
                answer = await client.chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": text}], **PARAMETERS
                )
            return wanted in (answer.choices[0].message.content or "")

        return await asyncio.gather(*(ask(wanted, text) for wanted, text in cases))


if __name__ == "__main__":
    url, asked, found = sys.argv[1:]
    marks = asyncio.run(_found(url, json.loads(Path(asked).read_text(encoding="utf-8"))))
    Path(found).write_text(json.dumps(marks), encoding="utf-8")
