"""Cassettes and HTTP archives: round trips, invalid and hostile files, unknown members, secrets."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.errors import Failure, FailureKind
from playground.engine.cassettes import har
from playground.engine.cassettes.cassette import CassetteError, open_file, read, save, write
from playground.engine.cassettes.replay import transcript_of
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store.tape_rows import read_head, read_tape, write_tape
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read
from tests.engine.exchanges import exchange
from tests.protocols.streams import DONE, chunk
from tests.support.each_case import each_case

BINARY = b"\xff\xfe\x00 not UTF-8"
FAILURE = Failure(kind=FailureKind.CONNECTION, message="reset", body="{}")


def tapes() -> list[Exchange]:
    complete = exchange([(0.01, chunk({"content": "a\u2028\U0001f600"})), (0.5, DONE)], connected=0.001, wire_bytes=77)
    broken = exchange([(0.25, BINARY), (0.25, b'"quoted"\n')], complete=False, failure=FAILURE, status=502, id="e-2")
    unanswered = exchange(status=None, complete=False, failure=FAILURE, response_headers=(), sent=None, id="e-3")
    return [complete, broken, unanswered]


def test_cassette_after_writing_and_reading_is_equal() -> None:
    cassette = read(write(tapes(), "My experiment"))
    assert cassette.title == "My experiment"
    assert cassette.app.startswith("gateway-playground/")
    assert list(cassette.exchanges) == tapes()


def test_cassette_file_is_saved_opened_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.json"
    save(path, tapes(), "x")
    assert list(open_file(path).exchanges) == tapes()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(CassetteError, match="cannot be written"):
        save(tmp_path / "none" / "a.json", tapes())
    with pytest.raises(CassetteError, match="cannot be read"):
        open_file(tmp_path / "none.json")
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(600 * 1024 * 1024)  # sparse: it takes no room
    with pytest.raises(CassetteError, match="larger than 512 MiB"):
        open_file(huge)


def test_write_without_bodies_is_refused() -> None:
    with pytest.raises(CassetteError, match="no exchange to save"):
        write([])
    with pytest.raises(CassetteError, match="no exchange to export"):
        har.write([])
    tape = exchange([(0.1, DONE)])
    tape.drop()
    for writer in (write, har.write):
        with pytest.raises(CassetteError, match="removed to save memory"):
            writer([tape])


def changed(path: str, value: Any) -> bytes:
    """Return a valid cassette with one member replaced."""
    content = json.loads(write(tapes()[:1]))
    container = content
    *above, last = path.split(".")
    for step in above:
        container = container[int(step) if step.isdigit() else step]
    container[int(last) if last.isdigit() else last] = value
    return json.dumps(content).encode()


@each_case(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xff", "not UTF-8"),
        (b"[1]", "“cassette”.*is missing"),
        (b'{"cassette": "1"}', "must be the version"),
        (b'{"cassette": 2}', "version 2; only 1 is supported. Update"),
        (b'{"cassette": 1}', "“exchanges” of the file must be a list"),
        (b'{"cassette": 1, "exchanges": []}', "empty"),
        (b'{"cassette": 1, "exchanges": [3]}', "exchange 1 must be an object"),
        (b'{"cassette": 1, "exchanges": [' + b"{}," * 10_000 + b"{}]}", "at most 10000"),
        (b"[" * 200_000, "nested too deeply"),
        (changed("title", ["x"]), "“title” of the file must be text"),
        (changed("created_at", 1e300), "“created_at”"),
        (changed("exchanges.0.url", 3), "“url” of exchange 1 must be text"),
        (changed("exchanges.0.protocol", "grpc"), "“protocol” of exchange 1 must be one of chat, messages"),
        (changed("exchanges.0.started_at", float("nan")), "“started_at”"),
        (changed("exchanges.0.ended", float("inf")), "“ended”"),
        (changed("exchanges.0.complete", None), "“complete” of exchange 1 must be true or false"),
        (changed("exchanges.0.failure", {"kind": "odd"}), "“failure”"),
        (changed("exchanges.0.request.headers", {"a": "b"}), "“headers” of the request of exchange 1"),
        (changed("exchanges.0.request.body", {"base64": "***"}), "base64 that can be read"),
        (changed("exchanges.0.response.status", 99), "“status” of the response"),
        (changed("exchanges.0.response.headers", [["a"]]), "a list of pairs of text"),
        (changed("exchanges.0.response.reads", [["x", ""]]), "“reads” of the response of exchange 1"),
        (changed("exchanges.0.response.reads", [[2, "a"], [1, "b"]]), "in the order of time"),
    ],
)
def test_invalid_file_is_refused_with_the_place(data: bytes, words: str) -> None:
    with pytest.raises(CassetteError, match=words) as caught:
        read(data)
    assert len(str(caught.value)) < 400


def with_more() -> dict[str, Any]:
    """Return a valid cassette of a later version, with unknown members in every place."""
    content: dict[str, Any] = json.loads(write(tapes(), "Later"))
    note = {"deep": [1, {"\ud800": None, "price": 1.5}]}
    for holder in (
        content,
        *(holder for tape in content["exchanges"] for holder in (tape, tape["request"], tape["response"])),
    ):
        holder["note"] = note
    content["exchanges"][0]["response"]["reads"][0].append({"flags": 3})
    content["exchanges"][0]["response"]["reads"].append([0.75, "", "end of stream"])
    content["exchanges"][1]["failure"]["later"] = "x"
    return content


def test_unknown_members_are_written_again(tmp_path: Path) -> None:
    content = with_more()
    cassette = read(json.dumps(content).encode())
    assert [tape.reads for tape in cassette.exchanges] == [tape.reads for tape in tapes()]
    again = json.loads(write(cassette.exchanges, cassette.title, (), cassette.unknown_members))
    times = {name: again.pop(name) and content.pop(name) for name in ("created_at", "app")}
    assert again == content
    assert all(times.values())
    (tmp_path / "a").touch()
    save(tmp_path / "a", cassette.exchanges, "", (), {"cassette": 7, "exchanges": []})
    assert len(open_file(tmp_path / "a").exchanges) == 3, "unknown members replace no known ones"


def test_unknown_members_in_the_store_are_kept_without_secrets() -> None:
    for tape in read(json.dumps(with_more()).encode()).exchanges:
        assert read_tape(*write_tape(tape, Redactor(()))) == tape
        bare = read_head(write_tape(tape, Redactor(()))[0])
        assert bare.unknown_members == {
            name: members for name, members in tape.unknown_members.items() if name != "reads"
        }
        tape.unknown_members["exchange"]["note"] = {"k": ["sk-canary-0123456789"]}
        assert b"canary" not in write([tape], "", [Secret("sk-canary-0123456789")])


def test_unknown_member_nested_too_deeply_is_refused() -> None:
    content = with_more()
    for _ in range(400):
        content["exchanges"][0]["note"] = [content["exchanges"][0]["note"]]
    cassette = read(json.dumps(content).encode())
    assert len(cassette.exchanges) == 2
    assert cassette.unread == ("“note” of exchange 1 must be nested 64 levels deep at most",)


@each_case("bad", [(0,), (1, 2)])
def test_unreadable_exchange_is_skipped_and_reported(bad: tuple[int, ...]) -> None:
    content = json.loads(write(tapes(), "Mine"))
    for number in bad:
        content["exchanges"][number]["url"] = 3
    cassette = read(json.dumps(content).encode())
    assert list(cassette.exchanges) == [tape for number, tape in enumerate(tapes()) if number not in bad]
    assert cassette.unread == tuple(f"“url” of exchange {number + 1} must be text" for number in bad)
    assert cassette.unread_words.startswith(f"{len(bad)} of 3 exchanges could not be read")
    assert f"“url” of exchange {bad[-1] + 1} must be text" in cassette.unread_words
    assert read(write(tapes())).unread_words == ""


ANYTHING = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, 1e308, "", "x", "\ud800", "200"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["base64", "kind", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = [
    "title",
    "exchanges",
    *(f"exchanges.0.{name}" for name in json.loads(write(tapes()[:1]))["exchanges"][0]),
    *(f"exchanges.0.response.{name}" for name in json.loads(write(tapes()[:1]))["exchanges"][0]["response"]),
    "exchanges.0.request.body",
    "exchanges.0.request.headers",
    "exchanges.0.response.reads.0",
    "exchanges.0.response.reads.0.1",
    "exchanges.0.response.headers.0.1",
]


@settings(max_examples=50, deadline=None)
@given(place=st.sampled_from(PLACES), value=ANYTHING)
def test_hostile_value_is_refused_or_read(place: str, value: Any) -> None:
    try:
        cassette = read(changed(place, value))
    except CassetteError:
        return
    write(cassette.exchanges, cassette.title)
    har.write(cassette.exchanges)
    for turn in transcript_of(cassette.exchanges).path:
        turn.model_dump_json()


def test_exchanges_with_equal_ids_get_different_ones() -> None:
    first, second = read(write([exchange(), exchange()])).exchanges
    assert first.id != second.id


ARCHIVED_REQUEST = "method url httpVersion cookies headers queryString headersSize bodySize"
ARCHIVED_RESPONSE = "status statusText httpVersion cookies headers content redirectURL headersSize bodySize"


def test_archive_has_all_required_members() -> None:
    log = json.loads(har.write(tapes()))["log"]
    assert log["version"] == "1.2"
    assert log["creator"]["name"]
    for entry in log["entries"]:
        assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= entry.keys()
        assert set(ARCHIVED_REQUEST.split()) <= entry["request"].keys()
        assert set(ARCHIVED_RESPONSE.split()) <= entry["response"].keys()
        phases = [entry["timings"][name] for name in ("connect", "send", "wait", "receive")]
        assert sum(phase for phase in phases if phase > 0) == pytest.approx(entry["time"], abs=0.01)
    first, second, third = log["entries"]
    assert first["startedDateTime"] == "2023-11-14T22:13:20.000+00:00"
    assert first["time"] == 500
    assert first["request"]["postData"]["mimeType"] == "application/json"
    assert first["response"]["content"]["text"].endswith("data: [DONE]\n\n")
    assert first["_reads"][1] == [500, len(DONE)]
    assert base64.b64decode(second["response"]["content"]["text"]) == BINARY + b'"quoted"\n'
    assert second["comment"] == "reset"
    assert third["response"]["status"] == 0


def test_archive_lists_the_query() -> None:
    tape = exchange([(0.1, DONE)])
    tape.url = "http://g/v1/chat/completions?api-version=1&x="
    (entry,) = json.loads(har.write([tape]))["log"]["entries"]
    assert entry["request"]["queryString"] == [{"name": "api-version", "value": "1"}, {"name": "x", "value": ""}]


def test_secret_split_between_reads_is_redacted() -> None:
    tape = exchange()
    tape.reads = [Read(0.1, b"data: sk-canary-"), Read(0.2, b"12345678 x\n\n")]
    for data in (
        write([tape], secrets=[Secret("sk-canary-12345678")]),
        har.write([tape], [Secret("sk-canary-12345678")]),
    ):
        assert b"canary" not in data
        assert "••••".encode() in data
