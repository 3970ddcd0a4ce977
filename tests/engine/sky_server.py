"""A program that answers calls of a weather tool: it holds them until a line says ``release``.

Lines of JSON in both directions. In: ``{"do": "call" | "cancel" | "release", "id", "tool", "arguments"}``.
Out: an answer, a progress message for a held call, or the id of a cancelled one.
The city “Nowhere” ends the program, “Atlantis” is an error.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(call: dict[str, Any]) -> None:
    city = call["arguments"].get("city", "")
    if city == "Nowhere":
        sys.stderr.write("no such city\n")
        sys.exit(3)
    send({"id": call["id"], "text": f"{call['tool']}: it rains in {city}", "error": city == "Atlantis"})


def send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    pending: dict[str, dict[str, Any]] = {}
    hold = True
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "release":
            hold = False
            for call in pending.values():
                answer(call)
            pending.clear()
        elif message["do"] == "cancel":
            pending.pop(message["id"], None)
            send({"cancelled": message["id"]})
        elif hold:
            pending[message["id"]] = message
            send({"id": message["id"], "progress": 1, "log": "looking it up"})
        else:
            answer(message)


if __name__ == "__main__":
    main()
