"""How a headless run ended: in words on standard error, and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.domain.debugging import ReasonCode, held_back
from playground.domain.durations import span
from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import ToolCall
from playground.domain.transcript import Turn
from playground.engine.advice import advise
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.json_output import brought, is_whole
from playground.engine.headless.show import Console, failure_words

if TYPE_CHECKING:
    from playground.engine.headless.options import RunOptions
    from playground.engine.session.session import Session


def ended(session: Session, options: RunOptions, refused: str, asked: int, console: Console) -> ExitCode:
    """Say how it ended. ``refused`` is why nothing could be sent; empty when something was. ``asked`` is the number of
    answers that a request asked for.
    """
    turns = brought(session)
    outcome = turns[0].outcome if turns else None
    if options.loops:
        for words in session.debugger.warnings.values():
            console.say(words)
    _say_deviations(session, console, only_holes=options.as_json)
    if outcome is not None and outcome.failure is not None:
        exchange = session.exchanges.get(outcome.exchange or "")
        answered = exchange is not None and exchange.status is not None
        return _failed(outcome.failure, console, answered=answered, arrived=bool(turns[0].parts))
    if 0 < len(turns) < asked:
        console.say(f"The gateway sent {len(turns)} of the {asked} answers asked for.")
    if not all(map(is_whole, turns)):
        return ExitCode.INCOMPLETE
    if options.loops:
        calls = [(session.transcript.turns[turn_id], call) for turn_id, call in session.debugger.waiting]
    else:
        calls = [(turn, call) for turn in turns for call in turn.calls]
    if broken := [words for turn, call in calls if (words := _broken(turn, call))]:
        console.say(broken[0])
        return ExitCode.INCOMPLETE
    return _at_calls(session, refused, console) if options.loops else ExitCode.OK


def _broken(turn: Turn, call: ToolCall) -> str:
    """Why a call cannot be taken for the one the model made; empty when it can."""
    reason = held_back(turn, call)
    if reason is None:
        return ""
    if reason.code is ReasonCode.MALFORMED:
        return reason.words
    return f"The answer broke off at its call of {call.name} ({call.id}), which is not answered."


def _say_deviations(session: Session, console: Console, *, only_holes: bool) -> None:
    """Where the answers leave the specification, each thing once; what could not be read first."""
    outcomes = [turn.outcome for turn in session.transcript.turns.values() if turn.outcome is not None]
    said: dict[str, bool] = {}
    for outcome in outcomes:
        if outcome.exchange in session.exchanges:
            known = outcome.failure.kind.value if outcome.failure is not None else ""
            said |= {note: code in outcome.holes for code, note in outcome.deviations if code != known}
    for note in [note for note, hole in said.items() if hole]:
        console.say(f"Part of the answer could not be read: {note}")
    for note in [note for note, hole in said.items() if not hole and not only_holes]:
        console.say(f"Not as the protocol says: {note}")


def _at_calls(session: Session, refused: str, console: Console) -> ExitCode:
    """The loop ended without a failure: at a call that waits, or because nothing is left to do."""
    debugger = session.debugger
    waiting = debugger.waiting
    if not waiting:
        if refused:
            console.say(refused)
        return ExitCode.BAD_INPUT if refused else ExitCode.OK
    names = ", ".join(f"{call.name}({call.arguments})" for _, call in waiting)
    reason = debugger.reason(waiting[0][0], waiting[0][1].id)
    if reason is not None and reason.code is ReasonCode.LIMIT:
        console.say(f"{reason.words} Still open: {names}")
        return ExitCode.STEP_LIMIT
    console.say(f"No answer for {names}. Add a row to the table.")
    return ExitCode.WAITING


def _failed(failure: Failure, console: Console, *, answered: bool, arrived: bool) -> ExitCode:
    """Say what went wrong and what to do. ``answered`` says that the gateway's answer had begun, ``arrived`` that some
    of it came.
    """
    advice = advise(failure, arrived=arrived)
    wait = f" The gateway asks to wait {span(failure.retry_after)}." if failure.retry_after is not None else ""
    console.say(f"{failure_words(failure, advice)}\n{advice.command}{wait}")
    if failure.kind in (FailureKind.INPUT, FailureKind.NO_KEY, FailureKind.CONSENT):
        return ExitCode.BAD_INPUT
    if failure.kind is FailureKind.INTERNAL:
        return ExitCode.FAILED
    if failure.kind in (FailureKind.HTTP, FailureKind.REDIRECT):
        return ExitCode.HTTP
    return ExitCode.INCOMPLETE if answered else ExitCode.TRANSPORT
