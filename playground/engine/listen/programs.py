"""Known programs: how to point one at the proxy, and how to recognise its requests. Their data: `listen_programs.json`.

Texts hold `{base}` (the proxy's address), `{base_v1}` (with ``/v1``) and `{key}` (the word or key that is sent).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pydantic import Field, TypeAdapter

from playground.domain.values import Value
from playground.engine.io.files import resource_root
from playground.gateway.tape import Headers

#: The key that a program is given where the gateway's own key is used: any word will do.
ANY_KEY: Final = "from-playground"
_LONGEST_NAME: Final = 60  # characters of a program's name taken from a User-Agent
_PRODUCT: Final = re.compile(r"[^\s/(]+")


class Setting(Value):
    """Lines of a program's settings. ``place`` says where they belong, such as the name of a file."""

    place: str
    lines: tuple[str, ...] = Field(min_length=1)


class Program(Value):
    """A known program. ``user_agent`` is a regular expression for the beginning of its User-Agent; empty if unknown.

    ``variables`` are environment variables, ``settings`` lines for its settings. ``note`` tells what a person has to
    know. A program without variables and settings cannot be pointed at the proxy; its note says why.
    """

    id: str
    name: str
    user_agent: str = ""
    variables: dict[str, str] = Field(default_factory=dict)
    settings: tuple[Setting, ...] = ()
    note: str = ""

    def environment(self, base: str, key: str = ANY_KEY) -> dict[str, str]:
        """Return the environment variables with their values for a proxy's address, which has no ``/v1``."""
        return {name: _filled(text, base, key) for name, text in self.variables.items()}

    def shell_lines(self, base: str, key: str = ANY_KEY, *, powershell: bool = False) -> list[str]:
        """Return lines that set the variables in a shell of POSIX, or in PowerShell."""
        values = self.environment(base, key).items()
        if powershell:
            return [f"$env:{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in values]
        return [f"export {name}='{value.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'" for name, value in values]

    def settings_for(self, base: str, key: str = ANY_KEY) -> list[tuple[str, str]]:
        """Return pairs of a place and the text to paste there."""
        return [(item.place, "\n".join(_filled(line, base, key) for line in item.lines)) for item in self.settings]


class _File(Value):
    version: int
    programs: tuple[Program, ...]


@cache
def known_programs() -> tuple[Program, ...]:
    """Return the known programs, the most used first."""
    data = (resource_root() / "listen_programs.json").read_bytes()
    return TypeAdapter(_File).validate_json(data).programs


def program_of(headers: Headers) -> str:
    """Return the name of the program that sent a request, from its User-Agent; empty without one."""
    agent = next((value for name, value in headers if name.lower() == "user-agent"), "")
    for program in known_programs():
        if program.user_agent and re.match(program.user_agent, agent):
            return program.name
    product = _PRODUCT.match(agent)
    return product[0][:_LONGEST_NAME] if product is not None else ""


def _filled(text: str, base: str, key: str) -> str:
    return text.replace("{base_v1}", f"{base}/v1").replace("{base}", base).replace("{key}", key)
