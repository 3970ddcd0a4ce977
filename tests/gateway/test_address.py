"""Base URLs as people type them."""

from __future__ import annotations

import pytest

from playground.gateway.address import candidates, doubled, is_loopback, needs_consent, origin, resolve
from tests.support.each_case import each_case

GOOD = "https://gateway.example/v1"


def test_plain_base_is_left_alone() -> None:
    address = resolve(GOOD)
    assert address.base == GOOD
    assert address.endpoint("chat/completions") == f"{GOOD}/chat/completions"
    assert address.endpoint("messages") == f"{GOOD}/messages"
    assert address.models == f"{GOOD}/models"
    assert address.endpoint("/chat/completions") == address.endpoint("chat/completions")
    assert (address.repairs, address.suggestion, address.note) == ((), "", "")


@each_case(
    ("typed", "base", "word"),
    [
        (f"  {GOOD}\n", GOOD, "spaces"),
        (f'"{GOOD}"', GOOD, "quotes"),
        (f"<{GOOD}>", GOOD, "quotes"),
        (f"{GOOD}/", GOOD, "trailing slash"),
        (f"{GOOD}///", GOOD, "trailing slash"),
        (f"{GOOD}/chat/completions", GOOD, "/chat/completions"),
        (f"{GOOD}/chat/completions/", GOOD, "/chat/completions"),
        (f"{GOOD}/messages", GOOD, "/messages"),
        (f"{GOOD}/Models", GOOD, "/models"),
        (f"{GOOD}/completions", GOOD, "/completions"),
        (f"{GOOD}/v1", GOOD, "/v1/v1"),
        (f"{GOOD}/v1/v1/chat/completions", GOOD, "/v1"),
        ("https://gateway.example//v1", GOOD, "doubled slashes"),
        ("gateway.example/v1", GOOD, "https://"),
        ("//gateway.example/v1", GOOD, "https://"),
        ("https:/gateway.example/v1", GOOD, "slashes after"),
        ("localhost:8080/v1", "http://localhost:8080/v1", "http://"),
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1", "http://"),
        ("[::1]:8080/v1", "http://[::1]:8080/v1", "http://"),
        (f"{GOOD}?key=abcdefgh", GOOD, "“?”"),
        (f"{GOOD}#top", GOOD, "“#”"),
    ],
)
def test_repairs(typed: str, base: str, word: str) -> None:
    address = resolve(typed)
    assert address.base == base
    assert any(word in repair for repair in address.repairs)
    assert not any("abcdefgh" in repair for repair in address.repairs)
    again = resolve(address.base)
    assert (again.base, again.repairs) == (base, ())


@pytest.mark.parametrize(
    ("typed", "base"),
    [
        ("HTTPS://Gateway.Example:8443/v1", "https://gateway.example:8443/v1"),
        ("http://[2001:db8::1]:80/v1", "http://[2001:db8::1]:80/v1"),
        ("https://gateway.example/some/team/v2beta/openai", "https://gateway.example/some/team/v2beta/openai"),
        ("https://my_gateway/v1", "https://my_gateway/v1"),
    ],
)
def test_valid_base_url_is_unchanged(typed: str, base: str) -> None:
    assert resolve(typed).base == base
    assert resolve(typed).repairs == ()


def test_several_repairs_are_all_named() -> None:
    address = resolve("  gateway.example/v1/v1/chat/completions/ ")
    assert address.base == GOOD
    assert len(address.repairs) == 5


def test_base_url_without_a_version_is_kept_with_a_suggestion() -> None:
    address = resolve("https://gateway.example/api")
    assert address.base == "https://gateway.example/api"
    assert address.suggestion == "https://gateway.example/api/v1"
    assert address.suggestion in address.note
    assert address.repairs == ()


@each_case(
    ("typed", "word"),
    [
        ("", "Enter"),
        ("  ", "Enter"),
        ("https://", "host"),
        ("https:///v1", "version"),
        ("ftp://gateway.example/v1", "ftp"),
        ("ws://gateway.example/v1", "ws"),
        ("https://person:hunter2hunter2@gateway.example/v1", "user name"),
        ("https://gateway.example:99999/v1", "port"),
        ("https://gateway.example:port/v1", "port"),
        ("https://[::1/v1", "host"),
        ("https://gate way.example/v1", "space"),
        ("https://gateway.example/\nv1", "line break"),
        ("https://gate%way/v1", "host"),
    ],
)
def test_invalid_base_url_is_refused(typed: str, word: str) -> None:
    if word == "version":  # one slash too many: the next word is the host
        assert resolve(typed).base == "https://v1"
        return
    with pytest.raises(ValueError, match=word) as raised:
        resolve(typed)
    assert "hunter2" not in str(raised.value)


@each_case(
    ("url", "loopback", "consent"),
    [
        ("http://localhost:1/v1", True, False), ("http://demo.localhost/v1", True, False),
        ("http://127.8.9.1/v1", True, False), ("http://[::1]/v1", True, False),
        ("http://[::ffff:127.0.0.1]/v1", True, False), ("http://0.0.0.0:8000/v1", True, False),
        ("http://localhost.example/v1", False, True), ("http://192.168.1.4:8000/v1", False, True),
        ("http://gateway.example/v1", False, True), ("https://gateway.example/v1", False, False),
        ("https://localhost/v1", True, False),
    ],
)  # fmt: skip
def test_loopback_and_consent(url: str, loopback: bool, consent: bool) -> None:
    assert is_loopback(url) is loopback
    assert needs_consent(url) is consent


def test_origin() -> None:
    assert (
        origin("https://Gateway.Example/v1")
        == origin("https://gateway.example:443/other")
        == "https://gateway.example:443"
    )
    assert origin("http://gateway.example/v1") != origin("https://gateway.example/v1")
    assert origin("http://[::1]:8080/v1") == "http://[::1]:8080"
    with pytest.raises(ValueError, match="host"):
        origin("/v1")


@each_case(
    ("path", "others"),
    [
        ("", ["/v1"]),
        ("/gateway", ["/gateway/v1", "/v1"]),
        ("/v1", [""]),
        ("/api/v1", ["/api", "/v1"]),
        ("/v1/openai/v2", ["/v1", "/v2"]),
        ("/v1/chat/completions/v1", ["/v1", ""]),
        ("/v1/models/v1", ["/v1", ""]),
        ("/models/vendor/large/v1", ["/models/vendor/large", "/v1"]),
    ],
)
def test_candidates_of_a_base_url(path: str, others: list[str]) -> None:
    assert candidates(f"https://gateway.example{path}") == tuple(
        f"https://gateway.example{second}" for second in others
    )


def test_path_through_models_is_no_doubled_endpoint() -> None:
    assert doubled("https://gateway.example/models/vendor/large/v1") == ""
    assert "/models" in doubled("https://gateway.example/v1/models/v1")
    assert "/chat/completions" in doubled("https://gateway.example/v1/chat/completions/v1")


def test_address_of_a_megabyte_is_refused_by_its_length() -> None:
    with pytest.raises(ValueError, match=r"1,000,014 characters long, more than the 8,000"):
        resolve("https://" + "u" * 1_000_000 + "/v1/v1 ")
    assert resolve("https://gateway.example/" + "p" * 7_000 + "/v1").repairs == ()
