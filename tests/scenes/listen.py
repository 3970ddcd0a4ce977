"""Scenes of Listen: before the start, waiting, listing requests of programs, and a paused answer."""

from __future__ import annotations

from tests.flows.pages.listen import ListenPage
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage
from tests.support.agent_program import TOOL, chat, run_program


@scene(sizes=BOTH)
async def listen_empty(stage: Stage) -> None:
    """Before the first start: the explanation and the options."""
    await ListenPage.open(stage.person)


@scene(sizes=BOTH)
async def listen_waiting(stage: Stage) -> None:
    """After the start: the lines to paste, until the first request arrives."""
    page = await ListenPage.open(stage.person)
    await page.start()


@scene(sizes=BOTH)
async def listen_listing(stage: Stage) -> None:
    """Requests of two programs, one that failed, the selected one below."""
    page = await ListenPage.open(stage.person)
    base = await page.start()
    session = {"x-claude-code-session-id": "7c2e"}
    first = chat("What is the weather in Oslo?", tools=[TOOL])
    later = chat("And in Lisbon?", "What is the weather in Oslo?", "It is 4 degrees.", tools=[TOOL])
    await run_program(
        base,
        {**first, "headers": {**session, "user-agent": "claude-cli/2.1.0 (external, cli)"}},
        {**later, "headers": {**session, "user-agent": "claude-cli/2.1.0 (external, cli)"}},
        {**chat("Hello", stream=True), "headers": {"user-agent": "OpenAI/Python 3.57.0"}},
        {**chat("!503 Hello"), "headers": {"user-agent": "OpenAI/Python 3.57.0"}},
    )
    await page.wait_for_rows(4)
    await page.select(1)
