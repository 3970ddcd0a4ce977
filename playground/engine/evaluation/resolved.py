"""An evaluation resolved against its experiment: each case in each variant, with checks and values filled in.

It is a snapshot: later edits of the experiment are another ``ResolvedEvaluation``. Saved answers and verdicts are found
by digests, so equal requests keep their digest: that of a variant covers every field of the experiment's settings but
those in ``NOT_SENT``, and a new setting is part of it as soon as it has another value than its default.
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check
from playground.domain.debugging import Debugging, Policy
from playground.domain.encoding import encode
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, Turn
from playground.domain.values import Value
from playground.domain.variables import names_in, resolve_turns
from playground.engine.compare.words import variant_words
from playground.engine.evaluation.migrations import is_in_digest, tool_offer
from playground.engine.questions import checking
from playground.engine.questions.kinds import CheckUsable
from playground.engine.session.branching import leading_instructions, system_text, turn_with_system_text
from playground.engine.session.drafts import turn_of_draft
from playground.engine.session.edits import answers_none
from playground.engine.session.plan import EXPECTED, Budget, Case, Order, Plan
from playground.engine.session.session import Experiment, Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.tool_calls import ToolCaller
from playground.engine.session.variants import Variant, letter_of
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSON

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile
    from playground.engine.session.experiment import Connect

# ---- digests ---------------------------------------------------------------------------------------------------------


#: Settings that no request depends on; ``variables`` are part of the digest of a case.
NOT_SENT: Final = frozenset(("title", "unsent", "variants", "evaluation", "variables"))
#: Fields of a turn that are sent.
SENT_OF_TURN: Final = ("role", "parts", "members", "extra")
#: Settings of the first version, in the order in which digests have them.
_FIRST_SETTINGS: Final = (
    *("profile_id", "protocol", "model", "parameters", "tools", "debugging"),
    *("extra_body", "extra_headers", "reasoning_return"),
)


def variant_digest(settings: ExperimentSettings, turns: Sequence[Turn]) -> str:
    """Return the digest of everything that the cases of a variant share: its settings and its conversation."""
    fields = {name: info for name, info in type(settings).model_fields.items() if name not in NOT_SENT}
    later = {
        name: getattr(settings, name)
        for name, info in fields.items()
        if name not in _FIRST_SETTINGS and getattr(settings, name) != info.get_default(call_default_factory=True)
    }
    sent = [*(_sent_setting(name, settings) for name in _FIRST_SETTINGS), [_sent_turn(turn) for turn in turns]]
    return digest_of([*sent, later] if later else sent)


def case_digest(case: Case, mentioned: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return the digest of a case: its turns, and the values of the variables in them and in ``mentioned``."""
    names = dict.fromkeys((*mentioned, *names_in(case.turns)))
    values = {**variables, **case.values}
    turns = [_sent_turn(turn) for turn in case.turns]
    return digest_of([[turns, case.whole], {name: values.get(name) for name in names}])


def check_key(check: Check) -> str:
    """Return the digest of a check, by which its verdicts are saved. The weight is not part of it."""
    return digest_of({name: value for name, value in encode(check, is_in_digest).items() if name != "weight"})


def digest_of(value: JSON) -> str:
    """Return the digest of a JSON value, as 32 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_encoded)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _encoded(value: Any) -> JSON:
    return encode(value) if isinstance(value, Value) else list(value)


def _sent_setting(name: str, settings: ExperimentSettings) -> JSON:
    tools = [tool for tool in settings.tools if tool.sendable]
    match name:
        case "parameters":
            return settings.current.to_wire()
        case "tools":
            return [_sent_tool(tool, settings.debugging) for tool in tools]
        case "debugging":  # the rules decide how calls are answered, and there are none without tools
            return encode(settings.debugging, is_in_digest) if tools else None
        case _:
            return getattr(settings, name)


def _sent_tool(tool: ToolDefinition, rules: Debugging) -> JSON:
    """Return the definition of a tool, with its server where that answers its calls."""
    served = tool.server and rules.rule(tool.name).policy is Policy.SERVER
    return [*tool_offer(tool), tool.server, tool.name_there] if served else tool_offer(tool)


def _sent_turn(turn: Turn) -> JSON:
    members = encode(turn, is_in_digest)
    return {name: members[name] for name in SENT_OF_TURN if members.get(name)}


_TITLE_LENGTH: Final = 40  # characters of the title of a case
_TITLE_SOURCE: Final = 2_000  # characters of a value that a title is made from


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """A reason why a plan cannot be run. ``place`` is "cases", "variants", "checks" or "run", ``id`` the item there."""

    words: str
    place: str
    id: str = ""


@dataclass(frozen=True)
class EvalVariant:
    """A variant of the plan with all its settings; ``variant`` is None for the experiment as it is set.

    ``system`` replaces the text of the system turn: empty for no such turn, None to keep it.
    """

    letter: str
    variant: Variant | None
    settings: ExperimentSettings
    system: str | None

    @property
    def id(self) -> str:
        """The id of the variant; empty for the experiment as it is set."""
        return self.variant.id if self.variant is not None else ""

    @property
    def title(self) -> str:
        """The letter and the name, as files and the command line print them."""
        return self._titled("as set")

    @property
    def label(self) -> str:
        """The title in the window; files and the command line keep ``title``."""
        return self._titled("current settings")

    def _titled(self, unchanged: str) -> str:
        name = self.variant.name if self.variant is not None else unchanged
        return f"{self.letter} · {name}" if name else self.letter


class Job(NamedTuple):
    """An answer to request. ``repeat`` counts from 1."""

    case: Case
    column: EvalVariant
    repeat: int
    digest: str

    @property
    def key(self) -> tuple[str, int]:
        """The key of its answer: digest and repeat."""
        return self.digest, self.repeat


class KeyedCheck(NamedTuple):
    """A check with the values of a case filled in, and the key by which its verdicts are saved."""

    key: str
    check: Check


class ResolvedEvaluation:
    """The evaluation of ``session``. ``connect`` and ``profile_of`` replace those of its experiment."""

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
        self.turns = _conversation(main)
        self.columns: tuple[EvalVariant, ...] = tuple(self._variants())
        self.cases = self.plan.cases
        self.numbers = {case.id: number for number, case in enumerate(self.cases, 1)}  # by id, from 1
        self._plan_checks = [(check, frozenset(check.names), check_key(check)) for check in self.plan.checks]
        self._checks: dict[str, tuple[list[KeyedCheck | None], list[KeyedCheck | None]]] = {}  # filled in, by case

    def _variants(self) -> Iterator[EvalVariant]:
        variants: list[Variant | None] = [None] if self.plan.as_set else []
        plain = self.base.model_copy(update={"title": "", "variants": (), "evaluation": None, "unsent": {}})
        for place, variant in enumerate([*variants, *self.plan.variants]):
            settings = variant.applied(plain) if variant is not None else plain
            parameters = settings.current
            if self.plan.streamed is not None:
                parameters = parameters.with_value("stream", self.plan.streamed)
            system = variant.system if variant is not None else None
            yield EvalVariant(letter_of(place), variant, settings.with_parameters(parameters), system)

    def words(self, column: EvalVariant, gateway: Callable[[str], str]) -> list[str]:
        """Describe how a variant differs from the experiment, besides its model and the plan's ``streamed``.

        ``gateway`` returns the name of a gateway by its profile id.
        """
        if column.variant is None:
            return []
        return variant_words(column.variant, self.base, column.variant.applied(self.base), gateway)

    def narrowed(self, cases: Sequence[Case], columns: Sequence[EvalVariant]) -> ResolvedEvaluation:
        """Return this evaluation with only these cases and variants; digests are unchanged."""
        narrowed = copy(self)
        narrowed.cases, narrowed.columns = tuple(cases), tuple(columns)
        narrowed.__dict__.pop("jobs", None)
        return narrowed

    # Requests

    def rounds(self, case: Case, column: EvalVariant) -> list[tuple[Turn, ...]]:
        """Return the turns of a case in groups, after each of which the model answers. Variables are not filled in."""
        if not case.turns:
            return [_with_system(self.turns, column.system)]
        rounds: list[tuple[Turn, ...]] = []
        own_system = leading_instructions(case.turns) > 0
        group: list[Turn] = [] if own_system else list(self.turns[: leading_instructions(self.turns)])
        for turn, following in zip(case.turns, (*case.turns[1:], None), strict=True):
            group.append(turn)
            if not case.whole and turn.role is Role.USER and following is not None and following.role is Role.USER:
                rounds.append(tuple(group))
                group = []
        rounds.append(tuple(group))
        rounds[0] = _with_system(rounds[0], column.system)
        return rounds

    def session(
        self, case: Case, column: EvalVariant, serving: Callable[[], ToolCaller] | None = None
    ) -> tuple[Session, list[tuple[Turn, ...]]]:
        """Return a session with the first turns of a case, and the turns to append after each answer.

        ``serving`` calls tool servers.
        """
        first, *rest = self.rounds(case, column)
        settings = column.settings.model_copy(update={"variables": {**column.settings.variables, **case.values}})
        session = Experiment(self.connect, settings=settings, profile_of=self.profile_of, serving=serving).main
        session.history.reset(Transcript().append(*first), settings)
        return session, rest

    def sent_turns(self, case: Case, column: EvalVariant) -> tuple[Turn, ...]:
        """Return all turns of a case that are sent, with variables filled in."""
        return resolve_turns(self.sent_turns_as_written(case, column), {**column.settings.variables, **case.values})

    def sent_turns_as_written(self, case: Case, column: EvalVariant) -> tuple[Turn, ...]:
        """Return all turns that are sent, without filling in variables."""
        return tuple(turn for group in self.rounds(case, column) for turn in group)

    # Checks

    def checks(self, case: Case) -> list[KeyedCheck]:
        """Return the checks of a case, those of the plan first. A check with a variable that has no value is absent."""
        return [keyed for part in self._filled_checks(case) for keyed in part if keyed is not None]

    def plan_checks(self, case: Case) -> list[KeyedCheck | None]:
        """Return the plan's checks for a case, in their order; None for one that does not apply to it."""
        return self._filled_checks(case)[0]

    def _filled_checks(self, case: Case) -> tuple[list[KeyedCheck | None], list[KeyedCheck | None]]:
        filled = self._checks.get(case.id)
        if filled is None:
            values = {**self.base.variables, **case.all_values}
            own = ((check, frozenset(check.names), "") for check in case.checks)
            filled = self._checks[case.id] = (
                [_filled(check, names, key, values) for check, names, key in self._plan_checks],
                [_filled(check, names, key, values) for check, names, key in own],
            )
        return filled

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The plan's checks that a model judges."""
        return tuple(check for check in self.plan.checks if isinstance(check, Judge))

    # Digests

    def digest(self, case: Case, column: EvalVariant) -> str:
        """Return the digest of what a case sends in a variant. Equal cases of one plan have different digests."""
        return self._digests[case.id, column.id]

    @cached_property
    def _digests(self) -> dict[tuple[str, str], str]:
        digests: dict[tuple[str, str], str] = {}
        for column in self.columns:
            turns = _with_system(self.turns, column.system)
            shared = variant_digest(column.settings, turns)
            mentioned = tuple(names_in(turns))
            twins: Counter[str] = Counter()
            for case in self.plan.cases:
                own = case_digest(case, mentioned, column.settings.variables)
                twins[own] += 1
                digests[case.id, column.id] = digest_of([shared, own, twins[own]])
        return digests

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """All answers to request, in order. Variants that send the same share one answer."""
        plan = self.plan
        pairs = (
            [(case, column) for column in self.columns for case in self.cases]
            if plan.order is Order.BY_VARIANT
            else [(case, column) for case in self.cases for column in self.columns]
        )
        by_digest: dict[str, tuple[Case, EvalVariant]] = {}
        for case, column in pairs:
            by_digest.setdefault(self.digest(case, column), (case, column))
        jobs = [
            Job(case, column, repeat, digest)
            for digest, (case, column) in by_digest.items()
            for repeat in range(1, plan.repeats + 1)
        ]
        if plan.order is Order.SHUFFLED:
            random.Random(plan.seed).shuffle(jobs)  # noqa: S311 - reproducible, not secret
        return tuple(jobs)

    # Problems

    async def problems(self) -> list[PlanProblem]:
        """Return the reasons why the plan cannot be run."""
        problems, checks = await asyncio.to_thread(
            lambda: ([*self._case_problems(), *self._budget_problems()], self._distinct_checks())
        )
        for check, case_id in checks:
            if words := await checking.answer(CheckUsable(check)):
                problems.append(PlanProblem(f"{check.title}: {words}", "checks", case_id))
        return problems

    def _case_problems(self) -> Iterator[PlanProblem]:
        if not self.cases:
            yield PlanProblem("There is no case yet. Type one, take one from the conversation, or import.", "cases")
        if not self.columns:
            yield PlanProblem("There is no variant. Add one, or include the current settings.", "variants")
        for column in self.columns:
            if not column.settings.model:
                yield PlanProblem(f"Variant {column.letter} has no model. Choose one.", "variants", column.id)
        mentioned = names_in(self.turns)
        has_question = any(not turn.role.is_instruction for turn in self.turns)
        for case in self.cases:
            names = names_in(case.turns) if case.turns else mentioned
            if missing := [name for name in names if name not in self.base.variables and name not in case.values]:
                words = listed([f"{{{{{name}}}}}" for name in missing[:3]])
                yield PlanProblem(f"{self.title(case)} has no value for {words}.", "cases", case.id)
            if not case.turns and not has_question:
                words = f"{self.title(case)} has no message. Write one in the conversation or in the case."
                yield PlanProblem(words, "cases", case.id)
            if any(map(answers_none, case.turns)):
                words = f"{self.title(case)} has a tool message that does not say which call it answers."
                yield PlanProblem(words, "cases", case.id)

    def _budget_problems(self) -> Iterator[PlanProblem]:
        for name in Budget.model_fields:
            amount = getattr(self.plan.budget, name)
            if amount is not None and amount <= 0:
                words = "no money" if name == "money" else f"0 {name}"
                yield PlanProblem(f"A budget of {words} lets nothing run. Raise it, or leave it empty.", "run")

    def _distinct_checks(self) -> list[tuple[Check, str]]:
        """Return each check once, with the id of the first case that has it; empty for a check of the plan."""
        every = [(check, "") for check in self.plan.checks]
        every += [(check, case.id) for case in self.plan.cases for check in case.checks]
        distinct: dict[str, tuple[Check, str]] = {}
        for check, case_id in every:
            distinct.setdefault(repr(check), (check, case_id))
        return [*distinct.values()]

    def title(self, case: Case) -> str:
        """Return the title of a case."""
        return case_title(case, self.numbers[case.id])


def case_title(case: Case, number: int) -> str:
    """Return the title of a case: its name, else its values, else its first user text, else its number."""
    name = case.name or ", ".join(value[:_TITLE_SOURCE] for key, value in case.values.items() if key != EXPECTED)
    name = name or next((turn.text for turn in case.turns if turn.role is Role.USER), "")
    return cut(" ".join(name[:_TITLE_SOURCE].split()), _TITLE_LENGTH) or f"Case {number}"


def _filled(check: Check, names: frozenset[str], key: str, values: Mapping[str, str]) -> KeyedCheck | None:
    """Return a check with its variables filled in; None if one has no value. ``key`` holds if there are none."""
    if not names <= values.keys():
        return None
    filled = check.filled(values) if names else check
    return KeyedCheck(check_key(filled) if names or not key else key, filled)


def _conversation(session: Session) -> tuple[Turn, ...]:
    """Return the conversation up to the user message in the composer, or else up to the last user turn."""
    path = session.transcript.path
    try:
        draft = turn_of_draft(session.draft, session.transcript)
    except ValueError:
        draft = None
    if draft is not None and draft.role is Role.USER:
        return (*path, draft)
    last = next((index for index in range(len(path) - 1, -1, -1) if path[index].role is Role.USER), -1)
    turns = path[: last + 1] if last >= 0 else tuple(turn for turn in path if turn.role.is_instruction)
    return tuple(turn for turn in turns if not turn.is_empty)


def _with_system(turns: tuple[Turn, ...], system: str | None) -> tuple[Turn, ...]:
    """Return the turns with another system text: empty for no system turn, None for no change."""
    if system is None or system_text(Transcript().append(*turns)) == system:
        return turns
    first = turns[0] if turns and turns[0].role.is_instruction else None
    rest = turns[1:] if first is not None else turns
    return (turn_with_system_text(first, system), *rest) if system else rest
