"""Writes the answers: Markdown about the received request, with the elements a client has to render.

Everything is composed from the request, without facts about the world. Each answer says once that it is simulated.
"""

from __future__ import annotations

import json
import re

from playground.demo import tokens
from playground.demo.dice import Dice
from playground.demo.generation import Call, GenerationRequest, Turn
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
REFUSAL = "I cannot help with that. This refusal is simulated by the demo gateway; nothing was wrong with the request."
_SIMULATED = "_Simulated by the demo gateway; no model was asked._"
_ARITHMETIC = re.compile(r"(-?\d{1,12}(?:\.\d{1,6})?)\s*([-+*/×÷x])\s*(-?\d{1,12}(?:\.\d{1,6})?)")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_EFFORT_STEPS = {"none": 0, "minimal": 1, "low": 3, "medium": 6, "high": 12, "xhigh": 20, "max": 32}
_MOST_WORDS = 50_000
_PROTOCOLS = {"chat": "chat completions", "messages": "native messages", "responses": "responses"}

_THOUGHTS: tuple[str, ...] = (
    "First I should be sure what is being asked, before reaching for an answer.",
    "There may be two readings here; the plainer one is more likely to be meant.",
    "Let me check that against the earlier turns, in case they already settle it.",
    "A short answer is better than a long one, as long as nothing that matters is left out.",
    "Is there anything in the instructions that limits how I may say this? It does not look so.",
    "An example would help, and a table may be easier to read than a paragraph.",
    "If I am wrong about this, where would it show? Probably in the details, so I will look there.",
    "Wait: that step was too quick. Taking it again, slowly, leads to the same place.",
    "Names such as Zoé or 東京 must be kept exactly as they were written.",
    "The order matters: what came first → what follows from it → what to do next.",
    "I could ask back, but there is enough here to give a useful answer now.",
    "One more look at the whole: it hangs together, and it can be said simply.",
)

_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "How a token travels",
        (
            "A token begins as a choice among many and ends as a few letters on a screen.",
            "Between the two lie a gateway, a handful of buffers and a socket that may close at any moment.",
            "Each piece is wrapped in a small envelope of JSON, prefixed with `data:` and sent on its way.",
            "What arrives together was not always sent together, and what was sent together may arrive in parts.",
            "A careful reader therefore trusts the blank line between events, and never the edges of a read.",
            "Even a single é takes two bytes, and the network is free to part them.",
        ),
    ),
    (
        "The patience of a client",
        (
            "Waiting is most of the work a client does, and it can be done well or badly.",
            "A good client shows that it is waiting, says for what, and offers a way to stop.",
            "It counts the time to the first token apart from the time between tokens, for good reason.",
            "When a limit is reached it slows down of its own accord instead of knocking harder.",
            "When a connection breaks it keeps every word that came before the break.",
            "None of this is seen on a good day, which is exactly why it is tried on a bad one.",
        ),
    ),
    (
        "Conversations as data",
        (
            "A conversation looks like talk, but it is a list, and lists can be edited.",
            "Change an early turn and everything after it rests on different ground.",
            "This is why each request carries the whole of it: the service remembers nothing.",
            "A branch costs little, and comparing two branches teaches more than arguing about one.",
            "The system turn stands first and speaks softly, yet it colours every line below.",
            "In 日本 and in Lisbon alike, the same bytes mean the same conversation.",
        ),
    ),
    (
        "What tools are for",
        (
            "A tool is a promise: given these arguments, something will come back.",
            "The schema is the small print of that promise, and it is read by both sides.",
            "Arguments arrive as text, one fragment after another, and only the whole of them means anything.",
            "A result may be a number, a paragraph or an error, and all three deserve an answer.",
            "Two calls may be made at once when neither needs the other, as with the weather in two cities.",
            "The loop ends when the answer no longer asks for anything → then it is simply said.",
        ),
    ),
    (
        "Reading the small print",
        (
            "At the end of every answer stands a reason, and it is worth reading.",
            "`stop` means that all was said, `length` that there was more to say.",
            "Usage tells what the exchange cost, and how much of the prompt was known from before.",
            "Tokens spent on reasoning are counted as output, whether they are shown or not.",
            "A seed makes chance repeatable, which is a fine thing for tests and a poor one for poetry. 🙂",
            "Whoever reads these figures for a week will begin to guess them beforehand.",
        ),
    ),
)


def answer(request: GenerationRequest, dice: Dice) -> str:
    """The text of an answer without calls."""
    prompt = request.prompt.casefold()
    if request.results():
        return _from_results(request)
    words = _length_wanted(request)
    if words:
        return f"{_SIMULATED}\n\n{_essay(words, dice)}"
    if request.model.id == "demo-vision" or request.pictures():
        return _about_pictures(request)
    if request.directives.has("code") or re.search(r"\bcode\b|\bfunction\b|\bpython\b|\bscript\b", prompt):
        return f"{_SIMULATED}\n\n{_code(request)}\n\n{dice.choice(_CLOSINGS)}"
    if request.directives.has("table"):
        return f"{_SIMULATED}\n\n{_turn_table(request)}\n\n{_parameter_table(request)}\n\n{dice.choice(_CLOSINGS)}"
    solved = _solve(request)
    if solved and request.model.reasons:
        return f"**{solved[0]} = {solved[1]}**\n\nThe sum is real; the reasoning is not. {_SIMULATED}"
    if request.directives.has("wrong"):
        return f"Sorry, I have lost the thread: what was the question? {_SIMULATED}"
    return _report(request, dice)


def reasoning(request: GenerationRequest, dice: Dice) -> str:
    """The reasoning before an answer; longer with the effort, empty for none."""
    steps = _EFFORT_STEPS.get(request.effort, 6)
    if not steps:
        return ""
    quoted = tokens.first(" ".join(request.prompt.split()), 24)
    lines = [f"The user says: “{quoted}”." if quoted else "There is no text in the last message."]
    solved = _solve(request)
    if solved and steps > 1:
        lines.append(f"That is a sum: {solved[0]}. Worked out, it is {solved[1]}.")
    if request.tools:
        lines.append(f"Tools on offer: {', '.join(tool.name for tool in request.tools)}.")
    results = request.results()
    if results:
        lines.append(f"{_plural(len(results), 'tool result')} came back, so I can answer from that.")
    thoughts = list(_THOUGHTS)
    dice.shuffle(thoughts)
    lines.extend(thoughts[i % len(thoughts)] for i in range(max(0, steps - 1)))
    return "\n\n".join(lines if steps > 1 else lines[:1])


def announcement(calls: tuple[Call, ...]) -> str:
    """Return the sentence before calls, of a model that says what it is going to do."""
    return f"I will call {', '.join(dict.fromkeys(call.name for call in calls))} first."


def json_object(request: GenerationRequest) -> dict[str, object]:
    """The object sent for JSON mode without a schema: the request, in short."""
    return {
        "simulated": True,
        "model": request.model.id,
        "prompt": request.prompt,
        "turns": len(request.turns),
        "parameters": dict(request.parameters),
        "greeting": "déjà vu → 日本 🙂",
    }


def _length_wanted(request: GenerationRequest) -> int:
    """Words asked for at length, or 0."""
    if request.directives.has("long"):
        return min(max(int(request.directives.number("long", 500)), 1), _MOST_WORDS)
    prompt = request.prompt.casefold()
    number = re.search(r"\b(\d{2,6})[- ]words?\b", prompt)
    if number:
        return min(int(number[1]), _MOST_WORDS)
    return 500 if re.search(r"\b(long|lengthy|essay|detailed)\b", prompt) else 0


def _essay(words: int, dice: Dice) -> str:
    """Markdown prose of about ``words`` words: it stops at the first whole sentence that reaches the number."""
    written = 0
    parts = ["# Notes on a conversation, naïve and otherwise"]
    number = 0
    order = list(_SECTIONS)
    while written < words:
        if number % len(order) == 0:
            dice.shuffle(order)
        title, sentences = order[number % len(order)]
        number += 1
        again = (number - 1) // len(order)
        parts.append(f"## {number}. {title}" + (", continued" if again else ""))
        pool = list(sentences)
        if again:
            dice.shuffle(pool)
        paragraph: list[str] = []
        for i, sentence in enumerate(pool):
            if written >= words:
                break
            paragraph.append(sentence)
            written += len(sentence.split())
            if i == 2:
                parts.append(" ".join(paragraph))
                paragraph = []
        if paragraph:
            parts.append(" ".join(paragraph))
    return "\n\n".join(parts)


def _report(request: GenerationRequest, dice: Dice) -> str:
    quoted = tokens.first(" ".join(request.prompt.split()), 60)
    parts = [dice.choice(_OPENINGS), "## What you asked"]
    parts.append(f"> {quoted}" if quoted else "The last user message has no text of its own.")
    if request.verbosity == "low":
        return "\n\n".join(parts)
    parts.append(f"## What arrived\n\n{_turn_list(request)}")
    parts.append(_parameter_table(request))
    if request.tools:
        offered = "\n".join(f"1. `{tool.name}`: {tool.description or 'no description'}" for tool in request.tools)
        parts.append(f"## Tools on offer\n\n{offered}\n\nName one in your message and I will call it.")
    elif request.directives.has(*CALLING):
        parts.append("No tools were offered, so there was nothing to call: add one and send it again.")
    if dice.random() < 0.6 or request.directives.has("code") or request.verbosity == "high":
        parts.append(f"## The last turn as JSON\n\n```json\n{_last_turn(request)}\n```")
    parts.append(dice.choice(_CLOSINGS))
    return "\n\n".join(parts)


def _turn_list(request: GenerationRequest) -> str:
    lines = [f"- **{_plural(len(request.turns), 'turn')}**, about {request.prompt_tokens()} tokens:"]
    for role in ("system", "user", "assistant", "tool"):
        turns = [turn for turn in request.turns if turn.role == role]
        if turns:
            words = sum(len(turn.text.split()) for turn in turns)
            lines.append(f"  - *{role}*: {len(turns)} ({_plural(words, 'word')})")
    instructions = next((turn.text for turn in request.turns if turn.role == "system" and turn.text), "")
    if instructions:
        lines.append(f"- Instructions begin “{_cell(tokens.first(instructions, 16))}…”")
    lines.append(f"- Model `{request.model.id}` over the *{_PROTOCOLS[request.protocol]}* protocol")
    return "\n".join(lines)


def _parameter_table(request: GenerationRequest) -> str:
    if not request.parameters:
        return "## Parameters\n\nNone were set, so every one is at its default."
    rows = "\n".join(f"| `{_cell(name)}` | `{_cell(value)}` |" for name, value in request.parameters[:40])
    return f"## Parameters\n\n| Parameter | Value |\n|:--|:--|\n{rows}"


def _turn_table(request: GenerationRequest) -> str:
    rows = "\n".join(
        f"| {i} | {turn.role} | {tokens.count(turn.text)} | {_cell(tokens.first(turn.text, 10)) or '…'} |"
        for i, turn in enumerate(request.turns[-20:], max(1, len(request.turns) - 19))
    )
    return f"## Turns\n\n| # | Role | Tokens | Begins |\n|--:|:--|--:|:--|\n{rows}"


def _code(request: GenerationRequest) -> str:
    return (
        "## A little code\n\nCounting the words of your message, in Python:\n\n"
        "```python\nfrom collections import Counter\n\n\ndef most_common(text: str, how_many: int = 3) "
        "-> list[tuple[str, int]]:\n"
        '    """The words met most often, e.g. \'café\' → 2."""\n'
        "    return Counter(text.casefold().split()).most_common(how_many)\n\n\n"
        f"print(most_common({tokens.first(request.prompt, 40)!r}))\n```\n\n"
        "and the same from a shell:\n\n```sh\ntr -s ' ' '\\n' < message.txt | sort | uniq -c | sort -rn | head -3\n```"
    )


def _last_turn(request: GenerationRequest) -> str:
    turn = request.turns[-1] if request.turns else Turn("user")
    summary = {"role": turn.role, "text": tokens.first(turn.text, 40), "images": len(turn.pictures)}
    return json.dumps(summary, ensure_ascii=False, indent=2).replace("```", "` ` `")


def _about_pictures(request: GenerationRequest) -> str:
    pictures = request.pictures()
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
        header = measure(picture.data)
        size = f"**{len(picture.data)} bytes**, declared as `{_cell(picture.media_type)}`"
        if header is None:
            lines.append(f"{number}. {size}; its header is none that I know.")
            continue
        really = "" if header[0] == picture.media_type else f", though its bytes say `{header[0]}`"
        lines.append(f"{number}. {size}{really}: **{header[1]} × {header[2]} pixels** (detail: *{picture.detail}*).")
    heading = f"## {_plural(len(pictures), 'image')} received"
    return f"{heading}\n\n" + "\n".join(lines) + f"\n\nI read the header only, not the picture. {_SIMULATED}"


def _from_results(request: GenerationRequest) -> str:
    results = request.results()
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


def _outcome(turn: Turn) -> str:
    text = " ".join(turn.text.split()) or "(empty)"
    return f"failed: {text}" if turn.failed else text


def _conclusion(results: tuple[tuple[Call, Turn], ...]) -> str:
    """A closing sentence; compares the first numbers when every result has one, all of one tool."""
    if any(turn.failed for _, turn in results):
        return "At least one call failed, so take this with care."
    numbers = [_NUMBER.search(turn.text) for _, turn in results]
    if len(results) > 1 and all(numbers) and len({call.name for call, _ in results}) == 1:
        values = [float(number[0]) for number in numbers if number]
        most = max(range(len(values)), key=values.__getitem__)
        if values.count(values[most]) > 1:
            return "The figures are level → there is nothing to choose between them."
        others = ", ".join(f"{value:g}" for i, value in enumerate(values) if i != most)
        call = results[most][0]
        best = _cell(next(iter(_values(call)), call.name))
        return f"**{best}** has the highest figure: {values[most]:g} against {others}. ☀️"
    return f"In short → {_cell(tokens.first(_outcome(results[0][1]), 60))}"


def _solve(request: GenerationRequest) -> tuple[str, str] | None:
    """Return the first sum in the prompt and its value, as texts; a false value with the directive "wrong"."""
    match = _ARITHMETIC.search(request.prompt)
    if not match:
        return None
    first, sign, second = float(match[1]), match[2], float(match[3])
    if sign in "/÷":
        if not second:
            return None
        value = first / second
    else:
        value = {"+": first + second, "-": first - second}.get(sign, first * second)
    value += request.directives.has("wrong")
    text = str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.6g}"
    return f"{match[1]} {sign} {match[3]}", text


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or a code span."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "ʼ")


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
