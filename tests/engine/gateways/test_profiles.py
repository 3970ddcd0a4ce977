"""Profiles in a real file and their secrets in memory; tests of the keyring are in ``test_secrets``."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.engine.files.presets import Preset, PresetStore
from playground.engine.gateways.credentials import (
    ConsentReason,
    Credentials,
    NeedsConsent,
    agree,
    consent_needed,
    credentials_for,
    forget_secrets,
    store_secret,
)
from playground.engine.gateways.profiles import (
    Auth,
    Profile,
    ProfileError,
    ProfileStore,
    Timeouts,
    connection,
    split_headers,
)
from playground.engine.gateways.secrets import Keys, Secret
from playground.jsonkit.values import JSON, JSONObject
from tests.engine.conftest import no_keyring
from tests.support.each_case import each_case

CANARY = "sk-canary-8f2a61c0de"
SECRET_HEADERS = ("Authorization", "X-Api-Key", "Cookie", "X-Edge-Token", "client-secret", "api-key")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "gateways.json"


@pytest.fixture
def keys() -> Keys:
    return Keys(backend=no_keyring)


def a_profile() -> Profile:
    return Profile(
        name="Work",
        base_url="https://gateway.example/v1",
        headers={"X-Team": "docs"},
        auth={"messages": Auth.X_API_KEY},
        timeouts=Timeouts(connect=5, first=None, idle=30, total=600),
        ca_file="/etc/ssl/own.pem",
        reasoning_return=ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS, field="reasoning_content"),
        default_model="model-1",
    )


def test_added_profile_is_loaded_again(path: Path) -> None:
    store = ProfileStore(path)
    assert (store.profiles, store.active, store.messages, path.exists()) == ((), None, [], False)
    profile = store.add_profile(a_profile())
    again = ProfileStore(path)
    assert (again.profiles, again.active, again.messages) == ((profile,), profile, [])
    assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600
    typed = f" gateway.example/v1/v1/chat/completions?key={CANARY}"
    repaired = store.add_profile(Profile(name="Ünïcode 網關", base_url=typed))
    assert ProfileStore(path).profiles[1] == repaired
    assert repaired.base_url == "https://gateway.example/v1"
    assert CANARY not in path.read_text(encoding="utf-8")
    assert store.add_profile(Profile(base_url="https://")).base_url == "https://", "half an address may be saved"


def test_profile_is_updated_selected_and_removed(path: Path) -> None:
    store = ProfileStore(path)
    first, second = store.add_profile(a_profile()), store.add_profile(Profile(name="Second"))
    store.select(second.id)
    store.update(first.model_copy(update={"name": "Renamed"}))
    again = ProfileStore(path)
    assert [p.name for p in again.profiles] == ["Renamed", "Second"]
    assert again.active == second
    again.remove(second.id)
    assert ProfileStore(path).active == again.get(first.id)
    for act in (lambda: again.update(second), lambda: again.select(second.id)):
        with pytest.raises(ProfileError, match="removed"):
            act()
    with pytest.raises(ProfileError, match="exists already"):
        again.add_profile(first)


def test_demo_gateway_is_never_saved(path: Path) -> None:
    store = ProfileStore(path)
    demo = store.add_profile(Profile(id="demo", name="Demo", base_url="http://127.0.0.1:1/v1", demo=True))
    store.add_profile(a_profile())
    store.select("demo")
    assert store.active == demo
    assert "Demo" not in path.read_text(encoding="utf-8")
    again = ProfileStore(path)
    assert [p.name for p in again.profiles] == ["Work"]
    again.add_profile(demo)
    assert again.active == demo  # the choice outlives the session, the profile does not


def deep(levels: int) -> JSON:
    value: JSON = 1.0
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("name", ["gateways", "presets"])
@each_case(
    "more",
    [
        {"later": {"x": [None]}},
        {"later": deep(400)},
        {"extra_body": deep(200), "parameters": deep(200)},
        {"extra_body": {"x": float("inf"), "y": 10**40}, "parameters": {"x": float("-inf")}},
        {"name": "half a pair \ud800"},
        {"retries": 99, "tools": 7, "timeouts": {"later": 5}, "auth": {"chat": "later"}},
        {"timeouts": "adaptive", "colour": "green"},
    ],
)
def test_entries_of_a_newer_version_are_preserved(name: str, more: JSONObject, path: Path) -> None:
    entry = {"id": "1", "name": "One", **more}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 9, "of_later": [1], name: [entry, 7, "x"]}), encoding="utf-8")
    for number in range(2):
        if name == "gateways":
            ProfileStore(path).add_profile(Profile(name=f"Another {number}"))
        else:
            PresetStore(path).put(Preset(name=f"Another {number}"))
    back = json.loads(path.read_text("utf-8"))
    assert (back["version"], back["of_later"]) == (9, [1])
    assert any(isinstance(saved, dict) and {**saved, **entry} == saved for saved in back[name])
    assert [saved for saved in back[name] if not isinstance(saved, dict)] == [7, "x"]


def test_failed_write_leaves_the_file_and_the_list(path: Path) -> None:
    store = ProfileStore(path)
    store.add_profile(a_profile())
    before = path.read_bytes()
    nested: dict[str, object] = {}
    for _ in range(100_000):
        nested = {"a": nested}
    with pytest.raises(ProfileError, match="could not be saved"):
        store.add_profile(a_profile().model_copy(update={"id": "other", "extra_body": nested}))
    assert path.read_bytes() == before
    assert len(store.profiles) == 1
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]  # no temporary file is left


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"gateways": 3}', b"[" * 100_000],
    ids=["empty", "cut", "binary", "list", "wrong type", "deep"],
)
def test_damaged_file_is_set_aside(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    store = ProfileStore(path)
    assert store.profiles == ()
    (aside,) = path.parent.iterdir()
    assert aside.name.startswith("gateways.damaged-")
    assert aside.read_bytes() == damage
    assert str(aside) in store.messages[0]

    path.write_bytes(damage)  # and again within the same second
    ProfileStore(path)
    assert len(list(path.parent.iterdir())) == 2
    store.add_profile(a_profile())
    assert len(ProfileStore(path).profiles) == 1


def test_unreadable_file_is_not_overwritten(path: Path) -> None:
    path.mkdir(parents=True)  # a folder in its place: unreadable for root, too
    store = ProfileStore(path)
    assert "could not be read" in store.messages[0]
    with pytest.raises(ProfileError, match="nothing is saved"):
        store.add_profile(a_profile())
    assert path.is_dir()


@each_case(
    ("fields", "words"),
    [
        *(({"headers": {name: CANARY}}, "looks like a secret") for name in SECRET_HEADERS),
        ({"base_url": f"https://me:{CANARY}@host/v1"}, "base URL"),
        ({"base_url": f"https://:{CANARY}@host/v1?x"}, "base URL"),
        ({"base_url": f"host:x?k={CANARY}"}, "base URL"),
        ({"proxy": f"http://me:{CANARY}@proxy:3128"}, "a user name or a password"),
        ({"proxy": f"{CANARY}@proxy"}, "a user name or a password"),
        ({"proxy": "socks4://proxy:1080"}, "not supported"),
        ({"proxy": f"http://proxy/?key={CANARY}"}, "a host and a port"),
        ({"proxy": "http://:3128"}, "a host and a port"),
        ({"proxy": "not a url"}, "a host and a port"),
        ({"proxy": "http://[::1"}, "cannot be read"),
        ({"proxy": "proxy:99999"}, "cannot be read"),
    ],
)
def test_profile_with_a_secret_or_an_invalid_proxy_is_refused(path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ProfileError, match=words) as caught:
        ProfileStore(path).add_profile(Profile.model_validate({"base_url": "https://gateway.example/v1", **fields}))
    assert CANARY not in str(caught.value)
    assert not path.exists()


def test_proxy_is_saved_and_used(path: Path) -> None:
    ProfileStore(path).add_profile(Profile(base_url="https://gateway.example/v1", proxy=" proxy.example:3128 "))
    (profile,) = ProfileStore(path).profiles
    assert profile.proxy == "http://proxy.example:3128"
    assert connection(profile).proxy == profile.proxy
    assert "proxy.example" not in repr(profile)
    local = "http://127.0.0.1:8000/v1"
    assert Profile(base_url=local, proxy="http://proxy.example:3128").sends_unencrypted
    assert not Profile(base_url=local, proxy="http://127.0.0.1:3128").sends_unencrypted
    assert not Profile(base_url="https://127.0.0.1:8000/v1", proxy="http://proxy.example:3128").sends_unencrypted


def test_headers_are_split_by_secrecy() -> None:
    plain, secret = split_headers(
        [("X-Team", " docs "), ("x-edge-token", CANARY), ("", "lost"), ("X-Id", "Bearer abc")]
    )
    assert plain == {"X-Team": "docs"}
    assert {name: value.get_secret_value() for name, value in secret.items()} == {
        "x-edge-token": CANARY,
        "X-Id": "Bearer abc",
    }
    assert CANARY not in repr(secret)


async def test_key_is_bound_to_its_profile_and_host(keys: Keys, path: Path) -> None:
    profile, state = await store_secret(a_profile(), keys, Secret(CANARY))
    assert not state.available
    profile, _state = await store_secret(profile, keys, Secret("edge"), "X-Edge-Token")
    result = await credentials_for(profile, keys)
    assert isinstance(result, Credentials)
    assert result.key is not None
    assert result.key.get_secret_value() == CANARY
    assert result.headers["X-Edge-Token"].get_secret_value() == "edge"
    assert CANARY not in repr(result)

    same_host = [f"https://{rest}" for rest in ("GATEWAY.example:443/v2", "gateway.example/other/v1/")]
    assert [consent_needed(profile.model_copy(update={"base_url": url})) for url in same_host] == [None, None]
    assert saved_words(path, profile, CANARY, "edge", "X-Edge-Token") == ["X-Edge-Token"]


def saved_words(path: Path, profile: Profile, *words: str) -> list[str]:
    """Save the profile and return the words that are in its file."""
    ProfileStore(path).add_profile(profile)
    text = path.read_text(encoding="utf-8")
    return [word for word in words if word in text]


async def test_key_entered_after_a_move_replaces_the_old_one(keys: Keys) -> None:
    profile, _state = await store_secret(a_profile(), keys, Secret("old"))
    moved, _state = await store_secret(profile.model_copy(update={"base_url": "https://b/v1"}), keys, Secret("new"))
    assert await keys.get(profile.id, profile.key_origin) is None
    assert await credentials_for(moved, keys) == Credentials(Secret("new"))
    with pytest.raises(ProfileError, match="base URL first"):
        await store_secret(Profile(base_url="https://"), keys, Secret(CANARY))


@pytest.mark.parametrize(
    "moved", ["https://evil.example/v1", "http://gateway.example/v1", "https://gateway.example:8443/v1"]
)
async def test_key_needs_consent_for_a_moved_address(keys: Keys, moved: str) -> None:
    profile, _state = await store_secret(a_profile(), keys, Secret(CANARY))
    elsewhere = profile.model_copy(update={"base_url": moved})
    request = await credentials_for(elsewhere, keys)
    assert isinstance(request, NeedsConsent)
    assert request.reason is ConsentReason.MOVED
    assert "gateway.example" in request.words

    agreed = await agree(elsewhere, keys, request)
    again = await credentials_for(agreed, keys)
    if moved.startswith("http:"):
        assert isinstance(again, NeedsConsent)
        assert again.reason is ConsentReason.PLAIN_HTTP
        again = await credentials_for(await agree(agreed, keys, again), keys)
    assert isinstance(again, Credentials)
    assert again.key is not None
    assert await keys.get(profile.id, request.old_origin) is None  # it moved, it was not copied


async def test_plain_http_needs_consent_except_on_this_machine(keys: Keys) -> None:
    remote = Profile(base_url="http://10.0.0.7:8000/v1")
    assert await credentials_for(remote, keys) == Credentials()  # there is nothing to protect
    remote, _state = await store_secret(remote, keys, Secret(CANARY))
    request = await credentials_for(remote, keys)
    assert isinstance(request, NeedsConsent)
    assert request.reason is ConsentReason.PLAIN_HTTP
    agreed = await agree(remote, keys, request)
    assert isinstance(await credentials_for(agreed, keys), Credentials)
    assert consent_needed(agreed.model_copy(update={"base_url": "http://10.0.0.8:8000/v1"})) is not None

    local, _state = await store_secret(Profile(base_url="http://127.0.0.1:8000/v1"), keys, Secret(CANARY))
    assert isinstance(await credentials_for(local, keys), Credentials)


async def test_secrets_are_forgotten(keys: Keys) -> None:
    profile, _state = await store_secret(a_profile(), keys, Secret(CANARY))
    profile, _state = await store_secret(profile, keys, Secret("edge"), "X-Edge-Token")
    without, _state = await store_secret(profile, keys, None)
    assert without.key_origin == ""
    assert list(without.secret_headers) == ["X-Edge-Token"]
    await forget_secrets(profile, keys)
    assert tuple(keys.known_secrets()) == ()


async def test_lost_key_is_reported(keys: Keys) -> None:
    profile, _state = await store_secret(a_profile(), keys, Secret(CANARY))

    result = await credentials_for(profile, Keys(backend=no_keyring))  # the next session
    assert isinstance(result, Credentials)
    assert result.key is None
    assert "No system keyring" in result.problem
