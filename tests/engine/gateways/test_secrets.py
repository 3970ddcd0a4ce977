"""Keys in a real Secret Service on a private bus, and without one."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from playground.engine.gateways.secrets import (
    SERVICE,
    KeyringState,
    Keys,
    Secret,
    choose_backend,
    clean_key,
    key_from_environment,
    looks_secret,
    real_backend,
)
from playground.gateway.redact import MASK, Redactor
from tests.support.each_case import each_case
from tests.support.eventually import eventually
from tests.support.secret_service import SecretService, private_bus

CANARY = "sk-canary-8f2a61c0de"
ORIGIN = "https://gateway.example:443"


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    """A private session bus with no keyring on it yet."""
    with private_bus(monkeypatch) as service:
        yield service


@pytest.fixture
def secret_service(bus: SecretService) -> SecretService:
    """A private session bus with an open gnome-keyring."""
    bus.start_keyring()
    return bus


async def test_key_is_written_read_back_and_deleted(secret_service: SecretService) -> None:
    keys = Keys(timeout=10)
    assert await keys.set("p1", ORIGIN, Secret(CANARY)) == KeyringState(
        True, "The key is stored in the system keyring."
    )
    assert not keys.only_in_memory("p1", ORIGIN)
    await keys.set("p1", ORIGIN, Secret("of-the-header"), "X-Edge-Token")
    files = [path for path in secret_service.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]

    later = Keys(timeout=10)  # of another session: nothing in memory
    assert await later.get("p1", ORIGIN) == Secret(CANARY)
    assert choose_backend().get_password(SERVICE, f"p1@{ORIGIN}") == CANARY
    for each in (Keys(timeout=10), keys):
        assert await each.get("p1", "https://elsewhere.example:443") is None
        assert await each.get("p2", ORIGIN) is None
        assert await each.get("p1", ORIGIN, "x-edge-token") == Secret("of-the-header")

    assert (await later.delete("p1", ORIGIN)).available
    assert await later.get("p1", ORIGIN) is None
    assert await Keys(timeout=10).get("p1", ORIGIN) is None
    assert (await later.delete("p1", ORIGIN)).available, "deleting a key that is not there is no error"


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # the library's own, where unlocking fails
async def test_key_stays_in_memory_while_the_keyring_is_locked(secret_service: SecretService) -> None:
    assert (await Keys(timeout=10).set("p1", ORIGIN, Secret(CANARY))).available
    secret_service.lock()
    keys = Keys(timeout=10)
    assert await keys.get("p1", ORIGIN) is None
    assert not keys.state.available
    assert "locked" in keys.state.words

    state = await keys.set("p1", ORIGIN, Secret("sk-typed-now"))
    assert not state.available
    assert "locked" in state.words
    assert "in memory until the app closes" in state.words
    assert keys.only_in_memory("p1", ORIGIN)
    assert await keys.get("p1", ORIGIN) == Secret("sk-typed-now")
    gc.collect()


async def test_hanging_service_is_abandoned_and_recovers(secret_service: SecretService) -> None:
    keys = Keys(timeout=1.5)
    assert (await keys.check()).available
    secret_service.freeze()
    saving = asyncio.get_running_loop().create_task(keys.set("p1", ORIGIN, Secret(CANARY)))
    turns = 0
    while not saving.done():
        await asyncio.sleep(0)  # the event loop goes on
        turns += 1
    state = await saving
    assert turns > 10
    assert not state.available
    assert "did not answer within 1.5 s" in state.words
    assert "in memory" in state.words
    assert CANARY not in state.words

    async def is_refused() -> bool:
        assert await keys.get("p2", ORIGIN) is None
        return "still waiting" in keys.state.words

    await eventually(is_refused, "the refusal of further calls while the first one hangs")
    assert await keys.get("p1", ORIGIN) == Secret(CANARY), "from memory"

    secret_service.thaw()
    patient = Keys(timeout=10)
    await eventually(lambda: patient.get("p1", ORIGIN), "the key, written although the wait for it had ended")
    assert await patient.get("p1", ORIGIN) == Secret(CANARY)

    async def is_available() -> bool:
        return (await keys.check()).available

    await eventually(is_available, "the keyring")


async def test_new_key_is_reported_once(secret_service: SecretService) -> None:
    reported: list[int] = []

    def start(number: int) -> Keys:
        keys = Keys(timeout=10)
        keys.learned = lambda: reported.append(number)
        return keys

    key = Secret(f"{CANARY}-0123456789-long-enough")
    first = start(1)
    await first.set("p1", ORIGIN, key)
    await first.set("p2", ORIGIN, key)
    await first.set("p3", ORIGIN, Secret("short"))
    assert reported == [1], "it is no other one, and nothing is masked of what is so short"
    second = start(2)
    assert await second.get("p1", ORIGIN) == key
    assert await second.get("p2", ORIGIN) == key
    assert reported == [1, 2]


async def test_key_stays_in_memory_without_a_service(bus: SecretService) -> None:
    keys = Keys(timeout=10)
    assert not (await keys.check()).available
    state = await keys.set("p1", ORIGIN, Secret(CANARY))
    assert not state.available
    assert state.words.startswith("No system keyring was found")
    assert "in memory until the app closes" in state.words
    assert await keys.get("p1", ORIGIN) == Secret(CANARY)
    assert await Keys(timeout=10).get("p1", ORIGIN) is None
    assert not (await keys.delete("p1", ORIGIN)).available
    assert await keys.get("p1", ORIGIN) is None


@pytest.mark.parametrize(
    "backend", ["keyring.backends.null.Keyring", "keyring.backends.fail.Keyring", "nowhere.to.be.Found"]
)
async def test_backend_that_saves_nothing_is_refused(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)
    keys = Keys(timeout=10)
    state = await keys.set("p1", ORIGIN, Secret(CANARY))
    assert not state.available
    assert "configured keyring backend" in state.words
    assert backend not in state.words
    assert "in memory" in state.words


def test_chain_of_backends_gives_its_real_member(secret_service: SecretService) -> None:
    from keyring.backends import SecretService as RealBackends
    from keyring.backends import fail, null
    from keyring.backends.chainer import ChainerBackend

    backends: tuple[Any, ...] = (ChainerBackend, null.Keyring, fail.Keyring)  # untyped constructors
    chain, keeps_nothing, fails = (kind() for kind in backends)
    assert isinstance(real_backend(chain), RealBackends.Keyring)
    assert real_backend(keeps_nothing) is None
    assert real_backend(fails) is None


@each_case(
    ("typed", "key", "remark"),
    [
        ("sk-1", "sk-1", ""),
        ("  sk-1 ", "sk-1", "Spaces around"),
        ("sk-1\r\n", "sk-1", "Line breaks"),
        ("sk-12\n34", "sk-1234", "Line breaks"),
        ("sk-12 34", "sk-1234", "Spaces inside"),
        ("Bearer sk-1", "sk-1", "Bearer"),
        ("bearer  sk-1", "sk-1", "Bearer"),
        ('"sk-1"', "sk-1", "Quotation"),
        ("‘sk-1’,", "sk-1", "Quotation"),
        ("Authorization: Bearer sk-1", "sk-1", "header's name"),
        ("-H 'x-api-key: sk-1'", "sk-1", "header's name"),
        ('export OPENAI_API_KEY="sk-1"', "sk-1", "variable's name"),
        ("\u200bsk-1\ufeff", "sk-1", "Invisible"),
        ("abcKEY==", "abcKEY==", ""),
        ("", "", ""),
        ("   ", "", ""),
        ("sk-ключ", "sk-ключ", "Character 4 is not plain ASCII"),
    ],
)
def test_pasted_key_is_cleaned(typed: str, key: str, remark: str) -> None:
    cleaned = clean_key(typed)
    assert cleaned.key == key
    assert remark in " ".join(cleaned.remarks)
    if remark == "" and typed:
        assert cleaned.remarks == () or not key
    assert clean_key(cleaned.key).key == cleaned.key


def test_header_with_a_secret_is_recognised() -> None:
    secret = (
        "Authorization x-api-key API-Key Cookie X-Edge-Token client-secret X_Auth_Token proxy-auth X-Auth token key"
    )
    secret += " auth credentials X-Key api_key Passwd X-Access-Key accessToken ApiKey"
    plain = "X-Team User-Agent X-Monkey anthropic-beta X-Trace-Id Idempotency-Key X-Cache-Key Keep-Alive X-Tokens"
    plain += " Next-Tokens-Left"
    assert [name for name in secret.split() if not looks_secret(name)] == []
    assert [name for name in secret.split() if Redactor(()).header(name, "abc") != MASK] == []
    assert [name for name in plain.split() if looks_secret(name)] == []
    assert looks_secret("X-Team", "Bearer abc")


def test_key_of_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAYGROUND_API_KEY", raising=False)
    assert key_from_environment() is None
    monkeypatch.setenv("PLAYGROUND_API_KEY", " Bearer sk-1\n")
    result = key_from_environment()
    assert result is not None
    assert clean_key(result.get_secret_value()).key == "sk-1"
    monkeypatch.setenv("PLAYGROUND_API_KEY", " \n")
    assert key_from_environment() is None
