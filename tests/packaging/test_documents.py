"""Every command in the documents is one that the command line accepts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.cli import _parser

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "packaging/README.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))),
)
#: Not commands of the parser: a file, its own process, and a placeholder for any command.
SPECIAL = ("playground", "playground FILE", "playground --tool-host", "playground COMMAND --help")
#: Values for placeholders that are not text.
VALUES = {"N": "20", "URL": "https://gateway.example/v1"}


def commands() -> Iterator[tuple[str, str]]:
    """Yield documents with each command in them, from inline code and from shell blocks."""
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        inline = re.findall(r"`(playground [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
        for line in (*inline, *lines):
            match = re.search(r"(?:^|\| |&& )(playground(?: .*)?)$", line.partition(" #")[0].strip())
            if match is not None and match[1] not in SPECIAL:
                yield name, match[1].partition(" > ")[0]


@pytest.mark.parametrize(("document", "command"), sorted(set(commands())))
def test_documented_command_is_accepted(document: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [VALUES.get(word, word) for word in shlex.split(command)[1:]]
    if len(words) == 1 and not words[0].startswith("-"):
        words.append("--help")  # a mention of the command
    try:
        _parser().parse_args(words)
    except SystemExit as ended:
        code = ended.code
    else:
        code = 0
    assert code == 0, capsys.readouterr().err


def test_pages_that_documents_link_to_exist() -> None:
    missing = []
    for name in DOCUMENTS:
        path = ROOT / name
        for target in re.findall(
            r"\]\(([^)#:]+)(?:#[^)]*)?\)|(?:src|srcset)=\"([^\"]+)\"", path.read_text(encoding="utf-8")
        ):
            place = target[0] or target[1]
            if not (path.parent / place).exists():
                missing.append(f"{name}: {place}")
    assert missing == []


def test_readme_is_short_and_has_three_pictures() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert len(re.findall(r"<picture>|!\[", text)) == 3
