"""Templates as RFC 6570 has them in its examples, and what a server may write that is none."""

from __future__ import annotations

from playground.engine.tool_servers.content import fill, names_of

VALUES = {"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768", "who": "fred"}


def test_template_is_expanded_as_in_rfc_6570() -> None:
    expanded = {"{var}": "value", "{hello}": "Hello%20World%21", "{+hello}": "Hello%20World!", "{var:3}": "val"}
    expanded |= {"{+path}/here": "/foo/bar/here", "X{#hello}": "X#Hello%20World!", "map?{x,y}": "map?1024,768"}
    expanded |= {"{x,hello,y}": "1024,Hello%20World%21,768", "X{.x,y}": "X.1024.768", "{/var,x}/a": "/value/1024/a"}
    expanded |= {"{;x,y}": ";x=1024;y=768", "{?x,y}": "?x=1024&y=768", "?fixed=yes{&x}": "?fixed=yes&x=1024"}
    expanded |= {"{?who*}": "?who=fred", "{?undef}{/undef}": "", "demo://notes/{name}": "demo://notes/"}
    expanded |= {"{": "{", "{{x}}": "{1024}", "{no name} {}": "{no name} {}"}
    assert {template: fill(template, VALUES) for template in expanded} == expanded


def test_names_of_a_template_are_in_order() -> None:
    assert names_of("a/{x}/{+y:3,x}{?z*}") == ("x", "y", "z")
    assert names_of("nothing") == ()
