"""The search in a conversation and the places that cards mark."""

from __future__ import annotations

from collections.abc import Sequence

from pytestqt.qtbot import QtBot

from playground.domain.parts import Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, new_id
from playground.ui.features.conversation.caps import MATCHES
from playground.ui.features.conversation.finder import FindBar
from playground.ui.features.conversation.finding import Query, Search
from playground.ui.features.conversation.rows import Row, make_rows
from playground.ui.features.conversation.text_view import TextView
from tests.support.each_case import each_case
from tests.ui.features.conversation.conftest import TranscriptDriver

MARKDOWN = """# A heading with token

Words with **to**ken and *token*, `token`, [a token link](http://token.example/token) and snake\\_case.
A soft
break, a hard\\
break; ![token in an image](http://x/y.png) and 😀 token after an emoji.

1. token one
   - token *nested*
2. token two

> quoted token, ten-token

| token | value |
|---|---:|
| a token | 3 |

```python
token = "token"  # a token
```

---

&amp; a Token, TOKEN, tokens, a\u200btoken
"""


def find(rows: Sequence[Row], query: Query, start: int = 0) -> Search:
    search = Search()
    search.set_rows(rows, 0)
    search.look_for(query, start)
    while not search.work(0.01):
        pass
    return search


def turn(role: Role, *parts: Part, reason: str = "stop", **more: object) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason=reason) if role is Role.ASSISTANT else None
    created = Turn(id=new_id(), role=role, parts=parts, outcome=outcome)
    return created.model_copy(update={"outcome": outcome.model_copy(update=more)}) if outcome and more else created


def everything() -> list[Row]:
    call = ToolCall(id="a", name="f", arguments='{"token": "a t\\u006fken", "n": [1, 2, {"token": null}]}')
    broken = ToolCall(id="b", name="f", arguments='{"token": tok')
    schema = {"type": "json_object"}
    return make_rows(
        Transcript().append(
            turn(Role.SYSTEM, Text(text="A token.\r\nAnother **token**.")),
            turn(Role.USER, Text(text=MARKDOWN)),
            turn(Role.ASSISTANT, Reasoning(text=f"I think of a token.\n\n{MARKDOWN}"), Text(text=MARKDOWN)),
            turn(Role.ASSISTANT, call, broken, reason="tool_calls"),
            turn(
                Role.ASSISTANT,
                Text(text="token", extra={"messages": {"citations": [{"token": "a token", "url": "http://token"}]}}),
                ToolCall(id="a", name="f", arguments='{"token": 1}', extra={"chat": {"token": "x" * 900 + "token"}}),
            ).model_copy(update={"extra": {"chat": {"token": ["token"] * 70}}}),
            turn(Role.TOOL, ToolResult(call_id="a", text='{"result": "token token"}')),
            turn(Role.TOOL, ToolResult(call_id="c", text="a token that answers nothing")),
            turn(Role.ASSISTANT, Refusal(text="No *token* for you."), Unknown(value={"token": ["token"]})),
            turn(Role.ASSISTANT, Text(text='{"token": "token"}'), response_format=schema),
            turn(Role.ASSISTANT, Text(text="not JSON, token"), response_format=schema),
            turn(Role.ASSISTANT, Reasoning(text="", redacted="xyz")),
            turn(Role.USER, Text(text="word " * 900 + "token " * 500)),
        )
    )


QUERIES = [
    Query("token"),
    Query("Token", case=True),
    Query("token", whole_words=True),
    Query("break, a hard"),
    Query("snake_case"),
    Query("http"),
    Query('"'),
    Query("token  one"),
    Query("😀 token"),
    Query("(.*)"),
    Query("  "),
]


def test_search_counts_the_places_that_cards_show(driver: TranscriptDriver) -> None:
    rows = everything()
    searches = [find(rows, query) for query in QUERIES]
    for index, row in enumerate(rows):
        driver.show([row])
        card = driver.view.card(row.id)
        assert card is not None
        for query, search in zip(QUERIES, searches, strict=True):
            driver.view.show_found(query.pattern)
            assert card.finds.count == search.counts[index], f"row {index}, {row.turn.role}, {query}"
        driver.show([])
    assert [search.total for search in searches] == [sum(search.counts) for search in searches]


@each_case("words, count", [("needle", 4), ("a needle", 2), ("snake_case", 1), ("example", 1), ("nothing", 0)])
def test_markup_in_a_word_does_not_hide_it(words: str, count: int) -> None:
    text = "A **nee**dle, a\n*needle*, `needle` [needle](http://x.example), snake\\_case"
    rows = make_rows(Transcript().append(turn(Role.ASSISTANT, Text(text=text))))
    assert find(rows, Query(words)).total == count


def test_current_match_is_marked_where_it_is_drawn(driver: TranscriptDriver) -> None:
    (row,) = make_rows(Transcript().append(turn(Role.ASSISTANT, Text(text="[a link](http://token) to **to**ken"))))
    driver.show([row])
    card, pattern = driver.view.card(row.id), Query("token").pattern
    assert card is not None
    (view,) = card.findChildren(TextView)
    marked = []
    for number in range(2):
        driver.view.show_found(pattern, (row.id, number))
        begin, end = view.property("current_match")
        marked.append(view.toPlainText()[begin:end])
    assert marked == ["k", "token"], "an address is not drawn: the end of its link is marked"


def test_more_matches_than_are_counted_show_a_plus(qtbot: QtBot) -> None:
    turn = Turn(id="t", role=Role.USER, parts=(Text(text="a " * (MATCHES + 5)),))
    search = Search()
    search.set_rows(make_rows(Transcript({"t": turn}, "t")), 0)
    search.look_for(Query("a"), 0)
    search.work(10)
    assert (search.total, search.capped) == (MATCHES, True)
    bar = FindBar()
    qtbot.addWidget(bar)
    bar.field.setText("a")
    bar.say(1, search.total, done=True, capped=search.capped)
    assert bar.says == "1 of 10,000+"
    search.look_for(Query("b"), 0)
    search.work(10)
    assert not search.capped
