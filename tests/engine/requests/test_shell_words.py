"""Words of shell commands; those of POSIX are compared with the words that bash passes on."""

from __future__ import annotations

import shlex
import subprocess
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.engine.requests.shell_words import Expansions, Posix, powershell_as_posix, read_cmd
from tests.support.each_case import each_case
from tests.support.required_tools import BASH, requires


class First(NamedTuple):
    """The first command of a text, what follows it, and the names of what only the shell knows."""

    words: list[str]
    standard_input: str | None
    rest: str
    unknown: list[str]


def split(text: str) -> First:
    unknown = Expansions()
    lexer = Posix(text, unknown)
    command = next(lexer.commands())
    words = [unknown.replace(word, lambda name: f"<{name}>") for word in command.words]
    given = command.standard_input
    given = given if given is None else unknown.replace(given, lambda name: f"<{name}>")
    return First(words, given, "redirected" if command.redirected else lexer.rest.strip("\n;"), unknown.names)


def in_cmd(text: str) -> list[str]:
    return read_cmd(text.replace("\r\n", "\n"), Expansions())[0]


COMMANDS = [
    "curl a b",
    "curl 'it'\\''s' \"say \\\"hi\\\" \\\\ \\x\" a\\ b \"\" ''",
    "curl \\\n  -d '{\n  \"a\": 1\n}' \\\n  https://x",
    "curl $'a\\nb\\t\\'q\\' \\\\ \\x41 \\xc3\\xa9 \\u00e9 \\U0001F600 \\101 \\e[0m'",
    "curl pre'mid'\"dle\"post",
    "curl a#b # comment",
    'curl "two\nlines" "joined\\\nhere"',
]


@requires(BASH)
def test_words_are_those_that_bash_passes_to_the_command() -> None:
    show = """curl() { printf '%s\\0' "$@"; printf '\\1'; }\n"""
    script = show + "\n".join(COMMANDS) + "\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    passed = [words.split("\0")[:-1] for words in done.stdout.decode().split("\1")[:-1]]
    assert [split(command).words[1:] for command in COMMANDS] == passed


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])), max_size=5))
@example(["^\n"])
@example([" `\n", '^"', "'^ \n", "\\^\n"])
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split(shlex.join(["curl", *words])).words == ["curl", *words]


def test_here_documents() -> None:
    quoted = split('curl -d @- <<\'EOF\' -H a\n{"a": "$x"}\nEOF\n')
    assert (quoted.words, quoted.standard_input, quoted.unknown) == (
        ["curl", "-d", "@-", "-H", "a"],
        '{"a": "$x"}\n',
        [],
    )
    plain = split('curl -d @- <<EOF\n{"a": "$x \\$y"}\nEOF\n')
    assert (plain.standard_input, plain.unknown) == ('{"a": "<$x> $y"}\n', ["$x"])
    assert split("curl -d @- <<< 'text'").standard_input == "text"
    assert split('curl -d "$(cat <<\'EOF\'\n{"a": "b"}\nEOF\n)" x').words == ["curl", "-d", '{"a": "b"}', "x"]


def test_rest_after_the_command_is_reported() -> None:
    assert split("curl x | jq .").rest
    assert split("curl x > file").rest
    assert split("curl x; rm y").words == ["curl", "x"]
    assert split("curl x\necho done").rest
    assert not split("curl x;\n\n").rest
    assert not split("curl x\n-H 'a: b'\n").rest  # a forgotten backslash
    assert split("curl x\n-H 'a: b'\n").words == ["curl", "x", "-H", "a: b"]


def test_variables_and_globs_are_not_expanded() -> None:
    found = split("curl \"$HOME/${USER:-me}\" $(pass show key) `id` *.json ~ '$HOME'")
    assert found.unknown == ["$HOME", "$USER", "$(pass …)", "$(id …)"]
    assert found.words == ["curl", "<$HOME>/<$USER>", "<$(pass …)>", "<$(id …)>", "*.json", "~", "$HOME"]


def test_words_of_windows_cmd_and_powershell() -> None:
    text = (
        'curl ^"https://x/v1^" ^\r\n  -H ^"a: b^" ^\r\n  '
        '--data-raw ^"^{^\\^"a^\\^": ^\\^"it^\'s 100^% ^^ ^\\^\\n^\\^"^}^"\r\n'
    )
    assert in_cmd(text) == ["curl", "https://x/v1", "-H", "a: b", "--data-raw", '{"a": "it\'s 100% ^ \\\\n"}']
    assert in_cmd('curl ^\r\n -d "{\\"a\\":1}" "" "a""b"') == ["curl", "-d", '{"a":1}', "", 'a"b']
    text = 'curl.exe -X POST `\n  -H \'it\'\'s\' `\n  -d "say `"hi`" ""there"" `$x $env:KEY`n" https://x; echo'
    found = split(powershell_as_posix(text))
    said = 'say "hi" "there" $x <$env:KEY>\n'
    assert found.words == ["curl.exe", "-X", "POST", "-H", "it's", "-d", said, "https://x"]
    assert (found.unknown, bool(found.rest)) == (["$env:KEY"], True)


@each_case("text", ["curl 'a", 'curl "a', "curl $'a", "curl -d @- <<EOF\n{"])
def test_open_quotation_mark_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="never closed"):
        split(text)
