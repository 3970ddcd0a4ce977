"""A secret that a gateway streams in pieces is taken out of each, and all else stays as it came."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.accumulator import Accumulator
from playground.gateway.redact import MASK, SHORTEST, Redactor
from playground.gateway.redact_stream import LONGEST_HELD, MOST_HELD, Piece, StreamRedactor
from playground.protocols.protocol import get_protocol
from tests.protocols.streams import DONE, call_chunk, chunk, data, fragment
from tests.support.each_case import each_case

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
ODD = 'käy-"with\\quotes/and ünicode'


def pieces_of(text: str, size: int) -> list[str]:
    return [text[index : index + size] for index in range(0, len(text), size)]


def redact(reads: Iterable[bytes], *secrets: str) -> list[Piece]:
    stream = StreamRedactor(Redactor(secrets or (KEY,)))
    results = [piece for number, read in enumerate(reads) for piece in stream.redact_bytes(read, number / 1000)]
    return [*results, *stream.close(99.0)]


def body(pieces: Iterable[Piece]) -> bytes:
    return b"".join(piece.data for piece in pieces)


def answer(protocol: str, raw: bytes) -> Accumulator:
    accumulator = Accumulator()
    decoder = get_protocol(protocol).decoder("text/event-stream")
    accumulator.add_events([*decoder.decode_bytes(raw), *decoder.close()])
    return accumulator


def text_of(protocol: str, raw: bytes) -> str:
    parts = [part for choice in answer(protocol, raw).choices.values() for part in choice.freeze()]
    return "|".join(getattr(part, "text", "") or getattr(part, "arguments", "") for part in parts)


def block(kind: str, member: str, index: int = 0) -> Callable[[str], bytes]:
    def event(text: str) -> bytes:
        value = {"type": "content_block_delta", "index": index, "delta": {"type": kind, member: text}}
        return data(value, "content_block_delta")

    return event


CARRIERS: dict[str, tuple[str, Callable[[str], bytes], bytes]] = {
    "content": ("chat", lambda text: chunk({"content": text}), DONE),
    "reasoning": ("chat", lambda text: chunk({"reasoning_content": text}), DONE),
    "reasoning twice": ("chat", lambda text: chunk({"reasoning": text, "reasoning_content": text}), DONE),
    "refusal": ("chat", lambda text: chunk({"refusal": text}), DONE),
    "arguments": ("chat", lambda text: call_chunk(fragment(text, index=0, id="c", name="f")), DONE),
    "messages text": ("messages", block("text_delta", "text"), b""),
    "messages thinking": ("messages", block("thinking_delta", "thinking"), b""),
}


@each_case("size", [1, 2, 5, 17])
@each_case("name", CARRIERS)
def test_key_in_pieces_is_in_no_piece(name: str, size: int) -> None:
    protocol, carry, end = CARRIERS[name]
    reads = [carry(text) for text in ("Say ", *pieces_of(KEY, size), " now")]
    result = body(redact([*reads, end]))
    assert text_of(protocol, result) == f"Say {MASK} now"
    without_masks = text_of(protocol, result.replace(MASK.encode(), b""))
    assert without_masks == "Say  now"
    assert result.count(b"data:") == b"".join(reads).count(b"data:") + end.count(b"data:"), "each event is there still"


@pytest.mark.parametrize("name", ["delta", "choice", "event"])
def test_key_in_pieces_in_unknown_members_is_masked(name: str) -> None:
    def carry(text: str) -> bytes:
        if name == "delta":
            return chunk({"content": "x", "thoughts": {"said": text}})
        if name == "choice":
            return data({"choices": [{"index": 0, "delta": {"content": "x"}, "note": text}]})
        return chunk({"content": "x"}, echo=[text])

    reads = [carry(text) for text in ("a", *pieces_of(KEY, 3), "b")]
    results = [json.loads(line[6:]) for line in body(redact(reads)).decode().splitlines() if line]
    complete = "".join(map(str, results))
    assert complete.count(MASK) == 1
    assert not any(repr(piece) in complete for piece in pieces_of(KEY, 3))


def test_all_other_bytes_stay_and_reads_keep_their_times() -> None:
    reads = [chunk({"content": text}) for text in ("Yes", " sk", "ating is fun", "s", "!")]
    assert redact([*reads, DONE]) == [Piece(n / 1000, read) for n, read in enumerate([*reads, DONE])]


def test_text_is_held_back_until_it_is_no_beginning_of_a_key() -> None:
    stream = StreamRedactor(Redactor([KEY]))
    first, second = chunk({"content": "yes"}), chunk({"content": " it is"})
    assert stream.redact_bytes(first, 1.0) == []
    assert stream.holding
    assert stream.redact_bytes(second, 2.0) == [Piece(1.0, first)]
    assert stream.redact_bytes(chunk({"content": " x"}), 3.0)[0] == Piece(2.0, second)
    assert not stream.holding


@pytest.mark.parametrize(
    "after",
    [
        chunk({}, "stop"),
        DONE,
        call_chunk(fragment("{", index=0, id="c", name="f")),
        chunk({"reasoning_content": "Hm"}),
        None,
    ],
)
def test_text_held_back_is_given_at_its_end(after: bytes | None) -> None:
    stream = StreamRedactor(Redactor([KEY]))
    text = chunk({"content": "yes"}) if after else block("text_delta", "text")("yes")
    assert stream.redact_bytes(text, 0.0) == []
    assert len(stream.redact_bytes(after or data({"type": "content_block_stop", "index": 0}), 0.1)) == 2


def test_choices_and_calls_in_turns_are_told_apart() -> None:
    reads = []
    for piece in pieces_of(KEY, 4):
        reads += [chunk({"content": piece}), chunk({"content": "s"}, index=1)]
    assert text_of("chat", body(redact([*reads, DONE]))) == f"{MASK}|{'s' * 8}"
    calls = [call_chunk(fragment("", index=n, id=f"c{n}", name="f")) for n in range(2)]
    for piece in pieces_of(KEY, 4):
        calls += [call_chunk(fragment(piece, index=0)), call_chunk(fragment("s", index=1))]
    assert text_of("chat", body(redact([*calls, DONE]))) == f"{MASK}|{'s' * 8}"


@pytest.mark.parametrize("secret", [KEY, ODD])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_each_piece_may_be_escaped_in_its_own_way(secret: str, size: int) -> None:
    def escaped(text: str, how: int) -> str:
        if how == 0:
            return json.dumps(text)
        if how == 1:
            return json.dumps(text, ensure_ascii=False).replace("/", "\\/")
        return '"' + "".join(f"\\u{ord(c):04X}" for c in text) + '"'

    texts = ["a ", *pieces_of(secret, size), " b"]
    reads = [
        b'data: {"choices":[{"delta":{"content":%s},"index":0}]}\n\n' % escaped(text, (number + 2) % 3).encode()
        for number, text in enumerate(texts)
    ]
    assert text_of("chat", body(redact([*reads, DONE], secret))) == f"a {MASK} b"


@settings(max_examples=30, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 3000), max_size=40),
    sizes=st.lists(st.integers(1, 9), min_size=4, max_size=40),
    ending=st.sampled_from(["\n\n", "\r\n\r\n", "\r\r"]),
)
def test_key_cut_by_reads_and_events_is_masked(cuts: list[int], sizes: list[int], ending: str) -> None:
    text, index = f"Keys: {KEY} and {KEY}{KEY}.", 0
    events = []
    for size in [*sizes, *[3] * len(text)]:
        if index < len(text):
            events.append(chunk({"content": text[index : index + size]}))
            index += size
    complete = b"".join([*events, DONE]).replace(b"\n\n", ending.encode())
    marks = sorted({min(cut, len(complete)) for cut in cuts} | {0, len(complete)})
    reads = [complete[a:b] for a, b in pairwise(marks)]
    result = redact(reads)
    assert text_of("chat", body(result)) == f"Keys: {MASK} and {MASK}{MASK}."
    assert [piece.time for piece in result] == sorted(piece.time for piece in result)


@settings(max_examples=80, deadline=None)
@given(
    texts=st.lists(
        st.sampled_from(["a", "ab", "abab", "abac", "abacabad", "b", "x", "%61", "", 'a"b', "a\\", "ü"]), max_size=60
    ),
    name=st.sampled_from(["content", "messages text"]),
    ending=st.sampled_from([b"\n", b"\r\n"]),
)
def test_events_of_one_read_are_redacted_like_those_that_come_alone(texts: list[str], name: str, ending: bytes) -> None:
    """A text in front of a secret goes on otherwise, or holds the secret twice."""
    _, carrier, _ = CARRIERS[name]
    events = [carrier(text).replace(b"\n", ending) for text in texts]
    secret = "abacabadab"
    assert body(redact([b"".join(events)], secret)) == body(redact(events, secret))


def test_beginning_of_a_key_at_the_end_is_masked_unless_short() -> None:
    reads = [chunk({"content": text}) for text in ("It is ", KEY[:9], KEY[9:15])]
    assert text_of("chat", body(redact(reads))) == f"It is {MASK}"
    assert text_of("chat", body(redact([chunk({"content": "It is sk-c"})]))) == "It is sk-c"
    assert KEY[:10].encode() not in body(redact([f"It is {KEY[:15]}".encode()]))


def test_text_is_held_back_for_a_limited_time() -> None:
    stream = StreamRedactor(Redactor([KEY]))
    assert stream.redact_bytes(chunk({"content": "s"}), 0.0) == []
    assert stream.redact_bytes(chunk({"content": "x"}, index=1), 0.1) == []
    assert len(stream.redact_bytes(chunk({"content": "y"}, index=1), LONGEST_HELD + 0.2)) == 3
    assert stream.redact_bytes(chunk({"content": "s"}), 2.0) == []
    assert len(stream.redact_bytes(chunk({"content": "y" * MOST_HELD}, index=1), 2.0)) == 2


def test_rest_of_a_key_is_masked_after_a_large_line_with_its_beginning_was_released() -> None:
    first = chunk({"content": KEY[:9]}, padding="x" * MOST_HELD)
    reads = [first[:-8], first[-8:], chunk({"content": KEY[9:19]}), chunk({"content": KEY[19:]}), DONE]
    assert text_of("chat", body(redact(reads))) == f"{KEY[:9]}{MASK}"


def test_key_that_is_typed_slowly_is_waited_for() -> None:
    stream = StreamRedactor(Redactor([KEY]))
    results = [
        piece for n, c in enumerate(KEY) for piece in stream.redact_bytes(chunk({"content": c}), n * LONGEST_HELD * 0.9)
    ]
    results += stream.redact_bytes(chunk({"content": "!"}), 100.0)
    assert text_of("chat", body(results) + DONE) == f"{MASK}!"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from([b'"', b"\\", b'\\"', b"{", b"[", b"}", b"]", b":", b",", b"\n", b"\r", b"\\u00", b"s"]),
            st.sampled_from([b'{"a":"sk', b'sk-"}', b'"index":', b"7", b"data: ", b'"s"', b"[DONE]", b'"\n"']),
        ),
        max_size=60,
    )
)
def test_hostile_bytes_without_a_secret_stay(reads: list[bytes]) -> None:
    assert body(redact(reads)) == b"".join(reads)


@each_case("unit", [b"[", b'\\"', b'"a":', b'{"a":"s"', b'"s",', b"\\u0073", b'"s"\n', b'"%"\n', b"&a\n"])
def test_long_read_of_one_unit_is_searched_in_linear_time(unit: bytes) -> None:
    """A search that takes quadratic time runs into the time limit of a test."""
    read = unit * (40_000 // len(unit)) + b'"s" % &amp;\n'
    assert body(redact([read])) == read


def deltas(raw: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: {")]


def test_only_the_piece_of_a_key_is_taken_from_an_event() -> None:
    first = b'data: { "id":"sk-" ,"choices":[{"index":0,"delta":{"content":"\\u00e9 sk-cana"}}], "x":1.50 }\n\n'
    second = b'data: {"choices":[{"index":0,"delta":{"content":"ry+Zq7\\/Kw_2xVb.9Jt=Lm4 \\n"}}]}\n\n'
    assert body(redact([first, second])) == (
        first.replace(b"sk-cana", MASK.encode()) + second.replace(b"ry+Zq7\\/Kw_2xVb.9Jt=Lm4", b"")
    )
    assert len(deltas(body(redact([first, second])))) == 2


def test_key_sent_slowly_among_keep_alives_is_masked() -> None:
    stream, results = StreamRedactor(Redactor([KEY])), []
    for number, piece in enumerate(pieces_of(KEY, 3)):
        results += stream.redact_bytes(chunk({"content": piece}), number * 5.0)
        results += stream.redact_bytes(b": still here\n\n", number * 5.0 + LONGEST_HELD + 1)
    text = text_of("chat", body(results) + body(stream.close()) + DONE)
    assert text.startswith(KEY[:6])
    assert not any(piece in text for piece in (KEY[i : i + SHORTEST] for i in range(len(KEY) - SHORTEST + 1)))


@pytest.mark.parametrize("size", [1, 9])
def test_key_among_reasoning_is_masked(size: int) -> None:
    reads = [read for p in pieces_of(KEY, size) for read in (chunk({"content": p}), chunk({"reasoning_content": "Hm"}))]
    text = text_of("chat", body(redact([*reads, DONE]))).replace("Hm", "")
    assert MASK in text
    assert not any(piece in text for piece in (KEY[i : i + SHORTEST] for i in range(len(KEY) - SHORTEST + 1)))


@each_case("code", [r"\u00{:02x}", r"\\u00{:02X}", "%{:02x}", "%25{:02X}", "&#{};", "&amp;#x{:X};"])
@each_case("size", [1, 4, 25, 1000])
def test_key_in_a_code_is_known_across_events(code: str, size: int) -> None:
    spelled = "".join(c if n % 3 else code.format(ord(c)) for n, c in enumerate(KEY))
    reads = [chunk({"content": text}) for text in ("Say ", *pieces_of(spelled, size), " 100% now")]
    assert text_of("chat", body(redact([*reads, DONE]))) == f"Say {MASK} 100% now"
    if size == 25:
        drops = body(redact([bytes([byte]) for byte in b"".join([*reads, DONE])]))
        assert text_of("chat", drops) == f"Say {MASK} 100% now"
