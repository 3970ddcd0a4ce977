"""Tell the kind of a file, and make experiments from files.

An experiment from a file never replaces one of the workspace. Functions that read files block.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playground.domain.debugging import Policy
from playground.domain.transcript import new_id
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.io.weighed_json import read_json
from playground.engine.session.session import Session
from playground.system.named_file import read_named

if TYPE_CHECKING:
    from playground.domain.request import Request
    from playground.engine.files.messages import Conversation
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.snapshot import Snapshot


LARGEST: Final = 512 * 1024 * 1024  # bytes of a file that is looked into
_TOGETHER: Final = 20  # conversations taken in before the window gets its turn
_BEHIND: Final = 1e-6  # seconds between two of them in the list, which is ordered by time
_FIRST_MEMBER: Final = re.compile(rb'\s*\{\s*"(experiment|cassette|playground)"\s*:')


class FileError(ValueError):
    """A file cannot be read; the text is a sentence."""


class MissingFileError(FileError):
    """There is no such file."""


class Kind(Enum):
    """The kinds of files, by the member that names their format."""

    EXPERIMENT = auto()
    CASSETTE = auto()
    REQUEST = auto()  # the file of a request, as the command line runs it
    MESSAGES = auto()  # anything else; reading it finds out


class Outcome(Enum):
    """The result of opening an experiment from a file."""

    NEW = auto()  # nothing of the kind is here, or only as something deleted
    SAME = auto()  # it is here already, and the same
    COPIED = auto()  # one of that id is here and holds something else, so this one has an id of its own


@dataclass(frozen=True, slots=True)
class OpenedExperiment:
    """An experiment that is here now. ``lacking`` is the gateway it was on, where no such one is set up here.

    ``paused`` are the tools whose rules would have asked a server by themselves: they pause here.
    """

    session: Session
    outcome: Outcome
    lacking: str = ""
    paused: tuple[str, ...] = ()


def kind_of(path: Path) -> Kind:
    """Return the kind of a file; blocks. Raises FileError."""
    try:
        if not path.exists():
            raise MissingFileError(f"{path} is not there. It may have been moved, renamed or deleted.")
        head = read_named(path, LARGEST, head=4096)
        first = _FIRST_MEMBER.match(head.removeprefix(b"\xef\xbb\xbf"))
        name = first[1].decode() if first else _member(read_named(path, LARGEST))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from None
    by_name = {"experiment": Kind.EXPERIMENT, "cassette": Kind.CASSETTE, "playground": Kind.REQUEST}
    return by_name.get(name) or _by_suffix(path)


def _member(data: bytes) -> str:
    """The member that names a format of ours, where it is not the first."""
    try:
        value = read_json(data)
    except ValueError:
        return ""
    names = ("experiment", "cassette", "playground")
    return next((name for name in names if name in value), "") if isinstance(value, dict) else ""


def _by_suffix(path: Path) -> Kind:
    """Return the kind that the name of a file says; reading it finds out what is wrong."""
    name = path.name.lower()
    if name.endswith(".playground.json"):
        return Kind.EXPERIMENT
    return Kind.CASSETTE if name.endswith(".cassette.json") else Kind.MESSAGES


def read_request_file(path: Path) -> Request:
    """The request in a file as the command line runs it; blocks. Raises FileError."""
    from playground.engine.requests.request_file import BadInputError, read_run_file

    try:
        return read_run_file(path)
    except BadInputError as error:
        raise FileError(f"This request cannot be read: {error}.") from None


async def settle(workspace: Workspace, stored: Snapshot) -> OpenedExperiment:
    """Make an experiment from a file the current one; those of the workspace stay unchanged.

    Raises FileError where this version cannot work with it, StoreError where the one of that id cannot be read.
    """
    from playground.engine.session.snapshot import copy_of, snapshot

    session, lacking = _restored(workspace, stored)
    place = Outcome.NEW
    if await workspace.knows(stored.id):
        if any(experiment.id == stored.id for experiment in workspace.experiments):
            existing = await workspace.bring(stored.id)
            if await asyncio.to_thread(_is_same, snapshot(existing), snapshot(session)):
                return OpenedExperiment(await workspace.show(stored.id), Outcome.SAME)
            place = Outcome.COPIED
        session, lacking = _restored(workspace, copy_of(stored, new_id(), stored.title))
    paused = _with_consent(session)
    workspace.add_experiment(session)
    return OpenedExperiment(session, place, lacking, paused)


def _with_consent(session: Session) -> tuple[str, ...]:
    """Make the session's rules pause that would ask a server without consent on this computer; return their tools.

    Rules of tools that only read stay where their server is trusted, and no other tool there or of a variant has that
    name.
    """
    settings, serving = session.settings, session.experiment.serving
    rules, plan = settings.debugging, settings.evaluation
    variants = (*settings.variants, *(plan.variants if plan is not None else ()))
    names_of_tools, unseen = set(), set()
    of_variants = (tool for variant in variants for tool in variant.applied(settings).tools)
    for tool in (*settings.tools, *of_variants):
        names_of_tools.add(tool.name)
        reads = tool.hints is not None and tool.hints.read_only is True
        if not (reads and serving is not None and serving.trusted(tool)):
            unseen.add(tool.name)
    names = [
        name
        for name, rule in rules.rules.items()
        if rule.policy is Policy.SERVER and (name in unseen or name not in names_of_tools)
    ]
    for name in names:
        rules = rules.with_rule(name, rules.rules[name].model_copy(update={"policy": Policy.PAUSE}))
    if names:
        session.begin_with(debugging=rules)
    return tuple(names)


def _restored(workspace: Workspace, stored: Snapshot) -> tuple[Session, str]:
    """Return the session and the missing gateway, see ``Workspace.restored``. Raises FileError."""
    try:
        return workspace.restored(stored)
    except ValueError as error:
        raise FileError(str(error)) from None


def _is_same(existing: Snapshot, stored: Snapshot) -> bool:
    """Return whether two experiments are equal but for the time of the last change and their place in the list."""
    from playground.engine.files.experiment_file import write

    apart = ("changed_at", "pinned", "archived", "profile_id", "gateway")
    return write(existing.model_copy(update={name: getattr(stored, name) for name in apart})) == write(stored)


def begin(workspace: Workspace, request: Request, title: str = "") -> Session:
    """A new experiment with a request becomes the current one."""
    session = workspace.new()
    session.load(request, title)
    workspace.open(session.id)
    return session


async def take_in(workspace: Workspace, conversations: Sequence[Conversation]) -> list[Session]:
    """Make each conversation an experiment, in their order in the list; the first becomes the current one."""
    from playground.engine.files.messages import into

    first = workspace.new()
    like = first.settings
    into(first, conversations[0])
    sessions = [first]
    for number, conversation in enumerate(conversations[1:], 1):
        session = workspace.blank(first.settings.profile_id)
        session.begin_with(protocol=like.protocol, model=like.model, parameters={like.protocol: like.current})
        into(session, conversation)
        session.experiment.created_at = first.experiment.created_at - number * _BEHIND
        workspace.add_experiment(session, look=False)
        sessions.append(session)
        if not number % _TOGETHER:
            await asyncio.sleep(0)
    workspace.open(first.id)
    return sessions


def open_sample(session: Session, path: Path, title: str) -> None:
    """Fill ``session`` with the sample in ``path``. Raises BadInputError for a file that cannot be read."""
    from playground.engine.files.experiment_file import ExperimentFileError, open_file
    from playground.engine.requests.request_file import BadInputError, read_run_file

    session.change(profile_id=DEMO_ID)
    if _by_suffix(path) is not Kind.EXPERIMENT:
        session.load(read_run_file(path), title)
        return
    try:
        stored = open_file(path)
    except ExperimentFileError as error:
        raise BadInputError(str(error).rstrip(".")) from None
    session.set_up(stored.transcript, stored.settings.changed(title=title, profile_id=DEMO_ID))
