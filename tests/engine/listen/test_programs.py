"""Known programs: their settings for an address, and their requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playground.engine.listen.programs import Program, known_programs, program_of

PAGE = Path(__file__).parents[3] / "docs" / "listen.md"
BASE = "http://127.0.0.1:8123/r/ab12"


def of_id(program_id: str) -> Program:
    return next(program for program in known_programs() if program.id == program_id)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("OpenAI/Python 3.54.0", "OpenAI SDK (Python)"),
        ("AsyncOpenAI/Python 3.54.0", "OpenAI SDK (Python)"),
        ("Anthropic/JS 1.2.0", "Anthropic SDK (JavaScript)"),
        ("claude-cli/2.1.0 (external, cli)", "Claude Code"),
        ("codex_exec/0.99.0 (Linux)", "Codex CLI"),
        ("curl/8.5.0", "curl"),
        ("", ""),
    ],
)
def test_program_is_recognised_by_its_user_agent(agent: str, name: str) -> None:
    assert program_of((("user-agent", agent),)) == name


def test_settings_hold_address_and_key() -> None:
    claude = of_id("claude-code")
    assert claude.environment(BASE, "k") == {"ANTHROPIC_BASE_URL": BASE, "ANTHROPIC_AUTH_TOKEN": "k"}
    assert of_id("openai-python").environment(BASE, "k")["OPENAI_BASE_URL"] == f"{BASE}/v1"
    assert claude.shell_lines(BASE, "a'b")[1] == r"export ANTHROPIC_AUTH_TOKEN='a'\''b'"
    assert claude.shell_lines(BASE, "a'b", powershell=True)[1] == "$env:ANTHROPIC_AUTH_TOKEN = 'a''b'"
    place, text = of_id("codex").settings_for(BASE)[0]
    assert place == "~/.codex/config.toml"
    assert f'base_url = "{BASE}/v1"' in text


def test_every_program_has_settings_or_says_why_not() -> None:
    programs = known_programs()
    assert len({program.id for program in programs}) == len(programs)
    for program in programs:
        texts = [text for _, text in program.settings_for(BASE, "k")] + list(program.environment(BASE, "k").values())
        assert texts or program.note, program.id
        assert not re.search(r"\{(base|base_v1|key)\}", " ".join(texts))
        assert not texts or any(BASE in text for text in texts), program.id


def test_documentation_lists_the_known_programs() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| ([^|]+) \| [^|]* \| [^|]* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )

    assert rows == [(program.id, program.name) for program in known_programs()]
