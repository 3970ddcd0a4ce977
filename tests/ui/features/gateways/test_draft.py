"""Drafts of gateways in a real store, with keys in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from playground.engine.gateways.credentials import Credentials, credentials_for
from playground.engine.gateways.profiles import Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.ui.features.gateways.draft import Draft, HeaderRow, problem, save
from tests.engine.conftest import no_keyring

CANARY = "sk-canary-8f2a61c0de"


@pytest.fixture
def keys() -> Keys:
    return Keys(backend=no_keyring)


@pytest.fixture
def store(tmp_path: Path) -> ProfileStore:
    return ProfileStore(tmp_path / "gateways.json")


def make_draft(url: str = "https://gateway.example/v1") -> Draft:
    return Draft(Profile(name="Work", base_url=url), key=CANARY)


async def test_saved_draft_separates_secrets_from_the_file(store: ProfileStore, keys: Keys) -> None:
    rows = (HeaderRow("X-Team", "docs"), HeaderRow("X-Edge-Token", "edge-secret"), HeaderRow())
    profile, state = await save(replace(make_draft(), headers=rows), store, keys)
    assert state is not None
    assert "in memory until the app closes" in state.words
    assert profile.headers == {"X-Team": "docs"}
    assert list(profile.secret_headers) == ["X-Edge-Token"]
    text = _read(store.path)
    assert CANARY not in text
    assert "edge-secret" not in text
    result = await credentials_for(profile, keys)
    assert isinstance(result, Credentials)
    assert result.key is not None
    assert result.key.get_secret_value() == CANARY
    assert result.headers["X-Edge-Token"].get_secret_value() == "edge-secret"


async def test_favourite_models_set_meanwhile_are_kept(store: ProfileStore, keys: Keys) -> None:
    profile, _state = await save(make_draft(), store, keys)
    draft = Draft.from_profile(profile)
    store.edit(profile.id, lambda it: it.model_copy(update={"favourites": ("starred",), "recent": ("asked",)}))
    renamed = replace(draft, profile=draft.profile.model_copy(update={"name": "Other"}))
    await save(renamed, store, keys)
    saved = ProfileStore(store.path).get(profile.id)
    assert saved is not None
    assert (saved.name, saved.favourites, saved.recent) == ("Other", ("starred",), ("asked",))


async def test_removed_secret_header_is_forgotten(store: ProfileStore, keys: Keys) -> None:
    profile, _state = await save(replace(make_draft(), headers=(HeaderRow("X-Edge-Token", "edge"),)), store, keys)
    profile, _state = await save(replace(Draft.from_profile(profile), headers=()), store, keys)
    assert profile.secret_headers == {}
    assert [secret.get_secret_value() for secret in keys.known_secrets()] == [CANARY]


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (make_draft(""), "Enter the gateway's base URL"),
        (make_draft("ftp://x/v1"), "starts with https"),
        (replace(make_draft(), headers=(HeaderRow("A", "1"), HeaderRow("a", "2"))), "twice"),
        (replace(make_draft(), headers=(HeaderRow("", "1"),)), "no name"),
        (replace(make_draft(), headers=(HeaderRow("X Team", "1"),)), "not allowed"),
    ],
)
async def test_unsavable_draft_gives_its_reason(draft: Draft, message: str, store: ProfileStore, keys: Keys) -> None:
    assert message in problem(draft)
    with pytest.raises(ProfileError, match=message):
        await save(draft, store, keys)
    assert tuple(keys.known_secrets()) == ()
    assert store.profiles == ()


def test_repr_of_a_draft_has_no_secrets() -> None:
    draft = replace(make_draft(), headers=(HeaderRow("X-Edge-Token", CANARY),))
    assert CANARY not in repr(draft)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def test_invalid_extra_body_is_not_saved(store: ProfileStore, keys: Keys) -> None:
    profile, _state = await save(replace(make_draft(), body='{"top_k": 40}'), store, keys)
    assert profile.extra_body == {"top_k": 40}
    again = Draft.from_profile(profile)
    assert again.body == '{\n  "top_k": 40\n}'
    assert (await save(again, store, keys))[0] == profile
    assert (await save(replace(again, body=" "), store, keys))[0].extra_body == {}
    for text in ('{"top_k": ', "[40]"):
        assert "not a JSON object" in problem(replace(again, body=text))
    secret = replace(again, body=f'{{"key": "{CANARY}"}}')
    assert "looks like a key" in problem(secret)
    with pytest.raises(ProfileError):
        await save(secret, store, keys)
    assert CANARY not in _read(store.path)
