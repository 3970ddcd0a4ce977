"""The output of commands: answers on standard output, everything else on standard error.

Both may be the same terminal, so an open line on one is ended before the other continues. Text of models is made safe
for terminals. No secret of this process is written. Errors of writing are kept until the end of the command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Final, TextIO

from playground.domain.durations import span
from playground.domain.errors import Failure
from playground.domain.parts import Part
from playground.domain.transcript import Role, Turn
from playground.engine.advice import advise, headline, own_words
from playground.engine.advice.parts import Advice
from playground.engine.gateways.redaction import output_json_pieces, redact, redactor_of
from playground.engine.inspect.hosted_items import hosted_item
from playground.engine.session.changes import Change, PathChanged, RunState, RunStateChanged, TurnChanged, TurnGrew
from playground.gateway.redact_stream import TextRedactor
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret
    from playground.engine.session.request_executor import RetryWait
    from playground.engine.session.session import Session

_PIECE: Final = 1_000_000  # characters that are written at once
_LONGEST: Final = 300  # characters of a part of an unknown kind that are shown
#: Control characters but for tabs and the ends of lines.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
#: Where the parts of an answer go: to standard output, or to standard error.
_OUT: Final = frozenset({"text", "refusal"})
_ERR: Final = frozenset({"reasoning"})
#: Between two parts of reasoning.
PARAGRAPH: Final = "\n\n"


class OutputError(Exception):
    """Standard output cannot be written. `reader_left`: the reader has closed it, as `head` does."""

    def __init__(self, error: Exception) -> None:
        self.reader_left = isinstance(error, BrokenPipeError)
        reason = error.strerror if isinstance(error, OSError) else ""
        super().__init__(f"standard output cannot be written: {reason or error}")


class Console:
    """Standard output and standard error of a command.

    `trouble` is the error of standard output; `lost` is called when it occurs. `about` is a prefix for the program's
    own lines.
    """

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.trouble: Exception | None = None
        self.lost: Callable[[], object] = lambda: None
        self.about = ""
        self._out, self._err = out, err
        self._one_terminal = out.isatty() and err.isatty()
        self._out_open = self._err_open = False  # whether a line was begun there
        self._half = ""  # of the end of a line
        self._secrets: tuple[Secret, ...] = ()
        self._know(())

    def hide(self, secrets: Iterable[Secret]) -> None:
        """Keep these secrets out of both streams from now on."""
        if more := [secret for secret in secrets if secret not in self._secrets]:
            self.finish()
            self._know(dict.fromkeys((*self._secrets, *more)))

    def _know(self, secrets: Iterable[Secret]) -> None:
        self._secrets = tuple(secrets)
        self._redactor = redactor_of(self._secrets)
        self._answer, self._reasoning = TextRedactor(self._redactor), TextRedactor(self._redactor)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that must not be written."""
        return self._secrets

    @property
    def one_terminal(self) -> bool:
        """True where both streams are the same terminal."""
        return self._one_terminal

    def text(self, text: str) -> None:
        """Write a piece of the answer to standard output."""
        self._more(self._answer.add(text))

    def _more(self, text: str) -> None:
        text, self._half = self._half + text, ""
        if text.endswith("\r"):  # the next text tells whether a line ends here
            text, self._half = text[:-1], "\r"
        if text:
            self._end_err()
            self._put(self._out, printable(text))
            self._out_open = not text.endswith("\n")

    def line(self, text: str) -> None:
        """Write a line to standard output."""
        self.finish()
        self._more(f"{redact(text, self._redactor)}\n")

    def aside(self, text: str) -> None:
        """Write a piece of reasoning to standard error."""
        self._more_aside(self._reasoning.add(text))

    def _more_aside(self, text: str) -> None:
        if text:
            self._leave_out()
            self._put(self._err, printable(text))
            self._err_open = not text.endswith("\n")

    def say(self, words: str) -> None:
        """Write a line of the program's own to standard error."""
        self._leave_out()
        self._end_err()
        about = f"{self.about}: " if self.about else ""
        self._put(self._err, printable(redact(f"playground: {about}{words}\n", self._redactor)))

    def clean(self, text: str) -> str:
        """Return a text without the secrets, before it is laid out."""
        return redact(text, self._redactor)

    def raw(self, text: str) -> None:
        """Write text of the program's own to standard output."""
        self._put(self._out, redact(text, self._redactor))

    def json(self, value: JSON) -> None:
        """Write a JSON value to standard output, in parts that limit the memory of the stream's copy."""
        pieces = chain(output_json_pieces(value, self._redactor), "\n")
        parts = (text[start : start + _PIECE] for text in pieces for start in range(0, len(text), _PIECE))
        self._put_all(self._out, parts)

    def finish(self) -> None:
        """End open lines."""
        self._end_err()
        if rest := self._answer.close():
            self._more(rest)
        if self._half:
            self._half = ""
            self._put(self._out, printable("\r"))
            self._out_open = True
        if self._out_open:
            self._put(self._out, "\n")
            self._out_open = False

    def end(self) -> None:
        """End open lines at the end of a command. Raises OutputError where standard output could not be written."""
        self.finish()
        if self.trouble is not None:
            raise OutputError(self.trouble)

    def _leave_out(self) -> None:
        """End the line of the answer on a shared terminal, before something else is written."""
        if self._out_open and self._one_terminal:
            self._put(self._err, "\n")
            self._out_open = False

    def _end_err(self) -> None:
        self._more_aside(self._reasoning.close())
        if self._err_open:
            self._put(self._err, "\n")
            self._err_open = False

    def _put(self, stream: TextIO, text: str) -> None:
        self._put_all(stream, (text,))

    def _put_all(self, stream: TextIO, texts: Iterable[str]) -> None:
        if stream is self._out and self.trouble is not None:
            return
        try:
            stream.writelines(texts)
            stream.flush()
        except (OSError, ValueError) as error:  # ValueError: it was closed
            if stream is self._out:
                self.trouble = error
                self.lost()


class Printer:
    """Follows a session and writes what is new on its path. `count` is the number of answers of a request."""

    def __init__(self, session: Session, console: Console, count: int) -> None:
        self._session = session
        self._console = console
        self._count = count
        self._shown = {turn.id for turn in session.transcript.path}
        self._place = ("", 0, 0)  # how much was written: the turn, parts that are whole, fragments of the next one
        self._headed: set[str] = set()
        self._headed_apart: set[str] = set()  # on standard error

    def changed(self, change: Change) -> None:
        """Write what a change of the session adds."""
        session = self._session
        match change:
            case TurnGrew(turn_id) if turn_id == session.transcript.head:
                self._grow(turn_id)
            case TurnChanged(turn_id) if turn_id not in self._shown:
                self._shown.add(turn_id)
                self._ended(session.transcript.turns[turn_id])
            case PathChanged():
                self._results()
            case RunStateChanged(RunState.RETRYING):
                run = session.active_run
                if run is not None and run.retry_wait is not None:
                    self._wait(run.retry_wait)
            case _:
                pass

    def _wait(self, pause: RetryWait) -> None:
        """Write the failure and when the next try begins."""
        self._place = ("", 0, 0)
        self._console.say(failure_words(pause.failure, advise(pause.failure)))
        self._console.say(
            f"Trying again in {span(round(pause.remaining, 1))} (try {pause.attempt + 1} of {pause.most})."
        )

    def _grow(self, turn_id: str) -> None:
        """Write the new fragments of a growing answer. Only its last part grows."""
        choice = self._session.growing.get(turn_id)
        if choice is None:
            return
        last_turn, index, written = self._place
        if last_turn != turn_id:
            index = written = 0
        while index < len(choice.parts):
            part = choice.parts[index]
            if len(part.fragments) > written and part.kind in _OUT | _ERR:
                is_next = not written and index > 0 and part.kind in _ERR and choice.parts[index - 1].kind in _ERR
                self._write(turn_id, 0, part.kind, PARAGRAPH * is_next + "".join(part.fragments[written:]))
            written = len(part.fragments)
            if index + 1 == len(choice.parts):
                break
            index, written = index + 1, 0
        self._place = (turn_id, index, written)

    def _ended(self, turn: Turn) -> None:
        """Write the rest of an answer that has ended; all of it for choices that were not streamed."""
        choice = turn.outcome.choice if turn.outcome is not None else 0
        if choice:
            self._head(turn.id, choice)
            last_kind = ""
            for part in turn.parts:
                if part.kind == "text" or part.kind == "refusal" or part.kind == "reasoning":
                    is_next = part.kind in _ERR and last_kind in _ERR
                    self._write(turn.id, choice, part.kind, PARAGRAPH * is_next + part.text)
                last_kind = part.kind
        for part in turn.parts:
            self._rest(part)

    def _rest(self, part: Part) -> None:
        if part.kind == "tool_call":
            self._console.line(f"→ {part.name}({part.arguments})  [{part.id}]")
        elif part.kind == "unknown" and (item := hosted_item(part)) is not None:
            subject = f" — {item.subject}" if item.subject else ""
            self._console.say(f"The gateway ran a tool itself: {item.title}{subject}")
        elif part.kind == "unknown":
            text = json.dumps(part.value, ensure_ascii=False)
            more = "… (all of it with --json)" if len(text) > _LONGEST else ""
            self._console.say(f"The answer holds a part of an unknown kind: {text[:_LONGEST]}{more}")

    def _write(self, turn_id: str, choice: int, kind: str, text: str) -> None:
        self._head(turn_id, choice)
        if kind not in _ERR:
            self._console.text(text)
            return
        if turn_id in self._headed and turn_id not in self._headed_apart and not self._console.one_terminal:
            self._headed_apart.add(turn_id)
            self._console.aside(f"{self._heading(choice)}\n")
        self._console.aside(text)

    def _head(self, turn_id: str, choice: int) -> None:
        """Write a heading over an answer, where there are several."""
        if turn_id not in self._headed and (self._count > 1 or choice):
            self._headed.add(turn_id)
            self._console.line(self._heading(choice))

    def _heading(self, choice: int) -> str:
        return f"── choice {choice + 1}{f' of {self._count}' if self._count > choice else ''} ──"

    def _results(self) -> None:
        for turn in self._session.transcript.path:
            if turn.role is Role.TOOL and turn.id not in self._shown:
                self._shown.add(turn.id)
                for result in turn.results:
                    self._console.line(f"← {result.text}  [{result.call_id}]")


def failure_words(failure: Failure, advice: Advice) -> str:
    """Return the failure in our words, followed by the gateway's own."""
    title, message = headline(failure, advice, " ({})"), own_words(failure, advice)
    return f"{title}: {message}" if message else f"{title}."


def printable(text: str) -> str:
    """Return text that is safe for a terminal: no escape sequences, carriage returns or lone surrogates."""
    return _UNPRINTABLE.sub("\ufffd", text).encode("utf-8", "replace").decode("utf-8")
