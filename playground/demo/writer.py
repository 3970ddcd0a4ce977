"""Writes the answers: Markdown that tells what the gateway received and shows off what a client can render.

Everything is composed from the request; nothing is looked up or made up about the world. Each answer says once that it
is simulated.
"""

from __future__ import annotations

import json
import re

from playground.demo import essay, tokens
from playground.demo.ask import Ask, Call, Said
from playground.demo.dice import Dice
from playground.demo.images import measure
from playground.demo.toolcalls import CALLING
from playground.jsonkit.reading import parse_json

_OPENINGS = (
    "Hello from the demo gateway 👋 This answer is **simulated**: no model runs here.",
    "Bonjour! A word first: this is a **simulated** answer from the demo gateway, not a model's.",
    "Here is what arrived. This answer is **simulated** by the demo gateway; no model was asked.",
    "Thanks, that came through well. What follows is **simulated** by the demo gateway, without a model.",
)
_CLOSINGS = (
    "Edit a turn, change a parameter or offer a tool, and run it again → you will see here what changed. ✨",
    "Try `!stall`, `!429` or `!cut` at the end of a message → each shows how a client copes. À bientôt! 🌊",
    "Even café, naïve and 日本語 should come through unharmed; if they do not, look at the raw bytes. 🔎",
    "Set a seed and send it twice → the text will be the same, down to the last é. 🎲",
)
_SIMULATED = "_Simulated by the demo gateway; no model was asked._"
_ARITHMETIC = re.compile(r"(-?\d{1,12}(?:\.\d{1,6})?)\s*([-+*/×÷x])\s*(-?\d{1,12}(?:\.\d{1,6})?)")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_EFFORT_STEPS = {"none": 0, "minimal": 1, "low": 3, "medium": 6, "high": 12, "xhigh": 20, "max": 32}


def answer(ask: Ask, dice: Dice) -> str:
    """The text of an answer without calls."""
    asked = ask.prompt.casefold()
    if ask.results():
        return _from_results(ask)
    words = _length_wanted(ask)
    if words:
        return f"{_SIMULATED}\n\n{essay.write(words, dice)}"
    if ask.model.id == "demo-vision" or ask.pictures():
        return _about_pictures(ask)
    if ask.directives.has("code") or re.search(r"\bcode\b|\bfunction\b|\bpython\b|\bscript\b", asked):
        return f"{_SIMULATED}\n\n{_code(ask)}\n\n{dice.choice(_CLOSINGS)}"
    if ask.directives.has("table"):
        return f"{_SIMULATED}\n\n{_turn_table(ask)}\n\n{_parameter_table(ask)}\n\n{dice.choice(_CLOSINGS)}"
    solved = _solve(ask)
    if solved and ask.model.reasons:
        return f"**{solved[0]} = {solved[1]}**\n\nThe sum is real; the reasoning is not. {_SIMULATED}"
    if ask.directives.has("wrong"):
        return f"Sorry, I have lost the thread: what was the question? {_SIMULATED}"
    return _report(ask, dice)


def reasoning(ask: Ask, dice: Dice) -> str:
    """The reasoning before an answer; longer with the effort, empty for none."""
    steps = _EFFORT_STEPS.get(ask.effort, 6)
    if not steps:
        return ""
    quoted = tokens.first(" ".join(ask.prompt.split()), 24)
    lines = [f"The user says: “{quoted}”." if quoted else "There is no text in the last message."]
    solved = _solve(ask)
    if solved and steps > 1:
        lines.append(f"That is a sum: {solved[0]}. Worked out, it is {solved[1]}.")
    if ask.tools:
        lines.append(f"Tools on offer: {', '.join(tool.name for tool in ask.tools)}.")
    results = ask.results()
    if results:
        lines.append(f"{_plural(len(results), 'tool result')} came back, so I can answer from that.")
    thoughts = list(essay.THOUGHTS)
    dice.shuffle(thoughts)
    lines.extend(thoughts[at % len(thoughts)] for at in range(max(0, steps - 1)))
    return "\n\n".join(lines[:1]) if steps == 1 else "\n\n".join(lines)


def json_object(ask: Ask) -> dict[str, object]:
    """The object sent for JSON mode without a schema: the request, in short."""
    return {
        "simulated": True,
        "model": ask.model.id,
        "prompt": ask.prompt,
        "turns": len(ask.said),
        "parameters": dict(ask.given),
        "greeting": "déjà vu → 日本 🙂",
    }


def _length_wanted(ask: Ask) -> int:
    """Words asked for at length, or 0."""
    if ask.directives.has("long"):
        return min(max(int(ask.directives.number("long", 500)), 1), essay.MOST_WORDS)
    asked = ask.prompt.casefold()
    stated = re.search(r"\b(\d{2,6})[- ]words?\b", asked)
    if stated:
        return min(int(stated[1]), essay.MOST_WORDS)
    return 500 if re.search(r"\b(long|lengthy|essay|detailed)\b", asked) else 0


def _report(ask: Ask, dice: Dice) -> str:
    quoted = tokens.first(" ".join(ask.prompt.split()), 60)
    parts = [dice.choice(_OPENINGS), "## What you asked"]
    parts.append(f"> {quoted}" if quoted else "The last user message has no text of its own.")
    parts.append(f"## What arrived\n\n{_turn_list(ask)}")
    parts.append(_parameter_table(ask))
    if ask.tools:
        offered = "\n".join(f"1. `{tool.name}`: {tool.description or 'no description'}" for tool in ask.tools)
        parts.append(f"## Tools on offer\n\n{offered}\n\nName one in your message and I will call it.")
    elif ask.directives.has(*CALLING):
        parts.append("No tools were offered, so there was nothing to call: add one and send it again.")
    if dice.random() < 0.6 or ask.directives.has("code"):
        parts.append(f"## The last turn as JSON\n\n```json\n{_last_turn(ask)}\n```")
    parts.append(dice.choice(_CLOSINGS))
    return "\n\n".join(parts)


def _turn_list(ask: Ask) -> str:
    lines = [f"- **{_plural(len(ask.said), 'turn')}**, about {ask.prompt_tokens()} tokens:"]
    for role in ("system", "user", "assistant", "tool"):
        turns = [turn for turn in ask.said if turn.role == role]
        if turns:
            words = sum(len(turn.text.split()) for turn in turns)
            lines.append(f"  - *{role}*: {len(turns)} ({_plural(words, 'word')})")
    instructions = next((turn.text for turn in ask.said if turn.role == "system" and turn.text), "")
    if instructions:
        lines.append(f"- Instructions begin “{_cell(tokens.first(instructions, 16))}…”")
    lines.append(f"- Model `{ask.model.id}` over the *{_protocol(ask)}* protocol")
    return "\n".join(lines)


def _protocol(ask: Ask) -> str:
    return "native messages" if ask.protocol == "messages" else "chat completions"


def _parameter_table(ask: Ask) -> str:
    if not ask.given:
        return "## Parameters\n\nNone were set, so every one is at its default."
    rows = "\n".join(f"| `{_cell(name)}` | `{_cell(value)}` |" for name, value in ask.given[:40])
    return f"## Parameters\n\n| Parameter | Value |\n|:--|:--|\n{rows}"


def _turn_table(ask: Ask) -> str:
    rows = "\n".join(
        f"| {at} | {turn.role} | {tokens.count(turn.text)} | {_cell(tokens.first(turn.text, 10)) or '…'} |"
        for at, turn in enumerate(ask.said[-20:], max(1, len(ask.said) - 19))
    )
    return f"## Turns\n\n| # | Role | Tokens | Begins |\n|--:|:--|--:|:--|\n{rows}"


def _code(ask: Ask) -> str:
    return (
        "## A little code\n\nCounting the words of your message, in Python:\n\n"
        "```python\nfrom collections import Counter\n\n\ndef most_common(text: str, how_many: int = 3) "
        "-> list[tuple[str, int]]:\n"
        '    """The words met most often, e.g. \'café\' → 2."""\n'
        "    return Counter(text.casefold().split()).most_common(how_many)\n\n\n"
        f"print(most_common({tokens.first(ask.prompt, 40)!r}))\n```\n\n"
        "and the same from a shell:\n\n```sh\ntr -s ' ' '\\n' < message.txt | sort | uniq -c | sort -rn | head -3\n```"
    )


def _last_turn(ask: Ask) -> str:
    turn = ask.said[-1]
    shown = {"role": turn.role, "text": tokens.first(turn.text, 40), "images": len(turn.pictures)}
    return json.dumps(shown, ensure_ascii=False, indent=2).replace("```", "` ` `")


def _about_pictures(ask: Ask) -> str:
    pictures = ask.pictures()
    if not pictures:
        return (
            "I look at images, but this conversation has none: attach a PNG, JPEG, GIF or WebP and I will say what its "
            f"header tells → size, pixels and type. 🖼️\n\n{_SIMULATED}"
        )
    lines: list[str] = []
    for number, picture in enumerate(pictures, 1):
        if picture.address:
            lines.append(
                f"{number}. `{_cell(picture.address[:120])}` is an address on the web. The demo gateway does not fetch "
                f"it, so I cannot see it (detail: *{picture.detail}*)."
            )
            continue
        found = measure(picture.data)
        size = f"**{len(picture.data)} bytes**, declared as `{_cell(picture.media_type)}`"
        if found is None:
            lines.append(f"{number}. {size}; its header is none that I know.")
            continue
        really = "" if found[0] == picture.media_type else f", though its bytes say `{found[0]}`"
        lines.append(f"{number}. {size}{really}: **{found[1]} × {found[2]} pixels** (detail: *{picture.detail}*).")
    heading = f"## {_plural(len(pictures), 'image')} received"
    return f"{heading}\n\n" + "\n".join(lines) + f"\n\nI read the header only, not the picture. {_SIMULATED}"


def _from_results(ask: Ask) -> str:
    results = ask.results()
    few = {1: "Here is what the tool returned:", 2: "Both calls came back:"}
    heading = few.get(len(results), f"All {len(results)} calls came back:")
    rows = "\n".join(f"| `{_cell(_called(call))}` | {_cell(_outcome(turn))} |" for call, turn in results)
    text = f"{heading}\n\n| Call | Result |\n|:--|:--|\n{rows}\n\n"
    return text + _conclusion(results) + f"\n\n{_SIMULATED}"


def _called(call: Call) -> str:
    return f"{call.name}({', '.join(_values(call))})"


def _values(call: Call) -> list[str]:
    """The arguments of a call as short texts; the whole text where it is not a JSON object."""
    try:
        arguments = parse_json(call.arguments or "{}")
    except ValueError:
        return [call.arguments]
    return [str(value) for value in arguments.values()] if isinstance(arguments, dict) else [call.arguments]


def _outcome(turn: Said) -> str:
    text = " ".join(turn.text.split()) or "(empty)"
    return f"failed: {text}" if turn.failed else text


def _conclusion(results: tuple[tuple[Call, Said], ...]) -> str:
    """A closing sentence; compares the first numbers when every result has one, all of one tool."""
    if any(turn.failed for _, turn in results):
        return "At least one call failed, so take this with care."
    numbers = [_NUMBER.search(turn.text) for _, turn in results]
    if len(results) > 1 and all(numbers) and len({call.name for call, _ in results}) == 1:
        values = [float(found[0]) for found in numbers if found]
        most = max(range(len(values)), key=values.__getitem__)
        if values.count(values[most]) > 1:
            return "The figures are level → there is nothing to choose between them."
        others = ", ".join(f"{value:g}" for at, value in enumerate(values) if at != most)
        call = results[most][0]
        best = _cell(next(iter(_values(call)), call.name))
        return f"**{best}** has the highest figure: {values[most]:g} against {others}. ☀️"
    return f"In short → {_cell(tokens.first(_outcome(results[0][1]), 60))}"


def _solve(ask: Ask) -> tuple[str, str] | None:
    """The first sum in the prompt and its value, as text; another value where it is to err."""
    found = _ARITHMETIC.search(ask.prompt)
    if not found:
        return None
    one, sign, other = float(found[1]), found[2], float(found[3])
    if sign in "/÷":
        if not other:
            return None
        value = one / other
    else:
        value = {"+": one + other, "-": one - other}.get(sign, one * other)
    value += ask.directives.has("wrong")
    shown = str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.6g}"
    return f"{found[1]} {sign} {found[3]}", shown


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or a code span."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "ʼ")


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
