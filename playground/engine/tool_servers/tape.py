"""The messages exchanged with tool servers, in order of time: bounded, linked as request and answer, exported.

Content leaves the tape through ``text``, ``front`` and ``lines`` only, which mask secrets. A server with many messages
displaces its own oldest ones, never those of another server. For one thread, except ``lines``.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter
from typing import Final

from playground.domain.tool_servers import Frame, call_of
from playground.engine.tool_servers.events import Subscribers
from playground.gateway.redact import Redactor
from playground.jsonkit.foreign import parse, whole, write
from playground.jsonkit.values import JSONObject

MOST_FRAMES: Final = 100_000
MOST_TEXT: Final = 64_000_000  # characters of all frames
SHARE: Final = 20  # the part of a server's frames, 1/20, that is removed at once: each removal copies the list

_number = attrgetter("number")


@dataclass(frozen=True, slots=True)
class Entry:
    """A frame on the tape. ``number`` counts all frames ever added, from 1.

    ``method`` is that of the frame, or of the request it answers; ``request`` is the number of that request, 0 for
    none, and ``seconds`` the time between them, None for no answer.
    """

    number: int
    server: str
    method: str
    call: str
    frame: Frame
    request: int = 0
    seconds: float | None = None


class ServerTape:
    """The tape; ``redactor`` returns what masks the secrets known at the time."""

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        self._redactor = redactor
        self._entries: list[Entry] = []
        self._count = 0
        self._lost = 0
        self._last_removed = 0
        self._frames: Counter[str] = Counter()  # by server
        self._characters: Counter[str] = Counter()  # by server
        self._methods: Counter[str] = Counter()
        self._open: dict[tuple[str, bool, str], Entry] = {}  # unanswered requests by server, direction and id
        self._answers: dict[int, int] = {}  # numbers of answers by those of their requests
        self._calls: dict[tuple[str, str], dict[int, Entry]] = {}  # by turn and call, then by number
        self._subscribers = Subscribers()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first: a view that changes with the tape."""
        return self._entries

    @property
    def count(self) -> int:
        """The number of frames ever added, which is the number of the last one."""
        return self._count

    @property
    def lost(self) -> int:
        """The number of frames displaced by newer ones."""
        return self._lost

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers with frames, in order."""
        return tuple(sorted((name for name, number in self._frames.items() if number), key=str.casefold))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the frames, in order."""
        return tuple(sorted(name for name, number in self._methods.items() if name and number))

    @property
    def last_removed(self) -> int:
        """The highest number of a removed frame: all later frames are present."""
        return self._last_removed

    @property
    def removed_count(self) -> int:
        """The number of frames removed for any reason."""
        return self._count - len(self._entries)

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after every change, until the returned function is called."""
        return self._subscribers.add(callback)

    def add(self, frames: Iterable[Frame]) -> None:
        """Append frames, oldest first."""
        before = self._count
        for frame in frames:
            self._add(frame)
        while len(self._entries) > MOST_FRAMES or self._characters.total() > MOST_TEXT:
            sizes = self._frames if len(self._entries) > MOST_FRAMES else self._characters
            server = sizes.most_common(1)[0][0]
            oldest = (entry for entry in self._entries if entry.server == server)
            removed = list(islice(oldest, max(1, self._frames[server] // SHARE)))
            self._lost += len(removed)
            self._remove(removed)
        if self._count != before:
            self._subscribers.notify()

    def clear(self, server: str = "") -> None:
        """Remove all frames, or those of one server. They do not count as lost."""
        self._remove([entry for entry in self._entries if not server or entry.server == server])
        self._subscribers.notify()

    def after(self, number: int) -> Sequence[Entry]:
        """Return the entries after the frame of that number, oldest first."""
        return self._entries[bisect_right(self._entries, number, key=_number) :]

    def get(self, number: int) -> Entry | None:
        """Return the entry of that number unless it was removed."""
        index = bisect_left(self._entries, number, key=_number)
        entry = self._entries[index] if index < len(self._entries) else None
        return entry if entry is not None and entry.number == number else None

    def holds(self, entry: Entry) -> bool:
        """Return whether an entry is still on the tape."""
        return self.get(entry.number) is entry

    def partner(self, entry: Entry) -> Entry | None:
        """Return the answer to a request, or the request of an answer, unless it was removed."""
        return self.get(entry.request or self._answers.get(entry.number, 0))

    def of_call(self, turn_id: str, call_id: str) -> list[Entry]:
        """Return the entries of a call of a turn, of all attempts."""
        return list(self._calls.get((turn_id, call_id), {}).values())

    # Masked content

    def text(self, entry: Entry) -> str:
        """Return the whole text of a frame, or the words of a notice, with secrets masked."""
        return self._redactor().text(entry.frame.text or entry.frame.notice)

    def front(self, entry: Entry, most: int) -> str:
        """Return the first ``most`` characters of ``text``."""
        return self._redactor().front(entry.frame.text or entry.frame.notice, most)

    def lines(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Yield frames as lines of JSON with secrets masked. For any thread."""
        redactor = self._redactor()
        for entry in entries:
            yield redactor.text(_exported(entry)) + "\n"

    def _add(self, frame: Frame) -> None:
        self._count += 1
        method, call, request, seconds = frame.method, frame.call, 0, None
        opened = self._open.get((frame.server, not frame.sent, frame.id)) if frame.id else None
        if opened is not None and _answers(frame, opened.frame):
            del self._open[frame.server, not frame.sent, frame.id]
            method, call = opened.method, call or opened.call
            request, seconds = opened.number, max(frame.time - opened.frame.time, 0.0)
            self._answers[request] = self._count
        entry = Entry(self._count, frame.server, method, call, frame, request, seconds)
        if frame.id and frame.method and not request:
            self._open[frame.server, frame.sent, frame.id] = entry
        self._entries.append(entry)
        if call and (key := call_of(call)) is not None:
            self._calls.setdefault(key, {})[entry.number] = entry
        self._frames[frame.server] += 1
        self._characters[frame.server] += len(frame.text)
        self._methods[method] += 1

    def _remove(self, entries: Sequence[Entry]) -> None:
        numbers = set(map(_number, entries))
        self._entries = [entry for entry in self._entries if entry.number not in numbers]
        self._last_removed = max(self._last_removed, *numbers, 0)
        for entry in entries:
            frame = entry.frame
            self._frames[entry.server] -= 1
            self._characters[entry.server] -= len(frame.text)
            self._methods[entry.method] -= 1
            self._answers.pop(entry.number, None)
            if entry.call and (call := call_of(entry.call)) is not None and call in self._calls:
                self._calls[call].pop(entry.number, None)
                if not self._calls[call]:
                    del self._calls[call]
            key = entry.server, frame.sent, frame.id
            if self._open.get(key) is entry:
                del self._open[key]


def _answers(frame: Frame, request: Frame) -> bool:
    """Return whether a frame answers the opposite request of its id, and is no request of that id itself.

    An answer may carry the method of its request; the member that comes first in the text decides.
    """
    if frame.method != request.method:
        return not frame.method
    head = frame.text[:200]
    return '"method"' not in head or any(name in head.partition('"method"')[0] for name in ('"result"', '"error"'))


def _exported(entry: Entry) -> str:
    """Return a frame as a line of JSON; invalid or too deeply nested messages are exported as text."""
    frame = entry.frame
    facts: JSONObject = {
        "at": datetime.fromtimestamp(frame.time, UTC).isoformat(timespec="microseconds"),
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
    members = [write({name: value}) for name, value in facts.items() if value not in ("", None, False)]
    if frame.text:
        try:
            members.append(f'{{"message": {json.dumps(parse(frame.text), ensure_ascii=False, allow_nan=False)}}}')
        except (ValueError, TypeError, RecursionError):
            members.append(write({"text": frame.text}))
    return whole("{" + ", ".join(member[1:-1] for member in members) + "}")
