"""Masks secrets in a response body that arrives in pieces, also where reads or events cut a secret.

There are two kinds of cuts. A read may end inside a secret; and a streaming gateway may send a secret as texts of
several events, so that it is complete in the answer and nowhere in the bytes. Both are found before anything is stored:
tape, decoder, window and files get the masked body, in which all other bytes are unchanged.

A read is held back only while a text in it ends with the beginning of a secret.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from playground.gateway.redact import MASK, SHORTEST, Redactor

#: Held reads are released when they are larger than this, or when no text that may be a secret grew for so long.
MOST_HELD: Final = 256 * 1024  # bytes
LONGEST_HELD: Final = 1.0  # seconds
#: Lines for which the end of a released text is remembered, so that the rest of a secret is masked.
_REMEMBERED_LINES: Final = 64
#: A longer line is no event with a part of a text: it is only searched for whole secrets.
LONGEST_LINE: Final = 1024 * 1024  # bytes
_MASK: Final = MASK.encode()
_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")
_EVENT_END: Final = b"\n\n"
_MANY_EVENTS: Final = 2048  # bytes of a read that may hold several equal events
_MOST_ATTEMPTS: Final = 4  # to find a run of equal events in a read, and an end of it that is no beginning of a secret
#: A JSON string without its quotation marks.
_STRING_CONTENT: Final = re.compile(rb'(?:[^"\\\r\n]++|\\[^\r\n])*+')

#: The field that a text continues: list positions or ``index`` members on the way to it, and its member name.
Lane = tuple[tuple[int, ...], str]

#: Members that are complete in each event; the next event does not continue them.
_COMPLETE: Final = frozenset(
    {"id", "object", "model", "type", "role", "system_fingerprint", "service_tier", "provider", "obfuscation", "format"}
)
_END_MEMBERS: Final = frozenset({"finish_reason", "stop_reason"})
_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"(\s*+:)?|\\?\Z)|([{}\[\],])|([^\s{}\[\],":]++)', re.DOTALL)
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_SHORT_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MOST_LEVELS: Final = 64  # nested objects and lists; texts in deeper ones are not followed
_END_MARKER: Final = b"[DONE]"
_MARKER_WITHIN: Final = 16  # bytes at the beginning of a line


class Piece(NamedTuple):
    """Bytes of a body with their time of arrival, in seconds."""

    time: float
    data: bytes


class StreamRedactor:
    """Redacts one body. ``redact_bytes`` and ``close`` return what may be stored now, with its times of arrival."""

    __slots__ = ("_events", "_held", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""  # the end of the last read, while it is the beginning of a secret
        self._events = _EventRedactor(redactor)

    @property
    def holding(self) -> bool:
        """Return whether whole reads are held back."""
        return self._events.holding

    def redact_bytes(self, data: bytes, arrival: float = 0.0) -> list[Piece]:
        """Return what may be stored and was not returned before; ``arrival`` is the time of ``data``."""
        if not self._redactor:
            return [Piece(arrival, data)] if data else []
        data = self._redactor.data_without_secrets(self._held + data)
        end = len(data) - self._redactor.open_data(data)
        data, self._held = data[:end], data[end:]
        return self._without_pieces(self._events.redact(data, arrival)) if data else []

    def close(self, arrival: float = 0.0) -> list[Piece]:
        """Return what is held back when the body has ended. The beginning of a secret is masked unless it is short."""
        data = self._held if len(self._held) < SHORTEST else _MASK
        self._held = b""
        pieces = self._events.redact(data, arrival) if data else []
        return self._without_pieces([*pieces, *self._events.close(arrival)])

    def _without_pieces(self, pieces: Iterable[Piece]) -> list[Piece]:
        return [Piece(position, self._redactor.data_without_pieces(data)) for position, data in pieces]


@dataclass(slots=True)
class _Tail:
    """The end of a text that may be the beginning of a secret.

    ``places`` has the first and last position in the body for each character. A tail that is not ``waiting`` was
    released, and is remembered.
    """

    text: str
    places: list[tuple[int, int]]
    waiting: bool = True


class _EventRedactor:
    """Finds secrets in texts that consecutive events continue. Positions count the bytes of the whole body."""

    __slots__ = (
        "_cuts", "_grown_at", "_is_open", "_line", "_line_start", "_lines_left", "_reads", "_received", "_redactor",
        "_released", "_tails", "_was_open",
    )  # fmt: skip

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._reads: deque[Piece] = deque()  # held back
        self._released = 0  # position behind the last byte that was returned
        self._received = 0  # position behind the last byte
        self._line = bytearray()  # the incomplete last line
        self._line_start = 0
        self._is_open = False  # a text in that line may end with the beginning of a secret
        self._was_open = False  # and it did, when earlier reads were released for their size or age
        self._tails: dict[Lane, _Tail] = {}
        self._grown_at = 0.0  # when one of them grew, or the oldest held read came
        self._lines_left = 0  # for which released tails are remembered
        self._cuts: list[tuple[int, int, bytes]] = []  # start, end, replacement

    @property
    def holding(self) -> bool:
        return bool(self._reads)

    def redact(self, data: bytes, arrival: float) -> list[Piece]:
        """Add a read. Return the reads that no later text can change."""
        if not self._reads:
            self._grown_at = arrival
        self._reads.append(Piece(arrival, data))
        self._received += len(data)
        read_start = self._received - len(data)
        complete = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        begin, opening = 0, -1
        attempts = _MOST_ATTEMPTS if len(data) > _MANY_EVENTS else 0
        while begin < len(data):
            if attempts and not self._tails and not self._line:
                start, begin = begin, self._skip_equal_events(data, begin)
                attempts = attempts - 1 if start == begin else 0
            if opening < begin:
                opening = self._redactor.next_open(data, begin)
            if not self._tails and not self._line:  # skip the lines before it
                border = min(opening, complete)
                begin = max(begin, data.rfind(b"\n", begin, border) + 1, data.rfind(b"\r", begin, border) + 1)
                self._line_start = read_start + begin
            line_break = _LINE_BREAK.search(data, begin)
            end = line_break.end() if line_break is not None else len(data)
            if len(self._line) <= LONGEST_LINE:
                self._line += data[begin:end]
            self._is_open = self._is_open or opening < end
            if line_break is not None:
                if self._is_open or self._was_open or self._tails:
                    self._read_line(arrival)
                self._line.clear()
                self._line_start, self._is_open, self._was_open = read_start + end, False, False
            begin = end
        return self._release(arrival)

    def _skip_equal_events(self, data: bytes, start: int) -> int:
        """Return where to go on after events that differ in one text only, when these texts, joined, have no secret.

        ``start`` is the beginning of a line. Searching the joined texts spares reading each event of a full read.
        """
        begin = start
        while data.startswith(b"\n", begin):
            begin += 1
        end = data.find(_EVENT_END, begin) + len(_EVENT_END)
        texts = [text for text in event_texts(data[begin:end]) if text.raw or text.ends]
        if len(texts) != 1 or texts[0].ends:
            return start
        first = begin + texts[0].begin
        after, before = data[first + len(texts[0].raw) : end], data[begin:first]
        last = len(data)
        for _ in range(_MOST_ATTEMPTS):
            last = data.rfind(after + before, first, last)
            if last < 0:
                return start
            joined = re.sub(re.escape(after + before), b"", data[first:last])  # faster than ``replace``
            if _STRING_CONTENT.fullmatch(joined) is None:  # other events are between them
                return start
            if self._redactor.next_open(joined + b'"', 0) > len(joined):
                has_secret = self._redactor.data_without_secrets(joined) != joined
                return start if has_secret else last + len(after)
        return start

    def close(self, arrival: float) -> list[Piece]:
        """Return all reads that are held back."""
        if self._line and self._reads:
            self._read_line(arrival)
        self._let_go(list(self._tails))
        self._tails.clear()
        self._line.clear()
        self._is_open = self._was_open = False
        return self._release(arrival)

    def _release(self, now: float) -> list[Piece]:
        """Return the reads that end before all that may be a part of a secret."""
        if now - self._grown_at > LONGEST_HELD or self._received - self._released > MOST_HELD:
            self._let_go(list(self._tails))
            self._is_open, self._was_open = False, self._is_open or self._was_open
        limits = [self._first_held(tail) for tail in self._tails.values() if tail.waiting]
        if self._is_open:
            limits.append(self._line_start)
        limit = min(limits, default=self._received)
        pieces: list[Piece] = []
        while self._reads and self._released + len(self._reads[0].data) <= limit:
            read = self._reads.popleft()
            pieces.append(Piece(read.time, self._masked(read.data)))
            self._released += len(read.data)
        self._cuts = [cut for cut in self._cuts if cut[1] > self._released]
        return [piece for piece in pieces if piece.data]

    def _first_held(self, tail: _Tail) -> int:
        """Return the position of the first character of a tail that was not released."""
        return next((start for start, _ in tail.places if start >= self._released), self._released)

    def _masked(self, data: bytes) -> bytes:
        """Return the read at ``_released`` with its cuts applied."""
        pieces: list[bytes] = []
        copied = 0
        for start, end, replacement in sorted(self._cuts):
            first, last = start - self._released, min(end - self._released, len(data))
            if first < len(data) and last > copied:
                pieces += [data[copied:first], replacement] if first >= copied else []
                copied = last
        return b"".join((*pieces, data[copied:]))

    def _read_line(self, arrival: float) -> None:
        """Search the texts of a complete line."""
        if len(self._line) > LONGEST_LINE or not self._line.strip():
            return
        self._forget()
        grown: set[Lane] = set()
        for text in event_texts(bytes(self._line)):
            if text.ends:
                message = text.lane[0][:1]
                self._let_go([lane for lane in self._tails if not message or lane[0][:1] == message])
            elif text.raw:
                grown.add(text.lane)
                self._follow(text, arrival)
        # A text is complete when another field of the same choice goes on.
        fields = {(numbers[:1], name) for numbers, name in grown}
        for lane in self._tails.keys() - grown:
            if any(lane[0][:1] == choice and lane[1] != name for choice, name in fields):
                self._let_go([lane])

    def _forget(self) -> None:
        """Count a line, and drop the released tails that are too old or too many."""
        self._lines_left -= 1
        if self._lines_left <= 0 or len(self._tails) > _REMEMBERED_LINES:
            self._tails = {lane: tail for lane, tail in self._tails.items() if tail.waiting}

    def _let_go(self, lanes: Iterable[Lane]) -> None:
        """Stop waiting for the next part of these texts. A long beginning of a secret is masked."""
        for lane in lanes:
            tail = self._tails[lane]
            if tail.waiting:
                if len(tail.text) >= SHORTEST:
                    self._mask(tail.places)
                tail.waiting = False
                self._lines_left = _REMEMBERED_LINES

    def _follow(self, part: EventText, arrival: float) -> None:
        """Append a part to the text of its lane, mask the secrets in it and keep the tail that may be one."""
        before = self._tails.pop(part.lane, None) or _Tail("", [])
        decoded, offsets = part.decode()
        text, earlier = before.text + decoded, len(before.text)

        def places(start: int, end: int) -> list[tuple[int, int]]:
            own = range(max(start - earlier, 0), max(end - earlier, 0))
            line = self._line_start
            return before.places[start:end] + [(line + offsets[i], line + offsets[i + 1]) for i in own]

        for start, end in self._redactor.spans(text):
            self._mask(places(start, end))
        size = self._redactor.open_text(text)
        if size:
            self._grown_at = arrival
            start = len(text) - size
            self._tails[part.lane] = _Tail(text[start:], places(start, len(text)))

    def _mask(self, places: Iterable[tuple[int, int]]) -> None:
        """Cut these characters out, as far as they were not released; the mask replaces the first of them."""
        runs: list[tuple[int, int]] = []
        for start, end in places:
            if runs and runs[-1][1] == start:
                runs[-1] = runs[-1][0], end
            elif end > self._released:
                runs.append((max(start, self._released), end))
        for number, (start, end) in enumerate(runs):
            self._cuts.append((start, end, b"" if number else _MASK))


class EventText(NamedTuple):
    """One JSON string in a line: its field, its first byte in the line, and its bytes as escaped.

    With ``ends``, the message or content block of that field is complete.
    """

    lane: Lane
    begin: int
    raw: bytes
    ends: bool = False

    def decode(self) -> tuple[str, Sequence[int]]:
        """Return the text, and for each of its characters, and for its end, the position in the line."""
        if self.raw.isascii() and b"\\" not in self.raw:
            return self.raw.decode("ascii"), range(self.begin, self.begin + len(self.raw) + 1)
        units = _UNIT.findall(self.raw.decode("utf-8", "surrogateescape"))
        sizes = (len(unit.encode("utf-8", "surrogateescape")) for unit in units)
        return "".join(map(_decode_unit, units)), list(accumulate(sizes, initial=self.begin))


def _decode_unit(unit: str) -> str:
    if len(unit) == 1:
        return unit
    if len(unit) == 6:
        return chr(int.from_bytes(bytes.fromhex(unit[2:])))
    return _SHORT_ESCAPES.get(unit[1], unit[1])


class _Container:
    """An object or list that is open while a line is read."""

    __slots__ = ("index", "is_list", "name", "place", "position")

    def __init__(self, is_list: bool, name: str, place: int | None) -> None:
        self.is_list = is_list
        self.name = name  # of the current member; of a list its own
        self.place = place  # position in the enclosing list
        self.position = 0
        self.index: int | None = None  # value of its member ``index``


def event_texts(line: bytes) -> list[EventText]:
    """Return the texts that a later event may continue, and those that end a message, in order.

    The line need not be valid JSON: a secret must be found in the events of a faulty gateway, too.
    """
    if _END_MARKER in line[:_MARKER_WITHIN]:
        return [EventText(((), ""), 0, b"", ends=True)]
    # The index of a container may follow its texts: lanes are resolved when the whole line is read.
    strings: list[tuple[list[_Container], str, int, bytes, bool]] = []
    stack: list[_Container] = []
    top_name = ""  # of a member outside of all objects
    for token in _TOKEN.finditer(line):
        text, colon, mark, bare = token.groups()
        top = stack[-1] if stack else None
        if text is not None and colon is None:
            name = top.name if top is not None else top_name
            if (ends := _ends(name, text)) or name not in _COMPLETE:
                strings.append((stack[:], name, token.start(1), text, ends))
        elif text is not None and top is None:
            top_name = text.decode("utf-8", "replace")
        elif text is not None:
            if top is not None and not top.is_list:
                top.name = text.decode("utf-8", "replace")
        elif mark in (b"{", b"["):
            if len(stack) == _MOST_LEVELS:
                break
            place = top.position if top is not None and top.is_list else None
            stack.append(_Container(mark == b"[", top.name if top is not None else "", place))
        elif mark == b",":
            if top is not None and top.is_list:
                top.position += 1
        elif mark is not None:
            del stack[-1:]
        elif top is not None and top.name == "index" and bare.isdigit() and len(bare) < 7:
            top.index = int(bare)
    return [EventText((_numbers(path), name), begin, raw, ends) for path, name, begin, raw, ends in strings]


def _numbers(path: list[_Container]) -> tuple[int, ...]:
    """Return the indexes of the containers in a path, their list positions where they have none."""
    numbers = [container.place if container.index is None else container.index for container in path]
    return tuple([number for number in numbers if number is not None])


def _ends(name: str, raw: bytes) -> bool:
    """Return whether a member says that its message or content block is complete."""
    return name in _END_MEMBERS or (name == "type" and raw.endswith(b"_stop"))


class TextRedactor:
    """Redacts decoded text that arrives in pieces. An end that may be the beginning of a secret is held back.

    ``add`` and ``close`` return the text that may be shown.
    """

    __slots__ = ("_held", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def add(self, text: str) -> str:
        """Return the text that no later piece can complete to a secret."""
        if not self._redactor:
            return text
        text = self._held + text
        end = len(text) - self._redactor.open_text(text)
        for start, stop in self._redactor.spans(text):
            if start < end < stop:  # a whole secret whose end is the beginning of another spelling
                end = start
        self._held = text[end:]
        return self._redactor.text(text[:end])

    def close(self) -> str:
        """Return the rest. The beginning of a secret that was cut off is masked."""
        text, self._held = self._held, ""
        return self._redactor.text(text) if self._redactor.open_text(text) < SHORTEST else MASK
