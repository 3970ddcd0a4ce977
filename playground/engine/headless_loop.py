"""Runs the whole loop of a file without a window: calls are answered from a table until an answer without calls.

Text, calls and results go to one stream as they come, reasoning to another; or the transcript as JSON at the end. A
call without an answer ends it, because nobody is there to be asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from playground.domain.debugging import NOT_WHOLE, Debugging, Policy, ReasonCode, ToolRule
from playground.domain.transcript import Role, Turn
from playground.domain.values import JSONObject
from playground.engine.answer_table import read_answers
from playground.engine.changes import Change, PathChanged, TurnChanged, TurnGrew
from playground.engine.headless import BadInputError, ExitCode, printable, read_run_file, report
from playground.engine.run import RunRefusedError
from playground.engine.session import Session
from playground.engine.spreadsheet import json_text

if TYPE_CHECKING:
    from pydantic import SecretStr

    from playground.gateway.client import GatewayClient


async def run_loop(
    path: Path,
    base_url: str,
    key: SecretStr | None,
    answers: Path | None = None,
    max_steps: int | None = None,
    *,
    as_json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Run the loop of the file at ``path`` against ``base_url``. Returns an exit code; writes no key anywhere.

    ``answers`` is a table (see ``playground.engine.answer_table``), ``max_steps`` the requests at most.
    """
    from playground.gateway.client import GatewayClient
    from playground.gateway.connection import Connection

    try:
        request = read_run_file(path)
        rules = _rules(answers, max_steps)
        connection = Connection(base_url=base_url, key=key)
    except (BadInputError, ValueError) as error:
        print(f"playground: {error}", file=err)
        return ExitCode.BAD_INPUT
    async with GatewayClient(connection) as client:

        async def connect(_profile_id: str) -> GatewayClient:
            return client

        session = Session(connect, profile_id="", model=request.model)
        session.load(request)
        session.debugger.set_debugging(rules)
        printer = _Printer(session, out, err)
        if not as_json:
            session.subscribe(printer.changed)
        refused = ""
        try:
            await session.debugger.run_to_end()
        except RunRefusedError as error:
            refused = str(error)
        if as_json:
            out.write(json_text(_transcript(session)))
        else:
            printer.finish()
        out.flush()
        return _ended(session, refused, err)


def _rules(answers: Path | None, max_steps: int | None) -> Debugging:
    """The table's rules with the limit given. Raises BadInputError."""
    rules = Debugging(default=ToolRule(policy=Policy.TABLE))
    if answers is not None:
        try:
            rules = read_answers(answers.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise BadInputError(f"{answers} cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise BadInputError(f"{answers} is not UTF-8 text") from None
        except ValueError as error:
            raise BadInputError(f"{answers}: {error}") from None
    return rules if max_steps is None else rules.model_copy(update={"step_limit": max_steps})


def _ended(session: Session, refused: str, err: TextIO) -> ExitCode:
    """Say how it ended."""
    for words in session.debugger.warnings.values():
        print(f"playground: {printable(words)}", file=err)
    last = session.transcript.path[-1] if session.transcript.path else None
    if last is not None and last.outcome is not None and last.outcome.failure is not None:
        return report(last.outcome.failure, not last.parts, err)
    waiting = session.debugger.waiting
    if not waiting:
        if refused:
            print(f"playground: {refused}", file=err)
        return ExitCode.BAD_INPUT if refused else ExitCode.OK
    names = ", ".join(f"{call.name}({call.arguments})" for _, call in waiting)
    reasons = [reason for key, call in waiting if (reason := session.debugger.reason(key, call.id))]
    reason = next((one for one in reasons if one.code in NOT_WHOLE), next(iter(reasons), None))
    if reason is not None and reason.code in NOT_WHOLE:
        print(f"playground: {reason.words}", file=err)
        return ExitCode.INCOMPLETE
    if reason is not None and reason.code is ReasonCode.LIMIT:
        print(f"playground: {reason.words} Still open: {printable(names)}", file=err)
        return ExitCode.STEP_LIMIT
    print(f"playground: No answer for {printable(names)}. Add a row to the table.", file=err)
    return ExitCode.WAITING


def _transcript(session: Session) -> JSONObject:
    debugger = session.debugger
    return {
        "requests": debugger.requests,
        "turns": [_turn(turn) for turn in session.transcript.path],
        "waiting": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "reason": reason.code.value if (reason := debugger.reason(turn_id, call.id)) else "no_row",
            }
            for turn_id, call in debugger.waiting
        ],
        "warnings": list(debugger.warnings.values()),
    }


def _turn(turn: Turn) -> JSONObject:
    """One turn: the fields of a message (specification, section 2.1), and what is known about it besides."""
    if turn.role is Role.TOOL and turn.results:
        result = turn.results[0]
        return {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": result.text,
            "is_error": result.is_error,
            "answered_by": result.by,
        }
    out: JSONObject = {"role": turn.role.value, "content": turn.text}
    if turn.reasoning:
        out["reasoning"] = turn.reasoning
    if turn.refusal:
        out["refusal"] = turn.refusal
    if turn.calls:
        out["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls]
    outcome = turn.outcome
    if outcome is not None:
        out |= {
            "model": outcome.model,
            "id": outcome.response_id,
            "finish_reason": outcome.finish_reason,
            "usage": outcome.usage.raw if outcome.usage else None,
            "complete": not turn.truncated,
            "seconds": outcome.timing.end if outcome.timing else None,
            "error": outcome.failure.model_dump(mode="json", exclude_none=True) if outcome.failure else None,
            "deviations": [{"code": code, "note": note} for code, note in outcome.deviations],
        }
    return out


class _Printer:
    """Writes what is new of the turns on the path, as it comes."""

    def __init__(self, session: Session, out: TextIO, err: TextIO) -> None:
        self._session = session
        self._streams = {"text": out, "refusal": out, "reasoning": err}
        self._out = out
        self._open_line = False
        self._shown = {turn.id for turn in session.transcript.path}
        self._written: dict[tuple[str, int], int] = {}

    def changed(self, change: Change) -> None:
        """Follow the session."""
        session = self._session
        match change:
            case TurnGrew(turn_id) if turn_id == session.transcript.head:
                self._grow(turn_id)
            case TurnChanged(turn_id) if turn_id == session.transcript.head:
                calls = session.transcript.turns[turn_id].calls
                self._line("".join(f"→ {call.name}({call.arguments})  [{call.id}]\n" for call in calls))
            case PathChanged():
                self._results()
            case _:
                pass

    def _grow(self, turn_id: str) -> None:
        choice = self._session.growing.get(turn_id)
        for at, part in enumerate(choice.parts if choice is not None else []):
            stream = self._streams.get(part.kind)
            if stream is not None:
                written = self._written.get((turn_id, at), 0)
                text = printable("".join(part.fragments[written:]))
                stream.write(text)
                stream.flush()
                if stream is self._out and text:
                    self._open_line = not text.endswith("\n")
                self._written[turn_id, at] = len(part.fragments)

    def _results(self) -> None:
        for turn in self._session.transcript.path:
            if turn.role is Role.TOOL and turn.id not in self._shown:
                self._shown.add(turn.id)
                self._line("".join(f"← {result.text}  [{result.call_id}]\n" for result in turn.results))

    def _line(self, text: str) -> None:
        if text:
            self.finish()
            self._out.write(printable(text))
            self._out.flush()

    def finish(self) -> None:
        """End the line that stands open."""
        if self._open_line:
            self._out.write("\n")
            self._open_line = False
