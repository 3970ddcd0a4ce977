"""A key in a variable of the environment: its name is kept, its value goes where it may and stands nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend

from playground.domain.errors import FailureKind, RunRefusedError
from playground.domain.request import Request
from playground.engine.gateways.credentials import (
    ConsentReason,
    Credentials,
    NeedsConsent,
    agree,
    credentials_for,
    forget_secrets,
    store_secret,
    use_variable,
)
from playground.engine.gateways.known import shipped
from playground.engine.gateways.offered import Gateways
from playground.engine.gateways.profiles import Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import KeyringError, Keys, Secret, variable_is_set, variable_problem
from playground.engine.requests.snippets import LANGUAGES, write
from playground.engine.requests.snippets.sent import sent_by
from playground.gateway.redact import MASK
from tests.support.fault_server import FaultServer, keep, send, whole

CANARY = "ck-canary-77aa10bc55de"
NAME = "TEAM_GATEWAY_KEY"


@pytest.fixture
def asked() -> list[str]:
    """How often a keyring was looked for."""
    return []


@pytest.fixture
def keys(asked: list[str]) -> Keys:
    def nothing() -> KeyringBackend:
        asked.append("keyring")
        raise KeyringError("No system keyring was found.")

    return Keys(backend=nothing)


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Sets the variable, or takes it away."""

    def change(value: str | None) -> None:
        if value is None:
            monkeypatch.delenv(NAME, raising=False)
        else:
            monkeypatch.setenv(NAME, value)

    change(CANARY)
    return change


async def named(keys: Keys, url: str = "https://gateway.example/v1") -> Profile:
    profile, state = await use_variable(Profile(name="Team", base_url=url), keys, NAME)
    assert state.available
    return profile


def all_in(folder: Path) -> str:
    """What the files of a folder hold."""
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def test_the_key_comes_from_the_variable_and_no_keyring_is_asked(keys: Keys, asked: list[str]) -> None:
    profile = await named(keys)
    assert await credentials_for(profile, keys) == Credentials(Secret(CANARY))
    await forget_secrets(profile, keys)
    assert asked == []


async def test_it_is_read_anew_and_cleaned_as_a_pasted_one(keys: Keys, variable: Callable[[str | None], None]) -> None:
    profile = await named(keys)
    variable("  Bearer another-key-0123456789\n")
    assert await credentials_for(profile, keys) == Credentials(Secret("another-key-0123456789"))
    assert keys.redactor.text(f"{CANARY} another-key-0123456789") == f"{MASK} {MASK}"  # the former stays known


@pytest.mark.parametrize("value", [None, "", "  \n"])
async def test_a_missing_variable_is_said_and_nothing_is_sent(
    keys: Keys, variable: Callable[[str | None], None], value: str | None, tmp_path: Path
) -> None:
    store = ProfileStore(tmp_path / "gateways.json")
    profile = store.add_profile(await named(keys))
    variable(value)
    found = await credentials_for(profile, keys)
    assert isinstance(found, Credentials)
    assert found.key is None
    assert NAME in found.problem
    with pytest.raises(RunRefusedError, match=NAME) as refused:
        await Gateways(store, keys, lambda: "").client(profile.id)
    assert refused.value.kind is FailureKind.NO_KEY


async def test_it_goes_to_no_other_host_before_a_person_agrees(keys: Keys) -> None:
    profile = await named(keys)
    moved = profile.model_copy(update={"base_url": "https://elsewhere.example/v1"})
    consent = await credentials_for(moved, keys)
    assert isinstance(consent, NeedsConsent)
    assert consent.reason is ConsentReason.MOVED
    agreed = await agree(moved, keys, consent)
    assert agreed.key_origin == "https://elsewhere.example:443"
    assert await credentials_for(agreed, keys) == Credentials(Secret(CANARY))


async def test_it_goes_unencrypted_only_where_a_person_agrees(keys: Keys) -> None:
    profile = await named(keys, "http://gateway.example/v1")
    consent = await credentials_for(profile, keys)
    assert isinstance(consent, NeedsConsent)
    assert consent.reason is ConsentReason.PLAIN_HTTP
    assert await credentials_for(await agree(profile, keys, consent), keys) == Credentials(Secret(CANARY))


async def test_a_typed_key_takes_its_place_and_the_other_way_round(keys: Keys) -> None:
    profile, _ = await store_secret(await named(keys), keys, Secret("typed-key-0123456789"))
    assert profile.key_variable == ""
    assert await credentials_for(profile, keys) == Credentials(Secret("typed-key-0123456789"))
    back, _ = await use_variable(profile, keys, NAME)
    assert await credentials_for(back, keys) == Credentials(Secret(CANARY))
    assert await keys.get(back.id, back.origin) is None  # the typed one is gone
    without, _ = await store_secret(back, keys, None)
    assert (without.key_variable, without.key_origin) == ("", "")


@pytest.mark.parametrize(
    "wrong",
    ["sk-abc123", "hf_AbCdEfGhIj", "gsk_lowercase9", "", "A KEY", "1KEY", "KEY\n", "K" * 129, "JBSWY3DPEHPK3PXP"],
)
async def test_what_may_be_a_key_is_not_kept_as_a_name(keys: Keys, wrong: str) -> None:
    words = variable_problem(wrong)
    assert words
    assert not wrong or wrong not in words
    with pytest.raises(ProfileError):
        await use_variable(Profile(base_url="https://gateway.example/v1"), keys, wrong)


def test_what_is_a_name_is_taken_though_no_such_variable_is_there() -> None:
    assert [variable_problem(name) for name in ("TEAM_KEY", "MY_GATEWAYS_LONG_NAME_2", "TOKEN", "_")] == [""] * 4
    assert not [name for known in shipped() for name in known.key_variables if variable_problem(name)]


def test_a_name_in_other_letters_is_taken_where_there_is_such_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("team_key", "x")
    assert variable_problem("team_key") == ""
    assert variable_is_set("team_key")
    assert not variable_is_set("no=such")


def test_a_name_that_no_shell_takes_is_not_read_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "gateways.json"
    entry = {"name": "Odd", "base_url": "https://gateway.example/v1", "key_variable": 'X"]; evil["'}
    path.write_text(json.dumps({"gateways": [entry]}))
    store = ProfileStore(path)
    assert store.profiles == ()
    assert "Odd" in store.messages[0]


async def test_no_part_of_it_is_in_any_file_code_or_failure(keys: Keys, tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": f"bad key {CANARY}", "type": "x"}})
    with FaultServer() as server:
        server.play(send(whole(401, "application/json", body.encode())), keep())
        store = ProfileStore(tmp_path / "gateways.json")
        profile = store.add_profile(await named(keys, f"{server.url}/v1"))
        gateways = Gateways(store, Keys(), lambda: "")  # the next start: nothing was asked yet
        assert gateways.keys.redactor.text(f"said {CANARY}") == f"said {MASK}"
        client = await gateways.client(profile.id)
        listed = await client.list_models("chat")
        assert CANARY in str(server.requests)
        assert listed.failure is not None
        told = f"{listed.failure!r} {profile!r} {client.connection!r} {gateways.keys!r}"
        request = Request(protocol="chat", model="m")
        for language in LANGUAGES:
            snippet = write(language, sent_by(profile, request, gateways.keys.known()))
            told += snippet.text + " ".join(snippet.notes)
            assert snippet.refusal or NAME in snippet.text
        await gateways.aclose()
    kept = all_in(tmp_path)
    assert NAME in kept
    pieces = {CANARY[at : at + 8] for at in range(len(CANARY) - 7)}
    assert not [piece for piece in pieces if piece in told + kept]
