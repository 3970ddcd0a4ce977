"""The report of an error: where it happened, and nothing of what it was about."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

import pytest

from playground.ui.shell.crash.report import FRAMES, Report, report
from tests.support.each_case import each_case

KEY = "sk-canary-5d1f0c7788aa"
PROMPT = "my secret wedding speech"


def caught(error: BaseException) -> Report:
    """The report of ``error``, raised here with the canaries in local variables."""
    key, prompt = KEY, PROMPT  # what a report with values would show
    try:
        raise error
    except BaseException as raised:
        assert key
        assert prompt
        return report(type(raised), raised, raised.__traceback__, "the window")


@each_case(
    "error",
    [
        ValueError(f"{KEY} {PROMPT}"),
        KeyError(PROMPT),
        RuntimeError({"key": KEY, "prompt": PROMPT}),
        UnicodeDecodeError("utf-8", PROMPT.encode(), 0, 1, PROMPT),
        ExceptionGroup(PROMPT, [ValueError(KEY), TypeError(PROMPT)]),
        FileNotFoundError(errno.ENOENT, PROMPT, f"/tmp/{PROMPT}"),
        ModuleNotFoundError(PROMPT, name="missing_module", path=PROMPT),
        AttributeError(PROMPT, name=PROMPT, obj=KEY),
    ],
)
def test_report_has_no_messages_and_values(error: BaseException) -> None:
    error.add_note(PROMPT)
    result = caught(error)
    for text in (result.text, result.words, result.place):
        assert KEY not in text
        assert PROMPT not in text
        assert str(Path.home()) not in text
    assert type(error).__name__ in result.text
    assert "caught (" in result.text


def test_report_of_a_library_error_has_no_input() -> None:
    with pytest.raises(ValueError, match="Unterminated") as failed:
        json.loads('{"prompt": "' + PROMPT)
    result = report(failed.type, failed.value, failed.tb, "a thread")
    assert "json.decoder.JSONDecodeError" in result.text
    assert PROMPT not in result.text
    assert "In a thread" in result.text


def test_report_has_words_of_the_system_and_python() -> None:
    assert "No space left on device" in caught(OSError(errno.ENOSPC, PROMPT)).text
    assert "no space left on device" in caught(OSError(errno.ENOSPC, PROMPT)).words
    assert "missing_module" in caught(ModuleNotFoundError(PROMPT, name="missing_module")).text
    with pytest.raises(AttributeError) as missing:
        _ = sys.no_such_thing  # type: ignore[attr-defined]  # the error is what is wanted
    assert "no_such_thing of module" in report(missing.type, missing.value, missing.tb, "the window").text
    assert "memory" in caught(MemoryError()).words


def test_report_has_causes_once() -> None:
    first, second = ValueError(PROMPT), KeyError(PROMPT)
    first.__cause__, second.__cause__ = second, first
    text = caught(first).text
    assert "Because of:" in text
    assert text.count("ValueError") == 1


def test_deep_stack_is_cut_in_the_middle() -> None:
    def sink(depth: int) -> None:
        if depth:
            sink(depth - 1)
        raise RecursionError

    with pytest.raises(RecursionError) as failed:
        sink(300)
    text = report(failed.type, failed.value, failed.tb, "the window").text
    assert "more …" in text
    assert len(text.splitlines()) < FRAMES + 12


def test_errors_of_one_place_are_equal() -> None:
    places = {caught(ValueError(str(number))).place for number in range(3)}
    assert len(places) == 1
    assert caught(KeyError(1)).place not in places
