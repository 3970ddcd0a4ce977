"""Lines to paste into known programs, and the variables of a program that is started here."""

from __future__ import annotations

import sys
from typing import Final, NamedTuple

from playground.engine.listen.programs import known_programs
from playground.ui.features.listen.strip import short_address

IS_WINDOWS: Final = sys.platform == "win32"
SHELL: Final = "PowerShell" if IS_WINDOWS else "shell"


class PasteLines(NamedTuple):
    """A program with the lines to paste: as shown, with the secret hidden, and as copied. ``note`` may be empty."""

    program: str
    displayed: str
    copied: str
    note: str = ""


class ProgramVariables(NamedTuple):
    """The variables of a known program, and as shown, with the secret hidden."""

    program: str
    values: dict[str, str]
    displayed: dict[str, str]


def paste_lines(base_url: str, key: str) -> list[PasteLines]:
    """Return the lines of each known program: for a shell, and for its settings. A program may have none."""
    short = short_address(base_url)
    lines: list[PasteLines] = []
    for program in known_programs():
        if program.variables:
            displayed, copied = (
                "\n".join(program.shell_lines(base, key, powershell=IS_WINDOWS)) for base in (short, base_url)
            )
            lines.append(PasteLines(f"{program.name}: {SHELL}", displayed, copied, program.note))
        settings = zip(program.settings_for(short, key), program.settings_for(base_url, key), strict=True)
        for (place, shown_text), (_, text) in settings:
            lines.append(PasteLines(f"{program.name}: {place}", shown_text, text, program.note))
        if not program.variables and not program.settings:
            lines.append(PasteLines(f"{program.name}: not possible", "", "", program.note))
    return lines


def program_variables(base_url: str, key: str) -> list[ProgramVariables]:
    """Return the variables of each known program that has some."""
    short = short_address(base_url)
    return [
        ProgramVariables(program.name, program.environment(base_url, key), program.environment(short, key))
        for program in known_programs()
        if program.variables
    ]
