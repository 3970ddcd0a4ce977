"""What the decoders note, each with its rule and the frame that shows it, and the report on all of it."""

from __future__ import annotations

import ast
from pathlib import Path

import playground.protocols
from playground.engine.inspect.lint import Review, findings, report
from playground.protocols.arguments import PLACEHOLDER, REPEATED, TWICE
from playground.protocols.cumulative import CUMULATIVE
from playground.protocols.protocol import get_protocol
from tests.engine.exchanges import exchange, indexed
from tests.engine.inspect.lint.answers import good
from tests.protocols.streams import DONE

SOURCES = Path(playground.protocols.__file__).parent
ODD = [
    (0.1, good({"role": "assistant", "content": "ok"})),
    (0.2, good({"reasoning": "hm ``` hm"})),
    (0.3, b"upstream says hello\n\n"),
]


def test_each_finding_names_its_frame_and_section() -> None:
    found = findings(indexed(exchange(ODD)))
    assert [(one.code, one.frame, one.section) for one in found] == [
        ("reasoning_name", 1, "2.5"),
        ("stray_text", 2, "4.1"),
        ("not_json", 2, "4.1"),
        ("cut_off", 3, "4.1"),
    ]


def test_the_report_shows_the_frames_and_not_the_request() -> None:
    tape = exchange(ODD, asked={"model": "m-1", "messages": [{"role": "user", "content": "PRIVATE"}]})
    tape.url = "http://user:pass@gateway.example/v1/chat/completions?token=1"
    index = indexed(tape)
    text = report(index, findings(index))
    assert "http://gateway.example/v1/chat/completions\n" in text
    assert "PRIVATE" not in text
    assert "token" not in text
    assert "Specification, section 2.5: Reasoning comes as delta.reasoning_content." in text
    assert "Shown by frame 2, 0.200 s after the request (`reasoning_name`):\n\n````text\ndata: " in text
    assert "Seen at the end of the body" in text
    assert "- Request id: `r-1`" in text
    assert "- Model: `m-1`" in text


def test_a_long_frame_is_cut_short() -> None:
    index = indexed(exchange([(0.1, good({"role": "assistant", "reasoning": "x" * 5000}, "stop") + DONE)]))
    text = report(index, findings(index))
    assert "x…\n```" in text
    assert len(text) < 2000


def test_nothing_odd_is_said_so() -> None:
    index = indexed(exchange([(0.1, good({"role": "assistant", "content": "a"}, "stop") + DONE)]))
    assert findings(index) == ()
    assert report(index, ()).endswith("No deviation was found.\n")


def test_what_was_not_seen_stands_in_the_report() -> None:
    index = indexed(exchange([(0.1, good({"role": "assistant", "content": "a"}))], complete=False))
    review = Review(index)
    for _ in review.read_findings():
        pass
    text = report(index, review.findings, review.unseen)
    assert "The answer was stopped: what would have followed was not seen.\n\nNo deviation was found." in text


def test_what_status_and_headers_show_has_no_frame() -> None:
    tape = exchange([(0.1, b'{"code":1,"message":"RPM","data":null}')], status=422, content_type="application/json")
    index = indexed(tape)
    assert "Shown by the status and the headers (`status_undocumented`)." in report(index, findings(index))


def codes_in(path: Path) -> set[str]:
    """Every code that a decoder notes, read from its source."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_note":
            found |= {
                arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            }
    return {code for code in found if code.replace("_", "").isalpha() and code == code.lower() and " " not in code}


def test_every_code_has_its_rule() -> None:
    shared = codes_in(SOURCES / "decoding.py") | {REPEATED[0], PLACEHOLDER[0], TWICE[0], CUMULATIVE}
    chat = shared | codes_in(SOURCES / "chat" / "decode.py") | codes_in(SOURCES / "chat" / "toolcalls.py")
    assert len(chat) > 35
    assert chat <= get_protocol("chat").expected.noted.keys()
    native = codes_in(SOURCES / "messages" / "decode.py")
    assert get_protocol("messages").expected.noted.keys() <= shared | native | {"broken_after_end"}
