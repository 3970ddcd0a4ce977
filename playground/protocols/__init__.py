"""Wire protocols of model gateways. Sans-IO: bytes in, events out; a request in, JSON out.

Each protocol has a folder of its name. This module has only the names, so that nothing heavy is loaded for them.
"""

from __future__ import annotations

from typing import Final

#: Name, used in files and settings, and title in reports and on the command line.
PROTOCOLS: Final = {
    "chat": "Chat completions",
    "messages": "Messages",
    "responses": "Responses",
}

#: Titles in the window: the interfaces' own names.
API_NAMES: Final = {
    "chat": "Chat Completions API",
    "messages": "Messages API",
    "responses": "Responses API",
}

#: The protocol of a new experiment, and of data that do not tell theirs.
DEFAULT: Final = next(iter(PROTOCOLS))

#: The list of messages: a member of requests, and of files that hold conversations.
MESSAGES: Final = "messages"
