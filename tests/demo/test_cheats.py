"""Directives of the demo gateway and their parser."""

from __future__ import annotations

from playground.demo.cheats import CHEATS, Refusal, parse


def test_example_of_each_directive_is_parsed() -> None:
    assert len({cheat.name for cheat in CHEATS}) == len(CHEATS)
    for cheat in CHEATS:
        for word in cheat.typed.split():
            rest, directives = parse(f"before {word} after")
            assert rest == "before after"
            assert directives.has(cheat.name)


def test_other_words_stay_in_the_text() -> None:
    text = "!important !calls !html=3 !lengthx2 a!429 !429s !tps=fast !999 ! 429 !429=1.2.3 #!stall"
    rest, directives = parse(text)
    assert rest == text
    assert not directives.values


def test_number_of_a_directive_is_parsed() -> None:
    rest, directives = parse("Go on, !stall=2.5, then !calls=3. And !fast!")
    assert rest == "Go on, , then . And !"
    assert directives.number("stall", 5) == 2.5
    assert directives.number("calls", 1) == 3
    assert directives.number("fast", 9) == 9
    assert directives.has("nothing", "fast")


def test_refusal_on_demand_is_parsed() -> None:
    assert parse("!503x2=1.5")[1].refusal == Refusal(503, 2, 1.5)
    assert parse("!429=3")[1].refusal == Refusal(429, None, 3)
    assert parse("!402 !403")[1].refusal == Refusal(402, None, None)
