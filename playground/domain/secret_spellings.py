"""The spellings of a secret in responses of gateways and tool servers, for redaction."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from playground.jsonkit.texts import in_html

_HEX = re.compile("%[0-9A-F]{2}")


def spellings(secret: str, shortest: int) -> tuple[str, ...]:
    """Return the spellings of a secret: raw, JSON-escaped, URL-encoded, HTML-escaped, hex, base64 at any offset.

    They include twice JSON-escaped ones, as in a body that quotes another. All have at least ``shortest`` characters.
    """
    texts = plainly(secret)
    quotable = secret.encode("utf-8", "surrogatepass")
    quoted = [quote(quotable, safe=""), quote(quotable), quote(quotable, safe="!'()*~"), quote_plus(quotable)]
    texts += [*quoted, *(_HEX.sub(lambda hex_: hex_[0].lower(), text) for text in quoted), in_html(secret)]
    texts += [quotable.hex(), quotable.hex().upper()]
    for lead in range(3):
        # Only the characters that depend on the secret alone: the first and last group may contain neighbouring bytes.
        first = 0 if lead == 0 else lead + 1
        last = (lead + len(quotable)) * 8 // 6
        middle = base64.b64encode(b"\0" * lead + quotable).decode()[first:last]
        texts += [middle, middle.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(text for text in texts if len(text) >= shortest))


def plainly(secret: str) -> list[str]:
    """Return the spellings in JSON text, and in JSON text that another JSON text quotes."""
    escaped = json.dumps(secret)[1:-1]
    texts = [secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")]
    return texts + [json.dumps(text)[1:-1] for text in texts[1:]]
