"""Arguments as a card lays them out: no more lines are made than are drawn."""

from __future__ import annotations

import json

import pytest

from playground.jsonkit.problems import Problem
from playground.ui.features.conversation.calls import call_text
from playground.ui.features.conversation.calls.call_text import argument_lines, is_laid_out, json_lines, pretty_json
from playground.ui.features.conversation.large import LINES


def test_no_more_lines_are_laid_out_than_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(*given: object) -> object:
        nonlocal made
        for line in json_lines(*given):  # type: ignore[arg-type]
            made += 1
            yield line

    monkeypatch.setattr(call_text, "json_lines", counted)
    arguments = json.dumps({"a": [{"n": n} for n in range(1_500)]})
    lines = argument_lines(arguments, [Problem(("a",), "too many")])
    assert "".join(line.text for line in lines) == arguments
    assert not is_laid_out(arguments)
    assert made <= 4 * LINES, made  # a line of a value inside three others is handed on three times


def test_what_is_few_lines_is_laid_out_with_its_problems() -> None:
    arguments = json.dumps({"é": [1, {"b": None}, [], "x"]}, ensure_ascii=False)
    lines = [line.text for line in argument_lines(arguments, [Problem(("é", 1, "b"), "wrong")])]
    assert lines[4] == '      "b": null   × wrong'
    assert json.loads("\n".join([*lines[:4], '      "b": null', *lines[5:]])) == json.loads(arguments)
    assert pretty_json(arguments).split("\n")[0] == "{"
    assert is_laid_out("null")
    assert is_laid_out("")
