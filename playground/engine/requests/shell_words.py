"""Words of a command line for a POSIX shell, PowerShell or cmd. Nothing is run or expanded.

``Expansions`` has the names of variables and substitutions, which only the shell can replace. A word has a mark for
each of them; ``MARK`` matches the marks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.foreign import whole

#: Marks are made of lone surrogates, which no decoded text has.
MARK: Final = re.compile("\udc00([0-9]+)\udc01")
_LITERAL: Final = re.compile("\udc02([0-9]+)\udc03")
_ESCAPED_QUOTE: Final = "\udc04"


@dataclass
class SimpleCommand:
    """The words of one command.

    ``standard_input`` is its here-document or here-string, ``operator`` the text that ends it ("|", "&&", a line
    break), and ``redirected`` whether it reads or writes a file.
    """

    words: list[str] = field(default_factory=list)
    standard_input: str | None = None
    operator: str = ""
    redirected: bool = False


class Expansions:
    """Names of shell expansions such as ``$KEY`` and ``$(pass …)``, by the numbers of their marks."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def mark(self, name: str) -> str:
        """Return a new mark for an expansion."""
        self.names.append(name)
        return f"\udc00{len(self.names) - 1}\udc01"

    def names_in(self, text: str) -> list[str]:
        """Return the names of the marks in a text, each once."""
        return list(dict.fromkeys(self.names[int(match[1])] for match in MARK.finditer(text)))

    def replace(self, text: str, replacement: Callable[[str], str]) -> str:
        """Return a text with each mark replaced by ``replacement`` of its name."""
        return MARK.sub(lambda match: replacement(self.names[int(match[1])]), text)


# ---- POSIX -----------------------------------------------------------------------------------------------------------


def _expansion(prefix: str) -> str:
    """Return the pattern of an expansion, its groups named with a prefix; possessive, so that it never backtracks."""
    quote, end, text = (f"{prefix}{name}" for name in ("quote", "end", "text"))
    return (
        rf"\$\(\s*cat\s*<<-?\s*(?P<{quote}>['\"]?)(?P<{end}>\w+)(?P={quote})[ \t]*\n"
        rf"(?P<{text}>.*?)\n?^[ \t]*(?P={end})\s*\)"
        r"|\$\((?:[^()'\"\\]++|'[^']*'|\"(?:[^\"\\]++|\\.)*+\"|\\.|\((?:[^()]++|\([^()]*\))*+\))*+(?:\)|\Z)"
        r"|`[^`]*`|\$(?:\w+|[@*?!#$-]|\{[!#]?(?:env:)?\w+[^}]*\})"
    )


#: Everything but plain characters and operators: quotes, escapes, expansions, comments, here-documents.
_SPECIAL: Final = re.compile(
    r"(?P<joined>\\[ \t]*\n|\n[ \t]*(?=--?[A-Za-z]))"  # a line break without its backslash before an option, too
    r"|(?<![^ \t\n;&|()])(?P<comment>\#[^\n]*)"
    r"|'(?P<single>[^']*)'"
    r"|\$'(?P<ansi>(?:[^'\\]++|\\.)*+)'"
    rf"|\$?\"(?P<double>(?:[^\"\\$`]++|\\.|{_expansion('inner_')}|[$`])*+)\""
    r"|\\(?P<escaped>.?)"
    r"|(?P<herestring><<<)"
    r"|<<-?[ \t]*(?P<heredoc_quote>['\"]?)(?P<heredoc_end>\w+)(?P=heredoc_quote)(?:(?P<line>[^\n]*)\n"
    r"(?P<heredoc>.*?)^[ \t]*(?P=heredoc_end)[ \t]*\r?$)?"
    rf"|(?P<expansion>{_expansion('')})"
    r"|(?<![^ \t\n])(?P<descriptor>[0-9])(?=[<>])"
    r"|(?P<open>\$?['\"])",
    re.DOTALL | re.MULTILINE,
)
_IN_QUOTES: Final = re.compile(rf"\\(?P<escaped>[\"\\$`\n])|(?P<expansion>{_expansion('')})", re.DOTALL | re.MULTILINE)
_NAME: Final = re.compile(r"\$\{?[!#]?((?:env:)?\w+|[@*?!#$-])")
_TOKEN: Final = re.compile(r"[;()<>|&\n`]+|[^ \t\n;()<>|&`]+")


class Posix:
    """Reads the commands of a text. Quoted texts are taken out first, so only small texts are split into words."""

    def __init__(self, text: str, expansions: Expansions) -> None:
        self._expansions = expansions
        self._literals: list[str] = []
        self._errors: dict[int, str] = {}  # by the number of the literal
        self._tokens = iter(_TOKEN.findall(self._without_literals(text)))

    @property
    def rest(self) -> str:
        """The text after the last command read; reading it ends the commands."""
        return _LITERAL.sub(lambda match: self._literals[int(match[1])], "".join(self._tokens))

    def commands(self) -> Iterator[SimpleCommand]:
        """Yield the commands. Raises ValueError for a quotation mark or a here-document without an end in them."""
        command = SimpleCommand()
        for token in self._tokens:
            if token[0] not in ";()<>|&\n`":
                command.words.append(self._word(token))
            elif token.startswith("<<<"):
                command.standard_input = self._word(next(self._tokens, ""))
            elif "<" in token or ">" in token:
                self._word(next(self._tokens, ""))
                command.redirected = True
            elif command.words:
                command.operator = token
                yield command
                command = SimpleCommand()
        if command.words:
            yield command

    def _word(self, token: str) -> str:
        def literal(match: re.Match[str]) -> str:
            number = int(match[1])
            if number in self._errors:
                raise ValueError(self._errors[number])
            return self._literals[number]

        return _LITERAL.sub(literal, token)

    def _literal(self, text: str, error: str = "") -> str:
        """Return a mark for a text that is not split."""
        self._literals.append(text)
        if error:
            self._errors[len(self._literals) - 1] = error
        return f"\udc02{len(self._literals) - 1}\udc03"

    def _without_literals(self, text: str) -> str:
        def replacement(match: re.Match[str]) -> str:
            if match["joined"] is not None:
                return "" if match[0].startswith("\\") else " "
            if match["comment"] is not None or match["descriptor"] is not None:
                return ""
            if match["herestring"] is not None:
                return " <<< "
            if match["heredoc_end"] is not None:
                return self._heredoc(match)
            if match["open"] is not None:
                mark, line = match[0][-1], text.count("\n", 0, match.start()) + 1
                return self._literal(mark, f"The quotation mark {mark} in line {line} is never closed.")
            if match["expansion"] is not None:
                return self._literal(self._expanded(match[0]))
            if match["ansi"] is not None:
                return self._literal(unescape(match["ansi"]))
            if match["double"] is not None:
                return self._literal(self._expanded(match["double"]))
            return self._literal(match["single"] or match["escaped"] or "")

        return _SPECIAL.sub(replacement, text)

    def _heredoc(self, match: re.Match[str]) -> str:
        end, text = match["heredoc_end"], match["heredoc"]
        if text is None:
            error = f"The text after <<{end} is never closed by a line {end}."
            return f" <<< {self._literal('', error)} "
        text = text if match["heredoc_quote"] else self._expanded(text, heredoc=True)
        return f" <<< {self._literal(text)} {self._without_literals(match['line'])}"

    def _expanded(self, text: str, *, heredoc: bool = False) -> str:
        """Return a text in double quotes with its escapes replaced and marks for its expansions."""

        def replacement(match: re.Match[str]) -> str:
            if match["escaped"] is not None:
                return match[0] if heredoc and match["escaped"] == '"' else match["escaped"].strip("\n")
            if match["text"] is not None:
                return match["text"] if match["quote"] else self._expanded(match["text"], heredoc=True)
            if match[0].startswith(("$(", "`")):
                return self._expansions.mark(_substitution_name(match[0].lstrip("$(`")))
            name = _NAME.match(match[0])
            return self._expansions.mark(f"${name[1]}" if name is not None else match[0])

        return _IN_QUOTES.sub(replacement, text)


def _substitution_name(command: str) -> str:
    """Return a name for the output of a command, without its arguments, which may be secrets."""
    program = re.match(r"\s*([A-Za-z][\w.-]{0,30})(?=[\s)`]|\Z)", command)
    return f"$({program[1]} …)" if program else "$(…)"


_ESCAPE: Final = re.compile(
    rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.)|(.))", re.DOTALL
)
_LETTERS: Final = dict(zip(b"ntrabeEfv", b"\n\t\r\a\b\x1b\x1b\f\v", strict=True))


def unescape(text: str) -> str:
    """Return the content of ``$'…'``: \\x and octal escapes are bytes of UTF-8, surrogate pairs are joined."""

    def replacement(match: re.Match[bytes]) -> bytes:
        hexadecimal, octal, short, long, control, letter = match.groups()
        if hexadecimal or octal:
            return bytes([(int(hexadecimal, 16) if hexadecimal else int(octal, 8)) & 0xFF])
        if short or long:
            point = int(short or long, 16)
            return (chr(point) if point < 0x110000 else "\ufffd").encode("utf-8", "surrogatepass")
        if control:
            return bytes([control[0] & 0x1F])
        if letter[0] in _LETTERS:
            return bytes([_LETTERS[letter[0]]])
        return letter if letter in b"\\'\"?" else b"\\" + letter

    data = _ESCAPE.sub(replacement, text.encode("utf-8", "surrogatepass"))
    try:
        return whole(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


# ---- PowerShell ------------------------------------------------------------------------------------------------------

_POWERSHELL: Final = re.compile(
    r"@'[ \t]*\n(?P<raw>.*?)\n'@|@\"[ \t]*\n(?P<text>.*?)\n\"@|'(?P<single>(?:[^']|'')*)'"
    r"|\"(?P<double>(?:[^\"`]|\"\"|`.)*)\"|`(?P<continued>[ \t]*\n)|`(?P<escaped>.)|\$(?P<variable>env:\w+)"
    r"|(?P<backslash>\\)",
    re.DOTALL,
)
_IN_TEXT: Final = re.compile(r"`(?P<escaped>.)|(?P<doubled>\"\")|(?P<plain>[\"\\])|\$(?P<variable>env:\w+)", re.DOTALL)
_BACKTICKS: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b"}


def powershell_as_posix(text: str) -> str:
    """Rewrite a PowerShell command for a POSIX shell: backtick escapes, doubled quotes, here-strings."""

    def replacement(match: re.Match[str]) -> str:
        kind = match.lastgroup
        value = match[kind or 0]
        match kind:
            case "raw":
                return shlex.quote(value)
            case "single":
                return shlex.quote(value.replace("''", "'"))
            case "text" | "double":
                return f'"{_IN_TEXT.sub(_rewritten_text, value)}"'
            case "continued":
                return "\\\n"
            case "variable":
                return f"${{{value}}}"
            case "escaped":
                return shlex.quote(_BACKTICKS.get(value, value))
            case _:
                return "\\\\"

    return _POWERSHELL.sub(replacement, text)


def _rewritten_text(match: re.Match[str]) -> str:
    if match["variable"]:
        return f"${{{match['variable']}}}"
    if match["doubled"]:
        return '\\"'
    value = _BACKTICKS.get(match["escaped"], match["escaped"]) if match["escaped"] else match["plain"]
    return f"\\{value}" if value in '"\\$`' else value


# ---- cmd -------------------------------------------------------------------------------------------------------------

_CMD: Final = re.compile(r"\"[^\"]*\"?|\^[ \t]*\n(?P<next_line>.?)|\^(?P<escaped>.)|(?P<end>[\n|&<>])", re.DOTALL)
_PERCENT: Final = re.compile(r"%([A-Za-z_]\w{2,})%")  # at least three letters: %E2%80%93 is part of an address


def read_cmd(text: str, expansions: Expansions) -> tuple[list[str], str]:
    """Return the words of the first command for cmd, and the text after it.

    Raises ValueError for a quotation mark without an end.
    """
    text = _PERCENT.sub(lambda name: expansions.mark(name[0]), text.lstrip())
    end = next((match for match in _CMD.finditer(text) if match["end"]), None)
    line, rest = (text, "") if end is None else (text[: end.start()], text[end.end() :])

    def replacement(match: re.Match[str]) -> str:
        return match["next_line"] if match["next_line"] is not None else match["escaped"] or match[0]

    return _windows_words(_CMD.sub(replacement, line)), rest


def _windows_words(line: str) -> list[str]:
    """Split a command line like Microsoft's C runtime: a backslash escapes only before a quotation mark."""

    def escape(match: re.Match[str]) -> str:
        return "\\" * (len(match[1]) // 2) + (_ESCAPED_QUOTE if len(match[1]) % 2 else '"')

    line = re.sub(r'(?<!\\)(\\*+)"', escape, line)
    if line.count('"') % 2:
        raise ValueError('A quotation mark " is never closed.')
    quoted = r'"((?:[^"]++|"")*+)"'
    words = [match[0] for match in re.finditer(rf'(?:[^\s"]++|{quoted})+', line)]
    return [
        re.sub(quoted, lambda match: match[1].replace('""', '"'), word).replace(_ESCAPED_QUOTE, '"') for word in words
    ]
