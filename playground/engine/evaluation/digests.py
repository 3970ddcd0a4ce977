"""Digests of requests and checks. Saved answers and verdicts are found by them, so equal requests keep their digest.

The digest of a variant covers every field of the experiment's settings but those in ``NOT_SENT``: a new setting is
part of it as soon as it has another value than its default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.domain.checks.check import Check
from playground.domain.debugging import Debugging, Policy
from playground.domain.encoding import encode
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.domain.values import Value
from playground.domain.variables import names_in
from playground.engine.evaluation.migrations import is_in_digest, tool_offer
from playground.engine.session.plan import Case
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSON

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
