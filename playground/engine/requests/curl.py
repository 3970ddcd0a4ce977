"""A pasted curl command as what it would send. Nothing is executed, and no file it names is opened.

Notes name options and headers, never their values, which may be secrets.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.foreign import whole

_START: Final = re.compile(
    r"(?m)^[ \t\u00a0]*(?:[$%>#][ \t\u00a0]+)?"
    r"(?:[^\n'\"“”‘’{}\[]*?(?:&&|\|\||[;|])[ \t]*)?"  # other commands before it in its line
    r"(?:\w+=\S*[ \t]+)*(?=curl(?:\.exe)?[ \t\u00a0\\^`])"
)
#: What programs for writing make of the marks of a shell.
_CURLY: Final = {ord(curly): '"' for curly in "“”„‟"} | {ord(curly): "'" for curly in "‘’‚‛"}
_DASHED: Final = re.compile("[–—]-?(?=[A-Za-z])")
_STRAIGHT: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_CURLY_MARK: Final = re.compile("[“”„‟‘’‚‛]")

#: Short options that take a value, and what those that matter mean.
_SHORT: Final = {
    "d": "data",
    "H": "header",
    "X": "request",
    "u": "user",
    "A": "user-agent",
    "F": "form",
    "G": "get",
    "b": "cookie",
    "T": "upload-file",
    "K": "config",
    "e": "referer",
    "x": "proxy",
    "m": "max-time",
    "o": "output",
}
_SHORT_WITH_VALUE: Final = frozenset("AbcCdDeEFhHKmoPQrtTuUwxXyYz")
_WITH_VALUE: Final = frozenset(
    """
    abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
    continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode
    delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header egd-file engine etag-compare
    etag-save expect100-timeout form form-string ftp-account happy-eyeballs-timeout-ms haproxy-clientip header
    hostpubmd5 hsts interface ipfs-gateway json keepalive-cnt keepalive-time key key-type krb libcurl limit-rate
    local-port login-options max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir
    parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-cert proxy-header
    proxy-key proxy-pass proxy-user pubkey quote random-file range rate referer request request-target resolve retry
    retry-delay retry-max-time service-name socks4 socks4a socks5 socks5-hostname speed-limit speed-time stderr
    tls-max tls13-ciphers tlspassword tlsuser trace trace-ascii trace-config unix-socket upload-file url url-query
    user user-agent variable vlan-priority write-out
    """.split()  # noqa: SIM905 - a list of a hundred strings reads worse
)
#: Options that change how curl shows the answer or goes about it, and nothing of what is asked.
_HARMLESS: Final = frozenset(
    """
    s S N f v i L k j O J g q M 4 6 0 1 2 3 # silent show-error no-buffer fail fail-with-body fail-early verbose include
    location location-trusted compressed progress-bar no-progress-meter globoff http1.0 http1.1 http2
    http2-prior-knowledge http3 ipv4 ipv6 disable tcp-nodelay keepalive no-keepalive no-alpn no-npn tlsv1 tlsv1.0
    tlsv1.1 tlsv1.2 tlsv1.3 ssl raw styled-output no-styled-output remote-name output o write-out w trace trace-ascii
    dump-header D stderr retry retry-delay retry-max-time retry-all-errors retry-connrefused cookie-jar c path-as-is
    parallel max-redirs create-dirs
    """.split()  # noqa: SIM905 - as above
)
_SETTINGS: Final = {
    "insecure": "certificates are always checked here; a private authority can be named in the gateway's settings",
    "cacert": "a private authority is named in the gateway's settings",
    "capath": "a private authority is named in the gateway's settings",
    "cert": "client certificates are not used here",
    "key": "client certificates are not used here",
    "proxy": "the proxy is taken from the environment",
    "noproxy": "the proxy is taken from the environment",
    "proxy-header": "the proxy is taken from the environment",
    "proxy-user": "the proxy is taken from the environment",
    "max-time": "time-outs are part of the gateway's settings",
    "connect-timeout": "time-outs are part of the gateway's settings",
    "cookie": "cookies are not sent here",
    "resolve": "names are looked up as usual",
    "connect-to": "names are looked up as usual",
    "unix-socket": "gateways are reached over TCP",
    "referer": "it belongs to a browser",
    "netrc": "keys are part of the gateway's settings",
    "netrc-file": "keys are part of the gateway's settings",
    "aws-sigv4": "requests are not signed here",
}
_REFUSED: Final = {
    "form": "it sends a form, and gateways want JSON",
    "form-string": "it sends a form, and gateways want JSON",
    "data-urlencode": "it sends a form, and gateways want JSON",
    "upload-file": "it sends a file, which is not opened here",
    "config": "it reads its options from a file, which is not opened here",
    "get": "it puts the data into the address, and gateways want JSON in the body",
    "head": "it asks for headers only",
}
_ALIASES: Final = {"k": "insecure", "n": "netrc", "E": "cert", "U": "proxy-user", "I": "head", "data-ascii": "data"}


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


@dataclass(repr=False)
class Command:
    """What the command asks for. Holds secrets, so it has no repr of its own making."""

    url: str = ""
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str | None = None
    json: bool = False
    variables: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def is_curl(text: str) -> bool:
    """Whether ``text`` holds a curl command at the beginning of a line."""
    return _START.search(text + " ") is not None


def read_command(text: str) -> Command:
    """The first curl command in ``text``. Raises ValueError, in words that show no value, for one that is refused."""
    start = _START.search(text + " ")
    if start is None:
        raise ValueError("There is no curl command here.")
    words, mended = _words(text[start.end() :])
    reader = _Reader(words)
    reader.read(words.words[1:])
    command = reader.command
    command.notes += mended
    if text[: start.end()].strip("$%># \t\n\u00a0"):
        command.notes.append("What stands before the curl command was left out.")
    if words.rest:
        command.notes.append("What follows the curl command (a pipe, a file, another command) was left out.")
    if words.substitutions:
        command.notes.append("The output of another command, $(…) or `…`, was left as it is written.")
    return command


def _words(text: str) -> tuple[Words, list[str]]:
    """The words of a command, and what was mended of what web pages and word processors make of one.

    Raises ValueError where it cannot be taken apart.
    """
    mended: list[str] = []
    bare = _STRAIGHT.sub("", text)
    curly = _CURLY_MARK.search(bare)
    if curly:
        text = text.translate(_CURLY)
        mended.append(f"Curly quotation marks ({curly[0]}) were read as the straight ones of a shell.")
    if "\u00a0" in bare:
        text = text.replace("\u00a0", " ")
        mended.append("No-break spaces were read as spaces.")
    try:
        words = split(text)
    except ValueError as error:
        if not curly:
            raise
        why = str(error)
        raise ValueError(
            f"The command has curly quotation marks ({curly[0]}), which a shell does not take for any, and replacing "
            f"them is not enough: {why[:1].lower()}{why[1:]} Write straight ones (' and \") in their place."
        ) from None
    dashed = [word for word in words.words if _DASHED.match(word)]
    if dashed:
        words.words = [_dashed(word) for word in words.words]
        mended.append(f"The long dash before “{dashed[0][1:20]}” was read as a hyphen.")
    return words, mended


def _dashed(word: str) -> str:
    found = _DASHED.match(word)
    if found is None:
        return word
    rest = word[found.end() :]
    return ("--" if len(re.split(r"\W", rest)[0]) > 1 else "-") + rest


class _Reader:
    """Goes through the words once; ``finish`` puts the pieces of the body together."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.command = Command(variables=tuple(dict.fromkeys(words.variables)))
        self._pieces: list[tuple[str, str]] = []
        self._harmless: list[str] = []
        self._unknown: list[str] = []
        self._settings: dict[str, list[str]] = {}
        self._stray = 0

    def read(self, words: list[str]) -> None:
        """All options and addresses of the command."""
        left = iter(words)
        only_addresses = False
        for word in left:
            if only_addresses or not word.startswith("-") or word == "-":
                self._address(word)
            elif word == "--":
                only_addresses = True
            elif word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                if name in _WITH_VALUE:
                    self._option(name, f"--{name}", value if equals else next(left, None))
                else:
                    self._option(name, f"--{name}", "")
            else:
                self._cluster(word[1:], left)
        self._finish()

    def _cluster(self, letters: str, left: Iterator[str]) -> None:
        """Short options in one word: ``-sSXPOST``."""
        for at, letter in enumerate(letters, 1):
            if letter in _SHORT_WITH_VALUE:
                value = letters[at:] or next(left, None)
                self._option(_SHORT.get(letter, _ALIASES.get(letter, letter)), f"-{letter}", value)
                return
            self._option(_SHORT.get(letter, _ALIASES.get(letter, letter)), f"-{letter}", "")

    def _address(self, word: str) -> None:
        looks = "://" in word or re.match(r"[\w.\[\]:-]+(?:/|:\d|$)", word) is not None or word.startswith("$")
        if self.command.url or not looks:
            self._stray += 1
        else:
            self.command.url = word

    def _option(self, name: str, shown: str, value: str | None) -> None:
        name = _ALIASES.get(name, name)
        if value is None:
            raise ValueError(f"The command ends after {shown}, which wants a value.")
        if name in _REFUSED:
            raise ValueError(f"{shown} cannot be imported: {_REFUSED[name]}.")
        match name:
            case "url":
                self._address(value)
            case "request":
                self.command.method = value.upper()
            case "header":
                self._header(value, shown)
            case "user":
                self._user(value)
            case "user-agent":
                self.command.headers.append(("User-Agent", value))
            case "oauth2-bearer":
                self.command.headers.append(("Authorization", f"Bearer {value}"))
            case "data" | "data-raw" | "data-binary" | "json":
                self._data(name, shown, value)
            case _ if name in _SETTINGS:
                self._settings.setdefault(_SETTINGS[name], []).append(shown)
            case _ if name in _HARMLESS or name.removeprefix("no-") in _HARMLESS:
                self._harmless.append(shown)
            case _:
                self._unknown.append(shown)

    def _header(self, value: str, shown: str) -> None:
        if value.startswith("@"):
            raise ValueError(f"{shown} reads headers from a file, which is not opened here. Write the headers there.")
        name, colon, content = value.partition(":")
        if colon and content.strip():
            self.command.headers.append((name.strip(), content.strip()))
        elif not colon and name.rstrip().endswith(";"):
            self.command.headers.append((name.strip().rstrip(";"), ""))
        # "Name:" tells curl to leave a header of its own out, which are not sent here anyway

    def _user(self, value: str) -> None:
        token = base64.b64encode(value.encode("utf-8", "replace")).decode()
        self.command.headers.append(("Authorization", f"Basic {token}"))

    def _data(self, name: str, shown: str, value: str) -> None:
        if name != "data-raw" and value.startswith("@"):
            if value == "@-" and self.words.standard_input is not None:
                value = self.words.standard_input
            else:
                what = "the standard input" if value == "@-" else f"the file “{value[1:]}”"
                raise ValueError(
                    f"The body is read from {what} ({shown} {value}), which is not opened here. "
                    f"Paste the JSON itself in place of {value}."
                )
        self._pieces.append((name, value))

    def _finish(self) -> None:
        command = self.command
        if self._pieces:
            command.json = any(name == "json" for name, _ in self._pieces)
            # curl joins pieces of --data by "&", as forms want it, and those of --json by nothing
            command.body = ("" if command.json else "&").join(piece for _, piece in self._pieces)
            if len(self._pieces) > 1:
                command.notes.append("The body was given in several pieces; they were joined as curl joins them.")
        if command.method not in ("", "POST"):
            command.notes.append(f"The method is {command.method[:20]}; requests go out as POST here.")
        if self._stray:
            command.notes.append("Words that are no option, and addresses after the first, were left out.")
        for reason, names in self._settings.items():
            command.notes.append(f"Left out: {', '.join(dict.fromkeys(names))}; {reason}.")
        if self._harmless:
            command.notes.append(
                f"Left out, because it concerns curl alone: {', '.join(dict.fromkeys(self._harmless))}."
            )
        if self._unknown:
            command.notes.append(f"Left out, as it is not known here: {', '.join(dict.fromkeys(self._unknown))}.")
