"""Every place that writes a file or standard output is known, and says how secrets are kept out of it.

A writer of exports calls ``write_output`` of ``playground/engine/gateways/redaction.py``, and a command writes
through ``Console``. All others stand here with a reason: add one only if it writes nothing that a person, a model, a
gateway or a tool server said, or redacts it itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[2]
CALLS: Final = frozenset({"write_whole", "write_text", "write_bytes", "mkstemp", "NamedTemporaryFile"})
OPENS: Final = frozenset("wxa")

OWN: Final = "a file of the program itself, without foreign text"
REDACTED: Final = "redacts its content before"
CONTENT: Final = "one part that a person sees and saves, byte for byte as it was received or written"
PRIMITIVE: Final = "writes the bytes of its callers, which are found by this test"
STREAM: Final = "a command's own words, or what a person gave it"

WRITERS: Final = {
    "playground/cli/__init__.py": STREAM,
    "playground/cli/offline.py": STREAM,
    "playground/cli/demo.py": STREAM,
    "playground/cli/execution.py": "certificates that a shell gave as a pipe; errors of reading files",
    "playground/cli/replay.py": STREAM,
    "playground/engine/cassettes/cassette.py": REDACTED,
    "playground/engine/files/experiment_file/__init__.py": REDACTED,
    "playground/engine/files/experiment_file/schema.py": OWN,
    "playground/engine/gateway_check/report.py": REDACTED,
    "playground/engine/gateways/redaction.py": "the one way out",
    "playground/engine/headless/cluster/worker.py": "certificate authorities, which are public",
    "playground/engine/io/list_file.py": "settings; their stores refuse secrets",
    "playground/engine/io/files.py": PRIMITIVE,
    "playground/engine/library/store/recovery.py": OWN,
    "playground/engine/listen/recording.py": REDACTED,
    "playground/engine/questions/worker.py": "a pipe to the program itself",
    "playground/self_test/report.py": STREAM,
    "playground/tool_host/host.py": "a pipe to the program itself",
    "playground/ui/features/conversation/calls/served_view.py": CONTENT,
    "playground/ui/features/conversation/shown_text.py": CONTENT,
    "playground/ui/shell/crash/crash_control.py": REDACTED,
    "playground/ui/shell/crash/hard_crash.py": "stacks of functions, without values",
}


def writes(source: str) -> Iterator[str]:
    """The functions that a module calls to write a file or to print."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            # A function that is handed on, as to a thread.
            if isinstance(node, ast.Name) and node.id == "write_whole" and isinstance(node.ctx, ast.Load):
                yield node.id
            continue
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        modes = [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]
        writing = any(len(mode) <= 3 and OPENS & set(mode) for mode in modes)
        owner = function.value if isinstance(function, ast.Attribute) else None
        if called in CALLS or called == "print" or (called in ("open", "fdopen") and writing):
            yield called
        elif called == "write" and isinstance(owner, ast.Attribute) and owner.attr in ("stdout", "stderr"):
            yield f"{owner.attr}.write"


def test_writer_without_redaction_is_listed_with_its_reason() -> None:
    writers = {
        path.relative_to(ROOT).as_posix(): sorted(set(calls))
        for path in sorted((ROOT / "playground").rglob("*.py"))
        if (calls := list(writes(path.read_text(encoding="utf-8"))))
    }
    assert {name: calls for name, calls in writers.items() if name not in WRITERS} == {}
    assert sorted(set(WRITERS) - set(writers)) == []
