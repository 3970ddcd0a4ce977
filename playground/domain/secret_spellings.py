"""Lists the encodings in which a gateway or a tool server may quote a secret."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from playground.jsonkit.texts import in_html

_PERCENT_CODE = re.compile("%[0-9A-F]{2}")


def spellings(secret: str, shortest: int) -> tuple[str, ...]:
    """Return ``secret`` raw, JSON-escaped, URL-encoded, HTML-escaped, in hex, and in base64 at any byte offset.

    Spellings of fewer than ``shortest`` characters are left out.
    """
    data = secret.encode("utf-8", "surrogatepass")
    quoted = [quote(data, safe=""), quote(data), quote(data, safe="!'()*~"), quote_plus(data)]
    texts = [*plainly(secret), *quoted, in_html(secret), data.hex(), data.hex().upper()]
    texts += [_PERCENT_CODE.sub(lambda code: code[0].lower(), text) for text in quoted]
    for lead in range(3):
        # Only the characters that depend on the secret alone: the first and last group may mix with its neighbours.
        first = 0 if lead == 0 else lead + 1
        last = (lead + len(data)) * 8 // 6
        middle = base64.b64encode(b"\0" * lead + data).decode()[first:last]
        texts += [middle, middle.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(text for text in texts if len(text) >= shortest))


def plainly(secret: str) -> list[str]:
    """Return ``secret`` raw, in a JSON string, and in a JSON string inside a JSON string."""
    escaped = json.dumps(secret)[1:-1]
    texts = [secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")]
    return texts + [json.dumps(text)[1:-1] for text in texts[1:]]
