"""`playground run`: one request from a file, or the whole loop of its tool calls, on the window's engine.

Text, calls and results go to standard output as they arrive, everything else to standard error; or JSON at the end.
Whatever ends the run, what was received is shown and recorded. No key is written.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pydantic.fields import FieldInfo

from playground.domain.debugging import Debugging, ReasonCode, held_back
from playground.domain.durations import span
from playground.domain.encoding import encode
from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import ToolCall
from playground.domain.request import ReasoningReturn
from playground.domain.transcript import Turn
from playground.engine.advice import advise
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.files.answer_table import LARGEST_TABLE, read_answers
from playground.engine.gateways.redaction import redactor_of
from playground.engine.headless.command import (
    Command,
    check_output,
    other_gateway_notes,
    restore_experiment,
    run_command,
    write_cassette,
)
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.json_output import answer_json, is_complete, received_answers, transcript_json
from playground.engine.headless.show import Console, Printer, failure_words
from playground.engine.headless.tool_servers import CommandServers, ServerOptions
from playground.engine.inspect.endings import ending_details, ending_note
from playground.engine.requests.protocol_info import renamed_call_ids
from playground.engine.requests.request_file import BadInputError, read_text, read_value, request_and_notes
from playground.engine.session.experiment import title_of
from playground.engine.session.run import Mode
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol


@dataclass(frozen=True)
class RunOptions(ServerOptions):
    """Options of the command line; None is the default of a new gateway in the window.

    `variant` is the name or letter of a variant of the experiment, `all_variants` runs all of them at once.
    `reasoning` overrides the file. `answers` is an answer table, `max_steps` the most requests of the loop; `record` is
    the cassette to write.
    """

    reasoning: ReasoningReturn | None = None
    answers: Path | None = None
    max_steps: int | None = None
    record: Path | None = None
    as_json: bool = False
    variant: str | None = None
    all_variants: bool = False

    @property
    def loops(self) -> bool:
        """True where calls are answered."""
        return self.answers is not None or self.max_steps is not None or self.serves


async def run_file(path: Path, options: RunOptions, out: TextIO, err: TextIO) -> ExitCode:
    """Run the file at `path` (``-`` for standard input). Raises OutputError where `out` fails.

    An interrupt shows and records what was received.
    """
    return await run_command(options, out, err, lambda command: _run(command, path, options))


async def _run(command: Command, path: Path, options: RunOptions) -> ExitCode:
    console = command.console
    check_output(options.record, path, options.answers)
    command.read_servers()
    lanes, notes = _open(path, command, options)
    session = lanes[0]
    session.change(debugging=_rules(options, session.settings.debugging))
    await command.start_servers(lanes)
    command.say_all(notes)
    if options.reasoning is not None:
        for lane in lanes:
            lane.change(reasoning_return=options.reasoning)
    session.exchanges.limit = sys.maxsize if options.record is not None else 0  # only a recording needs the bodies
    console.lost = session.experiment.stop
    counts = [get_protocol(lane.settings.protocol).choices(lane.next_request.body()) for lane in lanes]
    if not options.as_json:
        session.subscribe(Printer(session, console, counts[0]).changed)
    refusals = [""] * len(lanes)

    async def run_lanes() -> None:
        mode = Mode.END if options.loops else Mode.ONCE
        results = await asyncio.gather(*(lane.complete(mode) for lane in lanes))
        refusals[:] = [result.refusal for result in results]

    is_written = True
    try:
        await command.interruptible(run_lanes())
    finally:
        is_written = _record(session, options.record, console)
    if options.as_json:
        outputs = [transcript_json(lane) if options.loops else answer_json(received_answers(lane)) for lane in lanes]
        console.json({"variants": list(map(_variant_json, lanes, outputs))} if options.all_variants else outputs[0])

    def exit_code() -> ExitCode:
        codes = []
        for lane, refusal, count in zip(lanes, refusals, counts, strict=True):
            console.about = Lanes(lane).title(lane) if options.all_variants else ""
            codes.append(_exit_code(lane, options, refusal, count, command))
        return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)

    return command.end(exit_code, "Interrupted.", is_written=is_written)


def _variant_json(lane: Session, output: JSONObject) -> JSONObject:
    """Return a lane's output with its variant's letter, name and differences."""
    lanes = Lanes(lane)

    def is_included(name: str, info: FieldInfo, item: Any) -> bool:
        return name == "name" or (name != "id" and bool(item != info.get_default(call_default_factory=True)))

    return {"letter": lanes.letter(lane), **encode(lanes.variant(lane) or Variant(), is_included), **output}


def _rules(options: RunOptions, file_rules: Debugging) -> Debugging:
    """Return the rules of the answer table, else the file's, with the limit of --max-steps. Raises BadInputError."""
    path = options.answers
    rules = read_text(path, LARGEST_TABLE, read_answers) if path is not None else file_rules
    return rules if options.max_steps is None else rules.model_copy(update={"step_limit": options.max_steps})


def _record(session: Session, path: Path | None, console: Console) -> bool:
    """Write the cassette, if one was asked for. Return False where that failed."""
    title = title_of(session.transcript, session.settings.title, redactor_of(console.secrets).front)
    return write_cassette(path, tuple(session.exchanges.values()), title, console)


# ---- the file --------------------------------------------------------------------------------------------------------


def _open(path: Path, command: Command, options: RunOptions) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """Return the selected lanes of the file at `path`, and notes on what cannot be sent. Raises BadInputError."""
    value = read_value(path, pipes=True)
    profile = command.gateway.profile
    notes: tuple[str, ...] = ()
    is_experiment = isinstance(value, dict) and "experiment" in value
    session = command.session(literal=not is_experiment)
    if is_experiment:
        lanes = _load_experiment(session, value, options, profile.default_model)
    else:
        request, notes = request_and_notes(value, profile.default_model)
        session.load(request)
        lanes = _selected(session, options)
    renamed: dict[str, None] = {}
    for lane in lanes:
        request = lane.next_request.build()
        try:
            get_protocol(request.protocol).check(request)
        except ValueError as error:
            raise BadInputError(str(error)) from None
        if words := renamed_call_ids(request.protocol, request.turns):
            renamed[f"{words[0].upper()}{words[1:]}."] = None
    variants = [(Lanes(lane).title(lane), Lanes(lane).variant(lane)) for lane in lanes]
    return lanes, (*notes, *renamed, *other_gateway_notes(variants, profile.name))


def _selected(session: Session, options: RunOptions) -> tuple[Session, ...]:
    """Return the lanes that the options name, by default the conversation. Raises BadInputError."""
    lanes = Lanes(session)
    if options.all_variants:
        return lanes.all
    try:
        return (lanes.find(options.variant) if options.variant is not None else session,)
    except LanesError as error:
        raise BadInputError(str(error)) from None


def _load_experiment(session: Session, value: JSON, options: RunOptions, default_model: str) -> tuple[Session, ...]:
    """Load a saved experiment, its draft as the last message of the selected lanes, and return those.

    `default_model` is used where the experiment names none. Raises BadInputError.
    """
    from playground.engine.session.drafts import turn_of_draft
    from playground.engine.session.edits import answers_none, without_call
    from playground.engine.session.next_request import without_value

    restore_experiment(value, session)
    lanes = _selected(session, options)
    try:
        turn = turn_of_draft(session.draft, session.transcript)
    except ValueError as error:
        raise BadInputError(f"the message being written: {error}") from None
    if turn is not None and not answers_none(turn):
        Lanes(session).write(turn, lanes)
    for lane in lanes:
        if not lane.settings.model and not default_model:
            raise BadInputError("the experiment names no model")
        if not lane.settings.model:
            lane.change(model=default_model)
        if missing := lane.next_request.unresolved():
            raise BadInputError(without_value(missing))
        if reason := without_call(lane.transcript.path):
            raise BadInputError(reason)
    return lanes


# ---- the end ---------------------------------------------------------------------------------------------------------


def _exit_code(session: Session, options: RunOptions, refusal: str, count: int, command: Command) -> ExitCode:
    """Print how a lane ended, and return the exit code.

    `refusal` is why nothing could be sent, empty where something was; `count` is the number of answers of a request.
    """
    console, turns = command.console, received_answers(session)
    outcome = turns[0].outcome if turns else None
    if options.loops:
        for words in session.debugger.warnings.values():
            console.say(words)
    _say_deviations(session, console, only_holes=options.as_json)
    if outcome is not None and outcome.failure is not None:
        exchange = session.exchanges.get(outcome.exchange or "")
        if details := ending_details(turns[0]):
            console.say(details)
        has_status = exchange is not None and exchange.status is not None
        return _failed(outcome.failure, console, has_status=has_status, has_content=bool(turns[0].parts))
    if 0 < len(turns) < count:
        console.say(f"The gateway sent {len(turns)} of the {count} answers asked for.")
    if not _say_endings(turns, console) or not all(map(is_complete, turns)):
        return ExitCode.INCOMPLETE
    if session.debugger.answer_paused:
        advice = "Raise --max-steps to continue it." if options.loops else "Run it with --max-steps 20 to continue it."
        console.say(f"{session.debugger.pause_words} {advice}")
        return ExitCode.STEP_LIMIT if options.loops else ExitCode.INCOMPLETE
    if options.loops:
        calls = [(session.transcript.turns[turn_id], call) for turn_id, call in session.debugger.waiting]
    else:
        calls = [(turn, call) for turn in turns for call in turn.calls]
    if broken := [words for turn, call in calls if (words := _broken(turn, call))]:
        console.say(broken[0])
        return ExitCode.INCOMPLETE
    if options.loops:
        return _at_calls(session, refusal, console, command.servers)
    if calls and not options.as_json:
        noun = f"{len(calls)} tool call{'s' * (len(calls) != 1)}"
        console.say(f"The model asks for {noun}. Answer them with --answers TABLE or --mcp CONFIG to continue.")
    return ExitCode.OK


def _say_endings(turns: tuple[Turn, ...], console: Console) -> bool:
    """Print the endings of answers that did not end plainly. Return False where no answer is usable."""
    notes = [ending_note(turn) for turn in turns]
    for number, note in enumerate(notes, 1):
        if note is not None:
            console.say(f"Choice {number}: {note.words}" if len(notes) > 1 else note.words)
    return not notes or any(note is None or note.usable for note in notes)


def _broken(turn: Turn, call: ToolCall) -> str:
    """Return why a call cannot be answered as the model made it, empty where it can."""
    reason = held_back(turn, call)
    if reason is None:
        return ""
    if reason.code is ReasonCode.MALFORMED:
        return reason.words
    return f"The answer broke off at its call of {call.name} ({call.id}), which is not answered."


def _say_deviations(session: Session, console: Console, *, only_holes: bool) -> None:
    """Print each deviation of the answers from the protocol once, unreadable parts first."""
    exchanges = {turn.outcome.exchange for turn in session.transcript.path if turn.outcome is not None}
    is_hole: dict[str, bool] = {}
    for turn in session.transcript.turns.values():
        outcome = turn.outcome
        if outcome is not None and outcome.exchange in session.exchanges and outcome.exchange in exchanges:
            failure = outcome.failure.kind.value if outcome.failure is not None else ""
            is_hole |= {note: code in outcome.holes for code, note in outcome.deviations if code != failure}
    for note in [note for note, hole in is_hole.items() if hole]:
        console.say(f"Part of the answer could not be read: {note}")
    for note in [note for note, hole in is_hole.items() if not hole and not only_holes]:
        console.say(f"Not as the protocol says: {note}")


def _at_calls(session: Session, refusal: str, console: Console, servers: CommandServers | None) -> ExitCode:
    """Print why the loop ended without a failure: at a call that waits, or because nothing is left to do."""
    debugger = session.debugger
    waiting = debugger.waiting
    if not waiting:
        if refusal:
            console.say(refusal)
        return ExitCode.BAD_INPUT if refusal else ExitCode.OK
    names = ", ".join(f"{call.name}({call.arguments})" for _, call in waiting)
    reason = debugger.reason(waiting[0][0], waiting[0][1].id)
    if reason is not None and reason.code is ReasonCode.LIMIT:
        console.say(f"{reason.words} Still open: {names}")
        return ExitCode.STEP_LIMIT
    tool = debugger.pending_calls.tool(waiting[0][1])
    if tool is None or not tool.server:
        console.say(f"No answer for {names}. Add a row to the table.")
    elif servers is None:
        console.say(f"No answer for {names}. Add a row to the table, or name the server with --mcp.")
    elif words := servers.not_allowed(tool):
        console.say(f"{words} Still open: {names}")
    else:
        console.say(f"{reason.words if reason is not None else 'No server answered.'} Still open: {names}")
    return ExitCode.WAITING


def _failed(failure: Failure, console: Console, *, has_status: bool, has_content: bool) -> ExitCode:
    """Print the failure and the advice. `has_status`: a response began; `has_content`: some content arrived."""
    advice = advise(failure, arrived=has_content)
    wait = f" The gateway requests a wait of {span(failure.retry_after)}." if failure.retry_after is not None else ""
    console.say(f"{failure_words(failure, advice)}\n{advice.command}{wait}")
    if failure.kind in (FailureKind.INPUT, FailureKind.NO_KEY, FailureKind.CONSENT):
        return ExitCode.BAD_INPUT
    if failure.kind is FailureKind.INTERNAL:
        return ExitCode.FAILED
    if failure.kind in (FailureKind.HTTP, FailureKind.REDIRECT):
        return ExitCode.HTTP
    return ExitCode.INCOMPLETE if has_status else ExitCode.TRANSPORT
