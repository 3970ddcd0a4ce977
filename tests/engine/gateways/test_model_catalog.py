"""Models to choose from: favourites and recent ones are saved, and the entry shown of a list holds no secret."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.prices import Price
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.model_catalog import MAX_RECENT, Model, ModelCatalog
from playground.engine.gateways.profiles import Profile, ProfileError, ProfileStore
from playground.engine.gateways.secrets import Keys, Secret


@pytest.fixture
def gateways(tmp_path: Path) -> Gateways:
    store = ProfileStore(tmp_path / "gateways.json")
    store.add_profile(Profile(id="one", name="One", base_url="https://one.example/v1"))
    store.add_profile(Profile(id="two", name="Two", base_url="https://two.example/v1"))
    return Gateways(store, Keys(), lambda: "http://127.0.0.1:1")


@pytest.mark.parametrize("profile_id", ["one", DEMO_ID])
def test_favourites_and_recent_models_are_saved_for_a_gateway(gateways: Gateways, profile_id: str) -> None:
    for model in ("a", "b", "a"):
        gateways.star(profile_id, model, True)
    gateways.star(profile_id, "b", False)
    gateways.star(profile_id, "c", True)
    for number in range(MAX_RECENT + 3):
        gateways.note_use(profile_id, f"m{number}")
    gateways.note_use(profile_id, "m5")
    gateways.note_use(profile_id, "")
    result = gateways.catalog(profile_id)
    assert (result.favourites, result.recent) == (("a", "c"), ("m5", "m10", "m9", "m8", "m7", "m6", "m4", "m3"))
    assert gateways.catalog("two").recent == ()
    again = ProfileStore(gateways.store.path).get("one")
    assert again is not None
    saved = (again.favourites, again.recent)
    assert saved == (result.favourites, result.recent) if profile_id == "one" else saved == ((), ())


def test_changes_of_a_gateway_made_at_once_are_all_saved(gateways: Gateways) -> None:
    rules = [Adaptation(kind=AdaptationKind.OMIT, protocol="chat", field=f"f{number}") for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(partial(gateways.add_rules, "one", [rule])) for rule in rules]
        done += [pool.submit(gateways.set_price, "one", f"m{number}", Price(output=2)) for number in range(16)]
        done += [pool.submit(partial(gateways.star, "one", f"m{number}", True)) for number in range(16)]
        done += [pool.submit(partial(gateways.note_use, "two", f"m{number}")) for number in range(16)]
        raised = [pool.submit(gateways.raise_timeouts, "one") for _ in range(2)]
        for item in done:
            item.result()
        assert all(item.result().startswith("Time-outs doubled") for item in raised)
    again = ProfileStore(gateways.store.path)
    saved, two = again.get("one"), again.get("two")
    assert saved is not None
    assert two is not None
    assert len(two.recent) == MAX_RECENT
    assert {rule.field for rule in saved.adaptations} == {rule.field for rule in rules}
    assert len(saved.prices) == len(saved.favourites) == 16
    assert saved.timeouts.first == 4 * (Profile(id="x").timeouts.first or 0)


def test_change_of_a_removed_gateway_is_refused(gateways: Gateways) -> None:
    demo = gateways.get(DEMO_ID)
    rule = Adaptation(kind=AdaptationKind.OMIT, protocol="chat", field="stop")
    for act in (
        partial(gateways.star, "gone", "a", True),
        partial(gateways.add_rules, "gone", [rule]),
        partial(gateways.set_price, "gone", "a", Price(output=2)),
        partial(gateways.raise_timeouts, "gone"),
    ):
        with pytest.raises(ProfileError, match="removed"):
            act()
    assert gateways.get(DEMO_ID) == demo, "nor does the demo gateway in its place"


def test_displayed_entry_is_cut_and_holds_no_secret() -> None:
    key = "sk-a-secret-of-many-letters"
    catalog = ModelCatalog(secrets=lambda: (Secret(key),))
    entry = {"id": "m", "note": "é" * 300, "for": key, "more": "x" * 10_000_000}
    displayed = catalog.entry_text(Model("m", raw=entry), 340)
    assert displayed.startswith('{\n  "id": "m",\n  "note": "ééé')
    assert key[:8] not in displayed
    assert len(displayed) < 400
    deep: list[object] = []
    for _ in range(90):
        deep = [deep]
    assert catalog.entry_text(Model("m", raw=deep), 100).endswith("…")
