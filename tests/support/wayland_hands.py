"""A mouse and a keyboard on a Wayland compositor without either: what is done with them goes through the compositor,
and reaches a window as from a person's hands.

Speaks Wayland itself, as far as is needed: wlr-virtual-pointer-unstable-v1 and virtual-keyboard-unstable-v1, which sway
and its relatives have. Knows nothing of Qt and of the application. Run as a program, it holds both until it is ended: a
screen with neither gives no window the focus.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
from pathlib import Path
from types import TracebackType
from typing import Final

LEFT: Final = 0x110  # of linux/input-event-codes.h
RIGHT: Final = 0x111

_KEYMAP: Final = (
    b'xkb_keymap { xkb_keycodes { include "evdev+aliases(qwerty)" }; xkb_types { include "complete" }; '
    b'xkb_compat { include "complete" }; xkb_symbols { include "pc+us+inet(evdev)" }; };\0'
)
_ROWS: Final = ((2, "1234567890-="), (16, "qwertyuiop[]"), (30, "asdfghjkl;'`"), (43, "\\zxcvbnm,./"), (57, " "))
_SHIFTED: Final = ((2, "!@#$%^&*()_+"), (16, "QWERTYUIOP{}"), (30, 'ASDFGHJKL:"~'), (43, "|ZXCVBNM<>?"))
_NAMED: Final = {
    "Escape": 1, "Backspace": 14, "Tab": 15, "Return": 28, "F1": 59, "F10": 68, "Home": 102, "Up": 103, "Left": 105,
    "Right": 106, "End": 107, "Down": 108, "Delete": 111, "Menu": 127,
}  # fmt: skip
_CODES: Final = {letter: first + number for first, row in _ROWS for number, letter in enumerate(row)} | _NAMED
_UPPER: Final = {letter: first + number for first, row in _SHIFTED for number, letter in enumerate(row)}
_MODIFIERS: Final = {"Ctrl": (29, 4), "Shift": (42, 1), "Alt": (56, 8)}  # the key, and its bit of the mask

_DISPLAY, _REGISTRY = 1, 2
_POINTERS: Final = "zwlr_virtual_pointer_manager_v1"
_KEYBOARDS: Final = "zwp_virtual_keyboard_manager_v1"


class Hands:
    """One mouse and one keyboard, there as long as the object is used in a ``with``.

    Places are pixels of an output of ``size``. Raises ``OSError`` where no compositor answers, and ``LookupError``
    where it permits no virtual devices.
    """

    def __init__(self, size: tuple[int, int] = (1440, 900)) -> None:
        self._size = size
        self._socket = socket.socket(socket.AF_UNIX)
        self._next = _REGISTRY + 1  # numbers of objects, without a gap
        self._held = 0

    def __enter__(self) -> Hands:
        self._socket.settimeout(10)
        self._socket.connect(str(Path(os.environ.get("XDG_RUNTIME_DIR", ""), os.environ["WAYLAND_DISPLAY"])))
        result = self._globals()
        seat = self._bind(result, "wl_seat")
        self._pointer = self._make(self._bind(result, _POINTERS), seat)
        self._keyboard = self._make(self._bind(result, _KEYBOARDS), seat)
        memory = os.memfd_create("keymap")
        os.write(memory, _KEYMAP)
        self._send(self._keyboard, 0, struct.pack("=II", 1, len(_KEYMAP)), memory)  # keymap, as text
        os.close(memory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    # The mouse

    def move(self, x: int, y: int) -> None:
        """Put the pointer there."""
        width, height = self._size
        self._send(self._pointer, 1, struct.pack("=IIIII", _now(), x, y, width, height))
        self._frame()

    def press(self, button: int = LEFT) -> None:
        self._button(button, 1)

    def release(self, button: int = LEFT) -> None:
        self._button(button, 0)

    def click(self, x: int, y: int, button: int = LEFT) -> None:
        """Go there and click."""
        self.move(x, y)
        self.press(button)
        self.release(button)

    def _button(self, button: int, state: int) -> None:
        self._send(self._pointer, 2, struct.pack("=III", _now(), button, state))
        self._frame()

    def _frame(self) -> None:
        self._send(self._pointer, 4, b"")
        self._settle()

    # The keyboard

    def type(self, text: str) -> None:
        """Type ``text``, which is of the letters and signs on an American keyboard."""
        for letter in text:
            if letter in _UPPER:
                self.key(f"Shift+{letter}")
            else:
                self.key("Return" if letter == "\n" else letter)

    def key(self, chord: str) -> None:
        """Press and release a key, as in ``Ctrl+Return``, ``Escape``, ``Ctrl+Shift+K``."""
        *modifiers, last = chord.split("+") if len(chord) > 1 else [chord]
        code = _CODES.get(last) or _CODES.get(last.lower()) or _UPPER[last]
        for name in modifiers:
            self._modifier(name, down=True)
        self._key(code, 1)
        self._key(code, 0)
        for name in reversed(modifiers):
            self._modifier(name, down=False)
        self._settle()

    def _modifier(self, name: str, *, down: bool) -> None:
        code, bit = _MODIFIERS[name]
        self._key(code, int(down))
        self._held = self._held | bit if down else self._held & ~bit
        self._send(self._keyboard, 2, struct.pack("=IIII", self._held, 0, 0, 0))

    def _key(self, code: int, state: int) -> None:
        self._send(self._keyboard, 1, struct.pack("=III", _now(), code, state))

    # The wire

    def _globals(self) -> dict[str, tuple[int, int]]:
        """Return the compositor's globals, by interface: its name and its version."""
        self._send(_DISPLAY, 1, struct.pack("=I", _REGISTRY))
        return {
            _text(body, 4): (struct.unpack_from("=I", body)[0], struct.unpack_from("=I", body, len(body) - 4)[0])
            for _, body in self._settle(_REGISTRY)
        }

    def _bind(self, expected: dict[str, tuple[int, int]], interface: str) -> int:
        if interface not in expected:
            raise LookupError(f"this compositor has no {interface}")
        name = interface.encode() + b"\0"
        padded = struct.pack("=I", len(name)) + name + b"\0" * (-len(name) % 4)
        created = self._new()
        self._send(_REGISTRY, 0, struct.pack("=I", expected[interface][0]) + padded + struct.pack("=II", 1, created))
        return created

    def _make(self, manager: int, seat: int) -> int:
        created = self._new()
        self._send(manager, 0, struct.pack("=II", seat, created))
        return created

    def _new(self) -> int:
        self._next += 1
        return self._next - 1

    def _send(self, thing: int, request: int, body: bytes, file: int | None = None) -> None:
        message = struct.pack("=II", thing, (8 + len(body)) << 16 | request) + body
        socket.send_fds(self._socket, [message], [] if file is None else [file])

    def _settle(self, expected: int = 0) -> list[tuple[int, bytes]]:
        """Wait until the compositor has done all so far. Returns what it said of ``wanted``: numbers of events, bodies.

        Raises ``OSError`` with its words where it objects.
        """
        self._send(_DISPLAY, 0, struct.pack("=I", sync := self._new()))
        messages: list[tuple[int, bytes]] = []
        while True:
            thing, size_and_event = struct.unpack("=II", self._read(8))
            body = self._read((size_and_event >> 16) - 8)
            event = size_and_event & 0xFFFF
            if (thing, event) == (_DISPLAY, 0):
                raise OSError(f"the compositor objects: {_text(body, 8)}")
            if thing == sync:
                return messages
            if thing == expected:
                messages.append((event, body))

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionResetError("the compositor has gone")
            data += more
        return data


def _text(body: bytes, offset: int) -> str:
    (size,) = struct.unpack_from("=I", body, offset)
    return body[offset + 4 : offset + 3 + size].decode()


def _now() -> int:
    return time.monotonic_ns() // 1_000_000 & 0xFFFFFFFF


if __name__ == "__main__":
    with Hands():
        signal.pause()
