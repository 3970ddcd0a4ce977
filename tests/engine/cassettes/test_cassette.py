"""Cassettes and archives: what is written is read again, and a file from elsewhere cannot do harm."""

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
from playground.engine.cassettes.transcript import transcript_of
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
    whole = exchange([(0.01, chunk({"content": "a\u2028\U0001f600"})), (0.5, DONE)], connected=0.001, wire_bytes=77)
    cut = exchange([(0.25, BINARY), (0.25, b'"quoted"\n')], complete=False, failure=FAILURE, status=502, id="e-2")
    never = exchange(status=None, complete=False, failure=FAILURE, response_headers=(), sent=None, id="e-3")
    return [whole, cut, never]


def test_what_is_written_is_read_again() -> None:
    cassette = read(write(tapes(), "My experiment"))
    assert cassette.title == "My experiment"
    assert cassette.app.startswith("gateway-playground/")
    assert list(cassette.exchanges) == tapes()


def test_files(tmp_path: Path) -> None:
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


def test_nothing_to_save_and_what_was_let_go_are_said() -> None:
    with pytest.raises(CassetteError, match="no exchange to save"):
        write([])
    with pytest.raises(CassetteError, match="no exchange to export"):
        har.write([])
    tape = exchange([(0.1, DONE)])
    tape.drop()
    for writer in (write, har.write):
        with pytest.raises(CassetteError, match="let go to save memory"):
            writer([tape])


def changed(path: str, value: Any) -> bytes:
    """A sound cassette with one member replaced."""
    content = json.loads(write(tapes()[:1]))
    at = content
    *above, last = path.split(".")
    for step in above:
        at = at[int(step) if step.isdigit() else step]
    at[int(last) if last.isdigit() else last] = value
    return json.dumps(content).encode()


@each_case(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xff", "not UTF-8"),
        (b"[1]", "“cassette”.*is missing"),
        (b'{"cassette": "1"}', "must be the version"),
        (b'{"cassette": 2}', "version 2; only 1 is known here. Update"),
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
def test_a_wrong_file_is_said_to_be_so(data: bytes, words: str) -> None:
    with pytest.raises(CassetteError, match=words) as caught:
        read(data)
    assert len(str(caught.value)) < 400


def with_more() -> dict[str, Any]:
    """A sound cassette of a later version, with members in every place that are not known today."""
    content: dict[str, Any] = json.loads(write(tapes(), "Later"))
    note = {"deep": [1, {"\ud800": None, "price": 1.5}]}
    for holder in (
        content,
        *(one for tape in content["exchanges"] for one in (tape, tape["request"], tape["response"])),
    ):
        holder["note"] = note
    content["exchanges"][0]["response"]["reads"][0].append({"flags": 3})
    content["exchanges"][0]["response"]["reads"].append([0.75, "", "end of stream"])
    content["exchanges"][1]["failure"]["later"] = "x"
    return content


def test_what_is_not_known_is_written_again(tmp_path: Path) -> None:
    content = with_more()
    cassette = read(json.dumps(content).encode())
    assert [one.reads for one in cassette.exchanges] == [one.reads for one in tapes()]
    again = json.loads(write(cassette.exchanges, cassette.title, (), cassette.beside))
    times = {name: again.pop(name) and content.pop(name) for name in ("created_at", "app")}
    assert again == content
    assert all(times.values())
    (tmp_path / "a").touch()
    save(tmp_path / "a", cassette.exchanges, "", (), {"cassette": 7, "exchanges": []})
    assert len(open_file(tmp_path / "a").exchanges) == 3, "nothing beside takes the place of what is known"


def test_what_is_not_known_is_kept_in_the_store_and_freed_of_secrets() -> None:
    for one in read(json.dumps(with_more()).encode()).exchanges:
        assert read_tape(*write_tape(one, Redactor(()))) == one
        bare = read_head(write_tape(one, Redactor(()))[0])
        assert bare.beside == {name: found for name, found in one.beside.items() if name != "reads"}
        one.beside["exchange"]["note"] = {"k": ["sk-canary-0123456789"]}
        assert b"canary" not in write([one], "", [Secret("sk-canary-0123456789")])


def test_what_is_not_known_and_too_deep_to_be_written_again_is_refused() -> None:
    content = with_more()
    for _ in range(400):
        content["exchanges"][0]["note"] = [content["exchanges"][0]["note"]]
    cassette = read(json.dumps(content).encode())
    assert len(cassette.exchanges) == 2
    assert cassette.unread == ("“note” of exchange 1 must be nested 64 levels deep at most",)


@each_case("bad", [(0,), (1, 2)])
def test_exchanges_that_cannot_be_read_are_left_out_and_said(bad: tuple[int, ...]) -> None:
    content = json.loads(write(tapes(), "Mine"))
    for number in bad:
        content["exchanges"][number]["url"] = 3
    cassette = read(json.dumps(content).encode())
    assert list(cassette.exchanges) == [one for number, one in enumerate(tapes()) if number not in bad]
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
def test_no_file_breaks_what_opens_it(place: str, value: Any) -> None:
    try:
        cassette = read(changed(place, value))
    except CassetteError:
        return
    write(cassette.exchanges, cassette.title)
    har.write(cassette.exchanges)
    for turn in transcript_of(cassette.exchanges).path:
        turn.model_dump_json()


def test_exchanges_of_one_id_are_told_apart() -> None:
    first, second = read(write([exchange(), exchange()])).exchanges
    assert first.id != second.id


def test_an_archive_has_what_its_readers_ask_for() -> None:
    log = json.loads(har.write(tapes()))["log"]
    assert log["version"] == "1.2"
    assert log["creator"]["name"]
    for entry in log["entries"]:
        assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= entry.keys()
        assert {
            "method",
            "url",
            "httpVersion",
            "cookies",
            "headers",
            "queryString",
            "headersSize",
            "bodySize",
        } <= entry["request"].keys()
        assert {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"} <= entry[
            "response"
        ].keys()
        known = [entry["timings"][name] for name in ("connect", "send", "wait", "receive")]
        assert sum(each for each in known if each > 0) == pytest.approx(entry["time"], abs=0.01)
    first, second, third = log["entries"]
    assert first["startedDateTime"] == "2023-11-14T22:13:20.000+00:00"
    assert first["time"] == 500
    assert first["request"]["postData"]["mimeType"] == "application/json"
    assert first["response"]["content"]["text"].endswith("data: [DONE]\n\n")
    assert first["_reads"][1] == [500, len(DONE)]
    assert base64.b64decode(second["response"]["content"]["text"]) == BINARY + b'"quoted"\n'
    assert second["comment"] == "reset"
    assert third["response"]["status"] == 0


def test_the_query_stands_apart() -> None:
    tape = exchange([(0.1, DONE)])
    tape.url = "http://g/v1/chat/completions?api-version=1&x="
    (entry,) = json.loads(har.write([tape]))["log"]["entries"]
    assert entry["request"]["queryString"] == [{"name": "api-version", "value": "1"}, {"name": "x", "value": ""}]


def test_a_secret_cut_by_the_end_of_a_read_is_found() -> None:
    from playground.engine.gateways.secrets import Secret

    tape = exchange()
    tape.reads = [Read(0.1, b"data: sk-canary-"), Read(0.2, b"12345678 x\n\n")]
    for data in (
        write([tape], known=[Secret("sk-canary-12345678")]),
        har.write([tape], [Secret("sk-canary-12345678")]),
    ):
        assert b"canary" not in data
        assert "••••".encode() in data
