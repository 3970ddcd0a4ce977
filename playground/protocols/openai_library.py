"""A protocol in OpenAI's client libraries, for code that is generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, TypeAlias

from playground.jsonkit.values import JSON

#: Returns lines of code, not indented, that show an answer of some completions; ``tools``: it may be a call.
ShowAnswer: TypeAlias = Callable[..., list[str]]


def code(text: str, calls: str = "") -> ShowAnswer:
    """Return a function that returns the lines of ``text``, and with ``tools`` those of ``calls`` as well."""

    def lines(*_: Any, tools: bool) -> list[str]:
        return [*dedent(text).strip().splitlines(), *(dedent(calls).strip().splitlines() if tools else ())]

    return lines


@dataclass(frozen=True, slots=True)
class OpenAIResource:
    """The resource of a client, such as ``chat.completions``.

    ``arguments`` are the body members that are arguments of its ``create`` in Python; all others go through
    ``extra_body``. ``required`` has the type of each required one, and the value to pass if the body has another type.
    The functions show the next ``event`` of a stream, or the ``answer``, in Python and in JavaScript.
    """

    name: str
    arguments: frozenset[str]
    required: Mapping[str, tuple[type, JSON]]
    python_stream: ShowAnswer
    python_whole: ShowAnswer
    javascript_stream: ShowAnswer
    javascript_whole: ShowAnswer
