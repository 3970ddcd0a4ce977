"""A key in a variable of the environment: its name is saved, its value is sent where allowed and written nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import Keys, Secret, variable_is_set, variable_problem
from playground.engine.gateways.services import shipped
from playground.engine.requests.snippets import LANGUAGES, write
from playground.engine.requests.snippets.snippet_request import prepare_snippet_request
from playground.gateway.redact import MASK
from tests.engine.conftest import no_keyring
from tests.support.fault_server import FaultServer, keep, send, whole

CANARY = "ck-canary-77aa10bc55de"
NAME = "TEAM_GATEWAY_KEY"


@pytest.fixture
def keys() -> Keys:
    return Keys(backend=no_keyring)


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, CANARY)


async def named(keys: Keys, url: str = "https://gateway.example/v1") -> Profile:
    profile, state = await use_variable(Profile(name="Team", base_url=url), keys, NAME)
    assert state.available
    return profile


def all_in(folder: Path) -> str:
    """Return the contents of the files of a folder."""
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def test_key_comes_from_its_variable_without_a_keyring(keys: Keys) -> None:
    profile = await named(keys)
    assert await credentials_for(profile, keys) == Credentials(Secret(CANARY))
    await forget_secrets(profile, keys)
    assert keys.state.available, "no keyring was looked for"


async def test_missing_variable_is_reported_before_a_request(
    keys: Keys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = ProfileStore(tmp_path / "gateways.json")
    profile = store.add_profile(await named(keys))
    for value in ("", "  \n", None):
        if value is None:
            monkeypatch.delenv(NAME)
        else:
            monkeypatch.setenv(NAME, value)
        credentials = await credentials_for(profile, keys)
        assert isinstance(credentials, Credentials)
        assert credentials.key is None
        assert NAME in credentials.problem
        with pytest.raises(RunRefusedError, match=NAME) as refused:
            await Gateways(store, keys, lambda: "").client(profile.id)
        assert refused.value.kind is FailureKind.NO_KEY


async def test_typed_key_replaces_the_variable_and_back(keys: Keys) -> None:
    profile, _ = await store_secret(await named(keys), keys, Secret("typed-key-0123456789"))
    assert profile.key_variable == ""
    assert await credentials_for(profile, keys) == Credentials(Secret("typed-key-0123456789"))
    back, _ = await use_variable(profile, keys, NAME)
    assert await credentials_for(back, keys) == Credentials(Secret(CANARY))
    assert await keys.get(back.id, back.origin) is None  # the typed one is gone
    without, _ = await store_secret(back, keys, None)
    assert (without.key_variable, without.key_origin) == ("", "")


async def test_name_that_may_be_a_key_is_refused(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (
        "sk-abc123",
        "hf_AbCdEfGhIj",
        "gsk_lower9",
        "",
        "A KEY",
        "1KEY",
        "KEY\n",
        "K" * 129,
        "JBSWY3DPEHPK3PXP",
    ):
        words = variable_problem(wrong)
        assert words
        assert not wrong or wrong not in words
        with pytest.raises(ProfileError):
            await use_variable(Profile(base_url="https://gateway.example/v1"), keys, wrong)
    names = [name for service in shipped() for name in service.key_variables]
    assert not list(filter(variable_problem, ["TEAM_KEY", "MY_GATEWAYS_LONG_NAME_2", "TOKEN", "_", *names]))
    monkeypatch.setenv("team_key", "x")
    assert variable_problem("team_key") == "", "a name in small letters where there is such a variable"
    assert variable_is_set("team_key")
    assert not variable_is_set("no=such")


async def test_key_of_a_variable_is_in_no_file_code_or_failure(keys: Keys, tmp_path: Path) -> None:
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
        notices = f"{listed.failure!r} {profile!r} {client.connection!r} {gateways.keys!r}"
        request = Request(protocol="chat", model="m")
        for language in LANGUAGES:
            snippet = write(language, prepare_snippet_request(profile, request, gateways.keys.known_secrets()))
            notices += snippet.text + " ".join(snippet.notes)
            assert snippet.refusal or NAME in snippet.text
        await gateways.aclose()
    saved = all_in(tmp_path)
    assert NAME in saved
    pieces = {CANARY[index : index + 8] for index in range(len(CANARY) - 7)}
    assert not [piece for piece in pieces if piece in notices + saved]


async def test_key_of_a_variable_needs_consent_for_another_host(keys: Keys) -> None:
    profile = await named(keys)
    moved = profile.model_copy(update={"base_url": "https://elsewhere.example/v1"})
    consent = await credentials_for(moved, keys)
    assert isinstance(consent, NeedsConsent)
    assert consent.reason is ConsentReason.MOVED
    agreed = await agree(moved, keys, consent)
    assert agreed.key_origin == "https://elsewhere.example:443"
    assert await credentials_for(agreed, keys) == Credentials(Secret(CANARY))
