"""Formatting of arguments in the card of a call."""

from __future__ import annotations

import json

from playground.jsonkit.problems import Problem
from playground.ui.features.conversation.calls.call_text import argument_lines, is_laid_out, pretty_json


def test_arguments_of_too_many_lines_are_shown_as_sent() -> None:
    arguments = json.dumps({"a": [{"n": n} for n in range(1_500)]})
    lines = argument_lines(arguments, [Problem(("a",), "too many")])
    assert "".join(line.text for line in lines) == arguments
    assert not is_laid_out(arguments)


def test_short_arguments_are_formatted_with_their_problems() -> None:
    arguments = json.dumps({"é": [1, {"b": None}, [], "x"]}, ensure_ascii=False)
    lines = [line.text for line in argument_lines(arguments, [Problem(("é", 1, "b"), "wrong")])]
    assert lines[4] == '      "b": null   × wrong'
    assert json.loads("\n".join([*lines[:4], '      "b": null', *lines[5:]])) == json.loads(arguments)
    assert pretty_json(arguments).split("\n")[0] == "{"
    assert is_laid_out("null")
    assert is_laid_out("")
