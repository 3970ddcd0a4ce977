"""Early keys and clicks of a person take effect once and in order, before the stored experiments are read.

The starts run one after the other in one process (``tests.flows.starts``). The person acts as soon as the window is
built, and the result is returned once it is there.
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
from playground.engine.session.snapshot import Snapshot
from tests.flows.pages.experiments import fill_store

ROOT = Path(__file__).parents[2]
SECONDS = 60  # for a start on a busy machine


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


def start(home: Path, early: str, expected: str, *, error: str = "") -> Any:
    """Start with a person who acts ``early``; return the value of ``expected`` as soon as it is true.

    ``error`` has to be on standard error; by default no error may.
    """
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    (home / "runtime").mkdir(mode=0o700, exist_ok=True)
    environment = {**places, "XDG_RUNTIME_DIR": str(home / "runtime")}
    errors = home / "errors.txt"
    order = {"early": early, "expected": expected, "environment": environment, "errors": str(errors)}
    result = STARTER.run(order)
    text = errors.read_text(encoding="utf-8")
    assert result["code"] == 0, text
    assert error in text if error else "Error" not in text, text
    return result["value"]


def fill(home: Path, draft: str = "") -> None:
    fill_store(home / "gateway-playground" / "experiments.db", 3, draft)


def test_early_message_is_run_once_in_an_experiment_of_its_own(tmp_path: Path) -> None:
    fill(tmp_path)
    early = """
write('Hello')
key('Return', CONTROL)
event = QInputMethodEvent()
event.setCommitString('世界')
QApplication.sendEvent(window.focusWidget(), event)
"""
    values = start(
        tmp_path,
        early,
        "idle() and app.workspace.listed and len(turns()) == 2"
        " and [turns(), requests(), window.composer.text, len(app.workspace.experiments)]",
    )
    assert values[0][0] == "Hello"
    assert [[message["content"] for message in messages] for messages in values[1]] == [["Hello"]]
    assert values[2:] == ["世界", 4]


def test_early_run_without_a_message_runs_the_draft_of_the_last_experiment(tmp_path: Path) -> None:
    fill(tmp_path, draft="What I was about to ask")
    value = start(tmp_path, "key('Return', CONTROL)", "idle() and len(turns()) == 4 and turns()")
    assert value[:3] == ["Question 2", "Answer 2", "What I was about to ask"]


def test_early_draft_is_kept_over_closing_the_window(tmp_path: Path) -> None:
    fill(tmp_path, draft="kept")
    assert start(tmp_path, "write('half a thou'); window.close()", "None") is None
    expected = "idle() and app.workspace.listed and window.composer.text and [turns(), window.composer.text]"
    assert start(tmp_path, "", expected) == [[], "half a thou"]


def test_early_run_is_kept_over_closing_the_window(tmp_path: Path) -> None:
    fill(tmp_path)
    assert start(tmp_path, "write('Hello'); key('Return', CONTROL); window.close()", "None") is None
    value = start(tmp_path, "", "idle() and turns() and [turns()[:1], window.composer.text]")
    assert value == [["Hello"], ""]


def test_early_new_experiment_begins_between_two_texts(tmp_path: Path) -> None:
    value = start(
        tmp_path,
        "write('one'); key('N', CONTROL); write('two'); key('Backspace'); write('2')",
        "idle() and drafts() == ['one', 'tw2'] and [drafts(), session().draft.text, window.composer.text]",
    )
    assert value == [["one", "tw2"], "tw2", "tw2"]


def test_early_keys_reach_the_palette_the_model_field_and_a_dialog(tmp_path: Path) -> None:
    value = start(
        tmp_path,
        "key('K', CONTROL); write('new experi')",
        "(top := QApplication.activePopupWidget()) and top.field.text() == 'new experi' and [window.composer.text]",
    )
    assert value == [""]
    value = start(
        tmp_path,
        "key('L', CONTROL); key('A', CONTROL); write('demo-tools'); key('Return')",
        "idle() and session().settings.model == 'demo-tools'"
        " and [window.bar.model.currentText(), window.composer.text]",
    )
    assert value == ["demo-tools", ""]
    value = start(
        tmp_path,
        "key('O', CONTROL)",
        "(d := QApplication.activeModalWidget()) and [isinstance(d, QFileDialog), d.reject()]",
    )
    assert value == [True, None]


def test_early_dropped_file_is_opened(tmp_path: Path) -> None:
    turn = make_turn(Role.USER, "From a file")
    path = tmp_path / "dropped.playground.json"
    path.write_bytes(write(Snapshot(id="dropped", turns=(turn,), head=turn.id)))
    assert start(tmp_path, f"drop({str(path)!r})", "idle() and turns()") == ["From a file"]


def test_early_clicks_press_the_buttons_of_the_first_frame(tmp_path: Path) -> None:
    value = start(tmp_path, "click('Try it now')", "idle() and len(turns()) >= 3 and len(requests())")
    assert value == 1
    windows = "[w.windowTitle() for w in QApplication.topLevelWidgets() if w.isVisible() and w is not window]"
    assert start(tmp_path, "click('Get code')", windows) == ["Get code"]


def test_early_run_follows_the_key_that_is_set(tmp_path: Path) -> None:
    assert start(tmp_path, "", "idle() and [app.settings.setValue('enter_runs', True), app.settings.sync()]")
    value = start(tmp_path, "write('Hello'); key('Return')", "idle() and len(turns()) == 2 and turns()")
    assert value[0] == "Hello"


def test_early_error_is_shown_and_logged(tmp_path: Path) -> None:
    value = start(
        tmp_path,
        "raise LookupError('no')",
        "(d := QApplication.activeModalWidget()) and [d.windowTitle(), d.reject()]",
        error="LookupError",
    )
    assert value[0] == "Something went wrong"
    assert "LookupError" in next(tmp_path.rglob("playground.log")).read_text(encoding="utf-8")
