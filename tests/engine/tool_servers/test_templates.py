"""Templates as RFC 6570 has them in its examples, and what a server may write that is none."""

from __future__ import annotations

from playground.engine.tool_servers.templates import fill, names_of
from tests.support.each_case import each_case

VALUES = {"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768", "who": "fred"}


@each_case(
    ("template", "filled"),
    [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"),
        ("X{#hello}", "X#Hello%20World!"),
        ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{?x,y}", "?x=1024&y=768"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{var:3}", "val"),
        ("{?who*}", "?who=fred"),
        ("{?undef}{/undef}", ""),
        ("demo://notes/{name}", "demo://notes/"),
        ("{", "{"),
        ("{{x}}", "{1024}"),
        ("{no name} {}", "{no name} {}"),
    ],
)
def test_template_is_expanded_as_in_rfc_6570(template: str, filled: str) -> None:
    assert fill(template, VALUES) == filled


def test_names_of_a_template_are_in_order() -> None:
    assert names_of("a/{x}/{+y:3,x}{?z*}") == ("x", "y", "z")
    assert names_of("nothing") == ()


def test_long_invalid_template_has_no_names() -> None:
    assert names_of("{a" * 50_000) == ()
    assert fill("{" + "a," * 50_000, {"a": "1"}).startswith("{a,")
