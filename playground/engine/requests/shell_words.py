"""The words of a command line as its shell makes them: a POSIX shell, PowerShell, or cmd. Nothing is run or expanded.

A variable and the output of another command are known to the shell alone. In a word a mark stands for each, and
``Unknown`` has their names; ``MARK`` finds the marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.foreign import whole

#: Lone surrogates, which no text has that was decoded.
MARK: Final = re.compile("\udc00([0-9]+)\udc01")


@dataclass
class SimpleCommand:
    """The words of one command.

    ``standard_input`` is the text of its here-document, ``operator`` what ends it ("|", "&&", a line end; empty at the
    end of the text), and ``redirected`` whether it names a file for its input or output.
    """

    words: list[str] = field(default_factory=list)
    standard_input: str | None = None
    operator: str = ""
    redirected: bool = False


class Unknown:
    """What only the shell knows: names such as ``$KEY`` and ``$(pass …)``, by the numbers of their marks."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def mark(self, name: str) -> str:
        """A mark for what has this name."""
        self.names.append(name)
        return f"\udc00{len(self.names) - 1}\udc01"

    def names_in(self, text: str) -> list[str]:
        """The names of the marks in ``text``, each once."""
        return list(dict.fromkeys(self.names[int(match[1])] for match in MARK.finditer(text)))

    def replace(self, text: str, replacement: Callable[[str], str]) -> str:
        """``text`` with the replacement of each name in the place of its mark."""
        return MARK.sub(lambda match: replacement(self.names[int(match[1])]), text)


# ---- POSIX -----------------------------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"""(?P<blank>(?:[ \t]|\\[ \t]*\n)+)
    |(?P<forgotten_backslash>\n[ \t]*(?=--?[A-Za-z]))
    |(?P<comment>\#[^\n]*)
    |(?P<herestring><<<(?:[ \t]|\\\n)*)
    |(?P<heredoc><<-?[ \t]*(?P<quote>['"]?)(?P<end>\w+)(?P=quote))
    |(?P<redirection>[0-9]?(?:>[>|]?|<)&?[ \t]*(?!\())
    |(?P<operator>\|[|&]?|&&?|[;()<>\n])""",
    re.VERBOSE,
)
_PART: Final = re.compile(
    r"""(?P<plain>[^ \t\n'"\\$`|;&<>()]+)
    |(?P<single>'[^']*')
    |(?P<ansi>\$'(?:[^'\\]|\\.)*')
    |(?P<double>\$?")
    |(?P<joined>\\[ \t]*\n)
    |(?P<escaped>\\.?)
    |(?P<expansion>[$`])""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE: Final = re.compile(
    r"(?P<plain>[^\"\\$`]+)|(?P<end>\")|\\(?P<escaped>[\"\\$`\n])|(?P<backslash>\\)|(?P<expansion>[$`])"
)
_VARIABLE: Final = re.compile(r"\$(?:(\w+|[@*?!#$-])|\{[!#]?((?:env:)?\w+)[^}]*\})")
_CAT: Final = re.compile(r"\$\(\s*cat\s*<<-?\s*(['\"]?)(\w+)\1[ \t]*\n(.*?)\n?^[ \t]*\2\s*\)", re.DOTALL | re.MULTILINE)
_IN_SUBSTITUTION: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[()]|[^()'\"\\]+|.", re.DOTALL)


class Posix:
    """Reads the commands of a text, run by run, so that a body of megabytes costs little.

    ``rest`` is what was not read yet. Raises ValueError for a quotation mark or a here-document without an end.
    """

    def __init__(self, text: str, unknown: Unknown) -> None:
        self._text, self._at, self._unknown = text, 0, unknown

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def commands(self) -> Iterator[SimpleCommand]:
        """The commands one after another; their text is read as far as they are asked for."""
        command = SimpleCommand()
        while self._at < len(self._text):
            token = _TOKEN.match(self._text, self._at)
            start = self._at
            if token is None:
                word = self._word()
                if self._at == start:  # a backtick without an end, as Markdown has it behind a command
                    break
                command.words.append(word)
                continue
            kind = token.lastgroup
            self._at = token.end()
            if kind == "forgotten_backslash" and not command.words:
                self._at = start + 1
            elif kind == "herestring":
                command.standard_input = self._word()
            elif kind == "heredoc":
                command.standard_input = self._heredoc(token)
            elif kind == "redirection":
                self._word()
                command.redirected = True
            elif kind == "operator" and command.words:
                command.operator = token[0]
                yield command
                command = SimpleCommand()
        if command.words:
            yield command

    def _word(self) -> str:
        parts: list[str] = []
        while part := _PART.match(self._text, self._at):
            if part.lastgroup == "expansion":
                if (text := self._expansion()) is None:
                    break
                parts.append(text)
                continue
            self._at = part.end()
            match part.lastgroup:
                case "plain":
                    parts.append(part[0])
                case "single":
                    parts.append(part[0][1:-1])
                case "ansi":
                    parts.append(unescape(part[0][2:-1]))
                case "double":
                    parts.append(self._double(part.start()))
                case "escaped":
                    parts.append(part[0][1:])
        if self._text.startswith(("'", "$'"), self._at):
            raise self._open_quote("'", self._at)
        return "".join(parts)

    def _open_quote(self, mark: str, start: int) -> ValueError:
        line = self._text.count("\n", 0, start) + 1
        return ValueError(f"The quotation mark {mark} in line {line} is never closed.")

    def _double(self, start: int) -> str:
        parts: list[str] = []
        while part := _IN_DOUBLE.match(self._text, self._at):
            kind = part.lastgroup
            if kind == "expansion":
                text = self._expansion()
                if text is None:
                    text, self._at = part[0], part.end()
                parts.append(text)
                continue
            self._at = part.end()
            if kind == "end":
                return "".join(parts)
            parts.append("" if part[0] == "\\\n" else part[kind or 0])
        raise self._open_quote('"', start)

    def _expansion(self) -> str | None:
        """The mark of a variable or of a command's output; the text of ``$(cat <<'END' …)``.

        None for a backtick without an end, where nothing is read.
        """
        text, at = self._text, self._at
        if cat := _CAT.match(text, at):
            self._at = cat.end()
            return cat[3] if cat[1] else self._expanded(cat[3])
        if variable := _VARIABLE.match(text, at):
            self._at = variable.end()
            return self._unknown.mark(f"${variable[1] or variable[2]}")
        if text.startswith("$(", at):
            end = _end_of_substitution(text, at + 2)
            self._at = end
            return self._unknown.mark(_substitution_name(text[at + 2 : end]))
        if text[at] == "`":
            end = text.find("`", at + 1)
            if end < 0:
                return None
            self._at = end + 1
            return self._unknown.mark(_substitution_name(text[at + 1 : end]))
        self._at = at + 1
        return "$"

    def _expanded(self, text: str) -> str:
        """The text of a here-document whose end is not quoted: quotation marks are text in it."""
        return Posix(f'"{_QUOTES_IN_HEREDOC.sub(_quoted, text)}"', self._unknown)._word()

    def _heredoc(self, opening: re.Match[str]) -> str:
        """Take the text of a here-document out of the text, and return it."""
        line_end = self._text.find("\n", opening.end())
        end = re.compile(rf"^[ \t]*{opening['end']}[ \t]*\r?$", re.MULTILINE)
        closing = end.search(self._text, line_end + 1) if line_end >= 0 else None
        if closing is None:
            raise ValueError(f"The text after <<{opening['end']} is never closed by a line {opening['end']}.")
        body = self._text[line_end + 1 : closing.start()]
        self._text = self._text[:line_end] + self._text[closing.end() :]
        return body if opening["quote"] else self._expanded(body)


_QUOTES_IN_HEREDOC: Final = re.compile(r'\\.|"', re.DOTALL)


def _quoted(match: re.Match[str]) -> str:
    """A quotation mark of a here-document, as it is written inside of double quotes."""
    return {'"': '\\"', '\\"': '\\\\\\"'}.get(match[0], match[0])


def _end_of_substitution(text: str, start: int) -> int:
    """The place after the ``)`` of a ``$(`` whose content begins at ``start``; the end of the text without one."""
    depth = 1
    for piece in _IN_SUBSTITUTION.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if not depth:
            return piece.end()
    return len(text)


def _substitution_name(command: str) -> str:
    """A name for the output of a command that shows its program and no argument, which may be a secret."""
    program = re.match(r"\s*([A-Za-z][\w.-]{0,30})(?=[\s)]|\Z)", command)
    return f"$({program[1]} …)" if program else "$(…)"


_ESCAPES: Final = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS: Final = dict(zip("ntrabeEfv", "\n\t\r\a\b\x1b\x1b\f\v", strict=True))


def unescape(text: str) -> str:
    """The content of ``$'…'``: hexadecimal and octal escapes are bytes of UTF-8, halves of pairs are joined."""
    data = bytearray()
    at = 0
    for escape in _ESCAPES.finditer(text):
        data += text[at : escape.start()].encode("utf-8", "surrogatepass")
        at = escape.end()
        kind, value = escape.lastgroup, escape[escape.lastgroup or 0]
        if kind in ("hex", "octal"):
            data.append(int(value, 16 if kind == "hex" else 8) & 0xFF)
            continue
        if kind in ("short", "long"):
            point = int(value, 16)
            value = chr(point) if point < 0x110000 else "\ufffd"
        elif kind == "control":
            value = chr(ord(value) & 0x1F)
        else:
            value = _LETTERS.get(value, value if value in "\\'\"?" else f"\\{value}")
        data += value.encode("utf-8", "surrogatepass")
    data += text[at:].encode("utf-8", "surrogatepass")
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
    """A PowerShell command as a POSIX shell writes it: its backtick escapes and continues, its quotes are doubled."""

    def rewrite(match: re.Match[str]) -> str:
        kind = match.lastgroup
        value = match[kind or 0]
        match kind:
            case "raw":
                return _in_single(value)
            case "single":
                return _in_single(value.replace("''", "'"))
            case "text" | "double":
                return f'"{_IN_TEXT.sub(_rewrite_text, value)}"'
            case "continued":
                return "\\\n"
            case "variable":
                return f"${{{value}}}"
            case "escaped":
                return _in_single(_BACKTICKS.get(value, value))
            case _:
                return "\\\\"

    return _POWERSHELL.sub(rewrite, text)


def _rewrite_text(match: re.Match[str]) -> str:
    if match["variable"]:
        return f"${{{match['variable']}}}"
    if match["doubled"]:
        return '\\"'
    value = _BACKTICKS.get(match["escaped"], match["escaped"]) if match["escaped"] else match["plain"]
    return f"\\{value}" if value in '"\\$`' else value


def _in_single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# ---- cmd -------------------------------------------------------------------------------------------------------------

_CARET: Final = re.compile(
    r"(?P<continued>\^[ \t]*\n)|\^(?P<escaped>.)|(?P<quote>\")|(?P<end>[\n|&<>])|(?P<plain>[^\^\"\n|&<>]+|\^)",
    re.DOTALL,
)
_WINDOWS: Final = re.compile(r"(\\*)\"|(\\+)|([^\\\"\s]+)|(\s+)")
_PERCENT: Final = re.compile(r"%([A-Za-z_]\w{2,})%")  # longer than two of them: %E2%80%93 is a part of an address


def read_cmd(text: str, unknown: Unknown) -> tuple[SimpleCommand, str]:
    """The first command of Windows' cmd, and what follows it. Raises ValueError for a quotation mark without an end."""
    plain: list[str] = []
    quoted = False
    at = 0
    while piece := _CARET.match(text, at):
        kind = piece.lastgroup
        if quoted and text[at] == "^":  # an escape outside of quotes only
            plain.append("^")
            at += 1
            continue
        if kind == "end" and not quoted and "".join(plain).strip():
            break
        at = piece.end()
        if kind == "quote":
            quoted = not quoted
        if kind == "continued":
            plain.append(text[at : at + 1])  # the caret escapes what begins the next line
            at += 1
        elif kind == "plain":
            plain.append(_PERCENT.sub(lambda name: unknown.mark(name[0]), piece[0]))
        else:
            plain.append(piece["escaped"] or piece[0])
    return SimpleCommand(_windows_words("".join(plain)), operator=text[at : at + 1]), text[at + 1 :]


def _windows_words(text: str) -> list[str]:
    """Words as programs on Windows take them out of their command line."""
    words: list[str] = []
    word: str | None = None
    quoted = False
    at = 0
    while piece := _WINDOWS.match(text, at):
        slashes, backslashes, plain, blank = piece.groups()
        at = piece.end()
        if blank is not None and not quoted:
            if word is not None:
                words.append(word)
            word = None
        elif slashes is not None:
            word = (word or "") + "\\" * (len(slashes) // 2)
            if len(slashes) % 2 == 1:
                word += '"'
            elif quoted and text.startswith('"', at):
                word += '"'
                at += 1
            else:
                quoted = not quoted
        else:
            word = (word or "") + (backslashes or plain or blank or "")
    if quoted:
        raise ValueError('A quotation mark " is never closed.')
    return [*words, word] if word is not None else words
