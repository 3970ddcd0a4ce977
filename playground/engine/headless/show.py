"""What a headless run shows as it goes: text, calls and results on one stream, everything else on another.

Both may be the same terminal, so a line begun on one is ended before the other goes on. What a model wrote is hostile
to a terminal and is made plain. No secret of this process is written to either. Nothing here raises for a stream that
cannot be written.
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
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.redacted_output import output_json_pieces, redact
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


class OutputError(Exception):
    """Standard output cannot be written. ``reader_left`` says that nobody reads it any more, as after ``head``."""

    def __init__(self, error: Exception) -> None:
        self.reader_left = isinstance(error, BrokenPipeError)
        reason = error.strerror if isinstance(error, OSError) else ""
        super().__init__(f"standard output cannot be written: {reason or error}")


class Console:
    """Standard output and standard error.

    ``trouble`` is why standard output cannot be written any more; ``lost`` is called when that is found out.
    ``about`` is what the program's own lines are about, where that is one thing of several.
    """

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.trouble: Exception | None = None
        self.lost: Callable[[], None] = _nothing
        self.about = ""
        self._out, self._err = out, err
        self._one_terminal = out.isatty() and err.isatty()
        self._out_open = self._err_open = False  # whether a line was begun there
        self._half = ""  # of the end of a line
        self._secrets: tuple[Secret, ...] = ()
        self._know(())

    def hide(self, secrets: Iterable[Secret]) -> None:
        """Keep these secrets, besides those given before, out of both streams from now on."""
        if more := [secret for secret in secrets if secret not in self._secrets]:
            self.finish()
            self._know(dict.fromkeys((*self._secrets, *more)))

    def _know(self, secrets: Iterable[Secret]) -> None:
        self._secrets = tuple(secrets)
        self._redactor = redactor_of(self._secrets)
        self._answer, self._reasoning = TextRedactor(self._redactor), TextRedactor(self._redactor)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that are known: whatever the command writes is without them."""
        return self._secrets

    @property
    def one_terminal(self) -> bool:
        """Whether both streams are read in one place."""
        return self._one_terminal

    def text(self, text: str) -> None:
        """More of the answer, as far as a terminal can be given it."""
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
        """A line of its own on standard output."""
        self.finish()
        self._more(f"{redact(text, self._redactor)}\n")

    def aside(self, text: str) -> None:
        """More of what stands beside the answer, on standard error."""
        self._more_aside(self._reasoning.add(text))

    def _more_aside(self, text: str) -> None:
        if text:
            self._leave_out()
            self._put(self._err, printable(text))
            self._err_open = not text.endswith("\n")

    def say(self, words: str) -> None:
        """A line of the program's own on standard error."""
        self._leave_out()
        self._end_err()
        about = f"{self.about}: " if self.about else ""
        self._put(self._err, printable(redact(f"playground: {about}{words}\n", self._redactor)))

    def clean(self, text: str) -> str:
        """Return a text without the secrets, before it is laid out."""
        return redact(text, self._redactor)

    def raw(self, text: str) -> None:
        """Text of the program's own on standard output, on no line of its own."""
        self._put(self._out, redact(text, self._redactor))

    def json(self, value: JSON) -> None:
        """A JSON value on standard output, written in small parts: a stream copies what is written at once."""
        pieces = chain(output_json_pieces(value, self._redactor), "\n")
        cut = (text[at : at + _PIECE] for text in pieces for at in range(0, len(text), _PIECE))
        self._put_all(self._out, cut)

    def finish(self) -> None:
        """End the lines that stand open."""
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

    def _leave_out(self) -> None:
        """On a terminal, what comes next must not go on the line of the answer; in a file, that line is not ours."""
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
    """Follows a session and writes what is new on its path. ``asked`` is the number of answers asked for at once."""

    def __init__(self, session: Session, console: Console, asked: int) -> None:
        self._session = session
        self._console = console
        self._asked = asked
        self._shown = {turn.id for turn in session.transcript.path}
        self._place = ("", 0, 0)  # how much was written: the turn, parts that are whole, fragments of the next one
        self._headed: set[str] = set()
        self._headed_apart: set[str] = set()  # on standard error

    def changed(self, change: Change) -> None:
        """Follow the session."""
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
        """What failed, and when the next try begins."""
        self._place = ("", 0, 0)
        self._console.say(failure_words(pause.failure, advise(pause.failure)))
        self._console.say(
            f"Trying again in {span(round(pause.remaining, 1))} (try {pause.attempt + 1} of {pause.most})."
        )

    def _grow(self, turn_id: str) -> None:
        """Only the last part of an answer grows; those before it are not looked at again."""
        choice = self._session.growing.get(turn_id)
        if choice is None:
            return
        known, at, written = self._place
        if known != turn_id:
            at = written = 0
        while at < len(choice.parts):
            part = choice.parts[at]
            if len(part.fragments) > written and part.kind in _OUT | _ERR:
                self._write(turn_id, 0, part.kind, "".join(part.fragments[written:]))
            written = len(part.fragments)
            if at + 1 == len(choice.parts):
                break
            at, written = at + 1, 0
        self._place = (turn_id, at, written)

    def _ended(self, turn: Turn) -> None:
        """The rest of an answer that is whole now, or has failed; all of one that was not shown as it came."""
        choice = turn.outcome.choice if turn.outcome is not None else 0
        if choice:
            self._head(turn.id, choice)
            for part in turn.parts:
                if part.kind == "text" or part.kind == "refusal" or part.kind == "reasoning":
                    self._write(turn.id, choice, part.kind, part.text)
        for part in turn.parts:
            self._rest(part)

    def _rest(self, part: Part) -> None:
        if part.kind == "tool_call":
            self._console.line(f"→ {part.name}({part.arguments})  [{part.id}]")
        elif part.kind == "unknown":
            text = json.dumps(part.value, ensure_ascii=False)
            more = "… (all of it with --json)" if len(text) > _LONGEST else ""
            self._console.say(f"The answer holds a part of a kind that is not known here: {text[:_LONGEST]}{more}")

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
        """A heading over an answer, where there are several; over its reasoning, too, where that is read elsewhere."""
        if turn_id not in self._headed and (self._asked > 1 or choice):
            self._headed.add(turn_id)
            self._console.line(self._heading(choice))

    def _heading(self, choice: int) -> str:
        return f"── choice {choice + 1}{f' of {self._asked}' if self._asked > choice else ''} ──"

    def _results(self) -> None:
        for turn in self._session.transcript.path:
            if turn.role is Role.TOOL and turn.id not in self._shown:
                self._shown.add(turn.id)
                for result in turn.results:
                    self._console.line(f"← {result.text}  [{result.call_id}]")


def failure_words(failure: Failure, advice: Advice) -> str:
    """What went wrong, in our words and then in the gateway's own."""
    title, said = headline(failure, advice, " ({})"), own_words(failure, advice)
    return f"{title}: {said}" if said else f"{title}."


def printable(text: str) -> str:
    """Text a terminal can be given: no escape sequences, no way back to the start of a line, no lone surrogates."""
    return _UNPRINTABLE.sub("\ufffd", text).encode("utf-8", "replace").decode("utf-8")


def _nothing() -> None:
    pass
