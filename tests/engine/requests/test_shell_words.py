"""Words of shell commands; those of POSIX are compared with the words that bash passes on."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.engine.requests.shell_words import Expansions, Posix, powershell_as_posix, read_cmd
from tests.support.each_case import each_case
from tests.support.required_tools import BASH, requires


def split(text: str) -> tuple[list[str], str | None, str, list[str]]:
    """Return words and standard input of the first command, the text after it, and the names of its expansions."""
    expansions = Expansions()
    shell = Posix(text, expansions)
    command = next(shell.commands())
    texts = [expansions.replace(word, "<{}>".format) for word in (*command.words, command.standard_input or "")]
    rest = "redirected" if command.redirected else shell.rest.strip("\n;")
    return texts[:-1], texts[-1] or command.standard_input, rest, expansions.names


def words_of(text: str) -> list[str]:
    return split(text)[0]


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
    assert [words_of(command)[1:] for command in COMMANDS] == passed


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])), max_size=5))
@example(["^\n"])
@example([" `\n", '^"', "'^ \n", "\\^\n"])
def test_quoted_words_are_read_unchanged(words: list[str]) -> None:
    assert words_of(shlex.join(["curl", *words])) == ["curl", *words]


@each_case(
    ("text", "words", "standard_input", "names"),
    [
        ('curl -d @- <<\'EOF\' -H a\n{"a": "$x"}\nEOF\n', ["curl", "-d", "@-", "-H", "a"], '{"a": "$x"}\n', []),
        ('curl -d @- <<EOF\n{"a": "$x \\$y"}\nEOF\n', ["curl", "-d", "@-"], '{"a": "<$x> $y"}\n', ["$x"]),
        ("curl -d @- <<< 'text'", ["curl", "-d", "@-"], "text", []),
        ('curl -d "$(cat <<\'EOF\'\n{"a": "b"}\nEOF\n)" x', ["curl", "-d", '{"a": "b"}', "x"], None, []),
        (
            "curl \"$HOME/${USER:-me}\" $(pass show key) `id` *.json ~ '$HOME'",
            ["curl", "<$HOME>/<$USER>", "<$(pass …)>", "<$(id …)>", "*.json", "~", "$HOME"],
            None,
            ["$HOME", "$USER", "$(pass …)", "$(id …)"],
        ),
    ],
)
def test_here_document_or_expansion_is_a_text_or_a_name(
    text: str, words: list[str], standard_input: str | None, names: list[str]
) -> None:
    assert split(text) == (words, standard_input, "", names)


@each_case(
    ("text", "words", "has_rest"),
    [
        ("curl x | jq .", ["curl", "x"], True),
        ("curl x > file", ["curl", "x"], True),
        ("curl x; rm y", ["curl", "x"], True),
        ("curl x\necho done", ["curl", "x"], True),
        ("curl x;\n\n", ["curl", "x"], False),
        ("curl x\n-H 'a: b'\n", ["curl", "x", "-H", "a: b"], False),  # a forgotten backslash
    ],
)
def test_text_after_the_command_is_its_rest(text: str, words: list[str], has_rest: bool) -> None:
    command, _, rest, _ = split(text)
    assert (command, bool(rest)) == (words, has_rest)


def test_cmd_and_powershell_words_lose_their_escapes() -> None:
    text = (
        'curl ^"https://x/v1^" ^\n  -H ^"a: b^" ^\n  '
        '--data-raw ^"^{^\\^"a^\\^": ^\\^"it^\'s 100^% ^^ ^\\^\\n^\\^"^}^"\n'
    )
    data = '{"a": "it\'s 100% ^ \\\\n"}'
    assert read_cmd(text, Expansions())[0] == ["curl", "https://x/v1", "-H", "a: b", "--data-raw", data]
    text = 'curl ^\n -d "{\\"a\\":1}" "" "a""b"'
    assert read_cmd(text, Expansions())[0] == ["curl", "-d", '{"a":1}', "", 'a"b']
    text = 'curl.exe -X POST `\n  -H \'it\'\'s\' `\n  -d "say `"hi`" ""there"" `$x $env:KEY`n" https://x; echo'
    words, _, rest, names = split(powershell_as_posix(text))
    data = 'say "hi" "there" $x <$env:KEY>\n'
    assert words == ["curl.exe", "-X", "POST", "-H", "it's", "-d", data, "https://x"]
    assert (rest.strip(), names) == ("echo", ["$env:KEY"])


@each_case("text", ["curl 'a", 'curl "a', "curl $'a", "curl -d @- <<EOF\n{", "curl > 'a"])
def test_open_quotation_mark_or_here_document_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="never closed"):
        split(text)
