"""Pasted curl commands, read as the request that they would send. Nothing is executed, and no file is opened.

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
    Expansions,
    Posix,
    SimpleCommand,
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
#: The beginning of a command line: curl, a program that runs it, or another command before it.
_COMMAND_START: Final = (
    rf"(?:\w+=\S*[ \t]+)*(?:{_NAME_OF_CURL}"
    rf"|(?:{'|'.join(re.escape(name) for name in sorted(_RUNNERS | _SHELLS | {'echo', 'printf', 'cat'}))})[ \t]"
    rf"|[^\n'\"“”‘’{{}}\[]*?(?:&&|\|\||[;|(])[ \t]*{_NAME_OF_CURL})"
)
LOOKED_AT: Final = 100_000  # characters in which a command begins: a pattern holds the interpreter's lock
_LINE: Final = re.compile(
    r"(?m)^[ \t\u00a0]*(?P<prompt>[A-Za-z]:\\[^>\n]{0,200}>|PS(?: [^>\n]{0,200})?>"
    r"|[^\n'\"|;&{}=]{0,100}?[$%#>❯➜✗»λ](?=[ \t\u00a0])|➜[^\n'\"|;&{}]{0,80}?(?=[ \t]curl))?"
    rf"[ \t\u00a0]*(?P<command>{_COMMAND_START})"
)
#: A command inside a line of prose.
_IN_PROSE: Final = re.compile(r"(?<![\w/.-])curl(?:\.exe)?[ \t\u00a0]+(?=-|['\"]?(?:https?://|\$))")
#: The prompts of further lines of a command.
_FURTHER_PROMPT: Final = re.compile(r"\n[ \t]*(?:[a-z]+>|>{1,2})(?=[ \t]|\n)[ \t]?")
#: Typographic quotation marks and dashes in the place of those of a shell.
_CURLY: Final = {ord(curly): '"' for curly in "“”„‟"} | {ord(curly): "'" for curly in "‘’‚‛"}
_CURLY_MARK: Final = re.compile("[“”„‟‘’‚‛]")
_DASHED: Final = re.compile("[–—]-?(?=[A-Za-z])")
_STRAIGHT: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUOTED: Final = re.compile(r"\$'(?:[^'\\]|\\.)*'|'[^']*'|(\"(?:[^\"\\]|\\.)*\"?)|\\.", re.DOTALL)
_TEXT_BEFORE: Final = "The text before the curl command was left out."
_POWERSHELL_OPTION: Final = re.compile(r"-(?:Uri|Method|Headers|Body|ContentType|UseBasicParsing)", re.IGNORECASE)


class _Option(NamedTuple):
    """An option of curl: its long name, whether it takes a value, and how it is treated."""

    name: str
    takes_value: bool
    effect: str
    reason: str


_READ, _REFUSED, _SETTING, _HARMLESS, _UNKNOWN = "read", "refused", "setting", "harmless", "unknown"
#: How options are treated, the reason for people, and the options: the short name, the long name, "=" before a value.
_TABLE: Final = (
    (
        _READ,
        "",
        """
        url= X/request= H/header= u/user= A/user-agent= oauth2-bearer= d/data= data-ascii= data-raw= data-binary= json=
        """,
    ),
    (_REFUSED, "it sends a form; gateways expect JSON", "F/form= form-string= data-urlencode="),
    (_REFUSED, "it sends a file, which is not read", "T/upload-file="),
    (_REFUSED, "it reads its options from a file, which is not read", "K/config="),
    (_REFUSED, "it sends the data in the address; gateways expect JSON in the body", "G/get"),
    (_REFUSED, "it requests headers only", "I/head"),
    (
        _SETTING,
        "certificates are always checked; a private authority can be named in the gateway's settings",
        "k/insecure",
    ),
    (_SETTING, "a private authority is named in the gateway's settings", "cacert= capath="),
    (_SETTING, "client certificates are not supported", "E/cert= key="),
    (_SETTING, "the proxy is taken from the environment", "x/proxy= noproxy= proxy-header= U/proxy-user="),
    (_SETTING, "time-outs are part of the gateway's settings", "m/max-time= connect-timeout="),
    (_SETTING, "cookies are not sent", "b/cookie="),
    (_SETTING, "names are looked up as usual", "resolve= connect-to="),
    (_SETTING, "gateways are reached over TCP", "unix-socket="),
    (_SETTING, "it belongs to a browser", "e/referer="),
    (_SETTING, "keys are part of the gateway's settings", "n/netrc netrc-file="),
    (_SETTING, "requests are not signed", "aws-sigv4="),
    (  # they concern the transfer or the output, not the request
        _HARMLESS,
        "",
        """
        s/silent S/show-error N/no-buffer f/fail fail-with-body fail-early v/verbose i/include L/location
        location-trusted compressed #/progress-bar no-progress-meter g/globoff 0/http1.0 http1.1 http2
        http2-prior-knowledge http3 4/ipv4 6/ipv6 q/disable tcp-nodelay keepalive no-keepalive no-alpn no-npn 1/tlsv1
        tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 2/sslv2 3/sslv3 ssl raw styled-output O/remote-name J/remote-header-name
        j/junk-session-cookies M/manual o/output= w/write-out= trace= trace-ascii= D/dump-header= stderr= retry=
        retry-delay= retry-max-time= retry-all-errors retry-connrefused c/cookie-jar= path-as-is parallel max-redirs=
        create-dirs variable=
        """,
    ),
    (
        _UNKNOWN,
        "",
        """
        abstract-unix-socket= alt-svc= cert-type= ciphers= C/continue-at= create-file-mode= crlfile= curves=
        delegation= dns-interface= dns-ipv4-addr= dns-ipv6-addr= dns-servers= doh-url= egd-file= engine= etag-compare=
        etag-save= expect100-timeout= ftp-account= P/ftp-port= happy-eyeballs-timeout-ms= haproxy-clientip= h/help=
        hostpubmd5= hsts= interface= ipfs-gateway= keepalive-cnt= keepalive-time= key-type= krb= libcurl= limit-rate=
        local-port= login-options= max-filesize= output-dir= parallel-max= pass= pinnedpubkey= preproxy= proto=
        proto-default= proto-redir= proxy-cacert= proxy-cert= proxy-key= proxy-pass= pubkey= Q/quote= random-file=
        r/range= rate= request-target= retry-max= service-name= socks4= socks4a= socks5= socks5-hostname=
        Y/speed-limit= y/speed-time= t/telnet-option= z/time-cond= tls-max= tls13-ciphers= tlspassword= tlsuser=
        trace-config= url-query= vlan-priority=
        """,
    ),
)


def _read_table() -> dict[str, _Option]:
    options: dict[str, _Option] = {}
    for effect, reason, names in _TABLE:
        for entry in names.split():
            short, _, long = entry.rpartition("/")
            option = _Option(long.removesuffix("="), entry.endswith("="), effect, reason)
            options |= {option.name: option} | ({short: option} if short else {})
    return options


#: Options by their long and their short names.
_OPTIONS: Final = _read_table()


class CommandLine(NamedTuple):
    """A curl command as words, with its standard input.

    ``before`` and ``after`` say whether there are other commands or redirections.
    """

    words: list[str]
    standard_input: str | None = None
    before: bool = False
    after: bool = False


@dataclass(repr=False)
class Command:
    """The request of a command. It has no repr, because it holds secrets.

    Texts have marks for shell expansions. ``body`` has ``{{NAME}}`` in their place, and ``body_expansions`` their
    names.
    """

    url: str = ""
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str | None = None
    expansions: Expansions = field(default_factory=Expansions)
    body_expansions: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


# ---- finding the command ---------------------------------------------------------------------------------------------


def is_curl(text: str) -> bool:
    """Return whether a text has a curl command at the beginning of a line, or in a line of prose.

    The command begins in the first ``LOOKED_AT`` characters; its body may be of any length.
    """
    head = text[:LOOKED_AT]
    first = _LINE.search(head)
    if first is not None and "curl" in text[first.start("command") :].casefold():
        return True
    return bool(_IN_PROSE.search(head))


def read_command(text: str) -> Command:
    """Read the first curl command in a text. Raises ValueError, in words without values, for one that is refused."""
    text = whole(text.replace("\r\n", "\n"))
    problem: ValueError | None = None
    head = text[:LOOKED_AT]
    starts = [(line.start(), line.start("command"), line["prompt"] or "") for line in _LINE.finditer(head)]
    starts += [(match.start(), match.start(), "") for match in _IN_PROSE.finditer(head)]
    if text.lstrip()[:1] in ("'", '"', "@"):  # PowerShell can pipe a text without a command
        starts.insert(0, (0, 0, ""))
    for begin, start, prompt in starts:
        rest = _FURTHER_PROMPT.sub("\n", text[start:]) if prompt else text[start:]
        try:
            command = _read_in_likely_shell(rest, prompt)
        except ValueError as error:
            problem = problem or error
            continue
        if command is not None:
            before = text[:begin]
            if before.strip("$%># \t\n\u00a0`") and not re.fullmatch(r"\s*(?:```|~~~)[\w-]*\s*", before):
                command.notes.append(_TEXT_BEFORE)
            command.notes = list(dict.fromkeys(command.notes))
            return command
    raise problem or ValueError("This is no curl command.")


def _read_in_likely_shell(text: str, prompt: str) -> Command | None:
    """Return the command as read by the first shell that makes JSON of its body, else by the likeliest shell.

    None: there is no curl. Raises ValueError if the likeliest shell cannot read it.
    """
    likeliest: Command | ValueError | None = None
    for read in _likely_shells(text, prompt):
        try:
            command = _read_in_shell(text, read)
        except ValueError as error:
            likeliest = likeliest or error
            continue
        if command is not None and _is_json(command.body):
            return command
        likeliest = likeliest or command
    if isinstance(likeliest, ValueError):
        raise likeliest
    return likeliest


def _is_json(text: str | None) -> bool:
    try:
        parse_json(text or "")
    except ValueError:
        return False
    return True


def _read_in_shell(text: str, read: Shell) -> Command | None:
    expansions = Expansions()
    repaired, notes = _without_curly_quotes(text)
    try:
        line = read(repaired, expansions)
    except ValueError as error:
        raise _with_curly_quotes_named(error, text) from None
    if line is None:
        return None
    words, dash_notes = _without_dashes(line.words)
    reader = _OptionReader(line.standard_input, expansions)
    try:
        reader.read(words[1:])
    except ValueError as error:
        raise ValueError(expansions.replace(str(error), str)) from None
    command = reader.command
    command.notes = [expansions.replace(note, str) for note in (*command.notes, *notes, *dash_notes)]
    if line.before:
        command.notes.append(_TEXT_BEFORE)
    if line.after:
        command.notes.append("What follows the curl command (a pipe, a file, another command) was left out.")
    return command


def _without_curly_quotes(text: str) -> tuple[str, list[str]]:
    """Return a text with straight quotation marks and plain spaces, and notes on the replacements."""
    notes: list[str] = []
    bare = _STRAIGHT.sub("", text)
    if curly := _CURLY_MARK.search(bare):
        text = text.translate(_CURLY)
        notes.append(f"Curly quotation marks ({curly[0]}) were read as the straight ones of a shell.")
    if "\u00a0" in bare:
        text = text.replace("\u00a0", " ")
        notes.append("No-break spaces were read as spaces.")
    return text, notes


def _with_curly_quotes_named(error: ValueError, text: str) -> ValueError:
    """Return the error; if the text has curly quotation marks, they are named as the likely reason."""
    curly = _CURLY_MARK.search(_STRAIGHT.sub("", text))
    if curly is None:
        return error
    why = str(error)
    return ValueError(
        f"The command has curly quotation marks ({curly[0]}), which a shell does not take for any, and replacing "
        f"them is not enough: {why[:1].lower()}{why[1:]} Write straight ones (' and \") in their place."
    )


def _without_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words with hyphens in the place of long dashes before options, and a note on that."""
    notes: list[str] = []
    hyphenated = []
    for word in words:
        if dash := _DASHED.match(word):
            rest = word[dash.end() :]
            notes = notes or [f"The long dash before “{MARK.sub('', word)[1:20]}” was read as a hyphen."]
            word = ("--" if len(re.split(r"\W", rest)[0]) > 1 else "-") + rest  # noqa: PLW2901 - the same word
        hyphenated.append(word)
    return hyphenated, notes


# ---- in its shell ----------------------------------------------------------------------------------------------------

Shell: TypeAlias = Callable[[str, Expansions], CommandLine | None]


def _likely_shells(text: str, prompt: str) -> list[Shell]:
    """Return the shells that the command may be written for, the likeliest first.

    Marks of another shell inside quotation marks do not count.
    """
    bare = _QUOTED.sub(lambda quoted: '"' if quoted[1] else "''", text)
    if re.match(r"[A-Za-z]:", prompt) or re.search(r"\^[ \t]*\n|\^\"", bare):
        return [_in_cmd, _in_posix]
    powershell = re.search(r"(?<!\S)`[ \t]*\n", bare) or re.search(r"\$env:\w|@['\"][ \t]*\n", text)
    if prompt.startswith("PS") or powershell or re.match(r"\s*(?:&[ \t]+)?curl\.exe\b", text):
        return [_in_powershell, _in_posix, _in_cmd]
    return [_in_posix, _in_cmd]


def _in_posix(text: str, expansions: Expansions) -> CommandLine | None:
    """Return the curl command of the first line, with the text that a command before it pipes into it."""
    shell = Posix(text, expansions)
    before: list[SimpleCommand] = []
    for command in shell.commands():
        if (words := _curl_words(command.words)) is not None:
            source = before[-1] if before and before[-1].operator in ("|", "|&") else None
            piped = _output_of(source) if source is not None and command.standard_input is None else None
            standard_input = command.standard_input if piped is None else piped
            is_used = source is not None and standard_input is not None
            after = command.redirected or bool(shell.rest.strip('\n;)"`'))
            return CommandLine(words, standard_input, len(before) > is_used, after)
        if (inner := _script_of(command.words)) is not None:
            return _in_posix(inner, expansions)
        before.append(command)
        if command.operator[0:1] == "\n":
            break
    return None


def _in_powershell(text: str, expansions: Expansions) -> CommandLine | None:
    return _in_posix(powershell_as_posix(text), expansions)


def _in_cmd(text: str, expansions: Expansions) -> CommandLine | None:
    start = re.match(rf"(?P<before>[^\n]*?[&|][ \t]*)?{_NAME_OF_CURL}", text)
    if start is None:
        return None
    words, rest = read_cmd(text[start.end("before") if start["before"] else 0 :], expansions)
    return CommandLine(words, None, bool(start["before"]), bool(rest.strip()))


def _curl_words(words: list[str]) -> list[str] | None:
    """Return the words from ``curl`` on if it is the program or run by the program; else None."""
    assigned = 0
    while assigned < len(words) and re.match(r"\w+=", words[assigned]):
        assigned += 1
    words = words[assigned:]
    if words and _CURL.fullmatch(words[0]):
        return words
    if not words or _program(words[0]) not in _RUNNERS:
        return None
    end = next((number for number, word in enumerate(words) if "://" in word), len(words))
    start = next((number for number in reversed(range(end)) if _CURL.fullmatch(words[number])), None)
    if start is None:
        return None
    if words[start].startswith("-") and "--" in words[start:]:  # an image whose program is curl
        return ["curl", *words[words.index("--", start) + 1 :]]
    return words[start:]


def _program(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].casefold()


def _script_of(words: list[str]) -> str | None:
    """Return the script of ``sh -c SCRIPT`` or ``ssh HOST SCRIPT`` if it mentions curl; else None."""
    for shell, option, script in zip(words, words[1:], words[2:], strict=False):
        if _program(shell) in _SHELLS and re.fullmatch(r"-[a-z]*c", option) and "curl" in script:
            return script
    return words[-1] if words and _program(words[0]) == "ssh" and "curl " in words[-1] else None


def _output_of(command: SimpleCommand) -> str | None:
    """Return the text that a command prints; None if its words do not tell."""
    program, *arguments = command.words
    if program == "cat" and not arguments:
        return command.standard_input
    if program in ("echo", "printf", "Write-Output"):
        texts = [text for text in arguments if not re.fullmatch(r"-[neE]+|%[sb](?:\\n)?", text)]
        return " ".join(texts)
    return program if not arguments and program.lstrip()[:1] == "{" else None


# ---- its options -----------------------------------------------------------------------------------------------------


class _OptionReader:
    """Reads the words after ``curl`` into a command."""

    def __init__(self, standard_input: str | None, expansions: Expansions) -> None:
        self._standard_input = standard_input
        self.command = Command(expansions=expansions)
        self._pieces: list[tuple[str, str]] = []  # of the body, with their options
        self._left_out: dict[str, list[str]] = {}  # options by the reason
        self._has_stray_words = False

    def read(self, words: list[str]) -> None:
        """Read all options and addresses. Raises ValueError for an option that is refused."""
        remaining = iter(words)
        only_addresses = False
        for word in remaining:
            if only_addresses or not word.startswith("-") or word == "-":
                self._read_address(word)
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
                self._read_long(word[2:], remaining)
            else:
                self._read_short(word[1:], remaining)
        self._finish()

    def _read_long(self, word: str, remaining: Iterator[str]) -> None:
        name, equals, value = word.partition("=")
        plain = name.removeprefix("expand-")
        option = _OPTIONS.get(plain) if len(plain) > 1 else None
        if option is None:
            option = _OPTIONS.get(plain.removeprefix("no-")) if plain.startswith("no-") else None
            self._apply(option, f"--{name}", "")
        elif not option.takes_value:
            self._apply(option, f"--{name}", "")
        else:
            given_value = value if equals else next(remaining, None)
            if given_value is not None and plain != name:
                mark = self.command.expansions.mark
                given_value = _CURL_VARIABLE.sub(lambda match: mark(f"{{{{{match[1]}}}}}"), given_value)
            self._apply(option, f"--{name}", given_value)

    def _read_short(self, letters: str, remaining: Iterator[str]) -> None:
        """Read short options in one word, such as ``-sSXPOST``."""
        for end, letter in enumerate(letters, 1):
            option = _OPTIONS.get(letter)
            if option is not None and option.takes_value:
                self._apply(option, f"-{letter}", letters[end:] or next(remaining, None))
                return
            self._apply(option, f"-{letter}", "")

    def _read_address(self, word: str) -> None:
        is_address = "://" in word or re.match(r"[\w.\[\]:-]+(?:/|:\d|$)", word) is not None or MARK.match(word)
        if self.command.url or not is_address:
            self._has_stray_words = True
        else:
            self.command.url = word

    def _apply(self, option: _Option | None, spelling: str, value: str | None) -> None:
        """Apply an option; None: an unknown option. ``spelling`` is its text in the command."""
        if value is None:
            raise ValueError(f"The command ends after {spelling}, which needs a value.")
        effect = option.effect if option is not None else _UNKNOWN
        if option is None or effect in (_UNKNOWN, _SETTING, _HARMLESS):
            self._left_out.setdefault(option.reason if option and effect == _SETTING else effect, []).append(spelling)
            return
        if effect == _REFUSED:
            raise ValueError(f"{spelling} cannot be imported: {option.reason}.")
        match option.name:
            case "url":
                self._read_address(value)
            case "request":
                self.command.method = self.command.expansions.replace(value, str).upper()
            case "header":
                self._read_header(value, spelling)
            case "user":
                is_known = MARK.search(value) is None
                token = base64.b64encode(value.encode("utf-8", "replace")).decode() if is_known else value
                self.command.headers.append(("Authorization", f"Basic {token}"))
            case "user-agent":
                self.command.headers.append(("User-Agent", value))
            case "oauth2-bearer":
                self.command.headers.append(("Authorization", f"Bearer {value}"))
            case _:
                self._read_data(option.name, spelling, value)

    def _read_header(self, value: str, spelling: str) -> None:
        if value.startswith("@"):
            raise ValueError(
                f"{spelling} reads headers from a file, which is not read. Write the headers in the command."
            )
        name, colon, content = value.partition(":")
        if colon and content.strip():
            self.command.headers.append((name.strip(), content.strip()))
        elif not colon and name.rstrip().endswith(";"):
            self.command.headers.append((name.strip().rstrip(";"), ""))
        # "Name:" tells curl to omit a header of its own, which is not sent here anyway

    def _read_data(self, name: str, spelling: str, value: str) -> None:
        if name != "data-raw" and value.startswith("@"):
            if value != "@-" or self._standard_input is None:
                source = "the standard input" if value == "@-" else f"the file “{value[1:]}”"
                raise ValueError(
                    f"The body is read from {source} ({spelling} {value}), which is not read. "
                    f"Paste the JSON itself in place of {value}."
                )
            value = self._standard_input
        self._pieces.append((name, value))

    def _finish(self) -> None:
        """Join the pieces of the body and add the notes."""
        command = self.command
        if self._pieces:
            # curl joins pieces of --data by "&", as forms want it, and those of --json by nothing
            joint = "" if any(name == "json" for name, _ in self._pieces) else "&"
            self._set_body(joint.join(piece for _, piece in self._pieces))
            if len(self._pieces) > 1:
                command.notes.append("The body was given in several pieces; they were joined as curl joins them.")
        if command.method not in ("", "POST"):
            command.notes.append(f"The method is {command.method[:20]}; requests are sent as POST.")
        if self._has_stray_words:
            command.notes.append("Words that are no option, and addresses after the first, were left out.")
        harmless, unknown = self._left_out.pop(_HARMLESS, []), self._left_out.pop(_UNKNOWN, [])
        for reason, names in self._left_out.items():
            command.notes.append(f"Left out: {', '.join(dict.fromkeys(names))}; {reason}.")
        if harmless:
            command.notes.append(f"Left out, because it concerns curl alone: {', '.join(dict.fromkeys(harmless))}.")
        if unknown:
            command.notes.append(f"Left out because unknown: {', '.join(dict.fromkeys(unknown))}.")

    def _set_body(self, text: str) -> None:
        """Set the body, with placeholders for expansions. Raises ValueError for a body of expansions only."""
        expansions = self.command.expansions
        names = expansions.names_in(text)
        if names and not MARK.sub("", text).strip():
            raise ValueError(
                f"The body is {listed(names)}, which only the shell knows. Paste the JSON itself in its place."
            )
        self.command.body = expansions.replace(text, placeholder)
        self.command.body_expansions = tuple(names)


_CURL_VARIABLE: Final = re.compile(r"\{\{(\w+)[^}]*\}\}")


def placeholder(name: str) -> str:
    """Return a variable of this application, ``{{NAME}}``, for a shell's variable or a command's output."""
    plain = re.sub(r"\W+", "_", name.removeprefix("$env:")).strip("_") or "output"
    return f"{{{{{plain if not plain[0].isdigit() else f'value_{plain}'}}}}}"
