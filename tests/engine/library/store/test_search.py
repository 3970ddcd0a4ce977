"""Search as one types: the beginnings of words, everywhere in an experiment, shown with what is around them."""

from __future__ import annotations

import asyncio

import pytest

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Reasoning, Refusal, Text, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.library.store import Filters, Passage, Store
from playground.engine.session.snapshot import Snapshot
from tests.engine.library.store.conftest import MakeStore
from tests.engine.library.store.test_store import simple


def marked_text(passage: Passage) -> str:
    """The passage with its hits in brackets."""
    out, last = "", 0
    for start, end in passage.marks:
        out += passage.text[last:start] + "[" + passage.text[start:end] + "]"
        last = end
    return out + passage.text[last:]


async def ids(store: Store, typed: str, filters: Filters | None = None) -> list[str]:
    return [result.experiment.id for result in await store.find(typed, filters or Filters())]


@pytest.fixture
async def store(make_store: MakeStore) -> Store:
    """An experiment with something in every field, and some others."""
    store = await make_store()
    call = ToolCall(id="c", name="get_weather", arguments='{"city": "Reykjavík"}')
    parts = (Reasoning(text="Perhaps the aquifer matters."), Text(text="Straße, CAFÉ and\nporridge."), call)
    turns = Transcript().append(
        make_turn(Role.USER, "Tell me about walruses"),
        Turn(id="answer", role=Role.ASSISTANT, parts=parts),
        make_turn(Role.TOOL, "", ToolResult(call_id="c", text="drizzle")),
        Turn(id="refused", role=Role.ASSISTANT, parts=(Refusal(text="I would rather not"),)),
    )
    full = Snapshot(
        id="full", title="Sea mammals", model="demo-reasoner", turns=tuple(turns.turns.values()), head=turns.head
    )
    store.save(full)
    failed = Turn(
        id="f",
        role=Role.ASSISTANT,
        outcome=Outcome(ending=Ending.FAILED, failure=Failure(kind=FailureKind.HTTP, message="no", status=500)),
    )
    store.save(Snapshot(id="failed", protocol="messages", model="big", turns=(failed,), head="f", archived=True))
    store.save(Snapshot(id="tools", model="big", tools=(ToolDefinition(name="x"),)))
    await store.flush()
    return store


async def test_text_in_every_field_is_found_and_shown(store: Store) -> None:
    for typed, field, passage in (
        ("walr", "text", "Tell me about [walruses]"),
        ("aquifer", "reasoning", "Perhaps the [aquifer] matters."),
        ("reykjav", "arguments", 'get_weather {"city": "[Reykjavík]"}'),
        ("get_w", "arguments", '[get_weather] {"city": "Reykjavík"}'),
        ("drizz", "text", "[drizzle]"),
        ("rather", "text", "I would [rather] not"),
        ("cafe", "text", "Straße, [CAFÉ] and porridge."),
        ("and porr", "text", "Straße, CAFÉ [and] [porridge]."),
        ("mamm", "title", "Sea [mammals]"),
        ("demo-re", "model", "[demo-reasoner]"),
    ):
        (match,) = await store.find(typed)
        assert match.experiment.id == "full"
        (hit,) = match.passages
        assert (hit.field, marked_text(hit)) == (field, passage)
        assert bool(hit.turn_id) is (field not in ("title", "model"))


async def test_words_may_be_scattered_but_all_are_needed(store: Store) -> None:
    (result,) = await store.find("mammals walrus drizzle")
    assert [hit.field for hit in result.passages] == ["title", "text", "text"]
    assert await store.find("walrus nowhere") == []
    store.save(simple("near", "walrus and drizzle", created_at=1))
    await store.flush()
    assert await ids(store, "walrus drizzle") == ["near", "full"]


async def test_no_typed_sign_is_an_error_or_hides_a_word(store: Store) -> None:
    for typed in ('"', "'", "walrus AND", "NEAR(", "*", "a* OR", "-", "text:x", "(", "\0", "💥"):
        await store.find(typed)
    assert await ids(store, '"walrus') == ["full"]
    assert await ids(store, "?! ...") == []


async def test_filters(store: Store) -> None:
    assert await ids(store, "", Filters(has_error=True)) == ["failed"]
    assert await ids(store, "", Filters(has_error=False)) == ["tools", "full"]
    assert await ids(store, "", Filters(has_tools=True)) == ["tools", "full"]
    assert await ids(store, "", Filters(protocol="messages")) == ["failed"]
    assert await ids(store, "", Filters(model="big", archived=False)) == ["tools"]
    assert await ids(store, "walrus", Filters(model="big")) == []
    assert await ids(store, "big", Filters(archived=True)) == ["failed"]


async def test_what_is_changed_or_gone_is_not_found(store: Store) -> None:
    snapshot = await store.load("full")
    first = snapshot.turns[0].model_copy(update={"parts": (Text(text="Tell me about seals"),)})
    store.save(
        snapshot.model_copy(update={"title": "Changed", "turns": (first, *snapshot.turns[1:2]), "head": "answer"})
    )
    await store.flush()
    assert await ids(store, "walrus") == await ids(store, "drizzle") == await ids(store, "mammals") == []
    assert await ids(store, "seals") == await ids(store, "changed") == ["full"]


async def test_a_turn_being_received_is_found_once_it_is_there(make_store: MakeStore) -> None:
    store = await make_store()
    snapshot = simple("a", "albatross").model_copy(update={"title": "Birds"})
    store.save(snapshot, frozenset({snapshot.turns[0].id}))
    await store.flush()
    assert await ids(store, "albatross") == []
    await store.close()
    store = await make_store()  # the process ended, and the turn was never finished
    await store.flush()
    assert await ids(store, "albatross") == ["a"]


async def test_few_passages_of_each_and_the_newest_first(make_store: MakeStore) -> None:
    store = await make_store()
    for number in range(120):
        store.save(simple(f"e{number}", *(f"penguin {n}" for n in range(10))))
    await store.flush()
    results = await store.find("pengu")
    assert [result.experiment.id for result in results] == [f"e{number}" for number in range(119, 19, -1)]
    assert all(1 <= len(result.passages) <= 4 for result in results)


async def test_a_new_search_ends_the_one_before(make_store: MakeStore) -> None:
    store = await make_store()
    for number in range(50):
        store.save(simple(f"e{number}", *("word " * 50 for _ in range(40))))
    await store.flush()
    answers = await asyncio.gather(*(store.find("word"[:n]) for n in (1, 2, 3, 4)))
    assert answers[-1]
    assert [bool(answer) for answer in answers[1:-1]] == [False, False]
    task = asyncio.get_running_loop().create_task(store.find("wor"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.find("word")


async def test_search_in_long_turns_ends_at_once(make_store: MakeStore) -> None:
    """SQLite's own passages of so many hits take very long."""
    store = await make_store()
    store.save(simple("long", "word " * 100_000 + "Zürich"))
    await store.flush()
    async with asyncio.timeout(20):
        (result,) = await store.find("w")
    assert len(result.passages[0].text) < 300
    assert result.passages[0].marks[0] == (0, 4)
    (result,) = await store.find("zurich")
    assert marked_text(result.passages[0]).endswith("word [Zürich]")


async def test_search_shows_the_passage_where_most_words_stand_together(make_store: MakeStore) -> None:
    store = await make_store()
    store.save(simple("a", f"alpha {'x ' * 400}alpha beta{' y' * 400}"))
    await store.flush()
    (result,) = await store.find("beta alph")
    assert "x [alpha] [beta] y" in marked_text(result.passages[0])
    assert marked_text(result.passages[0]).startswith("…x x")
