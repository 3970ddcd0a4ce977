"""No piece of a key is kept or given out: where a text was cut, and before the key was fetched from the keyring."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest

from playground.domain.parts import Text
from playground.domain.transcript import Role, Turn
from playground.engine.cassettes import cassette, har
from playground.engine.files.experiment_file import write
from playground.engine.files.export import SUFFIXES, export
from playground.engine.files.presets import Preset, PresetStore
from playground.engine.gateways.credentials import store_secret
from playground.engine.gateways.fingerprints import SHORTEST, Fingerprints
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.library.experiment_summary import summarize
from playground.engine.library.store import Store
from playground.engine.library.workspace import Workspace
from playground.engine.requests.snippets import (
    LANGUAGES,
    SnippetRequest,
    prepare_snippet_request,
    read_recorded_request,
)
from playground.engine.requests.snippets import write as code
from playground.engine.requests.view import CUT_FROM, LONG_SHOWN, request_view
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.gateway.redact import MASK, Redactor
from tests.engine.exchanges import exchange
from tests.support.each_case import each_case
from tests.support.editors import no_gateway

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
NONE: frozenset[str] = frozenset()
PIECES = tuple(KEY[at : at + 8] for at in range(len(KEY) - 7))


def leaks(text: str | bytes) -> list[str]:
    plain = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return [piece for piece in PIECES if piece in plain.replace("\\/", "/")]


def ask(session: Session, text: str) -> None:
    session.load(session.next_request.build(Turn(id="t1", role=Role.USER, parts=(Text(text=text),))))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    prints = Fingerprints(tmp_path / "own" / "fingerprints.json")
    prints.remember("p@o", KEY)
    return tmp_path / "own" / "fingerprints.json"


@each_case(
    "spelled",
    [
        KEY.replace("/", "\\/"),
        json.dumps(json.dumps(f"“{KEY}\n”")),
        quote(KEY, safe=""),
        "".join(f"&#{ord(char)};" for char in KEY),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
    ],
)
@each_case("lead", [0, 49_990, 53_990])
def test_key_is_found_in_any_spelling(file: Path, spelled: str, lead: int) -> None:
    assert Fingerprints(file).find(f"{' ' * lead}{spelled} and more", NONE) == {"p@o": KEY}


TURN = Turn(id="t1", role=Role.USER, parts=(Text(text=f"Why {KEY}?"),))
TAPE = exchange([(0.1, f'{{"error": "no {KEY}'.encode()), (0.2, b'"}')], asked={"messages": [{"content": KEY}]})
PROFILE = Profile(base_url="http://127.0.0.1:9")
Secrets = Iterable[Secret]


def asking() -> Session:
    session = Session(no_gateway, profile_id="p", model="m", profile_of=lambda _: PROFILE)
    session.load(session.next_request.build(TURN))
    return session


SNAPPED = snapshot(asking())


def presets(known: Secrets, folder: Path) -> str:
    PresetStore(folder / "presets.json", lambda: known).put(Preset(name="p", system=f"Say {KEY}"))
    return (folder / "presets.json").read_text()


def will_be(known: Secrets) -> SnippetRequest:
    return prepare_snippet_request(PROFILE, asking().next_request.build(), known)


def was(known: Secrets) -> SnippetRequest:
    return read_recorded_request("chat", TAPE.url, TAPE.request_headers, TAPE.request_body, known)


CHAT = [one for one in LANGUAGES if not code(one, was(())).refusal]
#: Everything that makes a file, code or a text of an experiment that no_gateway has saved.
SINKS: dict[str, Callable[[Secrets, Path], str | bytes]] = {
    **{form: lambda known, _, form=form: export(SNAPPED, form, known) for form in SUFFIXES},  # type: ignore[misc]
    "file": lambda known, _: write(SNAPPED, known),
    "cassette": lambda known, _: cassette.write([TAPE], "A title", known),
    "title of a cassette": lambda known, _: cassette.write([exchange()], f"About {KEY}", known),
    "har": lambda known, _: har.write([TAPE], known),
    "preview": lambda known, _: repr(request_view(asking(), known)),
    "presets": presets,
    **{f"{one.id}, to be sent": lambda known, _, one=one: code(one, will_be(known)).text for one in CHAT},  # type: ignore[misc]
    **{f"{one.id}, sent": lambda known, _, one=one: code(one, was(known)).text for one in CHAT},  # type: ignore[misc]
}


@each_case("sink", SINKS)
def test_no_output_has_a_key_that_was_neither_fetched_nor_seen(file: Path, tmp_path: Path, sink: str) -> None:
    def content(known: Secrets) -> str:
        found = SINKS[sink](known, tmp_path)
        return found if isinstance(found, str) else found.decode()

    keys = Keys(prints=Fingerprints(file))  # as after a start: nothing is in memory
    assert not leaks(content(keys.known()))
    assert KEY[:12] in content(()), "it would be there"


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


@each_case("content", ["", "[]", "{}", '{"salt":"zz","secrets":{}}', '{"salt":"00","secrets":[1]}', "\0"])
def test_damaged_file_recognises_nothing_and_is_replaced(file: Path, content: str) -> None:
    file.write_text(content)
    prints = Fingerprints(file)
    assert prints.find(KEY, NONE) == {}
    prints.remember("p@o", KEY)
    assert Fingerprints(file).find(KEY, NONE) == {"p@o": KEY}


async def test_a_prompt_with_a_key_that_was_not_fetched_is_stored_without_it(
    file: Path, path: Path, gateways: Gateways
) -> None:
    keys = Keys(prints=Fingerprints(file))  # as after a start: nothing is in memory
    store = Store(path, keys.known, keys.recognise)
    await store.open()
    session = Workspace(gateways).blank(gateways.active_id)
    ask(session, f"Why is {KEY} refused?")
    assert keys.known() == ()
    store.save(snapshot(session))
    await store.flush()
    kept = [one.read_bytes().decode("utf-8", "replace") for one in path.parent.iterdir()]
    assert any(f"Why is {MASK} refused?" in one for one in kept)
    assert not any(map(leaks, kept))
    assert [secret.get_secret_value() for secret in keys.known()] == [KEY], "known everywhere from now on"
    await store.close()


async def test_no_piece_of_a_key_is_in_a_title_a_line_or_a_file(gateways: Gateways, path: Path) -> None:
    await store_secret(Profile(name="g", base_url="http://127.0.0.1:9"), gateways.keys, Secret(KEY))
    workspace = Workspace(gateways, Store(path, gateways.keys.known))
    await workspace.start()
    known = gateways.keys.known()
    for lead, after in product((0, 5, 20, 39, 44, 46, 47, 48, 60), ("", " and more", "x" * 5000)):
        session = workspace.new()
        ask(session, f"{'w ' * (lead // 2)}{'w' * (lead % 2)}{KEY}{after}")
        assert len(session.title) <= 48 + len(MASK)
        experiment = summarize(session)
        assert not leaks(f"{session.title} {session.summary} {experiment.title} {experiment.summary}")
        for form in SUFFIXES:
            assert not leaks(export(snapshot(session), form, known, whole_tree=True))
        assert not leaks(write(snapshot(session), known))
        assert not leaks((await workspace.duplicate(session.id)).title)
    await workspace.flush()
    for _ in range(2):  # with the write-ahead log, and without it
        assert not any(leaks(file.read_bytes()) for file in path.parent.iterdir())
        await workspace.close()


async def test_no_piece_of_a_key_is_in_the_shortened_request(gateways: Gateways) -> None:
    for at in (LONG_SHOWN - len(KEY) - 1, LONG_SHOWN - 20, LONG_SHOWN - 8, LONG_SHOWN - 1, LONG_SHOWN):
        session = Workspace(gateways).blank(gateways.active_id)
        ask(session, f"{'w' * at}{KEY}{'w' * CUT_FROM}")
        view = request_view(session, [Secret(KEY)])
        assert view.cut
        assert not leaks(view.text)


def test_the_front_of_a_text_is_that_of_the_text_without_secrets() -> None:
    redactor = Redactor([KEY])
    for most in range(60):
        front = redactor.front(f"Say {KEY} {KEY}, yes" * 50, most)
        assert not leaks(front)
        assert front.startswith("Say "[:most])
        assert (MASK in front) == (most > 4)
    assert redactor.front("Say it", 3) == "Say"
    assert redactor.front("Say it", 30) == "Say it"
