"""Requests as code: one row for each language or library.

A snippet sends the same body as the application and reads every secret from the environment. A request that a library
cannot send is refused with the reason. Nothing is sent, and no value of a secret is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playground.engine.requests.snippets import curl, javascript, python
from playground.engine.requests.snippets.snippet_request import (
    NotPossibleError,
    SnippetRequest,
    prepare_snippet_request,
    read_recorded_request,
)
from playground.jsonkit.texts import listed
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

__all__ = [
    "LANGUAGES",
    "Language",
    "Snippet",
    "SnippetRequest",
    "prepare_snippet_request",
    "read_recorded_request",
    "write",
]


@dataclass(frozen=True, slots=True)
class Language:
    """A language or library for snippets.

    ``write`` returns the code and may raise ``NotPossibleError``. ``lexer`` is the name in Pygments, ``suffix`` that of
    a file, ``install`` the command for the packages that the snippet imports (empty: none). A ``library`` supports the
    protocols that name it; without one all protocols are supported.
    """

    id: str
    title: str
    write: Callable[[SnippetRequest], str]
    lexer: str
    suffix: str
    install: str = ""
    library: str = ""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of the supported protocols."""
        return tuple(name for name in PROTOCOLS if not self.library or self.library in get_protocol(name).libraries)


_PY: Final = ("python", ".py")
_JS: Final = ("javascript", ".mjs")
LANGUAGES: Final = (
    Language("curl", "curl", curl.write, "bash", ".sh"),
    Language("python-openai", "Python · openai", python.write_openai, *_PY, "pip install openai", "openai"),
    Language(
        "python-anthropic", "Python · anthropic", python.write_anthropic, *_PY, "pip install anthropic", "anthropic"
    ),
    Language("python-httpx", "Python · httpx", python.write_httpx, *_PY, "pip install httpx"),
    Language("js-fetch", "JavaScript · fetch", javascript.write_fetch, *_JS),
    Language("js-openai", "JavaScript · openai", javascript.write_openai, *_JS, "npm install openai", "openai"),
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A request in one language; ``text`` is empty if ``refusal`` gives a reason. ``notes`` are for people."""

    language: Language
    text: str = ""
    refusal: str = ""
    notes: tuple[str, ...] = ()


def language(id_: str) -> Language:
    """Return the language with this id. Raises ValueError for an unknown id."""
    for row in LANGUAGES:
        if row.id == id_:
            return row
    raise ValueError(f"unknown language {id_!r}; known are {', '.join(row.id for row in LANGUAGES)}")


def write(wanted_language: Language | str, request: SnippetRequest) -> Snippet:
    """Return the snippet of a request, or the reason for refusing it."""
    row = language(wanted_language) if isinstance(wanted_language, str) else wanted_language
    if request.protocol not in row.protocols:
        titles = " and ".join(get_protocol(name).title for name in row.protocols)
        others = [each.title for each in LANGUAGES if request.protocol in each.protocols]
        return Snippet(
            row,
            refusal=f"{row.title} speaks {titles}, and this request goes over {get_protocol(request.protocol).title}. "
            f"Use {listed(others, 'or')}.",
        )
    try:
        return Snippet(row, row.write(request), notes=tuple(_notes(row, request)))
    except NotPossibleError as error:
        return Snippet(row, refusal=str(error))
    except RecursionError:
        return Snippet(row, refusal="The request is nested too deeply to be written out.")


def _notes(row: Language, request: SnippetRequest) -> list[str]:
    notes = []
    if request.variables:
        keys = "the gateway's key is never" if request.variables == (request.key,) else "secrets are never"
        notes.append(f"Set {' and '.join(request.variables)} in the environment first: {keys} in the code.")
    if request.demo:
        any_key = f"takes anything as {request.key}, and " if request.key in request.variables else ""
        notes.append(f"The demo gateway {any_key}answers at this address as long as the window is open.")
    if row.install:
        notes.append(f"Needs: {row.install}")
    if request.masked:
        notes.append("A secret stood in the request itself. It is masked here, so the code sends •••• in its place.")
    return notes
