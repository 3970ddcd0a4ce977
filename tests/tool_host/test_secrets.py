"""Secrets are masked in tapes and logs, in each encoding."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote

from playground.tool_host.secrets import MASK, Mask
from tests.support.each_case import each_case

SECRET = 'k3y/"with" ünï+codé&more'


@each_case(
    "spelled",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(json.dumps(SECRET)),
        json.dumps(SECRET, ensure_ascii=False),
        quote(SECRET, safe=""),
        re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
        html.escape(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(b"x" + SECRET.encode()).decode(),
        base64.b64encode(b"user:" + SECRET.encode()).decode(),
    ],
)
def test_secret_is_masked_in_each_encoding(spelled: str) -> None:
    masked = Mask([SECRET]).text(f"before {spelled} after")
    assert MASK in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert spelled not in masked


def test_short_secret_is_not_masked() -> None:
    assert Mask(["", "abc"]).text("abcabc") == "abcabc"
    assert Mask().text("nothing to hide") == "nothing to hide"


def test_secret_added_later_is_masked_and_the_longer_one_first() -> None:
    mask = Mask(["secret"])
    mask.add(["secret-and-more", "another-one"])
    assert mask.text("secret-and-more secret another-one") == f"{MASK} {MASK} {MASK}"
