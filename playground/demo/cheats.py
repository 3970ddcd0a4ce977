"""Directives: words in the last user message that change the answer, such as ``!429`` or ``!stall=5``.

The parser, the page at the server's root and the application's cheat sheet read the same table. It needs only the
standard library, so that it can be shown without starting a server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from playground.demo.responses.habits import HABITS


@dataclass(frozen=True)
class Cheat:
    """One word that changes how the demo gateway answers.

    ``typed`` is the word as typed (the first spelling is a working example; others follow after a space), ``happens``
    a sentence for people, ``group`` a heading. ``value`` says whether ``=number`` may follow: "no", "may" or "must"; of
    "name", that a name must, one of ``names`` where there are any.
    """

    name: str
    typed: str
    happens: str
    group: str
    value: str = "no"
    names: tuple[str, ...] = ()


_GATEWAYS = tuple(name for name in HABITS if name)
_STATUS = "Errors before the answer"
_STREAM = "Trouble in the stream"
_END = "How the answer ends"
_TOOLS = "Tools"
_PACE = "Speed"
_TEXT = "Text"

CHEATS: tuple[Cheat, ...] = (
    Cheat("400", "!400", "Refuses with 400: context length exceeded.", _STATUS, "may"),
    Cheat("401", "!401", "Refuses with 401: the token has expired.", _STATUS, "may"),
    Cheat("402", "!402", "Refuses with 402: the account's balance is used up.", _STATUS, "may"),
    Cheat("403", "!403", "Refuses with 403: the model asks for identity verification.", _STATUS, "may"),
    Cheat("404", "!404", "Refuses with 404: the model is not available.", _STATUS, "may"),
    Cheat("429", "!429 !429=3", "Refuses with 429; a number is sent as Retry-After, in seconds.", _STATUS, "may"),
    Cheat("500", "!500", "Refuses with 500: unknown server error.", _STATUS, "may"),
    Cheat(
        "503",
        "!503 !503x2 !503x2=1",
        "Refuses with 503. x2 refuses the same prompt twice, then answers; =1 adds Retry-After. "
        "Both work with every status.",
        _STATUS,
        "may",
    ),
    Cheat("504", "!504", "Refuses with 504: the model did not answer in time.", _STATUS, "may"),
    Cheat(
        "refuse",
        "!refuse=stream_options !refuse=developer",
        "Refuses with 400 while the request has that field, or a message of that role.",
        _STATUS,
        "name",
    ),
    Cheat("html", "!html", "Answers with an HTML page and status 502, as a proxy in between would.", _STATUS),
    Cheat("redirect", "!redirect", "Answers with 307 and an address on another host.", _STATUS),
    Cheat("cut", "!cut", "Drops the connection in the middle of the answer.", _STREAM),
    Cheat("stall", "!stall !stall=10", "Pauses mid-way (5 s, or as given) and sends only keep-alives.", _STREAM, "may"),
    Cheat(
        "error",
        "!error !error=20",
        "Sends an error object mid-stream, under status 200; =20: and stays open for that many seconds.",
        _STREAM,
        "may",
    ),
    Cheat(
        "nested",
        "!nested !nested=20",
        "Sends an error as !error does; in Responses as a nested object, without response.failed.",
        _STREAM,
        "may",
    ),
    Cheat("failed", "!failed", "Ends with response.failed in the middle (Responses; elsewhere as !error).", _STREAM),
    Cheat("garble", "!garble", "Spoils one event in the middle of the stream, so that it is no JSON.", _STREAM),
    Cheat(
        "nodone", "!nodone", "Finishes, but leaves out the closing [DONE], message_stop or response.completed.", _STREAM
    ),
    Cheat(
        "like",
        " ".join(f"!like={name}" for name in _GATEWAYS),
        "Streams Responses with the deviations of that gateway.",
        _STREAM,
        "name",
        _GATEWAYS,
    ),
    Cheat("empty", "!empty", "Sends a well-formed answer with nothing in it.", _STREAM),
    Cheat("length", "!length", "Ends half-way with finish reason length.", _END),
    Cheat("filter", "!filter", "Ends half-way with finish reason content_filter.", _END),
    Cheat("refusal", "!refusal", "Declines to answer: a refusal in the place of the text.", _END),
    Cheat("calls", "!calls=3", "Calls the offered tool this many times at once (1 to 16).", _TOOLS, "must"),
    Cheat(
        "broken",
        "!broken !broken=2",
        "Calls with arguments that do not fit the schema; =2: only call 2.",
        _TOOLS,
        "may",
    ),
    Cheat("badjson", "!badjson !badjson=2", "Calls with arguments that are not JSON; =2: only call 2.", _TOOLS, "may"),
    Cheat("cutargs", "!cutargs", "Breaks off inside the arguments, with finish reason length.", _TOOLS),
    Cheat("chain", "!chain", "Makes its calls one after another, each when the last is answered.", _TOOLS),
    Cheat("loop", "!loop !loop=3", "Makes the same calls again once they are answered; =3: 3 rounds.", _TOOLS, "may"),
    Cheat("slow", "!slow", "Writes 5 tokens a second.", _PACE),
    Cheat("fast", "!fast", "Writes as fast as it can.", _PACE),
    Cheat("tps", "!tps=20", "Writes this many tokens a second (0: as fast as it can).", _PACE, "must"),
    Cheat("long", "!long !long=2000", "Writes at length: 500 words, or as many as given (up to 50000).", _TEXT, "may"),
    Cheat("code", "!code", "Answers with code.", _TEXT),
    Cheat("table", "!table", "Answers with tables.", _TEXT),
    Cheat(
        "err",
        "!err=0.3",
        "Gets it wrong in that share of answers (0 to 1): a sum, the arguments of calls, JSON, or the thread. "
        "It works in a system turn, too.",
        _TEXT,
        "must",
    ),
    Cheat("think", "!think", "Puts the reasoning into the text, between <think> and </think>.", _TEXT),
)

BY_NAME: Mapping[str, Cheat] = {cheat.name: cheat for cheat in CHEATS}

_WORD = re.compile(
    r"(?<!\S)!(?P<name>\d{3}|[a-z]+)(?:x(?P<times>\d{1,3}))?"
    r"(?:=(?:(?P<value>\d{1,6}(?:\.\d{1,3})?)|(?P<what>[a-z][a-z_]{0,40}(?:\.[a-z][a-z_]{0,40}){0,3})))?"
    r"(?=[\s,;:!?)]|\.(?!\w)|$)"
)


@dataclass(frozen=True)
class Refusal:
    """A status asked for: refuse always, or only the first ``times`` times; with Retry-After in seconds, or none."""

    status: int
    times: int | None
    retry_after: float | None


@dataclass(frozen=True)
class Directives:
    """The directives of a message: name to its number, or to None without a number.

    ``refused`` are the names of fields and roles to refuse, ``gateway`` is the one to imitate.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    refusal: Refusal | None = None
    refused: tuple[str, ...] = ()
    gateway: str = ""

    def has(self, *names: str) -> bool:
        """Return whether the message has any of these directives."""
        return any(name in self.values for name in names)

    def with_names(self, *names: str) -> Directives:
        """Return these directives with more of them, without numbers."""
        return replace(self, values={**dict.fromkeys(names), **self.values})

    def number(self, name: str, default: float) -> float:
        """Return the number of the directive ``name``, else ``default``."""
        value = self.values.get(name)
        return default if value is None else value


def parse(text: str) -> tuple[str, Directives]:
    """Return ``text`` without its directives, and the directives. Words that are not in the table stay."""
    values: dict[str, float | None] = {}
    refusal: Refusal | None = None
    refused: list[str] = []
    gateway = ""

    def take(match: re.Match[str]) -> str:
        nonlocal refusal, gateway
        name, times, value, what = match["name"], match["times"], match["value"], match["what"]
        cheat = BY_NAME.get(name)
        status = name.isdigit()
        allowed = cheat is not None and (
            (value is None or cheat.value in ("may", "must"))
            and (value is not None or cheat.value != "must")
            and (what is not None) == (cheat.value == "name")
            and (what is None or not cheat.names or what in cheat.names)
            and (times is None or status)
        )
        if not allowed:
            return match[0]
        if name == "like":
            gateway = str(what)
        elif what is not None:
            refused.append(what)
        number = None if value is None else float(value)
        if status and refusal is None:
            refusal = Refusal(int(name), None if times is None else int(times), number)
        values.setdefault(name, number)
        return ""

    rest = _WORD.sub(take, text)
    if values:
        rest = re.sub(r"[ \t]{2,}", " ", rest).strip()
    return rest, Directives(values, refusal, tuple(refused), gateway)
