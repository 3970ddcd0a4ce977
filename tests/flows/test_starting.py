"""What a person does as soon as the window is there happens, once and in order, however early it comes.

The starts run one after the other in one process (``tests.flows.starts``). The person acts between two of the steps in
which the window is filled, and the result is returned once it is there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import write
from playground.engine.library.store import Store
from playground.engine.session.draft import Draft
from playground.engine.session.snapshot import Snapshot

ROOT = Path(__file__).parents[2]
SECONDS = 60  # for a start on a busy machine

#: The steps after which a person acts: right behind the first paint, when the conversation is there, before the last.
FIRST, HALFWAY, LAST = 0, 9, 14
NEVER = 99
every_moment = pytest.mark.parametrize("moment", [FIRST, HALFWAY, LAST])


class Starter:
    """A process that runs starts one after the other; one that does not come to its end is replaced."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """Run one start and return its value and exit code."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.flows.starts"],
                cwd=ROOT,
                env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        line = process.stdout.readline()
        late.cancel()
        if not line:
            self.close()
            pytest.fail(f"never came: {order['expected']}\n{Path(order['errors']).read_text(encoding='utf-8')}")
        result: dict[str, Any] = json.loads(line)
        return result

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


STARTER = Starter()


@pytest.fixture(scope="module", autouse=True)
def starter() -> Iterator[None]:
    """End the process of the starts after the last one."""
    yield
    STARTER.close()


def start(home: Path, moment: int, early: str, expected: str, *, error: str = "") -> Any:
    """Start with a person who acts ``early``; return the value of ``expected`` as soon as it is true.

    ``error`` is what has to stand on standard error; by default no error may.
    """
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    (home / "runtime").mkdir(mode=0o700, exist_ok=True)
    environment = {**places, "XDG_RUNTIME_DIR": str(home / "runtime")}
    errors = home / "errors.txt"
    order = {"moment": moment, "early": early, "expected": expected, "environment": environment, "errors": str(errors)}
    result = STARTER.run(order)
    text = errors.read_text(encoding="utf-8")
    assert result["code"] == 0, text
    assert error in text if error else "Error" not in text, text
    return result["value"]


async def fill(home: Path, count: int = 3, draft: str = "") -> None:
    """A store in which experiments are, the last one looked at last."""
    (home / "gateway-playground").mkdir(exist_ok=True)
    store = Store(home / "gateway-playground" / "experiments.db")
    await store.open()
    for number in range(count):
        asked = make_turn(Role.USER, f"Question {number}")
        said = make_turn(Role.ASSISTANT, f"Answer {number}").model_copy(update={"parent": asked.id})
        found = Snapshot(id=f"e{number}", profile_id="demo", model="demo-chat", turns=(asked, said), head=said.id)
        store.save(found.model_copy(update={"draft": Draft(text=draft)}))
    store.remember("current", f"e{count - 1}")
    await store.flush()
    await store.close()


@every_moment
async def test_a_message_is_run_once_in_an_experiment_of_its_own(tmp_path: Path, moment: int) -> None:
    await fill(tmp_path)
    found = start(
        tmp_path,
        moment,
        "write('Hello'); key('Return', CONTROL); write('next'); key('Return', CONTROL)",
        "idle() and app.workspace.listed and len(turns()) == 2"
        " and [turns(), requests(), window.composer.text, len(app.workspace.experiments)]",
    )
    assert found[0][0] == "Hello"
    assert [[message["content"] for message in messages] for messages in found[1]] == [["Hello"]]
    assert found[2:] == ["next", 4]


def test_a_click_on_run_is_as_good(tmp_path: Path) -> None:
    found = start(
        tmp_path, HALFWAY, "write('Hello'); click('Run'); click('Run')", "idle() and len(turns()) == 2 and turns()"
    )
    assert found[0] == "Hello"


async def test_with_nothing_written_the_experiment_of_last_time_is_run(tmp_path: Path) -> None:
    await fill(tmp_path, draft="What I was about to ask")
    found = start(tmp_path, FIRST, "key('Return', CONTROL)", "idle() and len(turns()) == 4 and turns()")
    assert found[:3] == ["Question 2", "Answer 2", "What I was about to ask"]


async def test_what_was_only_written_is_there_and_nothing_else_is_put_in_its_place(tmp_path: Path) -> None:
    await fill(tmp_path, draft="kept")
    found = start(
        tmp_path,
        FIRST,
        "write('Hello')",
        "idle() and app.workspace.listed and [turns(), window.composer.text, drafts()]",
    )
    assert found == [[], "Hello", ["Hello"]]


@every_moment
def test_a_new_experiment_is_begun_where_it_was_asked_for(tmp_path: Path, moment: int) -> None:
    found = start(
        tmp_path,
        moment,
        "write('one'); key('N', CONTROL); write('two'); key('Backspace'); write('2')",
        "idle() and drafts() == ['one', 'tw2'] and [drafts(), session().draft.text, window.composer.text]",
    )
    assert found == [["one", "tw2"], "tw2", "tw2"]


def test_what_is_typed_for_the_palette_gets_there(tmp_path: Path) -> None:
    found = start(
        tmp_path,
        FIRST,
        "key('K', CONTROL); write('new experi')",
        "(top := QApplication.activePopupWidget()) and top.field.text() == 'new experi' and [window.composer.text]",
    )
    assert found == [""]


def test_a_model_chosen_is_the_one_of_what_is_shown(tmp_path: Path) -> None:
    found = start(
        tmp_path,
        HALFWAY,
        "key('L', CONTROL); key('A', CONTROL); write('demo-tools'); key('Return')",
        "idle() and session().settings.model == 'demo-tools'"
        " and [window.bar.model.currentText(), window.composer.text]",
    )
    assert found == ["demo-tools", ""]


def test_a_dialog_that_was_asked_for_opens(tmp_path: Path) -> None:
    found = start(
        tmp_path,
        FIRST,
        "key('O', CONTROL)",
        "(d := QApplication.activeModalWidget()) and [isinstance(d, QFileDialog), d.reject()]",
    )
    assert found == [True, None]


def test_a_file_dropped_is_opened(tmp_path: Path) -> None:
    turn = make_turn(Role.USER, "From a file")
    path = tmp_path / "dropped.playground.json"
    path.write_bytes(write(Snapshot(id="dropped", turns=(turn,), head=turn.id)))
    found = start(tmp_path, HALFWAY, f"drop({str(path)!r})", "idle() and turns()")
    assert found == ["From a file"]


async def test_closing_the_window_closes_it_and_keeps_what_was_written(tmp_path: Path) -> None:
    await fill(tmp_path)
    assert start(tmp_path, FIRST, "write('half a thou'); window.close()", "None") is None
    found = start(tmp_path, NEVER, "", "idle() and window.composer.text and [turns(), window.composer.text]")
    assert found == [[], "half a thou"]


async def test_a_run_and_closing_the_window_lose_nothing(tmp_path: Path) -> None:
    await fill(tmp_path)
    assert start(tmp_path, FIRST, "write('Hello'); key('Return', CONTROL); window.close()", "None") is None
    found = start(tmp_path, NEVER, "", "idle() and turns() and [turns()[:1], window.composer.text]")
    assert found == [["Hello"], ""]


def test_buttons_of_the_first_frame_do_what_they_say(tmp_path: Path) -> None:
    found = start(tmp_path, FIRST, "click('Try it now')", "idle() and len(turns()) >= 3 and len(requests())")
    assert found == 1
    found = start(
        tmp_path,
        FIRST,
        "click('Get code')",
        "[w.windowTitle() for w in QApplication.topLevelWidgets() if w.isVisible() and w is not window]",
    )
    assert found == ["Get code"]


def test_the_key_that_runs_is_the_one_that_was_chosen(tmp_path: Path) -> None:
    assert start(tmp_path, NEVER, "", "idle() and [app.settings.setValue('enter_runs', True), app.settings.sync()]")
    found = start(tmp_path, FIRST, "write('Hello'); key('Return')", "idle() and len(turns()) == 2 and turns()")
    assert found[0] == "Hello"


def test_letters_composed_behind_a_command_are_not_part_of_it(tmp_path: Path) -> None:
    early = """
write('Hello')
key('Return', CONTROL)
event = QInputMethodEvent()
event.setCommitString('世界')
QApplication.sendEvent(window.focusWidget(), event)
"""
    found = start(tmp_path, FIRST, early, "idle() and len(turns()) == 2 and [turns()[0], window.composer.text]")
    assert found == ["Hello", "世界"]


@every_moment
def test_what_goes_wrong_on_the_way_is_shown_and_written_down(tmp_path: Path, moment: int) -> None:
    found = start(
        tmp_path,
        moment,
        "raise LookupError('no')",
        "(d := QApplication.activeModalWidget()) and [d.windowTitle(), d.reject()]",
        error="LookupError",
    )
    assert found[0] == "Something went wrong"
    assert "LookupError" in next(tmp_path.rglob("playground.log")).read_text(encoding="utf-8")


async def test_no_step_on_the_way_says_that_there_is_nothing(tmp_path: Path) -> None:
    title, none = "See what a model is sent, and what comes back", "No experiments yet."
    words = f"idle() and [turns(), {title!r} in seen, {none!r} in seen]"
    assert start(tmp_path, NEVER, "", words) == [[], True, False], "the very first start"
    await fill(tmp_path)
    assert start(tmp_path, NEVER, "", f"turns() and {words}") == [["Question 2", "Answer 2"], False, False]
