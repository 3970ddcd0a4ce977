"""Scenes of Listen: before the start, waiting, listing requests of programs, and a paused answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from tests.flows.pages.listen import CompareWindow, ListenPage
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage
from tests.support.agent_program import TOOL, chat, run_program, start_program

MOMENT = datetime(2026, 6, 1, 14, 3, 11).astimezone().timestamp()


def fix_times(stage: Stage) -> None:
    """Show the same times in each picture, and equal counts of tokens, also after a late report of the server."""
    listen = stage.app.listen
    rows = []
    for row in listen.page.model.rows():
        number = row.summary.number
        summary = replace(
            row.summary,
            started_at=MOMENT + number,
            duration=None if row.summary.duration is None else 0.5,
            output_tokens=None if row.summary.output_tokens is None else 200,
        )
        listened = listen.model.listened(number)
        assert listened is not None
        listened.exchange.started_at = summary.started_at
        if listened.summary is not None:
            listened.summary = summary
        rows.append(replace(row, summary=summary))
    listen.page.model.show_rows(rows)


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
    await page.wait_until(lambda: all(row["duration"] for row in page.rows), "the ends")
    await page.select(1)
    fix_times(stage)


@scene(sizes=BOTH)
async def listen_paused(stage: Stage) -> None:
    """An answer that is paused at its tool calls, with its text and calls to edit."""
    page = await ListenPage.open(stage.person)
    base = await page.start()
    await page.set_breakpoint("Pause at tool calls")
    request = chat("What is the weather in Oslo? !calls=1", tools=[TOOL])
    await start_program(base, {**request, "headers": {"user-agent": "claude-cli/2.1.0 (external, cli)"}})
    await page.wait_for_pause("Answer paused")
    await page.wait_until(lambda: page.rows[0]["messages"] == "1", "the facts of the request")
    fix_times(stage)


@scene(sizes=BOTH)
async def listen_program(stage: Stage) -> None:
    """The window that starts a program, after its end."""
    page = await ListenPage.open(stage.person)
    await page.start()
    window = await page.open_program()
    await window.run("echo Hello")
    await window.wait_until(lambda: "exit code 0" in window.state, "the end")


@scene(sizes=BOTH)
async def listen_compare(stage: Stage) -> None:
    """Two requests compared."""
    page = await ListenPage.open(stage.person)
    base = await page.start()
    await run_program(base, chat("Hello"), chat("And in Lisbon?", "Hello", "Hello, how can I help?", tools=[TOOL]))
    await page.wait_for_rows(2, "stop", "stop")
    fix_times(stage)
    await page.select(0, 1)
    await page.choose("Compare two")
    window = await CompareWindow.wait(stage.person)
    await window.wait_until(lambda: "Lisbon" in window.text, "the difference")
