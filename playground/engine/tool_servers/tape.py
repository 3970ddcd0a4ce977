"""What was said between us and tool servers, both ways, in order of time: bounded, told apart by server, exported.

Frames come as the process that speaks with the servers hands them on. What is kept here leaves it through ``text``,
``front`` and ``lines`` only, which take secrets out once more. A server that says much pushes out its own oldest
frames, never those of another one. For one thread, but for ``lines``.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from playground.domain.tool_servers import Frame, call_of
from playground.gateway.redact import Redactor
from playground.jsonkit.foreign import parse, whole, write
from playground.jsonkit.values import JSONObject

MOST_FRAMES: Final = 100_000
MOST_TEXT: Final = 64_000_000  # characters of all frames
SHARE: Final = 20  # as a part of that so much goes at once: what goes one by one costs more than it is worth

_number = attrgetter("number")


@dataclass(frozen=True, slots=True)
class Entry:
    """A frame on the tape. ``number`` counts all frames there ever were, from 1.

    ``method`` is that of the frame, or of the request it answers; ``request`` is the number of that request, 0 where
    it answers none, and ``seconds`` what the answer took, None where it is no answer.
    """

    number: int
    server: str
    method: str
    call: str
    frame: Frame
    request: int = 0
    seconds: float | None = None


class ServerTape:
    """``redactor`` gives what takes out the secrets known by then."""

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        self._redactor = redactor
        self._entries: list[Entry] = []
        self._count = 0
        self._held: Counter[str] = Counter()  # frames, by server
        self._text: Counter[str] = Counter()  # their characters
        self._lost: Counter[str] = Counter()  # frames that were let go
        self._methods: Counter[str] = Counter()
        self._open: dict[tuple[str, bool, str], Entry] = {}  # requests without an answer, by server, direction and id
        self._answers: dict[int, int] = {}  # the number of the answer, by that of the request
        self._calls: dict[tuple[str, str], dict[int, Entry]] = {}  # frames by their number, by turn and call
        self._gone = 0
        self._subscribers: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """What there is, oldest first. Not to be kept: it changes."""
        return self._entries

    @property
    def count(self) -> int:
        """How many frames there ever were: the number of the last."""
        return self._count

    @property
    def lost(self) -> int:
        """How many of them were let go."""
        return self._lost.total()

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of those that said something, or were told something, in order."""
        return tuple(sorted((name for name, held in self._held.items() if held), key=str.casefold))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods there are, in order."""
        return tuple(sorted(name for name in self._methods if name))

    @property
    def gone(self) -> int:
        """The highest number of a frame that was let go: all above are there."""
        return self._gone

    @property
    def went(self) -> int:
        """How many frames are not there any more, for whatever reason."""
        return self._count - len(self._entries)

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call it whenever there are more frames, or fewer. Returns what ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    def add(self, frames: Iterable[Frame]) -> None:
        """Put frames at the end, in the order in which they come."""
        before = self._count
        for frame in frames:
            self._add(frame)
        while len(self._entries) > MOST_FRAMES or self._text.total() > MOST_TEXT:
            self._let_go()
        if self._count != before:
            self._tell()

    def clear(self, server: str = "") -> None:
        """Let go of all frames, or of those of one server. They do not count as lost."""
        gone = [entry for entry in self._entries if not server or entry.server == server]
        self._entries = [entry for entry in self._entries if server and entry.server != server]
        self._forget(gone)
        self._tell()

    def after(self, number: int) -> Sequence[Entry]:
        """What came after the frame of that number, oldest first."""
        return self._entries[bisect_right(self._entries, number, key=_number) :]

    def get(self, number: int) -> Entry | None:
        """The frame of that number, as long as it is kept."""
        at = bisect_left(self._entries, number, key=_number)
        found = self._entries[at] if at < len(self._entries) else None
        return found if found is not None and found.number == number else None

    def holds(self, entry: Entry) -> bool:
        """Whether it is still there."""
        return self.get(entry.number) is entry

    def partner(self, entry: Entry) -> Entry | None:
        """The answer to a request, or the request of an answer, as long as it is kept."""
        return self.get(entry.request or self._answers.get(entry.number, 0))

    def of_call(self, turn_id: str, call_id: str) -> list[Entry]:
        """What belongs to a call of a turn, however often it was asked."""
        return list(self._calls.get((turn_id, call_id), {}).values())

    # What leaves the tape

    def text(self, entry: Entry) -> str:
        """What was said, whole, without secrets; of a notice its words."""
        return self._redactor().text(entry.frame.text or entry.frame.notice)

    def front(self, entry: Entry, most: int) -> str:
        """The first ``most`` characters of it, without secrets."""
        return self._redactor().front(entry.frame.text or entry.frame.notice, most)

    def lines(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Frames as lines of JSON, each with its end, without secrets. For any thread."""
        redactor = self._redactor()
        for entry in entries:
            yield redactor.text(_exported(entry)) + "\n"

    # Keeping

    def _add(self, frame: Frame) -> None:
        self._count += 1
        method, call, request, seconds = frame.method, frame.call, 0, None
        asked = self._open.get((frame.server, not frame.sent, frame.id)) if frame.id else None
        if asked is not None and _answers(frame, asked.frame):
            del self._open[frame.server, not frame.sent, frame.id]
            method, call = asked.method, call or asked.call
            request, seconds = asked.number, max(frame.at - asked.frame.at, 0.0)
            self._answers[request] = self._count
        entry = Entry(self._count, frame.server, method, call, frame, request, seconds)
        if frame.id and frame.method and not request:
            self._open[frame.server, frame.sent, frame.id] = entry
        self._entries.append(entry)
        if call and (key := call_of(call)) is not None:
            self._calls.setdefault(key, {})[entry.number] = entry
        self._held[frame.server] += 1
        self._text[frame.server] += len(frame.text)
        self._methods[method] += 1

    def _let_go(self) -> None:
        """Let go of the oldest frames of the server that takes most of what there is too much of."""
        too_many = len(self._entries) > MOST_FRAMES
        server = (self._held if too_many else self._text).most_common(1)[0][0]
        frames, text = (MOST_FRAMES // SHARE, 0) if too_many else (0, MOST_TEXT // SHARE)
        gone: list[Entry] = []
        stayed: list[Entry] = []
        at = 0
        while at < len(self._entries) and (frames > 0 or text > 0):
            entry = self._entries[at]
            at += 1
            if entry.server != server:
                stayed.append(entry)
                continue
            gone.append(entry)
            frames, text = frames - 1, text - len(entry.frame.text)
        self._entries[:at] = stayed
        self._lost[server] += len(gone)
        self._forget(gone)

    def _forget(self, gone: Iterable[Entry]) -> None:
        for entry in gone:
            frame = entry.frame
            self._gone = max(self._gone, entry.number)
            self._held[entry.server] -= 1
            self._text[entry.server] -= len(frame.text)
            self._methods[entry.method] -= 1
            if self._methods[entry.method] <= 0:
                del self._methods[entry.method]
            self._answers.pop(entry.number, None)
            if entry.call and (of := call_of(entry.call)) is not None and of in self._calls:
                self._calls[of].pop(entry.number, None)
                if not self._calls[of]:
                    del self._calls[of]
            key = entry.server, frame.sent, frame.id
            if self._open.get(key) is entry:
                del self._open[key]

    def _tell(self) -> None:
        for callback in tuple(self._subscribers):
            callback()


def _answers(frame: Frame, asked: Frame) -> bool:
    """Whether a frame answers a request that went the other way under its id, and is no request of that id itself.

    It may bear the method of what it answers; that both sides ask the same thing at once under one id is told apart
    by what stands first.
    """
    if frame.method != asked.method:
        return not frame.method
    head = frame.text[:200]
    return '"method"' not in head or any(name in head.partition('"method"')[0] for name in ('"result"', '"error"'))


def _exported(entry: Entry) -> str:
    """One frame as a line says it. What is no JSON, or goes too deep to be written as such, stands as its text."""
    frame = entry.frame
    about: JSONObject = {
        "at": datetime.fromtimestamp(frame.at, UTC).isoformat(timespec="microseconds"),
        "server": entry.server,
        "direction": "sent" if frame.sent else "received",
        "method": entry.method,
        "id": frame.id,
        "seconds": entry.seconds,
        "error": frame.error,
        "call": entry.call,
        "size": frame.size,
        "notice": frame.notice,
    }
    said = [write({name: value}) for name, value in about.items() if value not in ("", None, False)]
    if frame.text:
        try:
            said.append(f'{{"message": {json.dumps(parse(frame.text), ensure_ascii=False, allow_nan=False)}}}')
        except (ValueError, TypeError, RecursionError):
            said.append(write({"text": frame.text}))
    return whole("{" + ", ".join(one[1:-1] for one in said) + "}")
