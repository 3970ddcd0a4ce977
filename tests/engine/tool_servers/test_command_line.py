"""Command lines taken apart and put together, an argument a line, and what is shown in the place of secrets."""

from __future__ import annotations

import shlex

import pytest

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.tool_servers.command_line import from_lines, shown, shown_address, split, to_lines


@pytest.mark.parametrize(
    ("text", "system", "words"),
    [
        ("npx -y server '/a b'", "linux", ("npx", "-y", "server", "/a b")),
        ('uvx "mcp server" --x=""', "linux", ("uvx", "mcp server", "--x=")),
        (r'"C:\Program Files\node.exe" C:\x\y.js "a b"', "win32", (r"C:\Program Files\node.exe", r"C:\x\y.js", "a b")),
        ("", "linux", ()),
    ],
)
def test_a_command_line_is_taken_apart(text: str, system: str, words: tuple[str, ...]) -> None:
    assert split(text, system) == words


def test_a_quotation_mark_that_is_not_closed_is_said() -> None:
    with pytest.raises(ValueError, match="not closed"):
        split("npx 'server", "linux")


@pytest.mark.parametrize(
    "arguments",
    [("-y", "server", "/a b"), ("", "two\nlines", ' spaces "', '"quoted"', "ünï", "\\"), ('"', '"a', "{{secret:x}}")],
)
def test_arguments_are_the_same_after_their_lines(arguments: tuple[str, ...]) -> None:
    assert from_lines(to_lines(arguments)) == arguments


def test_empty_lines_and_spaces_around_are_no_arguments() -> None:
    assert from_lines("\n -y \n\n  server\t\n") == ("-y", "server")


def test_the_line_shown_is_what_runs_with_marks_for_secrets() -> None:
    arguments = ("--token={{secret:token}}", "a b", "{{secret:key}}", "; rm -rf /")
    line = shown(ToolServer(id="a", name="a", command="npx", arguments=arguments), "linux")
    assert "secret" not in line
    assert shlex.split(line) == ["npx", "--token=••••", "a b", "••••", "; rm -rf /"]
    assert shown(ToolServer(id="a", name="a", command="a b.exe", arguments=("x",)), "win32") == '"a b.exe" x'


def test_the_address_shown_has_marks_too() -> None:
    server = ToolServer(id="a", name="a", via=Via.HTTP, url="https://a.example/{{secret:address}}/mcp?x=1")
    assert shown_address(server) == "https://a.example/••••/mcp?x=1"
