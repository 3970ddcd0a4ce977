"""Decides which of the offered tools to call, and with what arguments.

No model is behind it: a tool is chosen by the words it shares with the prompt, and arguments are made from its schema
and from names, numbers and quotations found in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from playground.demo import from_schema, grammar_sample
from playground.demo.dice import Dice
from playground.demo.generation import Call, GenerationRequest, Tool

MOST_CALLS = 16
#: Words that ask for calls whatever the model does by itself.
CALLING = ("broken", "badjson", "cutargs", "calls", "chain", "loop")
_MOST_NAMES = 8
_COMMON_WORDS = """
a an and are at be by can could do does for from give go has have how i if in is it me my of on or please right run say
show so tell than that the then there these they this to us use using was we what when where which who why will with
would you your now today tomorrow compare find get look search check call
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_WORDS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.!?:;,\n]")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{1,80})[\"”»]|`([^`\n]{1,80})`")
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = re.compile(rf"(?<![\w.])(?:-?\d+(?:\.\d+)?|{'|'.join(_COUNTED[1:])})(?!\w)", re.IGNORECASE)
#: Stems of words in a prompt that name a tool by another word, with the stem of the tool's name.
_SYNONYMS = {"warm": "weat", "cold": "weat", "rain": "weat", "temp": "weat", "time": "cloc", "hour": "cloc"}
_FREE_TEXT = ("query", "q", "text", "prompt", "question", "message", "input", "content", "search")


def tools_to_call(request: GenerationRequest) -> tuple[Tool, ...]:
    """Return the tools to call in answer to ``request``; empty for an answer in text."""
    if not request.tools or request.choice.mode in ("none", "hosted"):
        return ()
    if request.choice.mode == "named":
        return tuple(tool for tool in request.tools if tool.name == request.choice.name)
    named = tuple(tool for tool in request.tools if _is_named(tool.name, request.prompt))
    forced = request.choice.mode == "required"
    if request.results() and not forced and not _calls_again(request):
        return ()
    if forced or request.model.calls_tools or request.directives.has(*CALLING):
        chosen = (
            named or _tools_named(request) or (max(request.tools, key=lambda tool: _likeness(tool, request.prompt)),)
        )
        return chosen if request.choice.parallel else chosen[:1]
    return named if request.choice.parallel else named[:1]


def plan_calls(request: GenerationRequest, tools: tuple[Tool, ...], dice: Dice) -> tuple[Call, ...]:
    """The calls of ``tools``: one for each name in the prompt where a tool takes a name, else one each.

    Empty when they were to come one after another and all have been made.
    """
    prefix = "toolu_demo_" if request.protocol == "messages" else "call_"
    sets: list[tuple[Tool, dict[str, Any]]] = []
    for tool in tools:
        if tool.custom:
            sets.append((tool, {}))
            continue
        sets.extend((tool, arguments) for arguments in _argument_sets(request, tool, dice))
    if not request.choice.parallel:
        sets = sets[:1]
    if request.directives.has("calls"):
        number = min(max(int(request.directives.number("calls", 1)), 1), MOST_CALLS)
        sets = [sets[i % len(sets)] for i in range(number)]
    if request.directives.has("chain"):
        sets = sets[request.rounds() :][:1]
    calls: list[Call] = []
    for number, (tool, arguments) in enumerate(sets[:MOST_CALLS], 1):
        if tool.custom:
            text = grammar_sample.make_text(tool.custom, request.prompt, dice)
            calls.append(Call(prefix + dice.hex(24), tool.name, text, custom=True))
            continue
        text = json.dumps(arguments, ensure_ascii=False)
        if _applies(request, "broken", number):
            text = json.dumps(_broken(arguments, tool.schema), ensure_ascii=False)
        elif _applies(request, "badjson", number):
            text = text[:-1].rstrip() + ", note: not JSON,}"
        calls.append(Call(prefix + dice.hex(24), tool.name, text))
    return tuple(calls)


def is_spoken_of(name: str, prompt: str) -> bool:
    """Return whether the prompt has the name of a tool, or all of its words in any order."""
    words = _stems(name)
    return _is_named(name, prompt) or (bool(words) and words <= _prompt_stems(prompt))


def names_in(prompt: str) -> list[str]:
    """Return the quotations in the prompt, else its proper nouns: capitalised words inside a sentence."""
    quoted = [double or code for double, code in _QUOTED.findall(prompt)]
    if quoted:
        return list(dict.fromkeys(quoted))[:_MOST_NAMES]
    words = _WORDS.findall(prompt)
    names: list[str] = []
    begins, open_name = True, False
    for i, word in enumerate(words):
        if not word[0].isalnum():
            begins = (begins and word == ",") or word in ".!?:\n"
            open_name = False
            continue
        following = words[i + 1].casefold() if i + 1 < len(words) else ""
        proper = word[0].isupper() and word.casefold() not in _COMMON
        if begins and following not in ("or", "and", "vs", "versus", ","):
            proper = proper and len(words) == 1
        if proper and open_name:
            names[-1] += f" {word}"
        elif proper:
            names.append(word)
        begins, open_name = False, proper
    return list(dict.fromkeys(names))[:_MOST_NAMES]


def _calls_again(request: GenerationRequest) -> bool:
    """Return whether more calls follow although earlier ones were answered."""
    if request.directives.has("loop"):
        return request.rounds() < request.directives.number("loop", float("inf"))
    return request.directives.has("chain")


def _applies(request: GenerationRequest, name: str, number: int) -> bool:
    """Return whether a directive applies to the call of that number, from 1."""
    return request.directives.has(name) and request.directives.number(name, number) == number


def _is_named(tool_name: str, prompt: str) -> bool:
    spoken = re.sub(r"[\W_]+", " ", prompt.casefold())
    name = re.sub(r"[\W_]+", " ", tool_name.casefold()).strip()
    return bool(name) and f" {name} " in f" {spoken} "


def _tools_named(request: GenerationRequest) -> tuple[Tool, ...]:
    """Return the tools whose words are all in the prompt, in any order: "roll 3 dice" names ``roll_dice``."""
    stems = _prompt_stems(request.prompt)
    return tuple(tool for tool in request.tools if (words := _stems(tool.name)) and words <= stems)


def _prompt_stems(prompt: str) -> set[str]:
    """Return the stems of a prompt, with those of synonyms."""
    stems = _stems(prompt)
    return stems | {_SYNONYMS[stem] for stem in stems & _SYNONYMS.keys()}


def _likeness(tool: Tool, prompt: str) -> int:
    """Return the number of words the tool shares with the prompt; those of its name count most."""
    spoken = _prompt_stems(prompt)
    properties = tool.schema.get("properties")
    parts = " ".join(properties) if isinstance(properties, Mapping) else ""
    return (
        4 * len(spoken & _stems(tool.name)) + 2 * len(spoken & _stems(tool.description)) + len(spoken & _stems(parts))
    )


def _stems(text: str) -> set[str]:
    words = re.sub(r"[\W_]+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", text)).casefold().split()
    return {word[:4] for word in words if word not in _COMMON}


def _argument_sets(request: GenerationRequest, tool: Tool, dice: Dice) -> list[dict[str, Any]]:
    value = from_schema.generate(dict(tool.schema), dice, request.prompt)
    arguments: dict[str, Any] = value if isinstance(value, dict) else {}
    properties = tool.schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    _fill_numbers(arguments, properties, request.prompt)
    target = _name_field(properties, tool.schema.get("required"))
    if target is None:
        return [arguments]
    if target in _FREE_TEXT:
        return [_with_change(arguments, tool.schema, {target: request.prompt.strip() or "sample text"})]
    names = names_in(request.prompt)
    if not names:
        return [arguments]
    return [_with_change(arguments, tool.schema, {target: name}) for name in names]


def _with_change(arguments: dict[str, Any], schema: Mapping[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the change, or without it where it does not fit the schema."""
    changed = {**arguments, **change}
    return changed if from_schema.fits(changed, schema) else arguments


def _name_field(properties: Mapping[str, Any], required: object) -> str | None:
    """The field that takes a name: the first free string, a required one before others."""
    free = [
        name
        for name, schema in properties.items()
        if isinstance(schema, Mapping)
        and schema.get("type") == "string"
        and not schema.keys() & {"enum", "const", "format", "pattern"}
    ]
    first = [name for name in free if isinstance(required, list) and name in required]
    return next(iter(first or free), None)


def _fill_numbers(arguments: dict[str, Any], properties: Mapping[str, Any], prompt: str) -> None:
    """Put the numbers of the prompt, in order, into the numeric arguments that they fit, the rest into a list."""
    spoken = [_number(text) for text in _NUMBERS.findall(prompt)]
    for name, schema in properties.items():
        if not spoken:
            return
        if not isinstance(schema, Mapping) or name not in arguments:
            continue
        if schema.get("type") in ("integer", "number") and from_schema.fits(spoken[0], dict(schema)):
            arguments[name] = spoken.pop(0)
        elif schema.get("type") == "array" and from_schema.fits(spoken, dict(schema)):
            arguments[name], spoken = spoken, []


def _number(text: str) -> int | float:
    if text.casefold() in _COUNTED:
        return _COUNTED.index(text.casefold()) + 1
    value = float(text)
    return int(value) if value.is_integer() else value


def _broken(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with one error: a value outside its enum, of the wrong type, or a missing field."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    candidates = sorted(
        (name for name in properties if isinstance(properties[name], Mapping)),
        key=lambda name: "enum" not in properties[name],
    )
    for name in candidates:
        for wrong in ("not-one-of-these", 12345, ["unexpected"]):
            changed = {**arguments, name: wrong}
            if not from_schema.fits(changed, schema):
                return changed
    for name in arguments:
        less = {key: value for key, value in arguments.items() if key != name}
        if not from_schema.fits(less, schema):
            return less
    return {**arguments, "unexpected": True}
