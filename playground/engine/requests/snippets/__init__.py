"""The same request as code: one small module a language, one row here each.

A snippet sends what the application sends, body equal value by value, and reads every secret from the environment. What
a language or a library cannot send is refused in words. Nothing here opens a socket or knows the value of a secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Final

from playground.engine.requests.snippets.sent import NotPossibleError, Sent, recorded, sent_by
from playground.jsonkit.texts import listed
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol

__all__ = ["LANGUAGES", "Language", "Sent", "Snippet", "recorded", "sent_by", "write"]


@dataclass(frozen=True, slots=True)
class Language:
    """One way to write a request.

    ``module`` holds ``write(sent) -> str``, which may raise ``NotPossibleError``. ``lexer`` is Pygments' name,
    ``suffix`` that of a file, ``install`` the command that brings what the snippet imports (empty: nothing needed).
    A ``library`` speaks the protocols that name it; without one a language speaks all of them.
    """

    id: str
    title: str
    module: str
    lexer: str
    suffix: str
    install: str = ""
    library: str = ""

    @property
    def protocols(self) -> tuple[str, ...]:
        """Those that it can write a request of."""
        return tuple(name for name in PROTOCOLS if not self.library or self.library in get_protocol(name).libraries)


LANGUAGES: Final = (
    Language("curl", "curl", "curl", "bash", ".sh"),
    Language("python-openai", "Python · openai", "python_openai", "python", ".py", "pip install openai", "openai"),
    Language(
        "python-anthropic",
        "Python · anthropic",
        "python_anthropic",
        "python",
        ".py",
        "pip install anthropic",
        "anthropic",
    ),
    Language("python-httpx", "Python · httpx", "python_httpx", "python", ".py", "pip install httpx"),
    Language("js-fetch", "JavaScript · fetch", "javascript_fetch", "javascript", ".mjs"),
    Language(
        "js-openai", "JavaScript · openai", "javascript_openai", "javascript", ".mjs", "npm install openai", "openai"
    ),
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A request in one language. ``text`` is empty where ``refusal`` says why; ``notes`` are sentences for people."""

    language: Language
    text: str = ""
    refusal: str = ""
    notes: tuple[str, ...] = ()


def language(id_: str) -> Language:
    """The row of that id. Raises ValueError for an id there is none of."""
    for row in LANGUAGES:
        if row.id == id_:
            return row
    raise ValueError(f"unknown language {id_!r}; known are {', '.join(row.id for row in LANGUAGES)}")


def write(wanted: Language | str, sent: Sent) -> Snippet:
    """``sent`` in that language, or the reason why not."""
    row = language(wanted) if isinstance(wanted, str) else wanted
    if sent.protocol not in row.protocols:
        spoken = " and ".join(get_protocol(name).title for name in row.protocols)
        others = [other.title for other in LANGUAGES if sent.protocol in other.protocols]
        return Snippet(
            row,
            refusal=f"{row.title} speaks {spoken}, and this request goes over {get_protocol(sent.protocol).title}. "
            f"Use {listed(others, 'or')}.",
        )
    module = import_module(f"playground.engine.requests.snippets.{row.module}")
    try:
        text: str = module.write(sent)
    except NotPossibleError as error:
        return Snippet(row, refusal=str(error))
    except RecursionError:
        return Snippet(row, refusal="The request is nested too deeply to be written out.")
    return Snippet(row, text, notes=tuple(_notes(row, sent)))


def _notes(row: Language, sent: Sent) -> list[str]:
    notes = []
    if sent.variables:
        keys = "the gateway's key never stands" if sent.variables == (sent.key,) else "secrets never stand"
        notes.append(f"Set {' and '.join(sent.variables)} in the environment first: {keys} in the code.")
    if sent.demo:
        any_key = f"takes anything as {sent.key}, and " if sent.key in sent.variables else ""
        notes.append(f"The demo gateway {any_key}answers at this address as long as the window is open.")
    if row.install:
        notes.append(f"Needs: {row.install}")
    if sent.masked:
        notes.append("A secret stood in the request itself. It is masked here, so the code sends •••• in its place.")
    return notes
