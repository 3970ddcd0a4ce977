"""A command as pasted, taken apart into words as its shell would: POSIX shells, Windows' cmd, PowerShell.

Nothing is executed, opened or expanded: variables stay as they are written and are reported by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.foreign import whole


@dataclass
class Words:
    """What a command line holds.

    ``standard_input`` is the text of a here-document, None without one. ``variables`` are the names that a shell would
    have replaced. ``rest`` says whether something followed the command (a pipe, a redirection, another command), and
    ``substitutions`` whether part of it is the output of other commands.
    """

    words: list[str] = field(default_factory=list)
    standard_input: str | None = None
    variables: list[str] = field(default_factory=list)
    rest: bool = False
    substitutions: bool = False


def split(text: str) -> Words:
    """The words of the first command in ``text``. Raises ValueError for a quotation mark that is never closed."""
    text = text.replace("\r\n", "\n")
    bare = _bare(text)
    if re.search(r"\^[ \t]*\n|\^\"", bare):
        return _split_cmd(text)
    if re.search(r"(?<!\S)`[ \t]*\n", bare) or re.match(r"\s*curl\.exe\b", text):
        return _split_powershell(text)
    return _Posix(text).split()


_QUOTED: Final = re.compile(r"\$'(?:[^'\\]|\\.)*'|'[^']*'|(\"(?:[^\"\\]|\\.)*\"?)|\\.", re.DOTALL)


def _bare(text: str) -> str:
    """The text without what a POSIX shell takes as quoted, of which some quotation marks are left.

    What another shell's marks stand for is told by where they stand: within quotes they are anybody's.
    """
    return _QUOTED.sub(lambda found: '"' if found[1] else "''", text) if "^" in text or "`" in text else ""


_BLANK: Final = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN: Final = re.compile(r"[^\s'\"\\$`|;&<>()]+")
_IN_DOUBLE: Final = re.compile(r"[^\"\\$`]+")
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)[^}]*\})")
_CAT: Final = re.compile(
    r"\$\(\s*cat\s*<<-?\s*(['\"]?)(\w+)\1[ \t]*\n(.*?)\n?[ \t]*^[ \t]*\2\s*\)", re.DOTALL | re.MULTILINE
)
_HEREDOC: Final = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_ANSI: Final = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_NEXT_OPTION: Final = re.compile(r"\n[ \t]*(?=--?[A-Za-z])")


class _Posix:
    """One pass over the text, run by run, so that a body of megabytes costs little."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Words()

    def split(self) -> Words:
        while self.at < len(self.text):
            here = self.text[self.at]
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            elif here == "\n":
                option = _NEXT_OPTION.match(self.text, self.at)  # a forgotten backslash: no command begins with "-"
                if option is None and self.found.words:
                    self._end()
                    break
                self.at = option.end() if option else self.at + 1
            elif here == "#":
                self.at = (self.text + "\n").index("\n", self.at)
            elif self.text.startswith("<<<", self.at):
                self.at = self._skip_blanks(self.at + 3)
                self.found.standard_input = self._word()
            elif self.text.startswith("<<", self.at):
                self._heredoc()
            elif here in "|;&<>()":
                self._end()
                break
            else:
                self.found.words.append(self._word())
        return self.found

    def _end(self) -> None:
        self.found.rest = bool(self.text[self.at :].strip(" \t\n;"))

    def _skip_blanks(self, at: int) -> int:
        blank = _BLANK.match(self.text, at)
        return blank.end() if blank else at

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            here = self.text[self.at]
            if plain := _PLAIN.match(self.text, self.at):
                parts.append(plain[0])
                self.at = plain.end()
            elif here == "'":
                end = self._closing("'", self.at + 1)
                parts.append(self.text[self.at + 1 : end])
                self.at = end + 1
            elif here == '"':
                parts.append(self._double())
            elif self.text.startswith("$'", self.at):
                quoted = _ANSI.match(self.text, self.at + 1)
                if quoted is None:
                    self._closing("'", len(self.text))
                    break
                parts.append(_unescaped(quoted[1]))
                self.at = quoted.end()
            elif here in "$`":
                parts.append(self._expansion())
            elif here == "\\":
                if self.text[self.at + 1 : self.at + 2] != "\n":
                    parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            else:
                break
        return "".join(parts)

    def _closing(self, mark: str, start: int) -> int:
        end = self.text.find(mark, start)
        if end < 0:
            line = self.text.count("\n", 0, self.at) + 1
            raise ValueError(f"The quotation mark {mark} in line {line} is never closed.")
        return end

    def _double(self) -> str:
        parts: list[str] = []
        opened, self.at = self.at, self.at + 1
        while self.at < len(self.text):
            here = self.text[self.at]
            if plain := _IN_DOUBLE.match(self.text, self.at):
                parts.append(plain[0])
                self.at = plain.end()
            elif here == '"':
                self.at += 1
                return "".join(parts)
            elif here == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append(escaped if escaped in '"\\$`' else "" if escaped == "\n" else f"\\{escaped}")
                self.at += 2
            else:
                parts.append(self._expansion())
        self.at = opened
        self._closing('"', len(self.text))
        return ""

    def _expansion(self) -> str:
        """A variable or a command's output, as it is written; of ``$(cat <<'END' …)`` the text."""
        if cat := _CAT.match(self.text, self.at):
            self.at = cat.end()
            return cat[3] if cat[1] else self._expanded(cat[3])
        if variable := _VARIABLE.match(self.text, self.at):
            self.found.variables.append(variable[1] or variable[2])
            self.at = variable.end()
            return variable[0]
        if self.text.startswith("$(", self.at) or self.text[self.at] == "`":
            self.found.substitutions = True
        self.at += 1
        return self.text[self.at - 1]

    def _expanded(self, text: str) -> str:
        """The text of a here-document whose end is not quoted."""
        self.found.variables += [one or other for one, other in _VARIABLE.findall(re.sub(r"\\.", "", text))]
        return re.sub(r"\\([\\$`])", r"\1", text.replace("\\\n", ""))

    def _heredoc(self) -> None:
        opening = _HEREDOC.match(self.text, self.at)
        if opening is None:
            self._end()
            self.text = self.text[: self.at]
            return
        line_end = (self.text + "\n").index("\n", opening.end())
        closing = re.compile(rf"^[ \t]*{opening[2]}[ \t]*$", re.MULTILINE).search(self.text, line_end + 1)
        if closing is None:
            raise ValueError(f"The text after <<{opening[2]} is never closed by a line {opening[2]}.")
        body = self.text[line_end + 1 : closing.start()]
        self.found.standard_input = body if opening[1] else self._expanded(body)
        self.text = self.text[: self.at] + self.text[opening.end() : line_end] + self.text[closing.end() :]


_ESCAPES: Final = re.compile(
    r"\\(?:((?:x[0-9a-fA-F]{1,2})(?:\\x[0-9a-fA-F]{1,2})*)|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_LETTERS: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}


def _unescaped(text: str) -> str:
    """What stands between ``$'`` and ``'``; bytes are read as UTF-8, halves of pairs joined."""

    def one(found: re.Match[str]) -> str:
        octets, short, long, octal, letter = found.groups()
        if octets:
            return bytes(int(pair, 16) for pair in re.split(r"\\?x", octets)[1:]).decode("utf-8", "replace")
        if short or long:
            point = int(short or long, 16)
            return chr(point) if point < 0x110000 else "\ufffd"
        if octal:
            return chr(int(octal, 8) & 0xFF)
        return _LETTERS.get(letter, letter if letter in "\\'\"?" else f"\\{letter}")

    return whole(_ESCAPES.sub(one, text))


def _split_cmd(text: str) -> Words:
    """Windows' cmd: first the carets, then quotation marks and backslashes as programs there read them."""
    plain: list[str] = []
    quoted = False
    at = 0
    rest = False
    while at < len(text):
        here = text[at]
        if here == "^" and not quoted:
            continued = re.compile(r"\^[ \t]*\n").match(text, at)
            at = continued.end() if continued else at + 1
            plain.append(text[at : at + 1])
            at += 1
            continue
        if here == '"':
            quoted = not quoted
        elif not quoted and here in "\n|&<>" and "".join(plain).strip():
            rest = bool(text[at:].strip())
            break
        plain.append(here)
        at += 1
    return Words(_windows_words("".join(plain)), rest=rest)


_WINDOWS: Final = re.compile(r"(\\*)\"|(\\+)|([^\\\"\s]+)|(\s+)")


def _windows_words(text: str) -> list[str]:
    words: list[str] = []
    word: str | None = None
    quoted = False
    at = 0
    while found := _WINDOWS.match(text, at):
        slashes, backs, plain, blank = found.groups()
        at = found.end()
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
            word = (word or "") + (backs or plain or blank or "")
    if quoted:
        raise ValueError('A quotation mark " is never closed.')
    return [*words, word] if word is not None else words


_POWERSHELL: Final = re.compile(
    r"(?P<blank>(?:[ \t]|`[ \t]*\n)+)|'(?P<single>(?:[^']|'')*)'|\"(?P<double>(?:[^\"`]|\"\"|`.)*)\""
    r"|`(?P<escaped>.)|(?P<end>[\n|;&<>])|(?P<plain>[^\s'\"`|;&<>]+)|(?P<open>['\"])",
    re.DOTALL,
)
_BACKTICKS: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b"}


def _split_powershell(text: str) -> Words:
    """PowerShell: the backtick escapes and continues, a quotation mark is doubled to stand for itself."""
    found = Words()
    word: str | None = None
    for piece in _POWERSHELL.finditer(text.strip()):
        kind, value = piece.lastgroup, piece[piece.lastgroup or 0]
        if kind == "open":
            raise ValueError(f"The quotation mark {value} is never closed.")
        if kind in ("blank", "end"):
            if word is not None:
                found.words.append(word)
            word = None
            if kind == "end":
                found.rest = bool(text.strip()[piece.end() :].strip())
                break
            continue
        if kind == "single":
            value = value.replace("''", "'")
        elif kind == "double":
            found.variables += re.findall(r"(?<!`)\$(?:env:)?(\w+)", value)
            value = re.sub(r"`(.)|\"\"", lambda m: _BACKTICKS.get(m[1], m[1]) if m[1] else '"', value, flags=re.DOTALL)
        elif kind == "plain":
            found.variables += re.findall(r"\$(?:env:)?(\w+)", value)
        word = (word or "") + value
    if word is not None:
        found.words.append(word)
    return found
