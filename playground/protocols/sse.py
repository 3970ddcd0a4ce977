"""Parse bytes into server-sent events, incrementally; each event keeps its bytes.

Reads the framing that gateways really send: lines end in LF, CRLF or CR, a byte order mark may lead, comments keep the
connection alive, and some JSON lines lack their ``data:``. The parser knows no JSON and no protocol; no bytes make it
raise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

DEFAULT_CAP: Final = 64 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BLANK_LINES: Final = re.compile(rb"[\r\n]{2,}+")
#: By line end: an event of the usual lines, with its name and its data; empty lines; any other event.
_BLOCKS: Final = {
    end: re.compile(rb"((?:event: (.+)%b)?data: (.+)%b%b|(?:%b)+|(?:(?!%b).+%b)+%b)" % ((end,) * 7))
    for end in (b"\n", b"\r\n")
}
_SPACE: Final = b" \t"

FrameKind = Literal["data", "comment", "stray", "oversize", "body", "end"]


@dataclass(slots=True)
class Frame:
    """One event as received.

    ``kind`` is "data" for an event, "comment" for comments and blank lines alone, "stray" for text outside the format
    (in ``data``), "oversize" for an event above the cap and everything after it (``data`` is empty); decoders make
    "body" and "end". ``raw`` holds the frame's own bytes, line ends included: joined in order they are the bytes
    received.
    """

    event: str | None
    data: str
    raw: bytes
    kind: FrameKind = "data"


class SSEParser:
    """Parser of one stream, for network reads of any size.

    ``cap`` is the largest event in bytes; one above it gives a frame of kind "oversize", and nothing after it is read.
    ``end`` is a payload whose line ends its event, because the blank line after it may be missing.
    """

    def __init__(self, cap: int = DEFAULT_CAP, end: bytes = b"[DONE]") -> None:
        self._cap = cap
        self._end = end
        self._start = b""  # up to two bytes of a possible byte order mark
        self._started = False
        self._partial = bytearray()  # the unfinished line
        self._raw = bytearray()  # finished lines of the unfinished event
        self._last = 0  # start of the last of them
        self._size = 0  # bytes in both
        # Lines are joined on arrival: a list of a million short ones would take too much memory.
        self._data, self._datas = bytearray(), 0  # and the number of lines
        self._stray, self._strays = bytearray(), 0
        self._comments = bytearray()  # each with its LF
        self._event: bytes | None = None
        self._after_cr = False  # the last byte was CR: a following LF belongs to it
        self._oversize = False

    def parse_bytes(self, data: bytes) -> list[Frame]:
        """Return the frames that ``data`` completes."""
        out: list[Frame] = []
        if not self._started:
            data = self._start + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._start = data
                return out
            self._begin(data)
            data = data.removeprefix(_BOM)
        if self._oversize:
            return [Frame(None, "", data, "oversize")] if data else out
        if len(data) > self._cap:
            self._read_lines(data, out)
            return out
        line_end = b"\n"
        if b"\r" in data:
            if not data.count(b"\r") == data.count(b"\n") == data.count(b"\r\n"):
                self._read_lines(data, out)
                return out
            line_end = b"\r\n"
        if self._raw or self._partial or self._after_cr:
            end = data.find(line_end * 2)
            head = len(data) if end < 0 else end + 2 * len(line_end)
            self._read_lines(data[:head], out)
            data = data[head:]
            if self._raw or self._partial or self._after_cr or self._oversize:
                if data:
                    self._read_lines(data, out)
                return out
        self._read_blocks(data, line_end, out)
        return out

    def close(self) -> list[Frame]:
        """Return the unfinished event at the end of the body, as if a blank line followed."""
        out: list[Frame] = []
        if not self._started:
            rest, self._start, self._started = self._start, b"", True
            self._read_lines(rest, out)
        if self._partial:
            line = bytes(self._partial)
            self._partial.clear()
            self._last = len(self._raw)
            self._raw += line
            self._read_line(line, out)
        if self._raw:
            self._dispatch(out)
        return out

    def _begin(self, data: bytes) -> None:
        self._started, self._start = True, b""
        if data.startswith(_BOM):
            self._raw += _BOM
            self._size = len(_BOM)

    def _read_blocks(self, data: bytes, line_end: bytes, out: list[Frame]) -> None:
        """Parse complete events: a ``data:`` line, alone or after an ``event:`` line. All others are read line by line.

        All lines in ``data`` have one kind of line end.
        """
        events, blank, rest = data.rpartition(line_end * 2)
        for raw, event, text in _BLOCKS[line_end].findall(events + blank):
            if text:
                name = str(event, "utf-8", "replace") if event else None
                out.append(Frame(name, str(text, "utf-8", "replace"), raw))
            else:
                self._read_lines(raw, out)
        if rest:
            self._read_lines(rest, out)

    def _read_lines(self, data: bytes, out: list[Frame]) -> None:
        """Parse any bytes line by line."""
        if self._oversize:
            out.append(Frame(None, "", data, "oversize"))
            return
        position = 0
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                self._raw += b"\n"
                position = 1
        raw, partial = self._raw, self._partial
        more = True
        while more:
            more = False
            for end in _LINE_END.finditer(data, position):
                start, stop = end.span()
                if start == position and not raw and not partial and (run := _BLANK_LINES.match(data, position)):
                    out.append(Frame(None, "", run[0], "comment"))
                    position, more = run.end(), True
                    break
                line = data[position:start]
                self._last = len(raw)
                if partial:
                    raw += partial
                raw += data[position:stop]
                self._size += start - position + 1  # a CRLF counts as one byte: its second may arrive later
                position = stop
                if self._size > self._cap:
                    partial.clear()
                    self._overflow(data[position:], out)
                    return
                if partial:
                    line = bytes(partial) + line
                    partial.clear()
                self._read_line(line, out)
        if position < len(data):
            self._partial += data[position:]
            self._size += len(data) - position
            if self._size > self._cap:
                self._overflow(b"", out)
        elif data:
            self._after_cr = data[-1:] == b"\r"

    def _overflow(self, rest: bytes, out: list[Frame]) -> None:
        self._oversize = True
        out.append(Frame(None, "", bytes(self._raw + self._partial + rest), "oversize"))
        self._partial.clear()
        self._clear_event()

    def _read_line(self, line: bytes, out: list[Frame]) -> None:
        """Read one line, without its end; its bytes are already the last of ``_raw``."""
        if not line:
            self._dispatch(out)
            return
        if line[:1] == b":":
            self._comments += line[1:]
            self._comments += b"\n"
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value[1:] if value[:1] == b" " else value
            if self._strays or (self._datas == 1 and self._stands_alone(value)):
                self._dispatch_before_line(out)
            if self._datas:
                self._data += b"\n"
            self._data += value
            self._datas += 1
            if self._end and value.strip(_SPACE) == self._end:
                self._dispatch(out)
        elif name == b"event":
            if self._strays:
                self._dispatch_before_line(out)
            self._event = value[1:] if value[:1] == b" " else value
        elif name not in (b"id", b"retry"):
            if self._datas:
                self._dispatch_before_line(out)
            if self._strays:
                self._stray += b"\n"
            self._stray += line
            self._strays += 1
            text = line.strip(_SPACE)
            if self._strays == 1 and text[:1] == b"{" and text[-1:] == b"}":
                self._dispatch(out)

    def _stands_alone(self, value: bytes) -> bool:
        """Return whether the only line so far and ``value`` are JSON objects: two events without a blank line."""
        first = self._data.strip(_SPACE)
        return first[:1] == b"{" and first[-1:] == b"}" and (value[:1] == b"{" or value.strip(_SPACE) == self._end)

    def _dispatch_before_line(self, out: list[Frame]) -> None:
        """End the event before the line just read."""
        line = self._raw[self._last :]
        del self._raw[self._last :]
        if self._raw:
            self._dispatch(out)
        self._raw += line
        self._last = 0
        self._size = len(line)

    def _dispatch(self, out: list[Frame]) -> None:
        raw = bytes(self._raw)
        event = None if self._event is None else str(self._event, "utf-8", "replace")
        if self._strays:
            out.append(Frame(event, str(self._stray, "utf-8", "replace"), raw, "stray"))
        elif self._datas:
            out.append(Frame(event, str(self._data, "utf-8", "replace"), raw))
        elif event is not None:
            out.append(Frame(event, "", raw))
        else:
            out.append(Frame(None, str(self._comments[:-1], "utf-8", "replace"), raw, "comment"))
        self._clear_event()

    def _clear_event(self) -> None:
        """Start a new event."""
        self._raw.clear()
        self._data.clear()
        self._stray.clear()
        self._comments.clear()
        self._datas = self._strays = self._last = 0
        self._event = None
        self._size = 0
