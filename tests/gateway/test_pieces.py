"""A piece of a secret by itself is redacted, too, and ordinary text is not."""

from __future__ import annotations

import json
import random
import string

from playground.gateway.redact import MASK, Pieces, Redactor, shortest
from playground.gateway.redact_stream import StreamRedactor
from tests.support.each_case import each_case

KEY = "sk-canary-Zq7/Kw_2xVb.9Jt=Lm4aP0uQe8"
LONG = "sk-proj-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits + "_-", k=156))
KEYS = (KEY, LONG, "0123456789abcdef0123456789abcdef", "9f8e7d6c-5b4a-3928-1706-f5e4d3c2b1a0")
FILLINGS = ("", "x", "…")


@each_case("key", KEYS)
@each_case("around", FILLINGS)
def test_every_run_of_a_key_is_masked_wherever_it_begins(key: str, around: str) -> None:
    redactor = Redactor([key])
    least = shortest(key)
    begin = 10 if key in (KEY, LONG) else 16 if "-" in key else 0  # what many keys begin with
    for index in range(begin, len(key) - least + 1, 3):
        for size in (least, least + 1, len(key) - index):
            run = key[index : index + size]
            if len(run) < least or len(run) == len(key):
                continue
            text = f"{around}{run}{around}"
            assert run not in redactor.text(text), (index, size)
            assert MASK in redactor.text(text)
            assert redactor.data(text.encode()) == redactor.text(text).encode()
            assert run[:8] not in redactor.front(f"{'w' * 20}{text}{'w' * 90}", 20 + len(around) + least // 2)


def test_piece_of_a_key_in_an_event_is_masked() -> None:
    redactor = Redactor([KEY])
    for piece in (KEY[12:30], KEY[20:], KEY[:26]):
        stream = StreamRedactor(redactor)
        line = (
            b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": f"it is {piece} or so"}}]}).encode()
        )
        values = [item for part in (line, b"\n\n", b"data: [DONE]\n\n") for item in stream.redact_bytes(part)]
        result = b"".join(item.data for item in (*values, *stream.close()))
        assert result.count(MASK.encode()) == 1
        assert piece.encode() not in result
        assert json.loads(result.split(b"\n")[0][6:])["choices"][0]["delta"]["content"] == f"it is {MASK} or so"


@each_case(
    ("secret", "text"),
    [
        ("sk-ant-api03-Zq7KwVb9JtLm4aP0uQe8", "Keys of that kind begin with sk-ant-api03- and go on."),
        ("my-company-internal-gateway-key", "our company-internal-gateway is down"),
        ("production-environment-password", "the production-environment and its environment-password"),
        ("0000000000000000000000000000001", "a number: 000000000000000000000"),
        ("aaaaaaaaaaaaaaaaaaaaBBBBBBBBBB11", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        (KEY, f"{KEY[12:22]} and {KEY[22:33]} are too short to tell anything"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3", "eyJhbGciOiJIUzI1NiJ9. and so on"),
        ("пароль-который-длинный-1234567", "который-длинный"),
    ],
)
def test_ordinary_text_stays(secret: str, text: str) -> None:
    redactor = Redactor([secret])
    assert redactor.text(text) == text
    assert redactor.data(text.encode()) == text.encode()


def test_no_piece_of_random_keys_is_found_in_ordinary_text() -> None:
    text = json.dumps([{"id": f"chatcmpl-{number:x}", "model": "gpt-4o-mini"} for number in range(2_000)])
    keys = ("".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=48)) for seed in range(50))
    for key in keys:
        assert Pieces([key]).spans(text) == []
