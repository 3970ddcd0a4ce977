"""A pasted curl command as what it would send. Nothing is executed, and no file it names is opened.

Notes name options and headers, never their values, which may be secrets.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.engine.requests.shell_words import Words, split

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
