"""A pasted curl command as what it would send. Nothing is executed, and no file it names is opened.

Notes name options, headers and variables, never their values, which may be secrets.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from playground.engine.requests.shell_words import (
    MARK,
    Posix,
    SimpleCommand,
    Unknown,
    powershell_as_posix,
    read_cmd,
)
from playground.jsonkit.foreign import whole
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import listed

_CURL: Final = re.compile(r"(?:.*[/\\])?curl(?:\.exe)?(?::[\w.-]+)?", re.IGNORECASE | re.DOTALL)
#: Programs that run the command in their arguments.
_RUNNERS: Final = frozenset(
    """
    time sudo env command exec nohup docker docker-compose podman nerdctl kubectl oc ssh watch timeout nice stdbuf
    winpty wsl xargs proxychains proxychains4 do then if while ! { & .
    """.split()  # noqa: SIM905 - a list of thirty strings reads worse
)
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_NAME_OF_CURL: Final = r"(?:[\w.:~/\\-]*[/\\])?curl(?:\.exe)?(?=[ \t\u00a0\\^`\n]|$)"
#: How a line with a command begins: with curl, with a program that runs it, or with another command before it.
_BEGINNING: Final = (
    rf"(?:\w+=\S*[ \t]+)*(?:{_NAME_OF_CURL}"
    rf"|(?:{'|'.join(re.escape(name) for name in sorted(_RUNNERS | _SHELLS | {'echo', 'printf', 'cat'}))})[ \t]"
    rf"|[^\n'\"“”‘’{{}}\[]*?(?:&&|\|\||[;|(])[ \t]*{_NAME_OF_CURL})"
)
_LINE: Final = re.compile(
    r"(?m)^[ \t\u00a0]*(?P<prompt>[A-Za-z]:\\[^>\n]{0,200}>|PS(?: [^>\n]{0,200})?>"
    r"|[^\n'\"|;&{}=]{0,100}?[$%#>❯➜✗»λ](?=[ \t\u00a0])|➜[^\n'\"|;&{}]{0,80}?(?=[ \t]curl))?"
    rf"[ \t\u00a0]*(?P<command>{_BEGINNING})"
)
#: A command inside of a line of prose.
_IN_PROSE: Final = re.compile(r"(?<![\w/.-])curl(?:\.exe)?[ \t\u00a0]+(?=-|['\"]?(?:https?://|\$))")
#: The prompts of further lines of a command.
_FURTHER_PROMPT: Final = re.compile(r"\n[ \t]*(?:[a-z]+>|>{1,2})(?=[ \t]|\n)[ \t]?")
#: What programs for writing make of the marks of a shell.
_CURLY: Final = {ord(curly): '"' for curly in "“”„‟"} | {ord(curly): "'" for curly in "‘’‚‛"}
_CURLY_MARK: Final = re.compile("[“”„‟‘’‚‛]")
_DASHED: Final = re.compile("[–—]-?(?=[A-Za-z])")
_STRAIGHT: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUOTED: Final = re.compile(r"\$'(?:[^'\\]|\\.)*'|'[^']*'|(\"(?:[^\"\\]|\\.)*\"?)|\\.", re.DOTALL)
_BEFORE: Final = "What stands before the curl command was left out."
_POWERSHELL_OPTION: Final = re.compile(r"-(?:Uri|Method|Headers|Body|ContentType|UseBasicParsing)", re.IGNORECASE)

#: The long names of short options.
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
    "k": "insecure",
    "n": "netrc",
    "E": "cert",
    "U": "proxy-user",
    "I": "head",
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
    parallel max-redirs create-dirs variable
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


class CommandLine(NamedTuple):
    """A curl command as words, and the text of its standard input.

    ``before`` and ``after`` say whether other commands or redirections stand there.
    """

    words: list[str]
    standard_input: str | None = None
    before: bool = False
    after: bool = False


@dataclass(repr=False)
class Command:
    """What the command asks for. It holds secrets, so it has no repr of its own making.

    Texts have a mark where only the shell knows what stands there; ``unknown`` has their names. In ``body`` stands
    ``{{NAME}}`` instead, and ``unknown_in_body`` names those.
    """

    url: str = ""
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str | None = None
    unknown: Unknown = field(default_factory=Unknown)
    unknown_in_body: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


# ---- finding the command ---------------------------------------------------------------------------------------------


def is_curl(text: str) -> bool:
    """Whether ``text`` holds a curl command at the beginning of a line, or in a line of prose."""
    return any("curl" in text[line.start("command") :].casefold() for line in _LINE.finditer(text)) or bool(
        _IN_PROSE.search(text)
    )


def read_command(text: str) -> Command:
    """The first curl command in ``text``. Raises ValueError, in words that show no value, for one that is refused."""
    text = whole(text.replace("\r\n", "\n"))
    problem: ValueError | None = None
    starts = [(line.start(), line.start("command"), line["prompt"] or "") for line in _LINE.finditer(text)]
    starts += [(place.start(), place.start(), "") for place in _IN_PROSE.finditer(text)]
    if text.lstrip()[:1] in ("'", '"', "@"):  # PowerShell pipes a text by itself
        starts.insert(0, (0, 0, ""))
    for begin, start, prompt in starts:
        rest = _FURTHER_PROMPT.sub("\n", text[start:]) if prompt else text[start:]
        try:
            command = _read_in_some_shell(rest, prompt)
        except ValueError as error:
            problem = problem or error
            continue
        if command is not None:
            if text[:begin].strip("$%># \t\n\u00a0`") and not _is_fence(text[:begin]):
                command.notes.append(_BEFORE)
            command.notes = list(dict.fromkeys(command.notes))
            return command
    raise problem or ValueError("There is no curl command here.")


def _is_fence(text: str) -> bool:
    """Whether nothing but the first line of a Markdown code fence stands there."""
    return re.fullmatch(r"\s*(?:```|~~~)[\w-]*\s*", text) is not None


def _read_in_some_shell(text: str, prompt: str) -> Command | None:
    """The command in the first shell in which its body is JSON, or else in the likeliest; None without a curl.

    Raises ValueError where the likeliest shell cannot read it.
    """
    likely: Command | ValueError | None = None
    for read in _likely_shells(text, prompt):
        try:
            command = _read_in_shell(text, read)
        except ValueError as error:
            likely = likely or error
            continue
        if command is not None and _is_json(command.body):
            return command
        likely = likely or command
    if isinstance(likely, ValueError):
        raise likely
    return likely


def _is_json(text: str | None) -> bool:
    if text is None:
        return False
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _read_in_shell(text: str, read: Shell) -> Command | None:
    unknown = Unknown()
    mended, notes = _mend(text)
    try:
        line = read(mended, unknown)
    except ValueError as error:
        raise _named(error, text) from None
    if line is None:
        return None
    words, dashed = _without_dashes(line.words)
    reader = _Reader(line.standard_input, unknown)
    try:
        reader.read(words[1:])
    except ValueError as error:
        raise ValueError(unknown.replace(str(error), str)) from None
    command = reader.command
    command.notes = [unknown.replace(note, str) for note in (*command.notes, *notes, *dashed)]
    if line.before:
        command.notes.append(_BEFORE)
    if line.after:
        command.notes.append("What follows the curl command (a pipe, a file, another command) was left out.")
    return command


def _mend(text: str) -> tuple[str, list[str]]:
    """The text without what web pages and word processors make of a command, and notes on that."""
    notes: list[str] = []
    bare = _STRAIGHT.sub("", text)
    if curly := _CURLY_MARK.search(bare):
        text = text.translate(_CURLY)
        notes.append(f"Curly quotation marks ({curly[0]}) were read as the straight ones of a shell.")
    if "\u00a0" in bare:
        text = text.replace("\u00a0", " ")
        notes.append("No-break spaces were read as spaces.")
    return text, notes


def _named(error: ValueError, text: str) -> ValueError:
    """The error, with the curly quotation marks that are the likely reason."""
    curly = _CURLY_MARK.search(_STRAIGHT.sub("", text))
    if curly is None:
        return error
    why = str(error)
    return ValueError(
        f"The command has curly quotation marks ({curly[0]}), which a shell does not take for any, and replacing "
        f"them is not enough: {why[:1].lower()}{why[1:]} Write straight ones (' and \") in their place."
    )


def _without_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """The words with hyphens in the place of the long dashes of a word processor, and a note on that."""
    dashed = [word for word in words if _DASHED.match(word)]
    if not dashed:
        return words, []
    return [_dashed(word) for word in words], [
        f"The long dash before “{MARK.sub('', dashed[0])[1:20]}” was read as a hyphen."
    ]


def _dashed(word: str) -> str:
    dash = _DASHED.match(word)
    if dash is None:
        return word
    rest = word[dash.end() :]
    return ("--" if len(re.split(r"\W", rest)[0]) > 1 else "-") + rest


# ---- in its shell ----------------------------------------------------------------------------------------------------

Shell: TypeAlias = Callable[[str, Unknown], CommandLine | None]


def _likely_shells(text: str, prompt: str) -> list[Shell]:
    """The shells that the command may be written for, the likeliest first.

    Marks of another shell inside of quotation marks are anybody's.
    """
    bare = _QUOTED.sub(lambda quoted: '"' if quoted[1] else "''", text)
    if re.match(r"[A-Za-z]:", prompt) or re.search(r"\^[ \t]*\n|\^\"", bare):
        return [_in_cmd, _in_posix]
    powershell = re.search(r"(?<!\S)`[ \t]*\n", bare) or re.search(r"\$env:\w|@['\"][ \t]*\n", text)
    if prompt.startswith("PS") or powershell or re.match(r"\s*(?:&[ \t]+)?curl\.exe\b", text):
        return [_in_powershell, _in_posix, _in_cmd]
    return [_in_posix, _in_cmd]


def _in_posix(text: str, unknown: Unknown) -> CommandLine | None:
    """The curl command of the first line, with the text that a command before it pipes into it."""
    lexer = Posix(text, unknown)
    before: list[SimpleCommand] = []
    for command in lexer.commands():
        if (words := _curl_words(command.words)) is not None:
            piped = before[-1] if before and before[-1].operator in ("|", "|&") else None
            given = command.standard_input
            if given is None and piped is not None:
                given = _output_of(piped)
            after = command.redirected or bool(lexer.rest.strip(' \t\n;)"`'))
            used = 1 if piped is not None and given is not None else 0
            return CommandLine(words, given, len(before) > used, after)
        if (inner := _script_of(command.words)) is not None:
            return _in_posix(inner, unknown)
        before.append(command)
        if command.operator == "\n":
            break
    return None


def _in_powershell(text: str, unknown: Unknown) -> CommandLine | None:
    return _in_posix(powershell_as_posix(text), unknown)


def _in_cmd(text: str, unknown: Unknown) -> CommandLine | None:
    start = re.match(rf"(?P<before>[^\n]*?[&|][ \t]*)?{_NAME_OF_CURL}", text)
    if start is None:
        return None
    command, rest = read_cmd(text[start.end("before") if start["before"] else 0 :], unknown)
    return CommandLine(command.words, None, bool(start["before"]), bool(rest.strip()))


def _curl_words(words: list[str]) -> list[str] | None:
    """The words from ``curl`` on, where it is the program or one that the program runs."""
    assigned = 0
    while assigned < len(words) and re.match(r"\w+=", words[assigned]):
        assigned += 1
    words = words[assigned:]
    if words and _CURL.fullmatch(words[0]):
        return words
    if not words or _program(words[0]) not in _RUNNERS:
        return None
    end = next((number for number, word in enumerate(words) if "://" in word), len(words))
    at = next((number for number in reversed(range(end)) if _CURL.fullmatch(words[number])), None)
    if at is None:
        return None
    if words[at].startswith("-") and "--" in words[at:]:  # an image whose program is curl
        return ["curl", *words[words.index("--", at) + 1 :]]
    return words[at:]


def _program(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].casefold()


def _script_of(words: list[str]) -> str | None:
    """The script of ``sh -c SCRIPT`` or ``ssh HOST SCRIPT``, where it mentions curl."""
    for shell, option, script in zip(words, words[1:], words[2:], strict=False):
        if _program(shell) in _SHELLS and re.fullmatch(r"-[a-z]*c", option) and "curl" in script:
            return script
    return words[-1] if words and _program(words[0]) == "ssh" and "curl " in words[-1] else None


def _output_of(command: SimpleCommand) -> str | None:
    """The text that a command prints, where its words tell."""
    program, *arguments = command.words
    if program == "cat" and not arguments:
        return command.standard_input
    if program in ("echo", "printf", "Write-Output"):
        texts = [text for text in arguments if not re.fullmatch(r"-[neE]+|%[sb](?:\\n)?", text)]
        return " ".join(texts)
    return program if not arguments and program.lstrip()[:1] == "{" else None


# ---- its options -----------------------------------------------------------------------------------------------------


class _Reader:
    """Goes through the words once; ``finish`` puts the pieces of the body together."""

    def __init__(self, standard_input: str | None, unknown: Unknown) -> None:
        self._standard_input = standard_input
        self.command = Command(unknown=unknown)
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
            elif word in ("--next", "-:"):
                self.command.notes.append("The requests after --next were left out.")
                break
            elif _POWERSHELL_OPTION.fullmatch(word):
                raise ValueError(
                    "This is not curl but PowerShell's Invoke-WebRequest, which has that name, too. Write it for "
                    "curl.exe, or paste the JSON of its body."
                )
            elif word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                plain = name.removeprefix("expand-")
                if plain not in _WITH_VALUE:
                    self._option(name, f"--{name}", "")
                    continue
                given = value if equals else next(left, None)
                if given is not None and plain != name:
                    given = _EXPANDED.sub(lambda match: self.command.unknown.mark(f"{{{{{match[1]}}}}}"), given)
                self._option(plain, f"--{name}", given)
            else:
                self._cluster(word[1:], left)
        self._finish()

    def _cluster(self, letters: str, left: Iterator[str]) -> None:
        """Short options in one word: ``-sSXPOST``."""
        for at, letter in enumerate(letters, 1):
            if letter in _SHORT_WITH_VALUE:
                value = letters[at:] or next(left, None)
                self._option(_SHORT.get(letter, letter), f"-{letter}", value)
                return
            self._option(_SHORT.get(letter, letter), f"-{letter}", "")

    def _address(self, word: str) -> None:
        looks = "://" in word or re.match(r"[\w.\[\]:-]+(?:/|:\d|$)", word) is not None or MARK.match(word)
        if self.command.url or not looks:
            self._stray += 1
        else:
            self.command.url = word

    def _option(self, name: str, shown: str, value: str | None) -> None:
        if value is None:
            raise ValueError(f"The command ends after {shown}, which wants a value.")
        if name in _REFUSED:
            raise ValueError(f"{shown} cannot be imported: {_REFUSED[name]}.")
        match name:
            case "url":
                self._address(value)
            case "request":
                self.command.method = self.command.unknown.replace(value, str).upper()
            case "header":
                self._header(value, shown)
            case "user":
                self._user(value)
            case "user-agent":
                self.command.headers.append(("User-Agent", value))
            case "oauth2-bearer":
                self.command.headers.append(("Authorization", f"Bearer {value}"))
            case "data" | "data-ascii" | "data-raw" | "data-binary" | "json":
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
        if MARK.search(value):
            self.command.headers.append(("Authorization", f"Basic {value}"))
            return
        token = base64.b64encode(value.encode("utf-8", "replace")).decode()
        self.command.headers.append(("Authorization", f"Basic {token}"))

    def _data(self, name: str, shown: str, value: str) -> None:
        if name != "data-raw" and value.startswith("@"):
            if value == "@-" and self._standard_input is not None:
                value = self._standard_input
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
            # curl joins pieces of --data by "&", as forms want it, and those of --json by nothing
            joint = "" if any(name == "json" for name, _ in self._pieces) else "&"
            self._take_body(joint.join(piece for _, piece in self._pieces))
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

    def _take_body(self, text: str) -> None:
        """Set the body, with a placeholder for what only the shell knows.

        Raises ValueError for a body of which nothing else is there.
        """
        unknown = self.command.unknown
        names = unknown.names_in(text)
        if names and not MARK.sub("", text).strip():
            raise ValueError(
                f"The body is {listed(names)}, which only the shell knows. Paste the JSON itself in its place."
            )
        self.command.body = unknown.replace(text, placeholder)
        self.command.unknown_in_body = tuple(names)


_EXPANDED: Final = re.compile(r"\{\{(\w+)[^}]*\}\}")


def placeholder(name: str) -> str:
    """A variable of this application for a variable of the shell, or for the output of a command."""
    plain = re.sub(r"\W+", "_", name.removeprefix("$env:")).strip("_") or "output"
    return f"{{{{{plain if not plain[0].isdigit() else f'value_{plain}'}}}}}"
