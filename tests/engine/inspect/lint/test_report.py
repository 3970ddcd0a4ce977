"""Findings of the decoders with section and frame, and the report on them."""

from __future__ import annotations

from playground.engine.inspect.lint import findings, report
from tests.engine.exchanges import exchange, indexed
from tests.engine.inspect.lint.answers import good, reviewed
from tests.protocols.streams import DONE

ODD = [
    (0.1, good({"role": "assistant", "content": "ok"})),
    (0.2, good({"reasoning": "hm ``` hm"})),
    (0.3, b"upstream says hello\n\n"),
]


def test_findings_name_their_frame_and_section() -> None:
    problems = findings(indexed(exchange(ODD)))
    assert [(item.code, item.frame, item.section) for item in problems] == [
        ("reasoning_name", 1, "2.5"),
        ("stray_text", 2, "4.1"),
        ("not_json", 2, "4.1"),
        ("cut_off", 3, "4.1"),
    ]


def test_report_shows_frames_and_not_the_request() -> None:
    tape = exchange(ODD, asked={"model": "m-1", "messages": [{"role": "user", "content": "PRIVATE"}]})
    tape.url = "http://user:pass@gateway.example/v1/chat/completions?token=1"
    index = indexed(tape)
    text = report(index, findings(index))
    assert "http://gateway.example/v1/chat/completions\n" in text
    assert "PRIVATE" not in text
    assert "token" not in text
    assert "Specification, section 2.5: Reasoning is sent as delta.reasoning_content." in text
    assert "Shown by event 2, 0.200 s after the request (`reasoning_name`):\n\n````text\ndata: " in text
    assert "Seen at the end of the body" in text
    assert "- Request id: `r-1`" in text
    assert "- Model: `m-1`" in text


def test_report_cuts_long_frames_and_names_what_was_not_seen() -> None:
    index = indexed(exchange([(0.1, good({"role": "assistant", "reasoning": "x" * 5000}, "stop") + DONE)]))
    text = report(index, findings(index))
    assert "x…\n```" in text
    assert len(text) < 2000
    index = indexed(exchange([(0.1, good({"role": "assistant", "content": "a"}, "stop") + DONE)]))
    assert findings(index) == ()
    assert report(index, ()).endswith("No problems found.\n")
    review = reviewed(exchange([(0.1, good({"role": "assistant", "content": "a"}))], complete=False))
    text = report(index, review.findings, review.unseen)
    assert "The answer was stopped: what would have followed was not seen.\n\nNo problems found." in text


def test_finding_of_status_or_headers_has_no_frame() -> None:
    tape = exchange([(0.1, b'{"code":1,"message":"RPM","data":null}')], status=422, content_type="application/json")
    index = indexed(tape)
    assert "Shown by the status and the headers (`status_undocumented`)." in report(index, findings(index))
