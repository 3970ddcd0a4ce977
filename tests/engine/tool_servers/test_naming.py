"""Names of tools: valid ones stay, others are mapped in the same way everywhere, with a note."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import NAME_RULE, ToolDefinition
from playground.engine.tool_servers.tools import (
    LONGEST,
    cleaned,
    definition_of,
    mapping_words,
    own_copy,
    prefix_problem,
    prefixed,
    renamed,
    sent_names,
)

FILES = ToolServer(id="a", name="files")


def test_characters_that_no_name_may_hold_are_replaced() -> None:
    names = sent_names(FILES, ["read_file", "get.data", "größe holen", "读取", "a/b::c", ""], ())
    assert (names["read_file"], names["get.data"]) == ("read_file", "get_data")
    assert names["größe holen"] == "gro_e_holen"
    assert names["读取"] != names[""]
    assert {names["读取"], names[""]} > {"tool"}
    assert names["a/b::c"] == "a_b_c"
    assert cleaned("\u202eevil\ud800 name") == "evil_name"
    assert list(sent_names(FILES, ["\ud800"], ()).values()) == ["tool"]


def test_valid_name_is_preferred_over_a_mapped_name() -> None:
    one = sent_names(FILES, ["get.data", "get_data", "get data"], ())
    assert (one["get_data"], one["get data"]) == ("get_data", "files_get_data")
    assert one["get.data"].startswith("get_data_")
    assert one == sent_names(FILES, ["get data", "get_data", "get.data"], ()), "whatever order they are listed in"


def test_prefix_of_a_server_is_in_all_its_names() -> None:
    server = FILES.model_copy(update={"prefix": "fs"})
    assert sent_names(server, ["read", "get.data"], ()) == {"read": "fs_read", "get.data": "fs_get_data"}
    assert prefixed("fs_", "read") == "fs_read"
    assert prefixed("", "read") == "read"
    assert prefix_problem("fs") == ""
    assert "letters" in prefix_problem("f s")
    assert "32" in prefix_problem("f" * 40)


@settings(max_examples=30)
@given(
    tools=st.sets(st.text(max_size=90), max_size=12),
    taken=st.sets(st.text("abc_", min_size=1, max_size=3), max_size=20),
    prefix=st.sampled_from(["", "a", "fs_", "p" * 32]),
    name=st.text(max_size=40),
)
def test_sent_names_are_valid_unique_and_stable(tools: set[str], taken: set[str], prefix: str, name: str) -> None:
    server = ToolServer(id="x", name=name, prefix=prefix)
    names = sent_names(server, tools, taken)
    assert set(names) == tools
    assert len(set(names.values())) == len(tools)
    assert not set(names.values()) & taken
    assert all(NAME_RULE.match(sent) and len(sent) <= LONGEST for sent in names.values())
    assert names == sent_names(server, sorted(tools, reverse=True), taken)


def test_definition_holds_the_name_at_the_server() -> None:
    tool = ServerTool(name="get.data", title="Data", parameters={"type": "object"}, hints=Hints(read_only=True))
    made = definition_of(FILES, tool, "get_data")
    assert (made.name, made.remote, made.name_there, made.server, made.group) == (
        "get_data",
        "get.data",
        "get.data",
        "files",
        "files",
    )
    assert made.hints == Hints(title="Data", read_only=True)
    assert mapping_words(made).startswith("“get.data” is sent as get_data: the protocols take letters")
    plain = definition_of(FILES, ServerTool(name="read"), "read")
    assert (plain.remote, plain.hints, mapping_words(plain)) == ("", None, "")
    long = definition_of(FILES, ServerTool(name="n" * 80), "n")
    assert "at most 64" in mapping_words(long)
    doubled = definition_of(FILES, ServerTool(name="read"), "files_read")
    assert "another tool had that name" in mapping_words(doubled)


def test_new_prefix_renames_the_tools_of_its_server_only() -> None:
    own = ToolDefinition(name="read")
    tools = (own, definition_of(FILES, ServerTool(name="read"), "files_read"), ToolDefinition(name="x", server="other"))
    after = renamed(tools, FILES.model_copy(update={"prefix": "fs"}))
    assert [(tool.name, tool.remote) for tool in after] == [("read", ""), ("fs_read", "read"), ("x", "")]
    back = renamed(after[1:], FILES)
    assert [(tool.name, tool.remote) for tool in back] == [("read", ""), ("x", "")]


def test_own_copy_belongs_to_no_server() -> None:
    tool = definition_of(FILES, ServerTool(name="get.data", description="Gets."), "get_data")
    own = own_copy(tool, {"get_data", "get_data_copy"})
    assert own == ToolDefinition(name="get_data_copy_2", description="Gets.", parameters={})
    assert len(own_copy(tool.model_copy(update={"name": "n" * 64}), {"n" * 64}).name) == LONGEST
