"""What a plan asks of an experiment as it is set now: each case in each column, as a session that is ready to run.

It is a picture of one moment: what is set afterwards is another inquiry. What is asked has a digest, by which answers
are found again: of what goes into requests everything is in it, and nothing of what does not.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pydantic.fields import FieldInfo

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check
from playground.domain.debugging import Debugging, Policy
from playground.domain.encoding import encode, not_empty
from playground.domain.parts import Text
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.domain.variables import names_in, resolve_turns
from playground.engine.compare.words import variant_words
from playground.engine.questions import checking
from playground.engine.questions.kinds import CheckUsable
from playground.engine.session.branching import system_text
from playground.engine.session.drafts import turn_of_draft
from playground.engine.session.edits import answers_none
from playground.engine.session.plan import EXPECTED, Case, Order, Plan
from playground.engine.session.session import Experiment, Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.tool_calls import ToolCaller
from playground.engine.session.variants import Variant, letter_of
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile
    from playground.engine.session.experiment import Connect

_SYSTEM: Final = (Role.SYSTEM, Role.DEVELOPER)
#: The checks of all cases as one has them, None where they are not for it, and its own; each with its key.
_Keyed: TypeAlias = tuple[list[tuple[str, Check] | None], list[tuple[str, Check] | None]]
_NAMED: Final = 40  # characters by which a case is called
_AT_ONCE: Final = 50  # checks that are looked at in one turn of the loop
_LOOKED_AT: Final = 2_000  # of those of a value, in which they are looked for


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """Why a plan cannot be run, and which part of it: "cases", "variants", "checks" or "run", and the id in it."""

    words: str
    place: str
    id: str = ""


@dataclass(frozen=True)
class Column:
    """One variant of the plan, the experiment as set among them; ``settings`` are all that is set in it."""

    letter: str
    variant: Variant | None
    settings: ExperimentSettings
    system: str | None

    @property
    def id(self) -> str:
        """That of its variant; empty for the experiment as set."""
        return self.variant.id if self.variant is not None else ""

    @property
    def title(self) -> str:
        """Its letter and its name."""
        name = self.variant.name if self.variant is not None else "as set"
        return f"{self.letter} · {name}" if name else self.letter


class Job(NamedTuple):
    """One answer that is wanted. ``repeat`` counts from 1."""

    case: Case
    column: Column
    repeat: int
    digest: str

    @property
    def key(self) -> tuple[str, int]:
        """Which answer it is for."""
        return self.digest, self.repeat


class Inquiry:
    """``session`` is the experiment; ``connect`` gives clients, and ``profile_of`` gateways, as for a session."""

    def __init__(
        self,
        session: Session,
        connect: Connect | None = None,
        profile_of: Callable[[str], Profile] | None = None,
    ) -> None:
        main = session.main
        self.id = main.id
        self.plan: Plan = main.settings.evaluation or Plan()
        self.base = main.settings
        self.connect = connect or main.experiment.connect
        self.profile_of = profile_of or main.experiment.profile_of
        self.serving = main.experiment.ask_servers
        self.turns = _asking(main)
        self.columns: tuple[Column, ...] = tuple(self._columns())
        self.cases = self.plan.cases
        self._digests: dict[tuple[str, str], str] = {}
        self._cases_under: tuple[tuple[str, ...], Mapping[str, str], list[str]] | None = None
        self._begun: dict[str, Transcript] = {}  # by column, of the cases that have no turns of their own
        self._filled: dict[str, _Keyed] = {}
        self._keys: dict[int, str] = {}  # of the plan's own checks, which it holds

    def _columns(self) -> Iterator[Column]:
        variants: list[Variant | None] = [None] if self.plan.as_set else []
        plain = self.base.model_copy(
            update={"title": "", "variants": (), "evaluation": None, "unsent": {}, "parameters": self.base.parameters}
        )
        for place, variant in enumerate([*variants, *self.plan.variants]):
            settings = variant.applied(plain) if variant is not None else plain
            parameters = settings.current
            if self.plan.streamed is not None:
                parameters = parameters.with_value("stream", self.plan.streamed)
            system = variant.system if variant is not None else None
            yield Column(letter_of(place), variant, settings.with_parameters(parameters), system)

    def words(self, column: Column, gateway: Callable[[str], str]) -> list[str]:
        """What a column has otherwise than what is set, but for its model. ``gateway`` gives the name of a gateway."""
        if column.variant is None:
            return []
        # How answers come is set for all columns, and no difference of one.
        own = column.variant.applied(self.base)
        return variant_words(column.variant, self.base, own, gateway)

    def narrowed(self, cases: Sequence[Case], columns: Sequence[Column]) -> Inquiry:
        """The same with those cases and columns alone; what they ask has the same digest."""
        made = copy(self)
        made.cases, made.columns = tuple(cases), tuple(columns)
        made.__dict__.pop("jobs", None)
        return made

    # What is asked

    def rounds(self, case: Case, column: Column) -> list[tuple[Turn, ...]]:
        """The turns of a case, taken apart: at the end of each of them the model is asked. Variables as written."""
        if not case.turns:
            return [_under(self.turns, column.system)]
        out: list[tuple[Turn, ...]] = []
        begun: list[Turn] = [] if _leading_system(case.turns) else [*_leading_system(self.turns)]
        for place, turn in enumerate(case.turns):
            begun.append(turn)
            after = case.turns[place + 1] if place + 1 < len(case.turns) else None
            if not case.whole and turn.role is Role.USER and after is not None and after.role is Role.USER:
                out.append(tuple(begun))
                begun = []
        out.append(tuple(begun))
        out[0] = _under(out[0], column.system)
        return out

    def session(
        self, case: Case, column: Column, serving: Callable[[], ToolCaller] | None = None
    ) -> tuple[Session, list[tuple[Turn, ...]]]:
        """A session with what is asked first, and what is asked after each answer; ``serving`` asks tool servers."""
        first, *rest = self.rounds(case, column)
        values = {**column.settings.variables, **case.values}
        settings = column.settings.model_copy(update={"variables": values})
        made = Experiment(self.connect, settings=settings, profile_of=self.profile_of, serving=serving).main
        begun = self._begun.get(column.id) if not case.turns else None
        if begun is None:
            begun = Transcript().append(*first)
            if not case.turns:
                self._begun[column.id] = begun
        made.history.reset(begun, settings)
        return made, rest

    def checks(self, case: Case) -> tuple[Check, ...]:
        """The checks of a case, with its values put in. One that mentions what the case does not have is left out."""
        return tuple(check for _, check in self.keyed(case))

    def keyed(self, case: Case) -> list[tuple[str, Check]]:
        """The same, each with the key under which its verdicts are kept; those of all cases first."""
        of_all, own = self._keyed(case)
        return [one for one in (*of_all, *own) if one is not None]

    def plan_key(self, case: Case, place: int) -> str | None:
        """The key of the plan's check at a place for a case; None where it is not for that case."""
        found = self._keyed(case)[0][place]
        return found[0] if found is not None else None

    def plan_check(self, case: Case, place: int) -> Check | None:
        """The plan's check at a place as a case has it."""
        found = self._keyed(case)[0][place]
        return found[1] if found is not None else None

    def _keyed(self, case: Case) -> _Keyed:
        found = self._filled.get(case.id)
        if found is None:
            known = {**self.base.variables, **case.known}
            of_all = [self._fill(check, names, known) for check, names in self._named]
            own = [self._fill(check, frozenset(check.names), known) for check in case.checks]
            found = self._filled[case.id] = (of_all, own)
        return found

    @cached_property
    def _named(self) -> list[tuple[Check, frozenset[str]]]:
        """The plan's checks with the variables that they mention."""
        return [(check, frozenset(check.names)) for check in self.plan.checks]

    def _fill(self, check: Check, names: frozenset[str], known: Mapping[str, str]) -> tuple[str, Check] | None:
        if not names <= known.keys():
            return None
        if names:
            made = check.filled(known)
            return check_key(made), made
        key = self._keys.get(id(check))
        if key is None:
            key = self._keys[id(check)] = check_key(check)
        return key, check

    # Digests

    def digest(self, case: Case, column: Column) -> str:
        """What a case asks in a column, as a short text: the same for what is the same. Twins in a plan differ."""
        key = case.id, column.id
        found = self._digests.get(key)
        if found is None:
            self._find_digests(column)
            found = self._digests[key]
        return found

    def _find_digests(self, column: Column) -> None:
        under = self._of_column(column)
        mentioned = tuple(names_in(_under(self.turns, column.system)))
        variables = column.settings.variables
        twins: Counter[str] = Counter()
        for case, inner in zip(self.plan.cases, self._of_cases(mentioned, variables), strict=True):
            twins[inner] += 1
            # The list of the three as _spelt has it: digests are the same as ever, and this takes a third of the time.
            self._digests[case.id, column.id] = _digest(f'["{under}","{inner}",{twins[inner]}]')

    def _of_cases(self, mentioned: tuple[str, ...], variables: Mapping[str, str]) -> list[str]:
        """What the cases have of their own, in their order: mostly the same in all columns."""
        if self._cases_under is None or self._cases_under[:2] != (mentioned, variables):
            found = [self._of_case(case, mentioned, variables) for case in self.plan.cases]
            self._cases_under = (mentioned, variables, found)
        return self._cases_under[2]

    def _of_column(self, column: Column) -> str:
        """What all cases have together in a column."""
        found = column.settings
        tools = [_of_tool(tool, found.debugging) for tool in found.tools if tool.sendable]
        rules = encode(found.debugging, _known_before) if tools else None
        return _hash(
            [
                found.profile_id,
                found.protocol,
                found.model,
                found.current.to_wire(),
                tools,
                rules,
                found.extra_body,
                found.extra_headers,
                encode(found.reasoning_return) if found.reasoning_return is not None else None,
                [_of_turn(turn) for turn in _under(self.turns, column.system)],
            ]
        )

    def _of_case(self, case: Case, mentioned: Sequence[str], variables: Mapping[str, str]) -> str:
        own = [[_of_turn(turn) for turn in case.turns], case.whole]
        names = dict.fromkeys((*mentioned, *names_in(case.turns)))
        values = {**variables, **case.values}
        return _hash([own, {name: values.get(name) for name in names}])

    def given(self, case: Case, column: Column) -> tuple[Turn, ...]:
        """All turns that are given, with the values put in: what an answer was asked by."""
        return resolve_turns(self.given_as_written(case, column), {**column.settings.variables, **case.values})

    def given_as_written(self, case: Case, column: Column) -> tuple[Turn, ...]:
        """The same turns with their variables, which is less to do."""
        return tuple(turn for part in self.rounds(case, column) for turn in part)

    # All of it

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """All answers that are wanted, in the order in which they are to be asked for.

        Variants that ask the same have one answer between them.
        """
        plan = self.plan
        pairs = (
            [(case, column) for column in self.columns for case in self.cases]
            if plan.order is Order.BY_VARIANT
            else [(case, column) for case in self.cases for column in self.columns]
        )
        wanted: dict[str, tuple[Case, Column]] = {}
        for case, column in pairs:
            wanted.setdefault(self.digest(case, column), (case, column))
        jobs = [
            Job(case, column, repeat, digest)
            for digest, (case, column) in wanted.items()
            for repeat in range(1, plan.repeats + 1)
        ]
        if plan.order is Order.SHUFFLED:
            random.Random(plan.seed).shuffle(jobs)  # noqa: S311 - not for secrets: to be drawn again in the same way
        return tuple(jobs)

    async def problems(self) -> list[PlanProblem]:
        """What keeps the plan from being run; empty where nothing does. The loop is free while many are looked at."""
        found, checks = await asyncio.to_thread(
            lambda: ([*self._problems_of_cases(), *self._problems_of_run()], self._different_checks())
        )
        return [*found, *await _problems_of_checks(checks)]

    def _problems_of_cases(self) -> Iterator[PlanProblem]:
        if not self.cases:
            yield PlanProblem("There is no case yet. Type one, take one from the conversation, or import.", "cases")
        if not self.columns:
            yield PlanProblem("There is no variant: add one, or let the experiment as it is set take part.", "variants")
        for column in self.columns:
            if not column.settings.model:
                yield PlanProblem(f"{column.title} has no model. Choose one.", "variants", column.id)
        mentioned = names_in(self.turns)
        known = self.base.variables.keys()
        for case in self.cases:
            number = self.numbers[case.id]
            asked = names_in(case.turns) if case.turns else mentioned
            if missing := [name for name in asked if name not in known and name not in case.values]:
                names = listed([f"{{{{{name}}}}}" for name in missing[:3]])
                yield PlanProblem(f"{case_title(case, number)} has no value for {names}.", "cases", case.id)
            if not case.turns and not any(turn.role not in _SYSTEM for turn in self.turns):
                words = f"{case_title(case, number)} asks nothing: write a message in the conversation, or give it one."
                yield PlanProblem(words, "cases", case.id)
            if any(map(answers_none, case.turns)):
                words = f"{case_title(case, number)} has a tool turn that does not say which call it answers."
                yield PlanProblem(words, "cases", case.id)

    def _problems_of_run(self) -> Iterator[PlanProblem]:
        budget = self.plan.budget
        for name, amount in (("requests", budget.requests), ("tokens", budget.tokens), ("money", budget.money)):
            if amount is not None and amount <= 0:
                what = "no money" if name == "money" else f"0 {name}"
                yield PlanProblem(f"A budget of {what} lets nothing be asked. Raise it, or leave it empty.", "run")

    def _different_checks(self) -> list[tuple[Check, str]]:
        """Each check once, with the id of the first case that has it; empty for one of all cases."""
        every = [(check, "") for check in self.plan.checks]
        every += [(check, case.id) for case in self.plan.cases for check in case.checks]
        found: dict[str, tuple[Check, str]] = {}
        for check, case_id in every:
            found.setdefault(repr(check), (check, case_id))
        return [*found.values()]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Which number each case has in the plan, by id, from 1."""
        return {case.id: number for number, case in enumerate(self.plan.cases, 1)}

    def title(self, case: Case) -> str:
        """What a case is called."""
        return case_title(case, self.numbers[case.id])

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The checks that a model is asked for."""
        return tuple(check for check in self.plan.checks if isinstance(check, Judge))


async def _problems_of_checks(checks: Sequence[tuple[Check, str]]) -> list[PlanProblem]:
    out: list[PlanProblem] = []
    for number, (check, case_id) in enumerate(checks, 1):
        if words := await checking.answer(CheckUsable(check)):
            out.append(PlanProblem(f"{check.title}: {words}", "checks", case_id))
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
    return out


def case_title(case: Case, number: int) -> str:
    """What a case is called: its name, else its values, else what it asks, else its number."""
    name = case.name or ", ".join(value[:_LOOKED_AT] for key, value in case.values.items() if key != EXPECTED)
    name = name or next((turn.text for turn in case.turns if turn.role is Role.USER), "")
    name = name[:_LOOKED_AT]
    return cut(" ".join(name.split()), _NAMED) or f"Case {number}"


def check_key(check: Check) -> str:
    """Under which the verdicts of a check are kept: another check has another one. Its weight makes no difference."""
    return _hash({name: value for name, value in encode(check, _known_before).items() if name != "weight"})


_spelt: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=list).encode


def _hash(value: JSON) -> str:
    return _digest(_spelt(value))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _of_tool(tool: ToolDefinition, rules: Debugging) -> JSON:
    """What of a tool is asked: its definition, and whom, where its server is."""
    asked = tool.server and rules.rule(tool.name).policy is Policy.SERVER
    offer = tool.offer if tool.custom is not None else tool.offer[:-1]  # digests are as before custom tools
    return [*offer, tool.server, tool.name_there] if asked else list(offer)


#: Fields that came later, and what they are where nobody set them: digests are as they were before.
_LATER: Final[dict[str, object]] = {
    "before": False,
    "after": False,
    "images": (),
    "free_text": False,
    "anywhere": False,
}


def _known_before(name: str, info: FieldInfo, item: Any) -> bool:
    return not_empty(name, info, item) and not (name in _LATER and item == _LATER[name])


def _of_turn(turn: Turn) -> JSON:
    """What of a turn goes out."""
    found = encode(turn, _known_before)
    return {name: found[name] for name in ("role", "parts", "members", "extra") if found.get(name)}


def _asking(session: Session) -> tuple[Turn, ...]:
    """The conversation up to what is asked: the message being written, else the last turn that is no answer."""
    path = session.transcript.path
    try:
        draft = turn_of_draft(session.draft, session.transcript)
    except ValueError:
        draft = None
    if draft is not None and draft.role is Role.USER:
        return (*path, draft)
    last = next((at for at in range(len(path) - 1, -1, -1) if path[at].role is Role.USER), -1)
    kept = path[: last + 1] if last >= 0 else tuple(turn for turn in path if turn.role in _SYSTEM)
    return tuple(turn for turn in kept if not turn.is_empty)


def _leading_system(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    count = next((at for at, turn in enumerate(turns) if turn.role not in _SYSTEM), len(turns))
    return tuple(turns[:count])


def _under(turns: tuple[Turn, ...], system: str | None) -> tuple[Turn, ...]:
    """The same under another system turn; an empty text: under none, None: as they are."""
    if system is None or system_text(Transcript().append(*turns)) == system:
        return turns
    first = turns[0] if turns and turns[0].role in _SYSTEM else None
    rest = turns[1:] if first is not None else turns
    if not system:
        return rest
    top = first if first is not None else make_turn(Role.SYSTEM)
    others = tuple(part for part in top.parts if not isinstance(part, Text))
    return (top.model_copy(update={"parts": (Text(text=system), *others)}), *rest)
