"""Secrets are taken out of what goes to tapes and logs, in the spellings that they come in."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote

import pytest

from playground.tool_host.secrets import MASK, Mask

SECRET = 'k3y/"with" ünï+codé&more'


@pytest.mark.parametrize(
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
def test_it_is_found_however_it_is_spelled(spelled: str) -> None:
    masked = Mask([SECRET]).text(f"before {spelled} after")
    assert MASK in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert spelled not in masked


def test_what_is_short_or_none_spoils_no_text() -> None:
    assert Mask(["", "abc"]).text("abcabc") == "abcabc"
    assert Mask().text("nothing to hide") == "nothing to hide"


def test_one_that_comes_later_is_known_from_then_on() -> None:
    mask = Mask(["first-secret"])
    mask.add(["second-secret"])
    assert mask.text("first-secret second-secret") == f"{MASK} {MASK}"


def test_of_two_that_begin_alike_the_longer_goes_whole() -> None:
    assert Mask(["secret", "secret-and-more"]).text("secret-and-more") == MASK
