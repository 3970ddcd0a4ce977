"""Command lines taken apart and put together, an argument a line, and what is shown in the place of secrets."""

from __future__ import annotations

import shlex

import pytest

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.tool_servers.secret_values import command_text, from_lines, shown_address, split, to_lines
from tests.support.each_case import each_case


@each_case(
    ("text", "system", "words"),
    [
        ("npx -y server '/a b'", "linux", ("npx", "-y", "server", "/a b")),
        ('uvx "mcp server" --x=""', "linux", ("uvx", "mcp server", "--x=")),
        (r'"C:\Program Files\node.exe" C:\x\y.js "a b"', "win32", (r"C:\Program Files\node.exe", r"C:\x\y.js", "a b")),
        ("", "linux", ()),
    ],
)
def test_command_line_is_split(text: str, system: str, words: tuple[str, ...]) -> None:
    assert split(text, system) == words
    with pytest.raises(ValueError, match="not closed"):
        split("npx 'server", "linux")


@each_case(
    "arguments",
    [("-y", "server", "/a b"), ("", "two\nlines", ' spaces "', '"quoted"', "ünï", "\\"), ('"', '"a', "{{secret:x}}")],
)
def test_arguments_survive_the_lines_of_an_editor(arguments: tuple[str, ...]) -> None:
    assert from_lines(to_lines(arguments)) == arguments
    assert from_lines("\n -y \n\n  server\t\n") == ("-y", "server")


def test_displayed_command_and_address_mask_secrets() -> None:
    arguments = ("--token={{secret:token}}", "a b", "{{secret:key}}", "; rm -rf /")
    line = command_text(ToolServer(id="a", name="a", command="npx", arguments=arguments), "linux")
    assert "secret" not in line
    assert shlex.split(line) == ["npx", "--token=••••", "a b", "••••", "; rm -rf /"]
    assert command_text(ToolServer(id="a", name="a", command="a b.exe", arguments=("x",)), "win32") == '"a b.exe" x'
    remote = ToolServer(id="a", name="a", via=Via.HTTP, url="https://a.example/{{secret:address}}/mcp?x=1")
    assert shown_address(remote) == "https://a.example/••••/mcp?x=1"
