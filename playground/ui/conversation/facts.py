"""A turn's figures as words: times, rates, tokens, how it ended. A figure that is estimated says so. No Qt here."""

from __future__ import annotations

from playground.domain.tokens import estimate_tokens as estimate_tokens
from playground.domain.transcript import Ending, Outcome, Turn
from playground.domain.usage import Timing, Usage


def seconds(value: float) -> str:
    """A duration a person can compare: ``0.42 s``, ``12.3 s``, ``2 min 5 s``."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 100:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def count(value: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u2009")


def speed_figures(turn: Turn) -> list[str]:
    """``first token 0.42 s``, ``86 tok/s``, ``214 tok`` as far as they are known."""
    outcome = turn.outcome
    if outcome is None:
        return []
    parts: list[str] = []
    timing, usage = outcome.timing, outcome.usage
    first = _first(timing)
    if first is not None:
        parts.append(f"first token {seconds(first)}")
    tokens, exact = _completion(turn, usage)
    if tokens and timing and timing.end is not None and first is not None and timing.end - first > 0.05:
        mark = "" if exact else "≈ "
        parts.append(f"{mark}{tokens / (timing.end - first):.0f} tok/s")
    if tokens:
        parts.append(f"{'' if exact else '≈ '}{count(tokens)} tok")
    return parts


def live_figures(elapsed: float, deltas: int) -> list[str]:
    """The same while it streams, from the number of fragments: an estimate."""
    return [seconds(elapsed), *([f"≈ {count(deltas)} tok"] if deltas else [])]


def reasoning_line(turn: Turn) -> str:
    """``1.80 s · 96 tokens``: how long reasoning took and what it cost."""
    outcome = turn.outcome
    parts: list[str] = []
    timing = outcome.timing if outcome else None
    if timing and timing.first_reasoning is not None:
        end = timing.reasoning_end if timing.reasoning_end is not None else timing.end
        if end is not None:
            parts.append(seconds(max(end - timing.first_reasoning, 0)))
    usage = outcome.usage if outcome else None
    if usage and usage.reasoning:
        parts.append(f"{count(usage.reasoning)} tokens")
    elif turn.reasoning:
        parts.append(f"≈ {count(estimate_tokens(turn.reasoning))} tokens")
    return " · ".join(parts)


def ending_words(outcome: Outcome) -> tuple[str, str]:
    """The chip that says why a turn ended, and the longer words for its tooltip."""
    reason = outcome.finish_reason
    if outcome.ending is Ending.STOPPED:
        return "stopped", "You stopped it. What had arrived is kept."
    if outcome.ending is Ending.CUT_OFF:
        return "cut off", "The stream ended without a finish reason."
    if outcome.ending is Ending.INTERRUPTED:
        return "interrupted", "The application ended while this was being received. What had arrived is kept."
    if outcome.ending is Ending.FAILED:
        return "failed", "See the error below."
    known = {
        "stop": "Natural end, or a stop sequence was hit.",
        "length": "The limit on completion tokens was reached.",
        "tool_calls": "The model is calling a tool.",
        "content_filter": "Content was filtered.",
        "end_turn": "Natural end.",
        "max_tokens": "The limit on tokens was reached.",
        "stop_sequence": "A stop sequence was hit.",
        "tool_use": "The model is calling a tool.",
        "refusal": "The model refused.",
    }
    if reason is None:
        return "", ""
    return reason or "(empty)", known.get(reason, "A finish reason beyond the specification's table, shown as it came.")


def usage_line(usage: Usage | None) -> str:
    """``412 in · 214 out (96 reasoning, 128 cached)``."""
    if usage is None:
        return ""
    parts: list[str] = []
    if usage.prompt is not None:
        parts.append(f"{count(usage.prompt)} in")
    if usage.completion is not None:
        parts.append(f"{count(usage.completion)} out")
    details = [
        f"{count(value)} {name}" for name, value in (("reasoning", usage.reasoning), ("cached", usage.cached)) if value
    ]
    return " · ".join(parts) + (f" ({', '.join(details)})" if details else "")


def _first(timing: Timing | None) -> float | None:
    if timing is None:
        return None
    seen = [at for at in (timing.first_reasoning, timing.first_content) if at is not None]
    return min(seen) if seen else None


def _completion(turn: Turn, usage: Usage | None) -> tuple[int, bool]:
    if usage and usage.completion is not None:
        return usage.completion, True
    arguments = "".join(call.arguments for call in turn.calls)
    return estimate_tokens(turn.text + turn.reasoning + arguments), False
