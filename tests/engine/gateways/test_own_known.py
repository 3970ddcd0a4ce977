"""A person's own services, in a real file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from playground.engine.gateways.profiles import Auth, ProfileError
from playground.engine.gateways.services import KnownGateway, KnownGateways, recognise, shipped
from tests.support.each_case import each_case


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "known-gateways.json"


def own(**changes: object) -> KnownGateway:
    complete: dict[str, object] = {"id": "team", "name": "Team", "base_url": "https://ai.team.example/v1"}
    return KnownGateway.model_validate(complete | changes)


def test_own_services_are_saved_among_the_shipped_ones(path: Path) -> None:
    known_gateways = KnownGateways(path)
    assert known_gateways.all == shipped()
    saved = known_gateways.put(
        own(protocols={"messages": Auth.X_API_KEY}, key_variables=("TEAM_KEY",), note="Ask Kim.")
    )
    assert saved.own
    again = KnownGateways(path)
    assert again.get("team") == saved
    assert len(again.all) == len(shipped()) + 1
    result = recognise("https://ai.team.example/docs", again.all)
    assert result is not None
    assert result.service == saved
    again.put(saved.model_copy(update={"name": "A team"}))
    assert again.all[0].name == "A team"
    again.remove("team")
    assert KnownGateways(path).all == shipped()
    again.put(own(id="openai", name="OpenAI through our proxy"))
    assert [service.name for service in again.all if service.id == "openai"] == ["OpenAI through our proxy"]


def test_entries_of_a_newer_version_are_preserved(path: Path) -> None:
    path.parent.mkdir()
    entry = {"id": "team", "name": "Team", "base_url": "https://ai.team.example/v1", "colour": "red"}
    odd = {"name": "Without an id"}
    broken = [{"id": "o", "name": "Odd", "base_url": url} for url in ("https://[::1/v1", "https://a.example:99999")]
    path.write_text(json.dumps({"version": 7, "services": [*broken, entry, odd], "later": True}))
    known_gateways = KnownGateways(path)
    assert ["Odd" in words or "Without an id" in words for words in known_gateways.messages] == [True] * 3
    assert recognise("https://gateway.example/v1", known_gateways.all) is None
    known_gateways.put(own(id="second"))
    content = json.loads(path.read_text())
    assert (content["later"], content["services"][0], content["services"][2:]) == (True, entry, [*broken, odd])


@each_case("content", ["not json", "[]", '{"services": {}}', "[" * 100_000, "\ufeff"])
def test_damaged_file_is_set_aside(tmp_path: Path, content: str) -> None:
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / "known-gateways.json"
    path.write_text(content)
    known_gateways = KnownGateways(path)
    assert known_gateways.all == shipped()
    assert "set aside" in known_gateways.messages[0]
    known_gateways.put(own())
    assert [item.read_text() for item in path.parent.glob("*damaged*")] == [content]


KEY_PAGES = (
    *("javascript:alert(1)", "file:///usr/bin/env", "http://ai.team.example/keys", "https://[ai.team.example"),
    *("https://kim:password@ai.team.example/keys", "https://ai.team.example/keys?with=sk-0123456789abcdef0123"),
    "https://ai.team.example/keys#api_key=0123456789abcdef",
)
ADDRESSES = ("not an address", "https://user:password@ai.team.example", "https://{a b}.example")


@each_case(
    "changes",
    [
        *({"base_url": address} for address in ADDRESSES),
        *({"keys_url": page} for page in KEY_PAGES),
        *({"headers": headers} for headers in ({"Authorization": "Bearer a"}, {"X-Note": "sk-0123456789abcdef0123"})),
        *({"name": "  "}, {"key_variables": ("sk-0123456789abcdef",)}),
    ],
)
def test_invalid_service_or_one_with_a_secret_is_refused(path: Path, changes: dict[str, object]) -> None:
    known_gateways = KnownGateways(path)
    with pytest.raises(ProfileError):
        known_gateways.put(own(**changes))
    assert not path.exists()


def test_key_in_a_pasted_address_is_not_saved(path: Path) -> None:
    key = "sk-0123456789abcdef0123"
    for typed, address in (
        (f"https://{{Place}}.Team.example/{{path}}/v1/?key={key}", "https://{Place}.team.example/{path}/v1"),
        (f"https://{{place}}.team.example/v1#{key}", "https://{place}.team.example/v1"),
        (f"https://ai.team.example/v1?key={key}", "https://ai.team.example/v1"),
    ):
        assert KnownGateways(path).put(own(base_url=typed)).base_url == address
        assert key not in path.read_text()


@each_case(
    ("base_url", "pasted", "values"),
    [
        ("https://{x}.{x}.example/v1", "https://a.a.example/v1", {"x": "a"}),
        ("https://{x}.{x}.example/v1", "https://a.b.example/v1", None),
        ("https://{1a}.example/v1", "https://team.example/v1", {"1a": "team"}),
        ("https://{x}.example/{x}-{y}/v1", "https://a.example/b-c/v1", {"x": "b", "y": "c"}),
        ("https://{a}{b}{c}{d}{e}{f}{g}{h}.example/v1", f"https://{'a' * 1900}.other/v1", None),
    ],
)
def test_placeholders_of_own_addresses_are_recognised(
    path: Path, base_url: str, pasted: str, values: dict[str, str] | None
) -> None:
    known_gateways = KnownGateways(path)
    known_gateways.put(own(base_url=base_url))
    result = recognise(pasted, known_gateways.all)
    assert (result.values if result is not None else None) == values
    assert recognise("https://api.openai.com/v1", known_gateways.all) is not None


def test_failed_write_is_reported(path: Path) -> None:
    path.parent.write_text("a file in the way")
    known_gateways = KnownGateways(path)
    with pytest.raises(ProfileError, match="could not be"):
        known_gateways.put(own())
    assert known_gateways.get("team") is None
