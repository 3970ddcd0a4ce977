"""Rows of a conversation after edits."""

from __future__ import annotations

from random import Random

import pytest

from playground.domain.parts import Image, Text, ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, make_turn
from playground.ui.features.conversation.rows import PathSize, Row, make_rows
from tests.benchmarks.experiment import long_transcript


def measure(size: PathSize, transcript: Transcript) -> tuple[int, int]:
    size.measure(transcript.path)
    return size.tokens, size.images


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


@pytest.mark.parametrize("seed", [0, 244])  # with this seed a result loses its neighbour
def test_rows_after_edits_are_new_objects_only_where_they_differ(seed: int) -> None:
    random = Random(seed)
    transcript, size = long_transcript(60, seed), PathSize()
    rows: list[Row] = []
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
        fresh, before = make_rows(transcript, growing), {row.id: row for row in rows}
        rows = make_rows(transcript, growing, rows)
        assert rows == fresh
        assert all(row is before[row.id] for row in rows if row == before.get(row.id))
        assert measure(size, transcript) == measure(PathSize(), transcript)
