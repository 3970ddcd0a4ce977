"""Arguments of a call as a tree that grows while they arrive, with each problem at its value."""

from __future__ import annotations

from collections.abc import Sequence

from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.questions.partial_judge import Judge
from playground.jsonkit.problems import Problem
from playground.jsonkit.texts import cut
from playground.jsonkit.tree import Node, PartialJson
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.features.conversation.text_check import TextCheck
from playground.ui.features.conversation.text_view import TextView

DEEPEST = 12  # levels that are indented; deeper ones share the last indentation
MOST_READ = 60_000  # characters that are read; only the raw text has the rest
MOST_ROWS = 300  # rows that are shown; the raw text has all values
LONGEST = 300  # characters of a name that are shown
_COLOURS = {"string": "string", "number": "number", "true": "keyword", "false": "keyword", "null": "keyword"}


class ArgumentTree(TextView):
    """Show the values of streamed arguments, a line each; `problems` are the problems so far."""

    def __init__(self) -> None:
        super().__init__(mode="raw")
        self._schema: JSONObject | None = None
        self._reader = PartialJson()
        self._judge = Judge(None)
        self._check = TextCheck(ArgumentsFit, self)
        self._check.checked.connect(self._refresh)
        self._fragments: Sequence[str] = ()
        self._fed = 0  # fragments that were read
        self._ending = False  # all fragments are received
        self._truncated = False
        self.problems: list[Problem] = []
        self.setAccessibleName("Arguments as a tree")

    def begin(self, schema: JSONObject | None) -> None:
        """Start with the first fragment, for arguments of this schema."""
        self._schema = schema
        self._reader, self._judge = PartialJson(), Judge(schema)
        self._fragments, self._fed = (), 0
        self._ending = self._truncated = False
        self._refresh()

    def read_fragments(self, fragments: Sequence[str]) -> None:
        """Read the fragments that are new."""
        if len(fragments) != self._fed:
            self._fragments = fragments
            self._read_on()

    def finish(self, *, truncated: bool) -> None:
        """End the arguments; `truncated` says that the answer reached its token limit."""
        if self._ending and truncated is self._truncated:
            return
        self._ending, self._truncated = True, truncated
        self._read_on()

    def show_whole(self, arguments: str, schema: JSONObject | None, *, truncated: bool) -> None:
        """Show arguments that were received whole, unless their fragments were read already."""
        same = schema == self._schema and "".join(self._fragments) == arguments
        if not same or (self._ending and self._truncated is not truncated):
            self.begin(schema)
            self.read_fragments([arguments])
        if not self._ending:
            self.finish(truncated=truncated)

    def _read_on(self) -> None:
        while self._fed < len(self._fragments) and not self._full:
            self._reader.read_fragment(self._fragments[self._fed][: MOST_READ - self._reader.length])
            self._fed += 1
        if self._ending and not self._full:
            self._reader.finish()
        self._refresh()

    @property
    def _full(self) -> bool:
        """Return whether the limit of characters that are read is reached."""
        return self._reader.length >= MOST_READ

    def _validated(self) -> list[Problem] | None:
        return self._check.problems("".join(self._fragments), self._schema)

    def _refresh(self) -> None:
        self.problems = [] if self._full else self._judge.problems(self._reader, self._truncated, self._validated)
        rows = self._reader.nodes[:MOST_ROWS]
        paths = {row.path for row in rows} if self.problems else set()
        messages: dict[tuple[str | int, ...], dict[str, None]] = {}  # ordered and without repetitions
        for problem in self.problems:
            messages.setdefault(_nearest(problem.path, paths), {})[problem.message] = None
        lines = [self._line(row, " · ".join(messages.get(row.path, ()))) for row in rows]
        if not rows:
            lines.append(_note("No arguments" if self._reader.ended else "Receiving…"))
        elif len(self._reader.nodes) > MOST_ROWS:
            count = "many" if self._full else f"{len(self._reader.nodes) - MOST_ROWS:,}"
            lines.append(_note(f"and {count} more values"))
        self.set_lines("".join(self._fragments), lines)

    def _line(self, node: Node, wrong: str) -> Line:
        """Return the line of a value: its name, the value, and what is wrong with it."""
        name = f"[{node.key}]" if isinstance(node.key, int) else cut(node.key or "", LONGEST)
        value = node.preview
        if node.kind in ("object", "array") and node.complete and not node.children:
            value = "{ }" if node.kind == "object" else "[ ]"
        elif node.kind == "string":
            value = f'"{value}"' if node.complete else f'"{value}'
        if not node.complete and not self._reader.ended:
            value += " …"
        spans = [Span("  " * min(len(node.path), DEEPEST) + (f"{name}: " if name else ""), Style.CODE)]
        spans.append(Span(value, Style.CODE, token="deleted" if wrong else _COLOURS.get(node.kind, "comment")))
        if wrong:
            spans.append(Span(f"   × {wrong}", Style.CODE, token="deleted"))
        return Line("raw", tuple(span for span in spans if span.text))


def _note(words: str) -> Line:
    return Line("raw", (Span(words, Style.CODE, token="comment"),))


def _nearest(path: tuple[str | int, ...], paths: set[tuple[str | int, ...]]) -> tuple[str | int, ...]:
    """Return the longest beginning of a path that has a row."""
    path = path[:MOST_ROWS]
    while path and path not in paths:
        path = path[:-1]
    return path
