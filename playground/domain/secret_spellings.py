"""How a secret may be written in what a gateway or a tool server says, so that it is found and taken out."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

from playground.jsonkit.texts import in_html

_HEX = re.compile("%[0-9A-F]{2}")


def spellings(secret: str, shortest: int) -> tuple[str, ...]:
    """``secret`` as it may be written: raw, JSON-escaped, URL-encoded, HTML-escaped, hex, base64 at any offset.

    JSON-escaped twice, too: so it stands in a body that another one quotes. None has less than ``shortest`` characters.
    """
    found = plainly(secret)
    quotable = secret.encode("utf-8", "surrogatepass")
    quoted = [quote(quotable, safe=""), quote(quotable), quote(quotable, safe="!'()*~"), quote_plus(quotable)]
    found += [*quoted, *(_HEX.sub(lambda hex_: hex_[0].lower(), text) for text in quoted), in_html(secret)]
    found += [quotable.hex(), quotable.hex().upper()]
    for lead in range(3):
        # Only the characters that depend on nothing but the secret: the first and last group may mix with neighbours.
        first = 0 if lead == 0 else lead + 1
        whole = (lead + len(quotable)) * 8 // 6
        middle = base64.b64encode(b"\0" * lead + quotable).decode()[first:whole]
        found += [middle, middle.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(text for text in found if len(text) >= shortest))


def plainly(secret: str) -> list[str]:
    """As it stands in a JSON text, and in one that another JSON text quotes."""
    escaped = json.dumps(secret)[1:-1]
    found = [secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")]
    return found + [json.dumps(once)[1:-1] for once in found[1:]]
