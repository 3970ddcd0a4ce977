"""Listen: a program of its own process sends requests through the window to the demo gateway."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from playground.demo.server import DemoConfig
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.dialogs import name_file
from tests.flows.pages.evaluate import plan_of
from tests.flows.pages.listen import CompareWindow, ListenPage, ProgramWindow, RecordingsWindow
from tests.flows.pages.steps import answer_question
from tests.flows.test_every_dialog import controls_without_name
from tests.support.agent_program import KEY, TOOL, answers_of, chat, run_program, start_program

AT_ONCE = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)
SLOW = DemoConfig(tokens_per_second=2, time_to_first_token=0, rate_limit=0)
CHILD = "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
WEATHER = chat("Is it warm in Oslo? !calls=1", tools=[TOOL])


def recorded_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "listen" in path.parts]


@flow(AT_ONCE)
async def test_requests_of_a_program_are_listed_and_inspected(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    secret = base.rsplit("/", 1)[-1]
    assert secret not in page.status
    assert await page.copy_address() == base
    await page.wait_until(lambda: page.shows_lines, "the lines to paste")
    assert secret not in page.lines
    assert f"ANTHROPIC_BASE_URL='{base}'" in await page.copy_lines("Claude Code: shell")
    answers = await run_program(base, chat("Hello"), chat("Hello again", stream=True))
    assert [status for status, _ in answers] == [200, 200]
    rows = await page.wait_for_rows(2, "stop", "stop")
    assert [row["model"] for row in rows] == ["demo-chat", "demo-chat"]
    assert page.groups == ["agent · 2 requests"]
    assert "2 requests" in page.status
    await page.select(1)
    await page.wait_until(lambda: "Hello again" in page.body, "the request")
    assert KEY not in page.body
    await page.open_tab("Response")
    await page.wait_until(lambda: "chat.completion" in page.body, "the response")
    await page.search("no such model")
    await page.wait_until(lambda: not page.rows, "no row")
    await page.search("demo-chat")
    await page.wait_for_rows(2)
    await page.stop()
    assert len(page.rows) == 2


@flow(AT_ONCE)
async def test_listening_goes_on_while_other_pages_are_shown(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await person.press("Evaluate", person.app.window.bar)
    await person.until(lambda: not page.visible, "another page")
    assert [status for status, _ in await run_program(base, chat("Hello"))] == [200]
    await person.press("Compare", person.app.window.bar)
    await person.press("Listen", person.app.window.bar)
    await page.wait_for_rows(1, "stop")
    await person.press("Conversation", person.app.window.bar)
    await person.until(person.pane.composer.isVisible, "the conversation")


@flow(AT_ONCE)
async def test_own_key_of_a_program_is_passed_on_and_not_shown(person: Person) -> None:
    page = await ListenPage.open(person)
    await page.select_option("Key", "Program's own key")
    base = await page.start()
    assert "YOUR-KEY" in page.lines
    await run_program(base, chat("Hello"))
    await page.wait_for_rows(1)
    assert person.posts[-1].header("authorization") == f"Bearer {KEY}"
    await page.select(0)
    await page.wait_until(lambda: "Hello" in page.body, "the request")
    assert KEY not in page.body


@flow(AT_ONCE)
async def test_exchange_is_opened_as_an_experiment_and_runs_again(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await run_program(base, chat("What is {{this}}?", "Hello", "Hello, how can I help?"))
    await page.wait_for_rows(1, "stop")
    await page.select(0)
    await page.choose("Open as experiment")
    await person.until(
        lambda: [turn.text for turn in person.path[:3]] == ["Hello", "Hello, how can I help?", "What is {{this}}?"]
    )
    assert len(person.path) == 4
    assert person.session.settings.variables == {"this": "{{this}}"}
    await ListenPage.open(person)
    await page.choose("Run again with changes")
    await person.until(lambda: len(person.path) == 3, "the request alone")
    await person.trigger("run.run")
    await person.idle(4)
    assert person.body()["messages"][-1]["content"] == "What is {{this}}?"


@flow(AT_ONCE)
async def test_selected_exchanges_become_cases_of_a_new_experiment(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await run_program(base, chat("2 + 2?"), chat("3 + 3?"))
    await page.wait_for_rows(2, "stop", "stop")
    await page.select(0, 1)
    await page.choose("Add to evaluation as cases")
    await answer_question(person, "New experiment")
    await person.until(lambda: person.session.settings.evaluation is not None, "the evaluation")
    assert [case.turns[0].text for case in plan_of(person).cases] == ["2 + 2?", "3 + 3?"]


@flow(AT_ONCE)
async def test_two_exchanges_are_compared(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await run_program(base, chat("Hello"), chat("Good bye"))
    await page.wait_for_rows(2, "stop", "stop")
    await page.select(0, 1)
    await page.choose("Compare two")
    window = await CompareWindow.wait(person)
    await window.wait_until(lambda: "Good bye" in window.text, "the difference")
    await window.close("Close")


def test_recording_is_agreed_to_once_and_opened_again(stage: Stage, tmp_path: Path) -> None:
    async def first(person: Person) -> None:
        page = await ListenPage.open(person)
        base = await page.start(record=True)
        await run_program(base, chat("Remember me"))
        await page.wait_for_rows(1, "stop")
        await page.stop()
        files = recorded_files(tmp_path)
        assert any(path.name == "index.jsonl" for path in files)
        assert not any(KEY.encode() in path.read_bytes() for path in files)

    async def second(person: Person) -> None:
        page = await ListenPage.open(person)
        window = await RecordingsWindow.open(person)
        assert len(window.entries) == 1
        assert "1 request" in window.entries[0]
        await window.press("Open")
        await page.wait_for_rows(1, "stop")
        await page.select(0)
        await page.wait_until(lambda: "Remember me" in page.body, "the request")
        await page.choose("Export HAR")
        target = tmp_path / "exchange.har"
        await name_file(person, target)
        await person.until(target.exists, "the archive")
        assert "Remember me" in target.read_text()
        await page.press("Close recording")
        window = await RecordingsWindow.open(person)
        await window.press("Delete…")
        await answer_question(person, "Delete")
        await window.wait_until(lambda: not window.entries, "no recording")
        await window.close("Cancel")
        base = await page.start(record=True)  # not asked again
        assert base

    stage.play(first, AT_ONCE)
    stage.play(second, AT_ONCE)


@flow(AT_ONCE)
async def test_started_program_gets_the_variables_and_shows_its_end(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    window = await page.open_program()
    await window.select_program("OpenAI SDK (Python)")
    assert base.rsplit("/", 1)[-1] not in window.variables
    script = "import os,sys; print('got', os.environ['OPENAI_BASE_URL']); sys.exit(3)"
    await window.run(f'{sys.executable} -c "{script}"')
    await window.wait_until(lambda: "exit code 3" in window.state, "the end")
    assert f"got {base}/v1" in window.output
    await window.run("no-such-program-here --now")
    await window.wait_until(lambda: "There is no program" in window.state, "the reason")
    await window.close("Close")


def test_closing_the_window_stops_a_started_program_and_listening(stage: Stage) -> None:
    started: list[ProgramWindow] = []

    async def scene(person: Person) -> None:
        page = await ListenPage.open(person)
        await page.start()
        window = await page.open_program()
        started.append(window)
        await window.run(f"{sys.executable} -c \"import subprocess, sys; print('child', flush=True); {CHILD}\"")
        await window.wait_until(lambda: window.state.startswith("Running") and "child" in window.output, "the program")
        person.app.quit()
        assert "A program is running" in await answer_question(person, "Cancel")

    before = time.monotonic()
    stage.play(scene, AT_ONCE)  # the stage asserts that no thread, task or window is left
    assert time.monotonic() - before < 60


@flow(SLOW)
async def test_stopping_asks_while_an_exchange_is_under_way(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    program = await start_program(base, chat("Tell me a story", stream=True))
    await page.wait_for_rows(1, "Receiving answer…")
    await person.do(person.app.quit)
    assert "1 exchange is under way" in await answer_question(person, "Cancel")
    await page.press("Stop")
    words = await answer_question(person, "Cancel")
    assert "1 exchange is under way" in words
    assert page.listens
    await page.stop()
    await person.until(lambda: "Listen was stopped" in page.notes, "the note")
    await program.wait()


@flow(AT_ONCE)
async def test_hostile_names_are_plain_text_in_the_list(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    name = '<img src="x">\u202e<b>x</b>'
    request = chat("Hello")
    request["body"]["model"] = name
    request["headers"] = {"user-agent": "<b>evil</b>/1", "x-claude-code-session-id": "<i>s</i>"}
    await run_program(base, request)
    (row,) = await page.wait_for_rows(1)
    await page.wait_until(lambda: "<img" in page.rows[0]["model"], "the model")
    assert "\u202e" not in page.rows[0]["model"]
    assert row["time"]
    # A header block above the limit is refused, and the window works on.
    too_large = chat("Hello")
    too_large["large_header"] = 1_000_000
    ((status, _),) = await run_program(base, too_large)
    assert status != 200
    assert [status for status, _ in await run_program(base, chat("Hello"))] == [200]
    await page.wait_for_rows(2)


@flow(AT_ONCE)
async def test_paused_request_is_edited_before_it_goes_on(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await page.set_breakpoint("Pause requests")
    program = await start_program(base, chat("Hello"))
    await page.wait_for_pause("Request paused")
    assert KEY not in page.body
    assert "1 paused" in page.status
    await page.edit_text("Body of the request", json.dumps(chat("2 + 2?")["body"]))
    await page.press("Send edited request")
    ((status, body),) = await answers_of(program)
    assert status == 200
    assert "2 + 2?" in json.loads(body)["choices"][0]["message"]["content"]
    (row,) = await page.wait_for_rows(1, "stop")
    assert "Edited" in row["result"]
    assert person.body()["messages"][-1]["content"] == "2 + 2?"
    await page.wait_until(lambda: page.has_button("Original request…"), "the original")


@flow(AT_ONCE)
async def test_paused_request_is_answered_by_hand_and_failed(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await page.set_breakpoint("Pause requests")
    program = await start_program(base, chat("Hello"), chat("Hello again", stream=True))
    await page.wait_for_pause("Request paused")
    await page.press("Answer by hand")
    await page.edit_text("Text of the answer", "I am not a model.")
    await page.press("Send answer")
    await page.wait_for_rows(2, "stop")
    await page.wait_for_pause("Request paused")
    await page.fail(429, "Slow down")
    (first, second) = await answers_of(program)
    assert json.loads(first[1])["choices"][0]["message"]["content"] == "I am not a model."
    assert second[0] == 429
    assert "Slow down" in second[1]
    assert not person.posts


@flow(AT_ONCE)
async def test_tool_calls_of_an_answer_are_edited_before_the_program_gets_them(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await page.set_breakpoint("Pause at tool calls")
    program = await start_program(base, {**WEATHER, "body": {**WEATHER["body"], "stream": True}}, chat("Hello"))
    await page.wait_for_pause("Answer paused")
    await page.edit_arguments(1, '{"city": "Nowhere"}')
    await page.press("Send edited answer")
    first, second = await answers_of(program)
    assert "Nowhere" in first[1].replace("\\", "")
    assert second[0] == 200  # without a tool it does not pause
    rows = await page.wait_for_rows(2)
    assert "get_weather" in rows[0]["result"]
    assert "Edited" in rows[0]["result"]
    await page.select(0)
    await page.wait_until(lambda: page.has_button("Answer as sent…"), "the answer as sent")


@flow(AT_ONCE)
async def test_controls_of_all_states_have_accessible_names(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    window = person.app.window
    await page.wait_until(lambda: page.shows_lines, "the lines")
    assert controls_without_name(window) == []
    await page.set_breakpoint("Pause at tool calls")
    program = await start_program(base, WEATHER)
    await page.wait_for_pause("Answer paused")
    assert controls_without_name(window) == []
    for mode in ("Answer by hand", "Fail", "Inspect"):
        await page.press(mode)
        assert controls_without_name(window) == []
    dialog = await page.open_program()
    assert controls_without_name(dialog.widget) == []
    await dialog.close("Close")
    await person.trigger("listen.continue-all")
    await program.wait()


@flow(AT_ONCE)
async def test_continue_key_releases_a_paused_exchange(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    await page.set_breakpoint("Pause requests")
    program = await start_program(base, chat("Hello"))
    await page.wait_for_pause("Request paused")
    await person.trigger("listen.continue")
    assert [status for status, _ in await answers_of(program)] == [200]
    await page.wait_until(lambda: not page.pause, "the end of the pause")


@flow(AT_ONCE)
async def test_row_of_a_table_answers_a_paused_request(person: Person, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    row = {"when": {"contains": "Hello"}, "answer": {"text": "From the table."}}
    table.write_text(json.dumps({"playground_mock": 1, "rows": [row]}))
    page = await ListenPage.open(person)
    base = await page.start()
    await page.set_breakpoint("Pause requests")
    program = await start_program(base, chat("Hello"))
    await page.wait_for_pause("Request paused")
    await page.press("From table…")
    await name_file(person, table)
    ((_, body),) = await answers_of(program)
    assert "From the table." in body


@flow(AT_ONCE)
async def test_window_answers_quickly_in_a_flood_of_requests(person: Person) -> None:
    page = await ListenPage.open(person)
    base = await page.start()
    programs = [await start_program(base, *[chat(f"Hello {number}")] * 50) for number in range(4)]
    delays: list[float] = []
    waiting = asyncio.gather(*map(answers_of, programs))
    while not waiting.done():
        before = time.perf_counter()
        await person.do(lambda: None)  # a turn of Qt's event loop
        delays.append(time.perf_counter() - before)
        await asyncio.sleep(0.02)
    await page.wait_for_rows(200)
    assert all(status == 200 for answers in waiting.result() for status, _ in answers)
    delays.sort()
    assert delays[int(len(delays) * 0.95)] < 0.25
