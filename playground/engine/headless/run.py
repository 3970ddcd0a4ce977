"""Runs a file without a window, over the same engine as the window: one request, or the whole loop of its tool calls.

Text, calls and results go to one stream as they come, everything else to another; or JSON at the end. Without answers
and a limit of steps one request goes out, as it stands; with either, calls are answered until an answer without calls.
Whatever ends it, what came is shown and recorded. No key is written anywhere.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pydantic.fields import FieldInfo

from playground.domain.debugging import Debugging, ReasonCode, held_back
from playground.domain.durations import span
from playground.domain.encoding import encode
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.parts import ToolCall
from playground.domain.request import ReasoningReturn
from playground.domain.transcript import Turn
from playground.engine.advice import advise
from playground.engine.cassettes import cassette
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.files.answer_table import LARGEST_TABLE, read_answers
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.gateway import Gateway, gateway_of
from playground.engine.headless.json_output import answer, brought, is_whole, transcript
from playground.engine.headless.show import Console, OutputError, Printer, failure_words
from playground.engine.headless.tool_servers import CommandServers, ServerOptions, ServersError
from playground.engine.inspect.endings import ending_details, ending_note
from playground.engine.requests import renamed_ids
from playground.engine.requests.request_file import BadInputError, read_text, read_value, request_and_notes
from playground.engine.session.run import Mode
from playground.engine.session.titles import title_of
from playground.engine.session.variants import Variant
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session


@dataclass(frozen=True)
class RunOptions(ServerOptions):
    """What the command line says besides the file; what is None is as a new gateway in the window has it.

    ``variant`` is the name or letter of a variant of the experiment, ``all_variants`` runs all of them at once.
    ``reasoning`` overrides what the file says. ``answers`` is a table (``playground.engine.files.answer_table``),
    ``max_steps`` the requests at most; ``record`` is where a cassette is written.
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
        """Whether calls are answered."""
        return self.answers is not None or self.max_steps is not None or self.serves


def ended(
    session: Session,
    options: RunOptions,
    refused: str,
    asked: int,
    console: Console,
    servers: CommandServers | None = None,
) -> ExitCode:
    """Say how it ended. ``refused`` is why nothing could be sent; empty when something was. ``asked`` is the number of
    answers that a request asked for, ``servers`` those that could be asked.
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
        if details := ending_details(turns[0]):
            console.say(details)
        return _failed(outcome.failure, console, answered=answered, arrived=bool(turns[0].parts))
    if 0 < len(turns) < asked:
        console.say(f"The gateway sent {len(turns)} of the {asked} answers asked for.")
    usable = _say_endings(turns, console)
    if not usable or not all(map(is_whole, turns)):
        return ExitCode.INCOMPLETE
    if session.debugger.answer_paused:
        return _paused(session, options, console)
    if options.loops:
        calls = [(session.transcript.turns[turn_id], call) for turn_id, call in session.debugger.waiting]
    else:
        calls = [(turn, call) for turn in turns for call in turn.calls]
    if broken := [words for turn, call in calls if (words := _broken(turn, call))]:
        console.say(broken[0])
        return ExitCode.INCOMPLETE
    if options.loops:
        return _at_calls(session, refused, console, servers)
    if calls and not options.as_json:
        count = f"{len(calls)} tool call{'s' * (len(calls) != 1)}"
        console.say(f"The model asks for {count}. Answer them with --answers TABLE or --mcp CONFIG, and it goes on.")
    return ExitCode.OK


def _say_endings(turns: tuple[Turn, ...], console: Console) -> bool:
    """Say how each answer ended that did not end plainly. Returns False where none of them can be used."""
    notes = [ending_note(turn) for turn in turns]
    for number, note in enumerate(notes, 1):
        if note is not None:
            console.say(f"Choice {number}: {note.words}" if len(notes) > 1 else note.words)
    return not notes or any(note is None or note.usable for note in notes)


def _paused(session: Session, options: RunOptions, console: Console) -> ExitCode:
    """Say that the gateway paused the answer, and how to continue it."""
    advice = "Raise --max-steps to continue it." if options.loops else "Run it with --max-steps 20 to continue it."
    console.say(f"{session.debugger.pause_words} {advice}")
    return ExitCode.STEP_LIMIT if options.loops else ExitCode.INCOMPLETE


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
    ours = {turn.outcome.exchange for turn in session.transcript.path if turn.outcome is not None}
    said: dict[str, bool] = {}
    for outcome in outcomes:
        if outcome.exchange in session.exchanges and outcome.exchange in ours:
            known = outcome.failure.kind.value if outcome.failure is not None else ""
            said |= {note: code in outcome.holes for code, note in outcome.deviations if code != known}
    for note in [note for note, hole in said.items() if hole]:
        console.say(f"Part of the answer could not be read: {note}")
    for note in [note for note, hole in said.items() if not hole and not only_holes]:
        console.say(f"Not as the protocol says: {note}")


def _at_calls(session: Session, refused: str, console: Console, servers: CommandServers | None) -> ExitCode:
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


async def run_file(path: Path, options: RunOptions, out: TextIO, err: TextIO) -> int:
    """Run the file at ``path`` (``-``: standard input). Returns an exit code. Raises OutputError where ``out`` fails.

    Cancelled, it ends with what came, as an interrupt asks for.
    """
    console = Console(out, err)
    console.hide(options.secrets)
    try:
        gateway = await gateway_of(options)
        console.hide(gateway.secrets)
        _check_place(options.record, path, options.answers)
        servers = CommandServers(options, console) if options.serves else None
        lanes, notes = _open(path, gateway, options, servers)
        session = lanes[0]
        session.change(debugging=_rules(options, session.settings.debugging))
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    try:
        if servers is not None:
            await servers.open(lanes)
        return await _run(lanes, notes, gateway, options, console, servers)
    except BadInputError as error:
        console.say(str(error))
        return ExitCode.BAD_INPUT
    except ServersError as error:
        console.say(str(error))
        return ExitCode.FAILED
    except asyncio.CancelledError:
        console.say("Interrupted.")
        return ExitCode.INTERRUPTED
    finally:
        await gateway.aclose()
        if servers is not None:
            await servers.aclose()


async def _run(
    lanes: tuple[Session, ...],
    notes: tuple[str, ...],
    gateway: Gateway,
    options: RunOptions,
    console: Console,
    servers: CommandServers | None,
) -> int:
    """Run the lanes, and show what came. Cancelled, it ends with what came."""
    session = lanes[0]
    for words in (*gateway.remarks, *notes):
        console.say(words)
    if options.reasoning is not None:
        for lane in lanes:
            lane.change(reasoning_return=options.reasoning)
    session.exchanges.limit = sys.maxsize if options.record is not None else 0  # nobody looks at the bodies
    console.lost, asked = session.experiment.stop, [_asked(lane) for lane in lanes]
    if not options.as_json:
        session.subscribe(Printer(session, console, asked[0]).changed)
    refused, interrupted, recorded = [""] * len(lanes), False, True
    try:
        refused = await asyncio.gather(*(_perform(lane, loops=options.loops) for lane in lanes))
    except asyncio.CancelledError:
        interrupted = True
    finally:
        recorded = _record(session, options.record, console)
    if options.as_json:
        found = [transcript(lane) if options.loops else answer(brought(lane)) for lane in lanes]
        console.json({"variants": list(map(_of_variant, lanes, found))} if options.all_variants else found[0])
    console.finish()
    if console.trouble is not None:
        raise OutputError(console.trouble)
    if interrupted:
        console.say("Interrupted.")
        return ExitCode.INTERRUPTED
    codes = []
    for lane, why, answers in zip(lanes, refused, asked, strict=True):
        console.about = Lanes(lane).title(lane) if options.all_variants else ""
        codes.append(ended(lane, options, why, answers, console, servers))
    code = next((one for one in codes if one is not ExitCode.OK), ExitCode.OK)
    return code if recorded or code is not ExitCode.OK else ExitCode.FAILED


async def _perform(session: Session, *, loops: bool) -> str:
    """Run to the end. Returns why that was refused; empty when it was not."""
    try:
        if loops:
            await session.debugger.run_to_end()
        else:
            await session.runs.start(Mode.ONCE)
    except RunRefusedError as error:
        return str(error)
    return ""


def _of_variant(lane: Session, found: JSONObject) -> JSONObject:
    """What a lane brought, under the name of its variant and with what is different in it."""
    lanes = Lanes(lane)

    def says_something(name: str, info: FieldInfo, item: Any) -> bool:
        return name == "name" or (name != "id" and bool(item != info.get_default(call_default_factory=True)))

    return {"letter": lanes.letter(lane), **encode(lanes.variant(lane) or Variant(), says_something), **found}


def _asked(session: Session) -> int:
    """How many answers a request asks for (specification, section 4.1)."""
    return get_protocol(session.settings.protocol).choices(session.next_request.body())


def _rules(options: RunOptions, own: Debugging) -> Debugging:
    """The table's rules, else the file's ``own``, with the limit given. Raises BadInputError."""
    rules, path = own, options.answers
    if path is not None:
        rules = read_text(path, LARGEST_TABLE, read_answers)
    return rules if options.max_steps is None else rules.model_copy(update={"step_limit": options.max_steps})


# ---- the file --------------------------------------------------------------------------------------------------------


def _open(
    path: Path, gateway: Gateway, options: RunOptions, servers: CommandServers | None
) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """The file at ``path`` (``-``: standard input) as the lanes that are asked for, of one session on that gateway.

    And what of it cannot be sent, in sentences. Raises BadInputError.
    """
    from playground.engine.session.session import Experiment

    value = read_value(path, pipes=True)  # of the command line
    notes: tuple[str, ...] = ()
    saved = isinstance(value, dict) and "experiment" in value
    session = Experiment(
        gateway.connect,
        profile_id=gateway.profile.id,
        profile_of=lambda _profile_id: gateway.profile,
        literal=not saved,
        serving=(lambda: servers.serving) if servers is not None else None,
    ).main
    if saved:
        lanes = _filled(session, value, options, gateway.profile.default_model)
    else:
        request, notes = request_and_notes(value, gateway.profile.default_model)
        session.load(request)
        lanes = _chosen(session, options)
    renamed: dict[str, None] = {}
    for lane in lanes:
        made = lane.next_request.build()
        try:
            get_protocol(made.protocol).check(made)
        except ValueError as error:
            raise BadInputError(str(error)) from None
        if words := renamed_ids.words(made.protocol, made.turns):
            renamed[f"{words[0].upper()}{words[1:]}."] = None
    return lanes, (*notes, *renamed, *_elsewhere(lanes, gateway.profile.name))


def _chosen(session: Session, options: RunOptions) -> tuple[Session, ...]:
    """The lanes that the options name; without any, the conversation. Raises BadInputError."""
    lanes = Lanes(session)
    if options.all_variants:
        return lanes.all
    try:
        return (lanes.find(options.variant) if options.variant is not None else session,)
    except LanesError as error:
        raise BadInputError(str(error)) from None


def _elsewhere(lanes: tuple[Session, ...], asked: str) -> list[str]:
    """That a variant is of another gateway than the one that is ``asked``."""
    found = [(Lanes(lane).title(lane), Lanes(lane).variant(lane)) for lane in lanes]
    return [
        f"{title} is set for the gateway “{variant.gateway}”; here, the one of the command line is asked."
        for title, variant in found
        if variant is not None and variant.gateway not in ("", asked)
    ]


def _filled(session: Session, value: JSON, options: RunOptions, default_model: str) -> tuple[Session, ...]:
    """Make ``session`` the saved experiment, the message being written at the end of the lanes that are asked for.

    Returns those. ``default_model`` is asked where the experiment names none. Raises BadInputError.
    """
    from playground.engine.files.experiment_file import ExperimentFileError, read_content
    from playground.engine.session.drafts import turn_of_draft
    from playground.engine.session.edits import answers_none, without_call
    from playground.engine.session.next_request import without_value
    from playground.engine.session.snapshot import restore

    try:
        restore(read_content(value), session)
    except (ExperimentFileError, ValueError) as error:
        raise BadInputError(str(error)) from None
    lanes = _chosen(session, options)
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


# ---- the recording ---------------------------------------------------------------------------------------------------


def _check_place(path: Path | None, *read: Path | None) -> None:
    """Raises BadInputError where no file can be made at ``path``, or one of those that are ``read`` is there: better
    before the request than after it.
    """
    if path is None:
        return
    if path.is_dir():
        raise BadInputError(f"{path} is a folder; --record takes the name of a file")
    if path.exists() and any(other is not None and other.exists() and other.samefile(path) for other in read):
        raise BadInputError(f"{path} is read by this run; --record would write over it")
    if not path.parent.is_dir():
        raise BadInputError(f"{path} cannot be written: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise BadInputError(f"{path} cannot be written: nothing can be written into {path.parent}")


def _record(session: Session, path: Path | None, console: Console) -> bool:
    """Write what went over the wire, if that was asked for. Returns False where it failed."""
    if path is None or not session.exchanges:
        return True
    try:
        title = title_of(session.transcript, session.settings.title, redactor_of(console.secrets).front)
        cassette.save(path, session.exchanges.values(), title, console.secrets)
    except cassette.CassetteError as error:
        console.say(str(error))
        return False
    return True
