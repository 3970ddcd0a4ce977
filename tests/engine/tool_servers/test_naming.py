"""Names of servers' tools: what protocols take stays, what they refuse is mapped alike everywhere, and says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import NAME_RULE, ToolDefinition
from playground.engine.tool_servers.naming import (
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
OTHER = ToolServer(id="b", name="My files!")


def test_names_that_can_be_sent_stay_as_they_are() -> None:
    assert sent_names(FILES, ["read_file", "list-all"], ()) == {"read_file": "read_file", "list-all": "list-all"}


def test_what_no_name_may_hold_is_replaced() -> None:
    names = sent_names(FILES, ["get.data", "größe holen", "读取", "a/b::c", ""], ())
    assert names["get.data"] == "get_data"
    assert names["größe holen"] == "gro_e_holen"
    assert names["读取"] != names[""]
    assert {names["读取"], names[""]} > {"tool"}
    assert names["a/b::c"] == "a_b_c"


def test_a_name_that_can_be_sent_never_gives_way_to_one_that_cannot() -> None:
    one = sent_names(FILES, ["get.data", "get_data", "get data"], ())
    assert one["get_data"] == "get_data"
    assert one["get data"] == "files_get_data"
    assert one["get.data"].startswith("get_data_")
    assert one == sent_names(FILES, ["get data", "get_data", "get.data"], ()), "whatever order they are listed in"


def test_a_name_that_two_servers_share_tells_where_it_is_from() -> None:
    assert sent_names(OTHER, ["read_file", "search"], {"read_file"}) == {
        "read_file": "My_files_read_file",
        "search": "search",
    }


def test_a_prefix_that_was_typed_goes_before_all() -> None:
    server = FILES.model_copy(update={"prefix": "fs"})
    assert sent_names(server, ["read", "get.data"], ()) == {"read": "fs_read", "get.data": "fs_get_data"}
    assert prefixed("fs_", "read") == "fs_read"
    assert prefixed("", "read") == "read"
    assert prefix_problem("fs") == ""
    assert "letters" in prefix_problem("f s")
    assert "32" in prefix_problem("f" * 40)


def test_long_names_are_cut_and_still_told_apart() -> None:
    long = "read_" * 30
    names = sent_names(FILES, [long + "a", long + "b"], ())
    assert len(set(names.values())) == 2
    assert all(len(name) <= LONGEST for name in names.values())


@given(
    tools=st.sets(st.text(max_size=90), max_size=12),
    taken=st.sets(st.text("abc_", min_size=1, max_size=3), max_size=20),
    prefix=st.sampled_from(["", "a", "fs_", "p" * 32]),
    name=st.text(max_size=40),
)
def test_every_name_can_be_sent_once_and_is_the_same_again(
    tools: set[str], taken: set[str], prefix: str, name: str
) -> None:
    server = ToolServer(id="x", name=name, prefix=prefix)
    names = sent_names(server, tools, taken)
    assert set(names) == tools
    assert len(set(names.values())) == len(tools)
    assert not set(names.values()) & taken
    assert all(NAME_RULE.match(sent) for sent in names.values())
    assert names == sent_names(server, sorted(tools, reverse=True), taken)


def test_lone_surrogates_and_marks_of_direction_go_into_no_name() -> None:
    assert cleaned("\u202eevil\ud800 name") == "evil_name"
    assert list(sent_names(FILES, ["\ud800"], ()).values()) == ["tool"]


def test_a_tool_in_an_experiment_keeps_its_name_there() -> None:
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


def test_another_prefix_renames_the_tools_of_its_server_alone() -> None:
    own = ToolDefinition(name="read")
    tools = (own, definition_of(FILES, ServerTool(name="read"), "files_read"), ToolDefinition(name="x", server="other"))
    after = renamed(tools, FILES.model_copy(update={"prefix": "fs"}))
    assert [(tool.name, tool.remote) for tool in after] == [("read", ""), ("fs_read", "read"), ("x", "")]
    back = renamed(after[1:], FILES)
    assert [(tool.name, tool.remote) for tool in back] == [("read", ""), ("x", "")]


def test_a_copy_is_ones_own() -> None:
    tool = definition_of(FILES, ServerTool(name="get.data", description="Gets."), "get_data")
    own = own_copy(tool, {"get_data", "get_data_copy"})
    assert own == ToolDefinition(name="get_data_copy_2", description="Gets.", parameters={})
    assert len(own_copy(tool.model_copy(update={"name": "n" * 64}), {"n" * 64}).name) == LONGEST


def test_ten_thousand_names_are_made_in_a_moment() -> None:
    listed = [f"tool.{number}" for number in range(10_000)]
    names = sent_names(FILES, listed, {f"tool_{number}" for number in range(10_000)})
    assert len(set(names.values())) == 10_000
    assert names["tool.17"] == "files_tool_17"
