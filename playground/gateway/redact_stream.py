"""Takes secrets out of a body that arrives in pieces, also where one is cut by the borders between them.

There are two kinds of borders. A read may end in the middle of a secret; and a gateway that streams may say a secret in
the texts of several events, a few characters each, so that it never stands in the bytes as a whole and does so in the
answer. Both are found before anything is kept: what goes on to the tape, and from there to the decoder, the window and
every file, has the pieces masked where they stood, and all other bytes as they came.

A read is held back only while it ends a text that begins a secret. Without a secret, nothing is looked at.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from playground.gateway.codes import CODED
from playground.gateway.event_texts import Lane, Member, Shape, Units, members_of, strings_of
from playground.gateway.redact import MASK, SHORTEST, Redactor

#: What is held back goes on when there is more of it than this, or after this time: an answer must not wait.
MOST_HELD: Final = 256 * 1024  # bytes
LONGEST_HELD: Final = 1.0  # seconds without the text that it waits for going on
#: So many lines more are looked at for what a text goes on with that was not waited for.
_AFTERWARDS: Final = 64
#: A read of no more bytes is mostly one event.
_ONE_EVENT: Final = 1024
#: A line longer than this is no event of a few characters.
LONGEST_LINE: Final = 1024 * 1024  # bytes
_MASK: Final = MASK.encode()
_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")


class Piece(NamedTuple):
    """Bytes of a body with the moment they came, in seconds."""

    at: float
    data: bytes


class StreamRedactor:
    """Redacts one body read by read. ``redact_bytes`` and ``close`` give what may be kept now, at the times it came.

    A read of many events without a secret costs one search of what differs in them per spelling, and one of all of it
    for a text that ends like the beginning of one. Only lines where something was found are looked at.
    """

    __slots__ = ("_parts", "_reads", "_redactor", "_texts")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._parts = redactor.parts
        self._reads = _AcrossReads(redactor)
        self._texts = _AcrossTexts(redactor) if redactor else None

    @property
    def holding(self) -> bool:
        """Whether whole reads are held back."""
        return self._texts is not None and self._texts.holding

    def redact_bytes(self, data: bytes, at: float = 0.0) -> list[Piece]:
        """What may be kept of the body so far and was not given yet; ``at`` is when ``data`` came."""
        if self._texts is None:
            return [Piece(at, data)] if data else []
        if len(data) <= _ONE_EVENT and self._reads.is_clear(data):
            return self._whole(self._texts.redact(data, at, clear=True))
        data, said = self._reads.redact(data)
        if said is None:
            return self._whole(self._texts.redact(data, at)) if data else []
        clear = self._redactor.goes_on_otherwise(said)
        given = self._texts.redact(data, at, clear=clear, plain=True)
        return given if len(given) == 1 and given[0].data is data else self._whole(given)

    def close(self, at: float = 0.0) -> list[Piece]:
        """What was still held back when the body ended. What may well be a secret cut off is masked."""
        data = self._reads.close()
        if self._texts is None:
            return [Piece(at, data)] if data else []
        return self._whole([*(self._texts.redact(data, at) if data else ()), *self._texts.close()])

    def _whole(self, given: list[Piece]) -> list[Piece]:
        """What nothing else belongs to any more: a piece of a secret in it stands alone."""
        for number, (at, data) in enumerate(given):
            if any(map(data.__contains__, self._parts)):
                given[number] = Piece(at, self._redactor.without_pieces(data))
        return given


class _AcrossReads:
    """Bytes in, bytes out, without the secrets in them and without a beginning of one at their end."""

    __slots__ = ("_held", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""

    def is_clear(self, data: bytes) -> bool:
        """Whether ``redact_bytes`` would give those bytes as they are, nothing left for ``_AcrossTexts`` to find."""
        return bool(data) and not self._held and self._redactor.is_clear(data)

    def redact(self, data: bytes) -> tuple[bytes, bytes | None]:
        """What may be given of it, and that as ``Redactor.plain`` has it."""
        if self._held:
            data = self._held + data
            self._held = b""
        if not data:
            return data, None
        said = self._redactor.plain(data)
        if said is None:
            data = self._redactor.without_whole(data)
        held = self._redactor.open_data(data)
        if held:
            self._held = data[-held:]
            return data[:-held], None  # it ends elsewhere now
        return data, said

    def close(self) -> bytes:
        held, self._held = self._held, b""
        return held if len(held) < SHORTEST else _MASK


class _Chunk:
    """One read, and what is to be cut out of it. ``gone`` when it was given out. Later ones have higher numbers."""

    __slots__ = ("at", "cuts", "data", "gone", "number")

    def __init__(self, at: float, data: bytes, number: int) -> None:
        self.number = number
        self.at = at
        self.data = data
        self.cuts: list[tuple[int, int, bytes]] = []
        self.gone = False

    def given(self) -> Piece:
        self.gone = True
        data, end = self.data, 0
        if not self.cuts:
            return Piece(self.at, data)
        out: list[bytes] = []
        for start, stop, put in sorted(self.cuts):
            if start >= end:
                out += [data[end:start], put]
            end = max(end, stop)
        return Piece(self.at, b"".join((*out, data[end:])))


class _Line:
    """One line of the body, over as many reads as it came in."""

    __slots__ = ("_parts", "size")

    def __init__(self) -> None:
        self._parts: list[tuple[_Chunk, int, int]] = []  # where in which read it stands, and how much of it
        self.size = 0

    def add(self, chunk: _Chunk, start: int, end: int) -> None:
        if end > start:
            self._parts.append((chunk, start, end - start))
            self.size += end - start

    @property
    def at(self) -> float:
        """When its end came."""
        return self._parts[-1][0].at

    @property
    def text(self) -> bytes:
        return b"".join(chunk.data[start : start + size] for chunk, start, size in self._parts)

    def cut(self, start: int, end: int, put: bytes) -> bytes:
        """Take out what stands there, ``put`` in its place, which is returned while it has none.

        What was given out already stays.
        """
        at = 0
        for chunk, begin, size in self._parts:
            low, high = max(start, at), min(end, at + size)
            if low < high and not chunk.gone:
                chunk.cuts.append((begin + low - at, begin + high - at, put))
                put = b""
            at += size
        return put

    def chunk_at(self, place: int = 0) -> int:
        """The number of the read that has its byte ``place``."""
        at = 0
        for chunk, _, size in self._parts:
            at += size
            if at > place:
                return chunk.number
        return self._parts[-1][0].number


class _Share(NamedTuple):
    """Characters ``start`` to ``end`` of one text, which stands at ``begin`` in ``line``: a share of what is open."""

    line: _Line
    begin: int
    units: Units
    start: int
    end: int

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where those characters of the text stand in the line."""
        return self.begin + self.units.offset(start), self.begin + self.units.offset(end)


class _Open(NamedTuple):
    """The end of a text that goes on, as far as it begins a secret, and where its characters stand.

    The first of them is in the read with the number ``since``. Without ``waits`` they may be given out; what comes
    later is known for the rest all the same.
    """

    text: str
    shares: tuple[_Share, ...]
    since: int
    waits: bool = True


class _AcrossTexts:
    """Finds secrets in texts that are sent in pieces, an event each, whatever member of the event they are."""

    __slots__ = ("_count", "_held", "_line", "_lines_left", "_moved", "_open", "_redactor", "_risky", "_shape", "_size")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held: deque[_Chunk] = deque()
        self._size = 0  # bytes of them
        self._count = 0  # reads
        self._line = _Line()  # the one not ended yet
        self._moved = 0.0  # when a text went on that may be a secret
        self._risky = False  # and whether something in it may begin a secret
        self._open: dict[Lane, _Open] = {}
        self._lines_left = 0  # for which those are remembered that are not waited for
        self._shape = Shape(b"", ())

    @property
    def holding(self) -> bool:
        return bool(self._held)

    def redact(self, data: bytes, at: float, *, clear: bool = False, plain: bool = False) -> list[Piece]:
        """``clear`` when it is known that there is nothing to look for in ``data``; ``plain`` as in ``risks``."""
        self._count += 1
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        chunk = _Chunk(at, data, self._count)
        risks = self._redactor.risks(data, plain=plain) if not clear else None
        if not self._held and not self._open and (risks is None or risks.next(0) == len(data)):
            chunk.gone = True
            if cut and self._line.size:
                self._line = _Line()
            self._line.add(chunk, cut, len(data))
            return [Piece(at, data)]
        risks = risks or self._redactor.risks(data, plain=plain)
        if not self._held:
            self._moved = at
        self._held.append(chunk)
        self._size += len(data)
        start = 0
        while start < cut:
            if not self._open and not self._line.size:
                risk = risks.next(start)
                while risk < cut and self._is_over(data, risk):
                    risk = risks.next(risk + 1)
                if risk >= cut:
                    break
                start = max(start, data.rfind(b"\n", start, risk) + 1, data.rfind(b"\r", start, risk) + 1)
            end = _line_end(data, start)
            self._line.add(chunk, start, end)
            start = end
            ended, self._line = self._line, _Line()
            self._read(ended)
        self._line.add(chunk, cut, len(data))
        self._risky = (self._risky and not cut) or risks.next(cut) < len(data)
        return self._give(at)

    def _is_over(self, data: bytes, risk: int) -> bool:
        """Whether a text that ends like the front of a secret goes on otherwise in the next event of the same read."""
        if data[risk] in CODED:
            return False
        quote = data.find(b'"', risk)
        text = self._shape.next_text(data, quote)
        return text is not None and not (text and self._redactor.may_go_on(data[quote - 1], text[0]))

    def close(self) -> list[Piece]:
        if self._line.size and self._held:
            self._read(self._line)
        self._let_go(list(self._open))
        self._open.clear()
        held, self._held, self._size = self._held, deque(), 0
        self._line, self._risky = _Line(), False
        return [piece for chunk in held if (piece := chunk.given()).data]

    def _give(self, now: float) -> list[Piece]:
        """What nothing depends on any more."""
        if now - self._moved > LONGEST_HELD or self._size > MOST_HELD:
            self._let_go(list(self._open))
            self._risky = False
        since = min((known.since for known in self._open.values() if known.waits), default=self._count + 1)
        if self._risky and self._line.size:
            since = min(since, self._line.chunk_at())
        given = []
        while self._held and self._held[0].number < since:
            given.append(self._held.popleft())
            self._size -= len(given[-1].data)
        return [piece for chunk in given if (piece := chunk.given()).data]

    def _read(self, line: _Line) -> None:
        """Follow the texts in one line."""
        if line.size > LONGEST_LINE:
            return
        text = line.text
        if not text.strip():
            return
        self._forget()
        members = self._shape.members(text)
        if members is None:
            strings = strings_of(text)
            members = members_of(text, strings)
            if strings:
                self._shape = Shape(text, strings)
        grown: set[Lane] = set()
        for member in members:
            if member.ends:
                self._end(member)
            elif member.units:
                grown.add(member.lane)
                self._follow(member, line)
        if not self._open:
            return
        # Where another text of the same choice has begun, this one is over.
        over = [lane for lane in self._open if lane not in grown]
        self._let_go(
            lane for lane in over if any(place[:1] == lane[0][:1] and name != lane[1] for place, name in grown)
        )

    def _end(self, member: Member) -> None:
        place = member.lane[0][:1]
        self._let_go([lane for lane in self._open if not place or lane[0][:1] == place])

    def _let_go(self, lanes: Iterable[Lane]) -> None:
        """Wait for those texts no longer. What may well be the front of a secret is masked."""
        for lane in lanes:
            known = self._open[lane]
            if not known.waits:
                continue
            if len(known.text) >= SHORTEST:
                self._mask(known.shares, 0, len(known.text))
            self._open[lane] = known._replace(waits=False)
            self._lines_left = _AFTERWARDS

    def _forget(self) -> None:
        """Another line has come."""
        self._lines_left -= 1
        if self._lines_left <= 0 or len(self._open) > _AFTERWARDS:
            for lane in [lane for lane, known in self._open.items() if not known.waits]:
                del self._open[lane]

    def _follow(self, member: Member, line: _Line) -> None:
        before = self._open.pop(member.lane, None)
        units = member.units
        now = _Share(line, member.begin, units, 0, len(units))
        text = units.text
        shares: tuple[_Share, ...] = (now,)
        if before is not None:
            text, shares = before.text + text, (*before.shares, now)
        end = 0
        for start, end in self._redactor.spans(text):
            self._mask(shares, start, end)
        left = self._redactor.open_end(text[end:])
        if left:
            start = len(text) - left
            self._moved = line.at
            left_over = tuple(_from(shares, start))
            reads = (share.line.chunk_at(share.place(share.start, share.end)[0]) for share in left_over)
            oldest = self._held[0].number  # what was given out already is waited for no more
            since = next((number for number in reads if number >= oldest), oldest)
            self._open[member.lane] = _Open(text[start:], left_over, since)

    def _mask(self, shares: Iterable[_Share], start: int, end: int) -> None:
        """Take those characters of the joined text out of the places where they stand."""
        put, at = _MASK, 0
        for share in shares:
            size = share.end - share.start
            low, high = max(start, at), min(end, at + size)
            if low < high:
                put = share.line.cut(*share.place(share.start + low - at, share.start + high - at), put)
            at += size


def _line_end(data: bytes, start: int) -> int:
    """Where the line ends that begins at ``start``, its line break included; it has one."""
    found = _LINE_BREAK.search(data, start)
    return found.end() if found is not None else len(data)


def _from(shares: Iterable[_Share], start: int) -> Iterable[_Share]:
    """The shares of a joined text from a character on."""
    at = 0
    for share in shares:
        size = share.end - share.start
        if at + size > start:
            yield share._replace(start=share.start + max(start - at, 0))
        at += size


class TextRedactor:
    """Redacts decoded text that arrives in pieces, wherever the pieces cut a secret. An end that may begin one waits.

    ``add`` and ``close`` return the text that may be shown.
    """

    __slots__ = ("_held", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def add(self, text: str) -> str:
        """Return the text that no later piece can turn into a secret."""
        if not self._redactor:
            return text
        text = self._held + text
        end = len(text) - self._redactor.open_text(text)
        for start, stop in self._redactor.spans(text):
            if start < end < stop:  # a whole secret, the end of which begins another spelling
                end = start
        self._held = text[end:]
        return self._redactor.text(text[:end])

    def close(self) -> str:
        """Return the rest. The beginning of a secret that was cut off is masked."""
        held, self._held = self._held, ""
        return self._redactor.text(held) if self._redactor.open_text(held) < SHORTEST else MASK
