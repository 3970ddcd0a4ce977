"""Rows that follow a path give what rows made anew would, and keep the objects of what is the same."""

from __future__ import annotations

from random import Random

import pytest

from playground.domain.parts import Image, Text, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, make_turn
from playground.domain.variables import Braced, names_in, resolve_turns
from playground.ui.features.conversation.heights import GAP, LOT, TOP, Heights, guesser
from playground.ui.features.conversation.rows import Row, Rows
from tests.benchmarks.experiment import long_transcript


def weight(rows: Rows) -> tuple[int, int]:
    """Tokens and images, once all are weighed."""
    for _ in rows.weigh():
        pass
    assert rows.weighed
    return rows.tokens, rows.images


def test_a_result_replaces_the_row_of_its_call_only() -> None:
    asked = make_turn(Role.ASSISTANT, "", ToolCall(id="a", name="f", arguments="{}"))
    transcript = Transcript().append(make_turn(Role.USER, "hi"), asked)
    rows = Rows()
    first, second = rows.follow(transcript)
    assert second.answers == {}
    answered = transcript.append(make_turn(Role.TOOL, "", ToolResult(call_id="a", text="21")))
    again = rows.follow(answered)
    assert again[0] is first
    assert again[1].answers["a"].result.text == "21"
    assert second.answers == {}, "a row that was given out does not change"
    assert rows.follow(transcript) == [first, second]


def test_a_row_that_begins_or_ends_to_grow_is_another() -> None:
    turn = make_turn(Role.ASSISTANT)
    transcript = Transcript().append(make_turn(Role.USER, "hi"), turn)
    rows = Rows()
    assert [row.growing for row in rows.follow(transcript, [turn.id])] == [False, True]
    assert [row.growing for row in rows.follow(transcript)] == [False, False]


def rewritten(random: Random, transcript: Transcript, chosen: list[str]) -> Transcript:
    """Other words, and now and then another role, call or result, in the turns of these ids."""
    for turn_id in chosen:
        turn = transcript.turns[turn_id]
        role, parts = turn.role, (*turn.parts, Text(text=f"words {random.random()}"))
        match random.randrange(9):
            case 0:
                role = random.choice(list(Role))
            case 1:
                parts = (ToolCall(id=f"call_{random.randrange(20)}", name="f", arguments="{}"),)
            case 2:
                role, parts = Role.TOOL, (ToolResult(call_id=f"call_{random.randrange(20)}", text="other"),)
            case 3:
                parts = (*turn.parts, Image(url="https://example.org/a.png"))
            case _:
                pass
        transcript = transcript.replace(turn.model_copy(update={"role": role, "parts": parts}))
    return transcript


@pytest.mark.parametrize("seed", [*range(6), 244])  # there a result loses what stood beside it
def test_any_chain_of_edits_gives_what_would_be_found_out_anew(seed: int) -> None:
    random = Random(seed)
    transcript, rows, braced = long_transcript(60, seed), Rows(), Braced()
    past = [transcript]
    for number in range(80):
        ids = [turn.id for turn in transcript.path]
        chosen = random.choice(ids)
        match random.randrange(12):
            case 0:
                transcript = transcript.append(make_turn(Role.USER, f"more {number} {{{{v{number}}}}}"))
            case 1 if len(ids) > 3:
                transcript = transcript.remove(chosen)
            case 2:
                transcript = transcript.move(chosen, random.choice((-1, 1)))
            case 3:
                transcript = transcript.truncate_after(chosen)
            case 4:
                transcript = transcript.append_alternatives([make_turn(Role.ASSISTANT, f"v{n}") for n in range(2)])
            case 5:
                transcript = transcript.select(random.choice(list(transcript.turns)))
            case 6:
                call_id = next((call.id for turn in transcript.path for call in turn.calls), "none")
                answer = make_turn(Role.TOOL, "", ToolResult(call_id=call_id, text=f"result {number}"))
                transcript = transcript.insert(answer, before=chosen)
            case 7:
                transcript = random.choice(past)
            case _:
                count = min(random.choice((1, 1, 2, 12)), len(ids))
                transcript = rewritten(random, transcript, random.sample(ids, count))
        past.append(transcript)
        growing = [transcript.head] if random.random() < 0.2 and transcript.head else []
        fresh, anew = Rows(), Transcript(transcript.turns, transcript.head)
        assert rows.follow(transcript, growing) == fresh.follow(anew, growing)
        assert weight(rows) == weight(fresh)
        assert (transcript.forks, transcript.waiting) == (anew.forks, anew.waiting)
        assert [transcript.children(key) for key in ids] == [anew.children(key) for key in ids]
        assert braced.names(transcript.path) == names_in(anew.path)
        values = {f"v{n}": "value" for n in range(0, number, 2)}
        assert braced.resolve(transcript.path, values) == resolve_turns(anew.path, values)


# Where they stand


def rows_of(count: int) -> list[Row]:
    return Rows().follow(Transcript().append(*(make_turn(Role.USER, f"turn {n}") for n in range(count))))


def test_heights_add_up() -> None:
    column, rows = Heights(), rows_of(5)
    column.set_rows(rows, lambda row: 100, ())
    assert [column.top(at) for at in range(5)] == [TOP + at * (100 + GAP) for at in range(5)]
    assert column.set_height(2, 50)
    assert not column.set_height(2, 50)
    assert column.top(3) == TOP + 3 * (100 + GAP) - 50
    assert column.total == 2 * TOP + 5 * (100 + GAP) - 50
    heights = (-5, 0, TOP, column.top(3), column.top(3) - GAP - 1, 10_000)
    assert [column.row_at(y) for y in heights] == [0, 0, 0, 3, 2, 4]


def test_heights_of_rows_that_stay_are_kept_and_those_of_changed_ones_guessed_again() -> None:
    column, rows = Heights(), rows_of(4)
    column.set_rows(rows, lambda row: 100, ())
    for at in range(4):
        column.set_height(at, 200 + at)
    other = Row(rows[2].turn.model_copy(update={"parts": ()}), (rows[2].id,), {})
    fresh = rows_of(1)[0]
    kept = column.set_rows([rows[0], fresh, other, rows[3]], lambda row: 7, ())
    assert kept == 1
    assert [column.height(at) for at in range(4)] == [200, 7, 7, 203]
    assert column.index == {rows[0].id: 0, fresh.id: 1, other.id: 2, rows[3].id: 3}
    column.set_rows([rows[0], fresh, rows[2]], lambda row: 8, {rows[2].id})
    assert [column.height(at) for at in range(3)] == [200, 7, 7]
    column.set_rows([], lambda row: 8, ())
    assert (column.total, column.row_at(50)) == (0, 0)


def test_a_guess_grows_with_the_text_and_the_text_size() -> None:
    short, long = rows_of(1)[0], Rows().follow(Transcript().append(make_turn(Role.USER, "words " * 400)))[0]
    assert guesser(768, 1.0)(short) < guesser(768, 1.0)(long) < guesser(400, 1.0)(long)
    assert guesser(768, 1.0)(long) < guesser(768, 1.5)(long)


def test_of_very_many_rows_some_heights_are_guessed_and_the_others_as_there_is_time() -> None:
    rows = rows_of(4 * LOT)

    def guess(row: Row) -> int:
        return 50 + len(row.turn.text)

    column = Heights()
    column.set_rows(rows, guess, ())
    guessed = sum(guess(row) for row in rows)
    assert abs(column.total - guessed - GAP * len(rows)) < 0.1 * guessed, "the others are taken to be like them"
    column.set_height(7, 1000)
    column.set_rows([rows[3], *rows[:3], *rows[4:-1]], guess, ())
    steps = 0
    while column.rough:
        column.refine(guess)
        steps += 1
    assert steps >= 4, "not all of them at once"
    assert column.height(7) == 1000, "what was measured is not guessed again"
    assert all(column.height(at) == guess(row) for at, row in enumerate(column.rows) if at != 7)
    assert column.total == 2 * TOP + sum(column.height(at) + GAP for at in range(len(column.rows)))
