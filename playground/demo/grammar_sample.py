"""A text in the format of a custom tool: free text, a match of a regular expression, or a sentence of a Lark grammar.

The part of Lark that is read: rules and terminals with alternatives, groups, optional and repeated parts, literals,
patterns, and the common terminals that grammars import.
"""

from __future__ import annotations

import re
from typing import Final

from playground.demo.dice import Dice
from playground.demo.generation import InputFormat
from playground.jsonkit.pattern_text import texts_for

_FREE_TEXT: Final = "sample text"
_DEEPEST: Final = 30
_RULE: Final = re.compile(r"^[?!]*(\w+)(?:\.-?\d+)?\s*:(.*)$")
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"i?|/(?:\\.|[^/\\])+/[a-z]*|->\s*\w+|\w+(?:\.\w+)?|[()\[\]|?*+~]|\d+')
_COMMON: Final = {
    "CNAME": "name",
    "DIGIT": "7",
    "ESCAPED_STRING": '"text"',
    "FLOAT": "1.5",
    "INT": "7",
    "LETTER": "a",
    "NEWLINE": "\n",
    "NUMBER": "7",
    "SIGNED_INT": "7",
    "SIGNED_NUMBER": "7",
    "WORD": "word",
    "WS": " ",
    "WS_INLINE": " ",
}


def make_text(text_format: InputFormat, prompt: str, dice: Dice) -> str:
    """Return a text in the format; the prompt itself where any text will do."""
    if text_format.kind == "regex":
        return _matching(text_format.definition, prompt, dice)
    if text_format.kind == "lark":
        return _Grammar(text_format.definition, dice).sentence()
    return prompt.strip() or _FREE_TEXT


def _matching(pattern: str, prompt: str, dice: Dice) -> str:
    """Return a text that the whole pattern matches: of the prompt, else made from it."""
    try:
        compiled = re.compile(pattern)
    except re.error:
        return _FREE_TEXT
    for match in compiled.finditer(prompt):
        if match[0] and compiled.fullmatch(match[0]):
            return match[0]
    return next((text for text in texts_for(pattern, 0, dice) if compiled.fullmatch(text)), "")


class _Grammar:
    """The rules of a Lark grammar; ``sentence`` expands ``start`` with the shortest alternatives."""

    def __init__(self, definition: str, dice: Dice) -> None:
        self._dice = dice
        self._rules: dict[str, list[str]] = {}
        name = ""
        for line in definition.splitlines():
            text = line.split("//")[0] if "/" not in line.split("//")[0] else line
            rule = _RULE.match(text.strip())
            if rule:
                name = rule[1]
                self._rules[name] = _TOKEN.findall(rule[2])
            elif text.strip().startswith("|") and name:
                self._rules[name] += _TOKEN.findall(text)
            elif text.startswith("%"):
                name = ""

    def sentence(self) -> str:
        """Return a text of the rule ``start``."""
        return self._expand_name("start", 0)

    def _expand_name(self, name: str, depth: int) -> str:
        last = name.rpartition(".")[2]
        if name not in self._rules or depth > _DEEPEST:
            return _COMMON.get(last, last.lower() if last not in self._rules else "")
        alternatives = _split(self._rules[name], "|")
        simplest = min(alternatives, key=lambda tokens: (name in tokens, self._calls(tokens), len(tokens)))
        return self._expand(simplest, depth + 1)

    def _calls(self, tokens: list[str]) -> int:
        """Return how many other rules the tokens name."""
        return sum(token in self._rules and token.islower() for token in tokens)

    def _expand(self, tokens: list[str], depth: int) -> str:
        """Return a text of a sequence; what may be absent is left out."""
        text = ""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            end = _closing(tokens, position) if token in "([" else position
            following = tokens[end + 1] if end + 1 < len(tokens) else ""
            if token != "[" and following not in ("?", "*"):
                text += self._expand_token(tokens[position : end + 1], depth)
            position = end + (2 if following in ("?", "*", "+") and following else 1)
        return text

    def _expand_token(self, tokens: list[str], depth: int) -> str:
        token = tokens[0]
        if token == "(":
            return self._expand(min(_split(tokens[1:-1], "|"), key=len), depth + 1)
        if token.startswith('"'):
            return token.rstrip("i")[1:-1].replace('\\"', '"').replace("\\n", "\n")
        if token.startswith("/"):
            pattern = token[1 : token.rindex("/")].replace("\\/", "/")
            return _matching(pattern, "", self._dice)
        if token.startswith("->") or not (token[0].isalpha() or token[0] == "_"):
            return ""
        return self._expand_name(token, depth)


def _closing(tokens: list[str], start: int) -> int:
    """Return the position of the bracket that closes the one at ``start``; the last position without one."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += (tokens[position] in "([") - (tokens[position] in ")]")
        if not depth:
            return position
    return len(tokens) - 1


def _split(tokens: list[str], separator: str) -> list[list[str]]:
    """Split at the separators that are in no bracket."""
    rows: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([") - (token in ")]")
        if token == separator and not depth:
            rows.append([])
        else:
            rows[-1].append(token)
    return rows
