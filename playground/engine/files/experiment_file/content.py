"""An experiment as the JSON of its file, and back. What stands at its default is not in the file.

A text of several lines is a list of its lines, since so a change of one line is one line of a diff; both spellings are
read, everywhere. Turns stand in the order of the tree, each below the one it follows, variants one after another,
oldest first; the branch that is shown ends at ``head``. Everything not known here is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from pydantic.fields import FieldInfo

from playground.domain.transcript import Turn
from playground.domain.values import JSON, JSONObject
from playground.engine.requests.extras import extra_header_problem
from playground.engine.session.snapshot import LATEST, Snapshot, decode, encode

VERSION: Final = 1
NAME: Final = "experiment"  # the member that names the version

#: The texts of a part, by its kind.
_PART_TEXTS: Final = {
    "text": ("text",),
    "reasoning": ("text",),
    "refusal": ("text",),
    "tool_call": ("arguments", "received"),
    "tool_result": ("text",),
}
_RULE_TEXTS: Final = ("fixed.text", "rows.*.pattern", "rows.*.answer.text")
#: Where the other texts of an experiment stand; a star is every item or member.
_TEXTS: Final = (
    "turns.*.outcome.failure.message",
    "turns.*.outcome.failure.body",
    "tools.*.description",
    "tools.*.source",
    "tools.*.text",
    "variables.*",
    "calls.*.typed.text",
    "calls.*.typed.prepared.text",
    "calls.*.fork.*.text",
    "draft.text",
    "draft.calls.*.arguments",
    "editing.*.text",
    "editing.*.written.arguments",
    *(f"debugging.default.{place}" for place in _RULE_TEXTS),
    *(f"debugging.rules.*.{place}" for place in _RULE_TEXTS),
)
_LONGEST_ID: Final = 256
_LONGEST_CURRENCY: Final = 16
_LARGEST: Final = 2**31 - 1  # of counts that go into fields of a window


def to_json(snapshot: Snapshot) -> JSONObject:
    """What the file holds."""
    ordered = snapshot.model_copy(update={"turns": tuple(_in_tree_order(snapshot.turns))})
    content = {NAME: VERSION, **encode(ordered, _different)}
    _change_texts(content, _lines)
    return content


def from_json(content: JSON) -> Snapshot:
    """The experiment. Raises ValueError in words that say what is wrong where."""
    if not isinstance(content, dict) or NAME not in content:
        raise ValueError(f"“{NAME}”, which names the version of the format, is missing")
    version = content[NAME]
    if type(version) is not int or version < 1:
        raise ValueError(f"“{NAME}” must be the version of the format, a whole number from 1")
    if version > VERSION:
        raise ValueError(
            f"it is of version {version}, and this application reads up to version {VERSION}; update the application"
        )
    rest = {name: value for name, value in content.items() if name != NAME}
    _change_texts(rest, _joined)
    found = decode(rest)
    _check(found)
    return found


# ---- order -----------------------------------------------------------------------------------------------------------


def _in_tree_order(turns: tuple[Turn, ...]) -> Iterator[Turn]:
    """Each turn after the one it follows, with all that follows it before the next variant."""
    followers: dict[str | None, list[Turn]] = {}
    for turn in turns:
        followers.setdefault(turn.parent, []).append(turn)
    left = followers.get(None, [])[::-1]
    while left:
        turn = left.pop()
        yield turn
        left += followers.get(turn.id, [])[::-1]


# ---- values ----------------------------------------------------------------------------------------------------------


def _different(name: str, info: FieldInfo, item: Any) -> bool:
    """Whether a field is not at its default, or says what kind of value it is."""
    return name == "kind" or info.is_required() or bool(item != info.get_default(call_default_factory=True))


# ---- texts and their lines -------------------------------------------------------------------------------------------


def _lines(text: JSON) -> JSON:
    return text.split("\n") if isinstance(text, str) and "\n" in text else text


def _joined(lines: JSON) -> JSON:
    whole = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return "\n".join(lines) if whole else lines


def _change_texts(content: JSONObject, change: Callable[[JSON], JSON]) -> None:
    """Put ``change`` of every text that is known to be one in its place; nothing else is touched."""
    for part in _at(content, ["turns", "*", "parts", "*"]):
        if isinstance(part, dict):
            kind = part.get("kind")
            for name in _PART_TEXTS.get(kind, ()) if isinstance(kind, str) else ():
                if name in part:
                    part[name] = change(part[name])
    for place in _TEXTS:
        *above, last = place.split(".")
        for holder in _at(content, above):
            if isinstance(holder, dict):
                for name in list(holder) if last == "*" else [last] if last in holder else []:
                    holder[name] = change(holder[name])


def _at(value: JSON, steps: list[str]) -> Iterator[JSON]:
    """Everything that ``steps`` lead to."""
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    inner: Iterable[JSON] = ()
    if step != "*":
        inner = (value[step],) if isinstance(value, dict) and step in value else ()
    elif isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
    for item in inner:
        yield from _at(item, rest)


# ---- what a file may say ---------------------------------------------------------------------------------------------


def _check(found: Snapshot) -> None:
    """Raise ValueError for what no experiment of ours holds, and what would do harm later."""
    for what, id_ in (("the experiment", found.id), *((f"turn {n}", turn.id) for n, turn in enumerate(found.turns, 1))):
        if not 0 < len(id_) <= _LONGEST_ID:
            raise ValueError(f"the id of {what} must have 1 to {_LONGEST_ID} characters")
    for name, value in found.extra_headers.items():
        if problem := extra_header_problem(name, value):
            raise ValueError(f"extra_headers: {problem.rstrip('.')}")
    rules = (found.debugging.default, *found.debugging.rules.values())
    _check_numbers("debugging", (found.debugging.step_limit, *(rule.pause_from for rule in rules)), _LARGEST)
    for number, turn in enumerate(found.turns, 1):
        outcome = turn.outcome
        _check_numbers(f"turn {number}", (result.seconds for result in turn.results))
        if outcome is None:
            continue
        timing, usage, failure = outcome.timing, outcome.usage, outcome.failure
        times = [getattr(timing, name) for name in type(timing).model_fields] if timing is not None else []
        times += [time for pair in outcome.call_times for time in pair]
        counts = [usage.prompt, usage.completion, usage.total, usage.cached, usage.reasoning] if usage else []
        price = outcome.asked.price
        money = [price.input, price.cached, price.output] if price is not None else []
        if price is not None and len(price.currency) > _LONGEST_CURRENCY:
            raise ValueError(f"turn {number}: outcome.asked.price.currency is no currency")
        money.append(usage.cost if usage is not None else None)
        _check_numbers(f"turn {number}", [*times, *money, failure.retry_after if failure else None])
        _check_numbers(
            f"turn {number}", [*counts, failure.status if failure else None, outcome.choice, outcome.choices], 2**53
        )


def _check_numbers(where: str, numbers: Iterable[float | None], largest: float = LATEST) -> None:
    for number in numbers:
        if number is not None and not -largest <= number <= largest:  # not a number is out of bounds as well
            raise ValueError(f"{where} holds a number that is out of all bounds")
