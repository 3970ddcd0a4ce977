"""A key of the keyring is recognised in a text before it was fetched, by what tells nobody the key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.fingerprints import SHORTEST, Fingerprints
from playground.engine.gateways import Gateways
from playground.engine.secrets import Keys
from playground.engine.snapshot import snapshot
from playground.engine.store import Store
from playground.gateway.redact import MASK

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
NONE: frozenset[str] = frozenset()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    prints = Fingerprints(tmp_path / "own" / "fingerprints.json")
    prints.remember("p@o", KEY)
    return tmp_path / "own" / "fingerprints.json"


def test_it_is_known_anywhere_in_a_text_and_nothing_else_is(file: Path) -> None:
    later = Fingerprints(file)
    for text in (KEY, f"Bearer {KEY}.", f"x{KEY}y", f'{{"key":"{KEY}"}}', f"sk{KEY}", f"{'sk-' * 3000}{KEY}"):
        assert later.find(text, NONE) == {"p@o": KEY}
    for text in ("", "sk", KEY[:-1], KEY[1:], KEY.upper(), KEY[:12] + " " + KEY[12:]):
        assert later.find(text, NONE) == {}
    assert later.find(KEY, frozenset(("p@o",))) == {}


def test_the_file_is_private_and_holds_no_piece_of_the_key(file: Path) -> None:
    text = file.read_text()
    assert not any(KEY[at : at + 3] in text for at in range(len(KEY) - 2))
    assert file.stat().st_mode & 0o077 == 0 or not hasattr(__import__("os"), "getuid")


def test_of_a_short_secret_nothing_is_kept_and_what_is_forgotten_is_gone(file: Path) -> None:
    prints = Fingerprints(file)
    prints.remember("short", KEY[: SHORTEST - 1])
    assert "short" not in file.read_text()
    prints.forget("p@o")
    assert Fingerprints(file).find(KEY, NONE) == {}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"salt":"zz","secrets":{}}', '{"salt":"00","secrets":[1]}', "\0"])
def test_a_damaged_file_recognises_nothing_and_is_made_anew(file: Path, content: str) -> None:
    file.write_text(content)
    prints = Fingerprints(file)
    assert prints.find(KEY, NONE) == {}
    prints.remember("p@o", KEY)
    assert Fingerprints(file).find(KEY, NONE) == {"p@o": KEY}


def test_a_long_text_takes_no_time(file: Path) -> None:
    prints = Fingerprints(file)
    began = time.process_time()
    assert prints.find("sk-" * 20_000 + "risk, ask " * 100_000, NONE) == {}
    assert time.process_time() - began < 5


async def test_a_prompt_with_a_key_that_was_not_fetched_is_stored_without_it(
    file: Path, path: Path, gateways: Gateways
) -> None:
    keys = Keys(prints=Fingerprints(file))  # as after a start: nothing is in memory
    store = Store(path, keys.known, keys.recognise)
    await store.open()
    session = gateways.session(gateways.active_id)
    turn = Turn(id="t1", role=Role.USER, parts=(Text(text=f"Why is {KEY} refused?"),))
    session.load(session.request(turn))
    assert keys.known() == ()
    store.save(snapshot(session))
    await store.flush()
    kept = [one.read_bytes().decode("utf-8", "replace") for one in path.parent.iterdir()]
    assert any(f"Why is {MASK} refused?" in one for one in kept)
    assert not any(KEY[at : at + 8] in one for one in kept for at in range(len(KEY) - 7))
    assert [secret.get_secret_value() for secret in keys.known()] == [KEY], "known everywhere from now on"
    await store.close()
