"""How things are spelled on the wire. Sans-IO: bytes in, events out; a request in, JSON out.

A protocol is the folder of its name and one line here; all that is known of it stands in that folder. Nothing heavy is
loaded for the names.
"""

from __future__ import annotations

from typing import Final

#: Name, used in files and settings, and title, for people. ``playground.protocols.NAME`` holds the ``PROTOCOL``.
PROTOCOLS: Final = {
    "chat": "Chat completions",
    "messages": "Messages",
}

#: What a new experiment speaks, and what is taken for spoken where nothing tells.
DEFAULT: Final = next(iter(PROTOCOLS))

#: The list of messages: a member of requests, and of files that hold conversations.
MESSAGES: Final = "messages"
