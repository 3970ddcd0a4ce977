"""Prose of any length, put together from whole sentences about streams, tokens and conversations."""

from __future__ import annotations

from playground.demo.dice import Dice

MOST_WORDS = 50_000

THOUGHTS: tuple[str, ...] = (
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


def write(words: int, dice: Dice) -> str:
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
