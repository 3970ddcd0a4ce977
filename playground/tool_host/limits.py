"""Limits on the size and rate of a server's messages: what exceeds them is cut, counted or not read."""

from __future__ import annotations

from typing import Final

LONGEST_MESSAGE: Final = 32 << 20  # bytes of one message; a longer one is not parsed
LONGEST_LINE: Final = 256 << 20  # bytes without the end of a line; the server is then stopped
LONGEST_FRAME: Final = 128 << 10  # characters of a message that go to the tape
LONGEST_NAME: Final = 2_000  # characters of a name, a title, an address
LONGEST_ADDRESS: Final = 16_000  # characters of a page to sign in on
LONGEST_LOG: Final = 4_000  # characters of one line of a log
LONGEST_DEFINITION: Final = 400_000  # characters of one schema
LONGEST_STRUCTURED: Final = 400_000  # characters of structured content: many small values are slow to read
CHUNK_OF_LIST: Final = 200_000  # characters of a list that go to the window together
LONGEST_LIST: Final = 32 << 20  # characters of all tools, or prompts, or resources, of one server
MOST_PAGES: Final = 2_000  # of one list
MOST_BLOCKS: Final = 2_000  # of one answer
MOST_ASKS: Final = 20  # open questions of one server
MOST_WAITING: Final = 1_000  # messages to a server that it has not read; above that nothing is read from it
KEPT_STDERR: Final = 40  # lines

PER_SECOND: Final = 2_000  # messages read, on average
BURST: Final = 4_000  # messages read without delay
BYTES_PER_SECOND: Final = 64 << 20
BYTES_BURST: Final = 128 << 20

TICK: Final = 0.05  # seconds between two messages to the window
FRAMES_A_TICK: Final = 200  # of all servers
FRAME_CHARS_A_TICK: Final = 512 << 10
LINES_A_TICK: Final = 100  # of logs
WAITING: Final = 8 << 20  # bytes that the window has not read: above that, frames and log lines are counted only
