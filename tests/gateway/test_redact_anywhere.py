"""No secret leaves the stream redactor: in any spelling, cut anywhere by reads, events and fields."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import cycle, pairwise
from string import ascii_letters, digits
from urllib.parse import quote, quote_plus

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.gateway.redact import MASK, Redactor
from playground.gateway.redact_stream import StreamRedactor, TextRedactor
from playground.jsonkit.texts import in_html
from tests.protocols.streams import DONE, chunk
from tests.support.each_case import each_case

KEY = 'sk-can"ary/93+ac55d1&Zq_7x%Lm4'
PLAIN_KEY = "sk-canary93ac55d1Zq7xLm4"
LEAK = 12  # characters of a spelling in a row


def in_base64(key: str, lead: int, *, urlsafe: bool = False) -> str:
    """Encode the key behind other bytes; only characters that depend on the key alone are returned."""
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    text = encode(b"ab:"[:lead] + key.encode() + b"x" * 3).decode()
    return text[lead + 1 if lead else 0 : (lead + len(key.encode())) * 8 // 6]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "json": lambda key: json.dumps(key)[1:-1],
    "json twice": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "unicode escapes": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "url": lambda key: quote(key, safe=""),
    "url form": quote_plus,
    "url, all characters": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "html": in_html,
    "hex": lambda key: key.encode().hex(),
    "hex, upper case": lambda key: key.encode().hex().upper(),
    **{f"base64 at {lead}": partial(in_base64, lead=lead) for lead in range(3)},
    **{f"base64url at {lead}": partial(in_base64, lead=lead, urlsafe=True) for lead in range(3)},
}


def pieces_at(text: str, cuts: Sequence[int]) -> list[str]:
    marks = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(marks)]


@lru_cache(maxsize=1)
def redactor_of(key: str) -> Redactor:
    return Redactor([key])


def redact(reads: Sequence[bytes], key: str) -> bytes:
    stream = StreamRedactor(redactor_of(key))
    pieces = [piece for number, read in enumerate(reads) for piece in stream.redact_bytes(read, number / 1000)]
    return b"".join(piece.data for piece in (*pieces, *stream.close(1.0)))


def fields(body: bytes) -> dict[str, str]:
    """Join the texts of each choice and field."""
    texts: dict[str, str] = {}
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                for name, text in choice["delta"].items():
                    lane = f"{choice['index']} {name}"
                    texts[lane] = texts.get(lane, "") + text
    return texts


def leaks(text: str, spelled: str) -> bool:
    return any(spelled[start : start + LEAK] in text for start in range(len(spelled) - LEAK + 1))


def check_hidden(body: bytes, spelled: str) -> None:
    """Check that neither the bytes nor the joined text of a field have a part of the spelled key."""
    assert not leaks(body.decode(), spelled)
    assert not any(leaks(text, spelled) for text in fields(body).values())


@each_case("spelling", SPELLINGS)
def test_key_cut_at_every_position_of_its_spelling_is_masked(spelling: str) -> None:
    spelled = SPELLINGS[spelling](KEY)
    for cut in range(len(spelled) + 1):
        deltas = [chunk({"content": text}) for text in ("Say ", spelled[:cut], spelled[cut:], " now.")]
        body = redact([*deltas, DONE], KEY)
        assert fields(body) == {"0 content": f"Say {MASK} now."}, cut
        assert redact([*deltas, DONE], KEY) == redact([b"".join([*deltas, DONE])], KEY), cut
        text = f"Say {spelled} now."
        reads = [text[: 4 + cut].encode(), text[4 + cut :].encode()]
        assert redact(reads, KEY).decode() == f"Say {MASK} now.", cut
        stream = TextRedactor(redactor_of(KEY))
        displayed = stream.add(text[: 4 + cut]) + stream.add(text[4 + cut :]) + stream.close()
        assert displayed == f"Say {MASK} now.", cut


@each_case("spelling", SPELLINGS)
def test_key_sent_character_by_character_is_masked(spelling: str) -> None:
    spelled = SPELLINGS[spelling](KEY)
    deltas = [chunk({"content": char}) for char in f"Say {spelled} now."]
    assert fields(redact([*deltas, DONE], KEY)) == {"0 content": f"Say {MASK} now."}
    body = b"".join([*deltas, DONE])
    reads = [body[start : start + 7] for start in range(0, len(body), 7)]
    assert fields(redact(reads, KEY)) == {"0 content": f"Say {MASK} now."}


keys = st.text(ascii_letters + digits + "-_.+/=&%\"'\\<~", min_size=16, max_size=48)


@settings(max_examples=150, deadline=None)
@given(
    key=keys,
    spelling=st.sampled_from(list(SPELLINGS)),
    delta_cuts=st.lists(st.integers(0, 150), max_size=20),
    read_cuts=st.lists(st.integers(0, 4000), max_size=20),
    noise=st.sampled_from([None, "s", "sk", "7", ""]),
)
def test_any_key_cut_by_events_and_reads_among_those_of_another_choice_is_masked(
    key: str, spelling: str, delta_cuts: list[int], read_cuts: list[int], noise: str | None
) -> None:
    spelled = SPELLINGS[spelling](key)
    events = [chunk({"content": "It is "})]
    for text in pieces_at(spelled, delta_cuts):
        events.append(chunk({"content": text}))
        if noise is not None:
            events.append(chunk({"content": noise}, index=1))
    body = b"".join([*events, chunk({"content": ", or so."}), DONE])
    marks = sorted({min(cut, len(body)) for cut in read_cuts} | {0, len(body)})
    redacted = redact([body[start:end] for start, end in pairwise(marks)], key)
    check_hidden(redacted, spelled)
    assert redacted.count(b"data:") == body.count(b"data:")
    assert MASK in fields(redacted)["0 content"]


@settings(max_examples=100, deadline=None)
@given(spelling=st.sampled_from(["plain", "json", "html"]), cut=st.integers(0, 40), together=st.booleans())
def test_key_split_over_two_fields_leaves_no_piece(spelling: str, cut: int, together: bool) -> None:
    spelled = SPELLINGS[spelling](KEY)
    first, second = {"content": spelled[:cut]}, {"reasoning_content": spelled[cut:]}
    events = [chunk({**first, **second})] if together else [chunk(first), chunk(second)]
    check_hidden(redact([*events, chunk({}, "stop"), DONE], KEY), KEY[4:])


@settings(max_examples=150, deadline=None)
@given(
    key=st.sampled_from([KEY, PLAIN_KEY]),
    spelling=st.sampled_from(list(SPELLINGS)),
    delta_cuts=st.lists(st.integers(0, 60), max_size=20),
    indexes=st.sampled_from([(0,), (0, 1), (0, 0, 0, 1)]),
    fillers=st.lists(st.sampled_from(["s", " sk", " is", "\n", ' "so"', " ï", ""]), min_size=20, max_size=40),
    place=st.integers(0, 40),
    read_cuts=st.lists(st.integers(0, 8000), max_size=2),
)
def test_key_in_reads_full_of_events_is_masked_as_in_single_events(
    key: str,
    spelling: str,
    delta_cuts: list[int],
    indexes: tuple[int, ...],
    fillers: list[str],
    place: int,
    read_cuts: list[int],
) -> None:
    spelled = SPELLINGS[spelling](key)
    texts = [*fillers[:place], *pieces_at(spelled, delta_cuts), "; so", *fillers[place:]]
    events = [chunk({"content": text}, index=index) for text, index in zip(texts, cycle(indexes), strict=False)]
    events.append(DONE)
    body = b"".join(events)
    marks = sorted({min(cut, len(body)) for cut in read_cuts} | {0, len(body)})
    redacted = redact([body[start:end] for start, end in pairwise(marks)], key)
    assert redacted == redact(events, key)


def test_key_in_other_events_among_equal_ones_is_masked() -> None:
    usual = [chunk({"content": " on"}) for _ in range(40)]
    for position in range(1, 40, 13):
        for name, index, rest in (("note", 0, {"content": "x"}), ("content", 1, {})):
            odd = [chunk({**rest, name: text}, index=index) for text in (PLAIN_KEY[:9], PLAIN_KEY[9:])]
            events = [*usual[:position], odd[0], *usual[position:], odd[1], *usual, DONE]
            assert fields(redact([b"".join(events)], PLAIN_KEY))[f"{index} {name}"] == MASK
