"""Secrets are masked in tapes and logs, in each encoding."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote

from playground.tool_host.tap import MASK, Mask

SECRET = 'k3y/"with" ünï+codé&more'


def test_secret_is_masked_in_each_encoding() -> None:
    data, quoted = SECRET.encode(), quote(SECRET, safe="")
    encodings = [SECRET, json.dumps(SECRET), json.dumps(json.dumps(SECRET)), json.dumps(SECRET, ensure_ascii=False)]
    encodings += [quoted, re.sub("%..", lambda code: code[0].lower(), quoted), html.escape(SECRET)]
    encodings += [data.hex(), data.hex().upper(), base64.b64encode(data).decode()]
    encodings += [base64.urlsafe_b64encode(b"x" + data).decode(), base64.b64encode(b"user:" + data).decode()]
    for encoded in encodings:
        masked = Mask([SECRET]).text(f"before {encoded} after")
        assert (masked[:7], masked[-6:]) == ("before ", " after")
        assert MASK in masked
        assert encoded not in masked


def test_short_secret_is_not_masked() -> None:
    assert Mask(["", "abc"]).text("abcabc") == "abcabc"
    assert Mask().text("nothing to hide") == "nothing to hide"


def test_secret_added_later_is_masked_and_the_longer_one_first() -> None:
    mask = Mask(["secret"])
    mask.add(["secret-and-more", "another-one"])
    assert mask.text("secret-and-more secret another-one") == f"{MASK} {MASK} {MASK}"
